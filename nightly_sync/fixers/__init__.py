"""Fixers: one module a way to repair what the merge broke, tried in order of what it costs."""

from collections.abc import Sequence
from pathlib import Path

from nightly_sync import git
from nightly_sync.checks.triage import FailureGroup
from nightly_sync.conflicts import is_file
from nightly_sync.fixers.base import Change, Fixer, GaveUp
from nightly_sync.fixers.claude import ClaudeFixer
from nightly_sync.fixers.formatting import FormattingFixer
from nightly_sync.fixers.restore import RestoreFixer
from nightly_sync.reports.model import ReportFacts
from nightly_sync.session import Session


def fixers_for(run: Session, facts: ReportFacts, head: str) -> tuple[Fixer, ...]:
    """The fixers of a run whose sync branch is at `head` (a SHA).

    `facts` are those of the merge. Claude comes last, where the config wants it at all.
    """
    repo, plan = run.workspace.repository, facts.plan
    changes = git.changes(repo, plan.target, head)
    regular = (item.path for item in changes if item.new and is_file(item.new))
    rules: tuple[Fixer, ...] = (
        FormattingFixer(run.config, regular),
        RestoreFixer(run.config, repo, plan.source, plan.target),
    )
    return (*rules, ClaudeFixer(run, facts)) if run.config.agent.enabled else rules


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
