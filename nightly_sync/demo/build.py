"""Build the demo's repository and the configuration that goes with it.

Two scenarios, because a sync can end well in two ways and one would hide the other:

The default one merges. A sync can get past each of its traps by itself, so the run ends with green
checks and a pull request that is ready and needs a look. It is the night a release engineer sees
most often, and carries the main lesson: the checks are green although lines, tests and a whole
feature of dev are gone. Only the audits say so.

The broken one adds what no rule can repair: code that git merges cleanly and that does not work.
The checks have nothing against it: no test runs it, and the one check that fails does so on dev
already, which the baseline proves and the configuration accepts. The audits name file and line,
and that alone keeps the pull request a draft. In one scenario with the others, these errors would
make every verdict "draft" and prove nothing about the rest.
"""

import importlib.util
import shutil
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from nightly_sync import git, paths
from nightly_sync.config import CheckCommand, Identity, SyncConfig
from nightly_sync.demo import broken as broken_stories
from nightly_sync.demo import code, ruled, texts, whole
from nightly_sync.demo.history import Commit, write
from nightly_sync.demo.model import DemoSite, Step, Story
from nightly_sync.demo.skeleton import SKELETON
from nightly_sync.errors import SyncError
from nightly_sync.record import Outcome

MARA = git.Signature("Mara Lind", "mara@example.com")
JONAS = git.Signature("Jonas Falk", "jonas@example.com")
TIMEOUT = 300  # seconds for one check
QUIET_PYTEST = "python -m pytest -q -p no:cacheprovider"


def build(folder: Path, now: datetime, broken: bool = False) -> DemoSite:
    """Build `folder`/origin.git, whose last commit was made an hour before `now` (aware).

    Raises SyncError if there is one already, or if pytest, which runs the demo's tests, is not
    installed.
    """
    stories, config = _stories(folder, broken), config_for(folder, broken)
    verdict = Outcome.DRAFT_FINDINGS if broken else Outcome.READY_NEEDS_LOOK
    return lay_out(folder, now, stories, config, verdict)


def lay_out(
    folder: Path, now: datetime, stories: tuple[Story, ...], config: SyncConfig, verdict: Outcome
) -> DemoSite:
    """The same with other stories; a run with `config` has to end with the verdict."""
    origin = _origin(folder)
    if origin.exists():
        raise SyncError(f"there is a demo in {folder} already; name a new folder")
    git.init_bare(origin)
    write(origin, commits(stories, now))
    traps = tuple(trap for story in stories for trap in story.traps)
    return DemoSite(origin=origin, config=config, traps=traps, verdict=verdict)


def _origin(folder: Path) -> Path:
    return folder / "origin.git"


def _stories(folder: Path, with_broken: bool) -> tuple[Story, ...]:
    folder.mkdir(parents=True, exist_ok=True)
    names = tuple(name for name in texts.ODD_NAMES if _can_hold(folder, name))
    more = broken_stories.STORIES if with_broken else ()
    odd = texts.odd_names(names)
    return (*code.STORIES, *texts.STORIES, odd, *whole.STORIES, *ruled.STORIES, *more)


def _can_hold(folder: Path, name: str) -> bool:
    """Can a file be called so here? macOS, for one, refuses names that are no UTF-8."""
    file = folder / paths.fs_name(name.rpartition("/")[2])
    try:
        file.touch()
    except OSError:
        return False
    file.unlink()
    return True


def commits(stories: Iterable[Story], now: datetime) -> tuple[Commit, ...]:
    """What both branches share, then all of dev's commits, then all of main's; an hour apart."""
    steps = tuple(_steps(tuple(stories)))
    first = now - timedelta(hours=len(steps))
    parting = next(number for number, (branch, _) in enumerate(steps) if branch == "dev")
    return tuple(
        Commit(
            branch=branch,
            message=f"{step.subject}\n",
            author=JONAS if branch == "dev" else MARA,
            when=first + timedelta(hours=number),
            files=step.files,
            start="main" if number == parting else None,
        )
        for number, (branch, step) in enumerate(steps)
    )


def _steps(stories: tuple[Story, ...]) -> Iterator[tuple[str, Step]]:
    """Branch and commit. dev's come before main's: it starts where main is by then."""
    common = {name: content for story in stories for name, content in story.base.items()}
    yield "main", Step("First release", {**SKELETON, **common})
    yield from (("main", step) for story in stories for step in story.shared)
    yield from (("dev", step) for story in stories for step in story.dev)
    yield from (("main", step) for story in stories for step in story.main)


def config_for(folder: Path, with_broken: bool = False) -> SyncConfig:
    """The demo's configuration. Raises SyncError if pytest is not installed."""
    checks = _checks()
    return SyncConfig(
        repository=str(_origin(folder)),
        workspace=str(folder / "workspace"),
        committer=Identity(name="nightly-sync demo", email="demo@example.com"),
        sign_off=True,
        labels=("nightly-sync",),
        rules=ruled.RULES,
        focus=("/ledger/",),
        checks=(*checks, broken_stories.CONTRACT) if with_broken else checks,
        sentinel="pytest",
        expected_checks=tuple(check.name for check in checks),
        accept_pre_existing=with_broken,
        poll_seconds=0.5,
        time_limit_minutes=10,
    )


def _checks() -> tuple[CheckCommand, ...]:
    """pytest, and ruff where there is one; both as this Python has them, if it does."""
    if importlib.util.find_spec("pytest") is None:
        raise SyncError("the demo's checks need pytest; install it next to nightly-sync")
    tests = CheckCommand(name="pytest", run=QUIET_PYTEST, timeout_seconds=TIMEOUT)
    module = importlib.util.find_spec("ruff") is not None
    if not module and shutil.which("ruff") is None:
        return (tests,)
    run = "python -m ruff check ." if module else "ruff check ."
    return tests, CheckCommand(name="ruff", run=run, timeout_seconds=TIMEOUT)
