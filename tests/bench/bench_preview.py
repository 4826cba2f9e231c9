"""How long does `nightly-sync preview` take, and how much of it is git?

    python -m tests.bench.bench_preview [--repo PATH --source REV --target REV] [--rounds 3]

Without --repo it builds the repository of `build_repository.py`. A repository is only read.
Prints, from the best of some rounds: the whole process minus a start of Python with the same
imports, its peak memory, and git's share next to the same commands run by hand. The goal on 2
cores, for 3,300 files with 150 conflicts: 5 s, 500 MB, 3 times git's own time.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from nightly_sync import workspace
from nightly_sync.config import SyncConfig
from nightly_sync.merge.commit import commit_merge
from nightly_sync.merge.model import MergePlan
from nightly_sync.merge.plan import plan
from nightly_sync.names import resolve
from tests.bench.build_repository import build
from tests.bench.timed import Spent, subcommand

TOP = Path(__file__).resolve().parents[2]
START = ("-c", "import nightly_sync.cli")
NOW = datetime(2026, 11, 30, tzinfo=UTC)


@dataclass(frozen=True)
class Usage:
    """A process and its children: wall-clock and CPU seconds, the largest one's peak in MB."""

    seconds: float
    cpu: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.seconds:8.2f} s {self.cpu:6.2f} s CPU {self.megabytes:6.0f} MB"


@dataclass(frozen=True)
class Case:
    """What is previewed."""

    repo: Path
    source: str
    target: str


def python(*args: str) -> Usage:
    """Run this Python to its end. Exit codes 0, 3 and 4 are answers of `preview`."""
    started = time.perf_counter()
    with subprocess.Popen([sys.executable, *args], cwd=TOP, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3, 4):
        raise SystemExit(f"{args} ended with {process.returncode}")
    seconds = time.perf_counter() - started
    return Usage(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def preview(case: Case, folder: Path) -> tuple[Usage, Spent]:
    """The whole command as a process, and what it spent in git."""
    figures = folder / "git.json"
    sides = ("--source", case.source, "--target", case.target)
    command = ("preview", "--repo", str(case.repo), *sides, "--out", str(folder / "out"))
    used = python("-m", "tests.bench.timed", str(figures), *command)
    return used, json.loads(figures.read_text())


# By hand


@contextmanager
def merged(case: Case, folder: Path) -> Iterator[tuple[Path, MergePlan, str]]:
    """A scratch repository with the merge in it, to run git in."""
    config = SyncConfig(repository=str(case.repo))
    source, target = (resolve(case.repo, name).sha for name in (case.source, case.target))
    with workspace.scratch(case.repo, folder) as scratch:
        made = plan(scratch, source, target, config)
        yield scratch, made, commit_merge(scratch, made, config, "Merge", NOW).commit


Line = tuple[str, ...]


def before(made: MergePlan) -> tuple[Line, ...]:
    """What a person would type to learn what the report says, up to the merge."""
    source, target, base = made.source, made.target, made.base
    ranges = (f"{target}..{source}", f"{source}..{target}")
    return (
        ("merge-base", "--all", target, source),
        ("merge-tree", "--write-tree", "-z", target, source),
        *(("ls-tree", "-r", "-z", commit) for commit in (base, source, target)),
        *(("diff-tree", "-r", "-z", base, commit) for commit in (source, target)),
        *(("log", "--no-merges", "-z", "--name-only", commits) for commits in ranges),
    )


def after(made: MergePlan, merge: str) -> tuple[Line, ...]:
    """And once it is made."""
    return (
        ("ls-tree", "-r", "-z", merge),
        *(("diff-tree", "-r", "-z", side, merge) for side in (made.source, made.target)),
        ("show", "--remerge-diff", merge),
        ("diff", "--numstat", f"{made.target}...{merge}", "--", "*.py"),
    )


def by_hand(case: Case, scratch: Path, made: MergePlan, merge: str) -> Spent:
    """Run each command once, as a shell would."""
    spent: Spent = {}
    # In a new repository, as in the scratch one the merged files are there already.
    with TemporaryDirectory() as folder, workspace.scratch(case.repo, Path(folder)) as fresh:
        for line in before(made):
            _book(spent, fresh, line)
    for line in after(made, merge):
        _book(spent, scratch, line)
    return spent


def _book(spent: Spent, repo: Path, line: Line) -> None:
    started = time.perf_counter()
    command = ["git", "-C", str(repo), *line]
    code = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
    if code not in (0, 1):
        raise SystemExit(f"git {line} ended with {code}")
    times, seconds = spent.get(subcommand(line), (0, 0.0))
    spent[subcommand(line)] = times + 1, seconds + time.perf_counter() - started


# The table


def total(spent: Spent) -> float:
    """Seconds of all commands."""
    return sum(seconds for _, seconds in spent.values())


def measure(case: Case, rounds: int) -> Iterator[str]:
    """Every figure, a line each; the best of the rounds stands for all."""
    with TemporaryDirectory(prefix="nightly-sync-bench-") as name:
        folder = Path(name)
        bare = min((python(*START) for _ in range(rounds)), key=lambda used: used.seconds)
        runs = [preview(case, folder) for _ in range(rounds)]
        used, inside = min(runs, key=lambda pair: pair[0].seconds)
        with merged(case, folder) as (scratch, made, merge):
            hands = (by_hand(case, scratch, made, merge) for _ in range(rounds))
            outside = min(hands, key=total)
    yield f"conflicted files   {len(made.conflicts):8}"
    yield from _summary(bare, used, inside, outside)
    yield from _by_command(inside, outside)


def _summary(bare: Usage, used: Usage, inside: Spent, outside: Spent) -> Iterator[str]:
    yield f"start of Python    {bare}"
    yield f"preview            {used}"
    yield f"beyond the start   {used.seconds - bare.seconds:8.2f} s"
    yield f"git inside preview {total(inside):8.2f} s"
    yield f"git by hand        {total(outside):8.2f} s"
    yield f"ratio              {total(inside) / total(outside):8.2f}"


def _by_command(inside: Spent, outside: Spent) -> Iterator[str]:
    yield f"\n{'':20}{'inside preview':>20}{'by hand':>20}"
    ranked = sorted({*inside, *outside}, key=lambda name: -inside.get(name, (0, 0.0))[1])
    for name in ranked:
        yield f"{name:20}{_cell(inside.get(name))}{_cell(outside.get(name))}"


def _cell(spent: tuple[int, float] | None) -> str:
    return f"{spent[1]:10.3f} s {spent[0]:5} x" if spent else f"{'-':>20}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repo", type=Path, help="a clone to read; default: build one")
    parser.add_argument("--source", default="main")
    parser.add_argument("--target", default="dev")
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


def main() -> None:
    """Measure and print."""
    given = _arguments()
    with TemporaryDirectory(prefix="nightly-sync-bench-") as folder:
        repo = given.repo.resolve() if given.repo else build(Path(folder) / "large.git")
        for line in measure(Case(repo, given.source, given.target), given.rounds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
