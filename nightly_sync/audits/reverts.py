"""Audit: what a revert on one side deleted from the merge, although the other side still has it.

git takes such a deletion cleanly and without a word: to it, a revert is a change like any other.
"""

from collections.abc import Iterator

from nightly_sync.audits.compare import Row
from nightly_sync.audits.evidence import FileLines, findings
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.history import Removal
from nightly_sync.audits.lines import Line, pick
from nightly_sync.audits.model import Finding, FindingKind, Parent
from nightly_sync.merge.syntax import is_python


def audit(facts: AuditFacts) -> list[Finding]:
    """Warn of each file and revert; `line` is a line of the side that still has it."""
    return findings(facts, FindingKind.REVERT_DELETION, _found(facts))


def _found(facts: AuditFacts) -> Iterator[FileLines]:
    for parent, removals in facts.reverts.items():
        for removal in removals:
            row = facts.comparison.by_name.get(removal.path)
            lines = _deleted(facts, row, parent, removal) if row else ()
            if row and lines:
                yield FileLines(row, lines, _sentence(row, parent, removal))


def _deleted(facts: AuditFacts, row: Row, parent: Parent, removal: Removal) -> tuple[Line, ...]:
    """Lines of the other side that the revert removed and the merged file lacks."""
    theirs = facts.comparison.text(row.of(parent.other))
    merged = facts.comparison.text(row.merged)
    if theirs is None or (merged is None and row.merged is not None):
        return ()
    return pick(theirs, merged or b"", removal.lines, is_python(row.path))


def _sentence(row: Row, parent: Parent, removal: Removal) -> str:
    what = "gone with the file" if row.merged is None else "gone"
    return f"{what}: the {parent} reverted in {removal.name}; {parent.other}'s text:"
