"""Formatters and linters on what the merge wrote: files whose blob equals neither parent's.

They run in a throw-away checkout of the merged tree, so that they find the repository's own
settings. What they change in other files is dropped; protected paths are never given to them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from nightly_sync import git, patterns, snapshot
from nightly_sync.audits.model import Finding, FindingKind, Severity
from nightly_sync.commands import CommandResult, run_on_files
from nightly_sync.config import Command, SyncConfig
from nightly_sync.conflicts import is_file
from nightly_sync.errors import StopForPerson
from nightly_sync.reports.model import ToolRun

TIMEOUT = 900.0  # seconds for one formatter or linter


@dataclass(frozen=True)
class Tooled:
    """The tree after the formatters, and how each tool went."""

    tree: str
    runs: tuple[ToolRun, ...]


def merged_files(repo: Path, target: str, source: str, tree: str) -> tuple[str, ...]:
    """Regular files of `tree` whose content stands on neither side: what the merge itself wrote."""
    from_target = {item.path for item in git.changes(repo, target, tree)}
    written = (item for item in git.changes(repo, source, tree) if item.path in from_target)
    return tuple(item.path for item in written if item.new and is_file(item.new))


def run_all(repo: Path, target: str, source: str, tree: str, config: SyncConfig) -> Tooled:
    """Formatters in order, then linters. Raises StopForPerson if a required one fails."""
    written = merged_files(repo, target, source, tree)
    files = tuple(name for name in written if not config.holds("protect", name))
    if not files or not (config.formatters or config.linters):
        return Tooled(tree, ())
    with checkout(repo, tree) as (folder, index):
        formatted = [_formatted(repo, folder, index, item, files) for item in config.formatters]
        linted = [_linted(folder, item, files) for item in config.linters]
        final = git.write_index(repo, folder, index)
    return Tooled(final, tuple(run for run in (*formatted, *linted) if run is not None))


@contextmanager
def checkout(repo: Path, tree: str) -> Iterator[tuple[Path, Path]]:
    """A folder with the tree's files, and its index; both vanish afterwards."""
    with TemporaryDirectory(prefix="nightly-sync-tree-") as home:
        folder = Path(home) / "tree"
        folder.mkdir()
        git.checkout_tree(repo, tree, folder, _index_of(folder))
        yield folder, _index_of(folder)


def _index_of(folder: Path) -> Path:
    return folder.parent / "index"


def checked_out(repo: Path, folder: Path) -> str:
    """The tree that such a checkout was made of, whatever became of its files."""
    index = _index_of(folder)
    if not index.is_file():  # git would call it an empty tree
        raise ValueError(f"{folder} is no checkout with an index beside it")
    return git.write_index(repo, folder, index)


def _matching(command: Command, files: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in files if patterns.matches(name, command.paths))


def _formatted(
    repo: Path, folder: Path, index: Path, command: Command, files: tuple[str, ...]
) -> ToolRun | None:
    mine = _matching(command, files)
    if not mine:
        return None
    before = snapshot.take(folder, mine)
    result = run_on_files(command.run, folder, mine, TIMEOUT)
    if not result.ok:
        snapshot.restore(folder, before)
        return _tool_run("formatter", command, result, ())
    # Only what it wrote: adding a file anew can convert its line ends by the target's attributes.
    changed = git.add_files(repo, folder, index, snapshot.changed(folder, before))
    return _tool_run("formatter", command, result, changed)


def _linted(folder: Path, command: Command, files: tuple[str, ...]) -> ToolRun | None:
    mine = _matching(command, files)
    if not mine:
        return None
    result = run_on_files(command.run, folder, mine, TIMEOUT)
    return _tool_run("linter", command, result, () if result.ok else mine)


def _tool_run(
    kind: Literal["formatter", "linter"],
    command: Command,
    result: CommandResult,
    files: tuple[str, ...],
) -> ToolRun:
    message = "" if result.ok else _why(command, result)
    if command.required and not result.ok:
        raise StopForPerson(f"the required {kind} {command.name} failed: {message}")
    return ToolRun(kind=kind, name=command.name, ok=result.ok, message=message, files=files)


def _why(command: Command, result: CommandResult) -> str:
    if result.missing:
        return f"{command.run.split()[0]} is not installed"
    if result.timed_out:
        return f"stopped after {TIMEOUT:g} s"
    return f"exit code {result.code}: {result.output.strip()[-2000:]}"


def findings(runs: tuple[ToolRun, ...]) -> tuple[Finding, ...]:
    """A warning for each tool that failed: nothing is decided by a linter, but it is said."""
    return tuple(
        Finding(
            severity=Severity.WARNING,
            kind=FindingKind.FORMATTER if run.kind == "formatter" else FindingKind.LINTER,
            path=run.files[0] if len(run.files) == 1 else "",
            evidence=f"{run.name}: {run.message}",
        )
        for run in runs
        if not run.ok
    )
