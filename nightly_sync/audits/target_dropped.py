"""Audit: lines only the target has must survive, or somebody must know."""

from nightly_sync.audits.dropped import dropped
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.model import Finding, FindingKind, Parent


def audit(facts: AuditFacts) -> list[Finding]:
    """Warn of each file that lacks lines the target has over the base."""
    return dropped(facts, Parent.TARGET, FindingKind.TARGET_DROPPED)
