"""Audit: the source's new lines should arrive; where they do not, the sync is not one."""

from nightly_sync.audits.dropped import dropped
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.model import Finding, FindingKind, Parent


def audit(facts: AuditFacts) -> list[Finding]:
    """Warn of each file that lacks lines the source has over the base."""
    return dropped(facts, Parent.SOURCE, FindingKind.SOURCE_DROPPED)
