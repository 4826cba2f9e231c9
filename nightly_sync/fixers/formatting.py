"""Repair lint and format failures by running the configured formatters."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from nightly_sync import patterns, snapshot
from nightly_sync.checks.items import FailureKind
from nightly_sync.checks.triage import FailureGroup
from nightly_sync.commands import CommandResult, run_on_files
from nightly_sync.config import Command, SyncConfig
from nightly_sync.fixers.base import Change, GaveUp

TIMEOUT = 900.0  # seconds for one formatter
REASON_SHOWN = 300  # characters of a formatter's last words


class FormattingFixer:
    """Runs the formatters, in order, on files that the sync changed and that no rule pins.

    `changed` are paths that differ from the target. Files that a path rule gives to one side
    must stay that side's, and protected ones the target's, so they are left out.
    """

    def __init__(self, config: SyncConfig, changed: Iterable[str]):
        self._formatters = config.formatters
        self._files = tuple(name for name in changed if not config.pins(name))

    def fix(self, failures: Sequence[FailureGroup], worktree: Path) -> Change | GaveUp:
        """Format, if a check failed over lint or format; give up if that changes nothing.

        A formatter that fails has its files restored and is named; a required one ends the
        attempt.
        """
        if not any(item.kind is FailureKind.LINT and not item.aggregate for item in failures):
            return GaveUp(reason="no check failed over lint or format")
        if not self._formatters:
            return GaveUp(reason="no formatter is configured")
        before = snapshot.take(worktree, self._files)
        problems = [self._run(command, worktree, before) for command in self._formatters]
        changed = snapshot.changed(worktree, before)
        told = [problem for problem in problems if problem]
        required = [
            c.name for c, p in zip(self._formatters, problems, strict=True) if p and c.required
        ]
        if required or not changed:
            snapshot.restore(worktree, before)
            return GaveUp(reason="; ".join(told) or "the formatters changed nothing")
        return Change(summary=_summary(self._formatters, changed, told), files=changed)

    def _run(self, command: Command, worktree: Path, files: Iterable[str]) -> str:
        """Run one formatter; why it failed, or nothing."""
        mine = [name for name in files if patterns.matches(name, command.paths)]
        before = snapshot.take(worktree, mine)
        if not before:
            return ""
        result = run_on_files(command.run, worktree, mine, TIMEOUT)
        if result.ok:
            return ""
        snapshot.restore(worktree, before)
        return f"{command.name} failed: {_why(result)}"


def _why(result: CommandResult) -> str:
    if result.timed_out:
        return f"it took over {TIMEOUT:g} s"
    words = " ".join(result.output.split())
    return words[-REASON_SHOWN:] or f"exit code {result.code}"


def _summary(formatters: Sequence[Command], changed: Sequence[str], told: Sequence[str]) -> str:
    names = ", ".join(command.name for command in formatters)
    count = "1 file" if len(changed) == 1 else f"{len(changed)} files"
    return "; ".join([f"{names}: {count} formatted", *told])
