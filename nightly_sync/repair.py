"""Repairs on top of the merge: one rolling fix commit, replaced by each new attempt.

A fixer works in a checkout of the head; only what it changed there is taken, and never a
protected path.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nightly_sync import git, sync_branch, tools
from nightly_sync.checks.triage import FailureGroup
from nightly_sync.fixers import first_that_fixes
from nightly_sync.fixers.base import Change, Fixer, GaveUp
from nightly_sync.merge.commit import commit_fix
from nightly_sync.session import Session
from nightly_sync.sync_branch import BranchState


@dataclass(frozen=True)
class Head:
    """The sync branch as this run last saw or left it."""

    branch: str
    target: str  # SHA of the untouched target
    merge: str  # the merge commit, immutable once pushed
    tip: str  # the merge, or the fix commit on it
    fixes: tuple[str, ...] = ()  # what the fix commit repairs, a line each


@dataclass(frozen=True)
class Repaired:
    """A fixer's change as a tree, not pushed yet."""

    summary: str
    tree: str


def attempt(
    run: Session, head: Head, failures: Sequence[FailureGroup], fixers: Sequence[Fixer]
) -> Repaired | GaveUp:
    """Let the fixers try in a checkout of the head commit."""
    repo = run.workspace.repository
    with tools.checkout(repo, head.tip) as (folder, index):
        answer = first_that_fixes(fixers, failures, folder)
        if isinstance(answer, GaveUp):
            return answer
        return _taken(run, head, answer, folder, index)


def _taken(
    run: Session, head: Head, change: Change, folder: Path, index: Path
) -> Repaired | GaveUp:
    refused = [name for name in change.files if run.config.holds("protect", name)]
    if refused:
        return GaveUp(reason=f"the repair would change the protected path {refused[0]}")
    repo = run.workspace.repository
    if not git.add_files(repo, folder, index, change.files):
        return GaveUp(reason=f"{change.summary}: nothing changed")
    return Repaired(change.summary, git.write_index(repo, folder, index))


def push(run: Session, head: Head, repaired: Repaired) -> Head:
    """Commit the repaired tree on the merge and replace the last fix commit on origin.

    Raises StopForPerson when origin's branch is not where this run last saw it.
    """
    repo, config = run.workspace.repository, run.config
    fixes = (*head.fixes, repaired.summary)
    # The run's own time, so that a push that is repeated after an outage is of the same commit.
    commit = commit_fix(repo, head.merge, repaired.tree, fixes, config, run.started)
    seen = BranchState(name=head.branch, tip=head.tip, merge=head.merge)
    sync_branch.push_commit(repo, run.origin, head.target, commit, seen, config)
    return replace(head, tip=commit, fixes=fixes)
