"""Audit: no conflict marker that neither parent has."""

import re
from collections import Counter
from collections.abc import Iterator

from nightly_sync import paths
from nightly_sync.audits.compare import Comparison, Row
from nightly_sync.audits.evidence import clip
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.model import Finding, FindingKind, Severity
from nightly_sync.merge.markers import SIZES

# 7 is git's own length, the others are the plan's; a criss-cross merge nests markers in its base
# and adds 2 for each level. A line of `=` may be a heading, so that it proves nothing.
_LENGTHS = frozenset(size + 2 * level for size in (7, *SIZES) for level in range(5))
_MARKER = re.compile(rb"^(<+|>+|\|+) [^\n]*|^(<+|>+)(?=\r?$)", re.MULTILINE)


def audit(facts: AuditFacts) -> list[Finding]:
    """Report each marker line of a merged file that neither parent's file has."""
    return [item for row in facts.rows if row.mixed for item in _new(facts.comparison, row)]


def _new(comparison: Comparison, row: Row) -> Iterator[Finding]:
    text = comparison.text(row.merged)
    found = list(marker_lines(text)) if text is not None else []
    if not found:
        return
    known = Counter[bytes]()
    for parent in comparison.parents(row):
        known |= Counter(line for _, line in marker_lines(parent))
    for number, line in found:
        if known[line] > 0:
            known[line] -= 1
        else:
            yield _finding(row.path, number, line)


def marker_lines(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Number, from 1, and text of each line that is a conflict marker."""
    if not any(sign * min(_LENGTHS) in text for sign in (b"<", b">", b"|")):
        return
    for match in _MARKER.finditer(text):
        if len(match[1] or match[2]) in _LENGTHS:
            yield text.count(b"\n", 0, match.start()) + 1, match[0].rstrip(b"\r")


def _finding(path: str, number: int, line: bytes) -> Finding:
    return Finding(
        severity=Severity.ERROR,
        kind=FindingKind.MARKER,
        path=path,
        line=number,
        evidence=f"conflict marker: {clip(paths.from_bytes(line))}",
    )
