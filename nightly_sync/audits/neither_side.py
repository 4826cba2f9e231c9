"""Audit: what the merged file says or leaves out although neither parent does.

Somebody, or something, wrote it in the merge: a person, a formatter, a rule with its own text.
"""

from collections.abc import Iterator

from nightly_sync.audits import evidence
from nightly_sync.audits.evidence import FileLines
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.model import Finding, FindingKind


def audit(facts: AuditFacts) -> list[Finding]:
    """Warn of each file with such lines; a formatter's new line breaks are none."""
    return [
        *evidence.findings(facts, FindingKind.NEITHER_SIDE, _invented(facts)),
        *evidence.findings(facts, FindingKind.NEITHER_SIDE, _missing(facts)),
    ]


def _invented(facts: AuditFacts) -> Iterator[FileLines]:
    for row in facts.rows:
        if lines := facts.comparison.lines_of(row).invented:
            rule = evidence.by_rule(facts, row)
            yield FileLines(row, lines, f"that neither side has{rule}; merged text:")


def _missing(facts: AuditFacts) -> Iterator[FileLines]:
    for row in facts.rows:
        lines = facts.comparison.lines_of(row).shared
        if lines and row.merged is not None:
            rule = evidence.by_rule(facts, row)
            sentence = f"that both sides have, missing in the merged file{rule}; target's text:"
            yield FileLines(row, lines, sentence)
