"""Audit: a file that a parent has and nobody deleted must not vanish."""

from collections.abc import Iterator

from nightly_sync.audits.compare import Row
from nightly_sync.audits.evidence import by_rule
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.model import Finding, FindingKind, Parent, Severity


def audit(facts: AuditFacts) -> list[Finding]:
    """Warn of each file only the merge lacks. Protected paths have their own audit."""
    return [item for item in _lost(facts) if not facts.config.holds("protect", item.path)]


def _lost(facts: AuditFacts) -> Iterator[Finding]:
    for row in facts.rows:
        owners = [parent for parent in Parent if row.lost(parent)]
        if owners:
            yield _finding(facts, row, owners)


def _finding(facts: AuditFacts, row: Row, owners: list[Parent]) -> Finding:
    plan = facts.plan_of(row)
    where = " and ".join(f"the {parent}" for parent in owners)
    why = f": {plan.evidence}" if plan else "; no rule says why"
    return Finding(
        severity=Severity.WARNING,
        kind=FindingKind.LOST,
        path=row.path,
        evidence=f"on {where}, deleted by nobody, not in the merged tree{by_rule(facts, row)}{why}",
    )
