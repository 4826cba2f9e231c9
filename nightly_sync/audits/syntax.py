"""Audit: a merged Python file parses, if its parents do."""

from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.model import Finding, FindingKind, Severity
from nightly_sync.audits.scan import Fault, scan


def audit(facts: AuditFacts) -> list[Finding]:
    """Report each file of mixed content that does not parse, though each parent's does."""
    return [
        _finding(row.path, fault)
        for row, text in facts.comparison.mixed_python
        if (fault := scan(text).fault)
        and not any(scan(parent).fault for parent in facts.comparison.parents(row))
    ]


def _finding(path: str, fault: Fault) -> Finding:
    return Finding(
        severity=Severity.ERROR,
        kind=FindingKind.SYNTAX,
        path=path,
        line=fault.line,
        evidence=f"does not parse, as both parents' files do: {fault.message}",
    )
