"""Fixers: one module a way to repair what the merge broke, tried in order."""

from collections.abc import Sequence
from pathlib import Path

from nightly_sync import git
from nightly_sync.checks.triage import FailureGroup
from nightly_sync.config import SyncConfig
from nightly_sync.conflicts import is_file
from nightly_sync.fixers.base import Change, Fixer, GaveUp
from nightly_sync.fixers.formatting import FormattingFixer


def fixers_for(config: SyncConfig, repo: Path, target: str, head: str) -> tuple[Fixer, ...]:
    """The fixers of a run, for the files in which `head` differs from `target` (SHAs)."""
    changes = git.changes(repo, target, head)
    regular = (item.path for item in changes if item.new and is_file(item.new))
    return (FormattingFixer(config, regular),)


def first_that_fixes(
    fixers: Sequence[Fixer], failures: Sequence[FailureGroup], worktree: Path
) -> Change | GaveUp:
    """The first repair any of the fixers makes, else why each of them gave up.

    Jobs that only report on others are never repaired themselves.
    """
    own = [group for group in failures if not group.aggregate]
    if not own:
        return GaveUp(reason="nothing failed but jobs that report on others")
    reasons = []
    for fixer in fixers:
        answer = fixer.fix(own, worktree)
        if isinstance(answer, Change):
            return answer
        reasons.append(answer.reason)
    return GaveUp(reason="; ".join(reasons) or "no fixer is configured")
