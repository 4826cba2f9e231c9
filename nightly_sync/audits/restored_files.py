"""Audit: a file that one side deleted and the merged tree has, with a rule's reason or without."""

from collections.abc import Iterator

from nightly_sync.audits.compare import Row
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.model import Finding, FindingKind, Parent, Severity
from nightly_sync.merge import fallback
from nightly_sync.merge.model import PathPlan


def audit(facts: AuditFacts) -> list[Finding]:
    """Warn of each such file: `restored` if a rule has evidence, else `brought back`."""
    return list(_found(facts))


def _found(facts: AuditFacts) -> Iterator[Finding]:
    for row in facts.rows:
        deleters = [parent for parent in Parent if row.deleted_by(parent)]
        if row.merged is not None and deleters:
            yield _finding(row, deleters, facts.plan_of(row))


def _finding(row: Row, deleters: list[Parent], plan: PathPlan | None) -> Finding:
    where = " and ".join(f"the {parent}" for parent in deleters)
    reasoned = plan is not None and plan.resolved is not None and plan.rule != fallback.NAME
    why = f"rule {plan.rule}: {plan.evidence}" if plan else "no rule says why"
    return Finding(
        severity=Severity.WARNING,
        kind=FindingKind.RESTORED if reasoned else FindingKind.BROUGHT_BACK,
        path=row.path,
        evidence=f"deleted on {where}, in the merged tree; {why}",
    )
