"""Lines that one parent added since the base and the merged tree lacks. Pure."""

from collections.abc import Iterator

from nightly_sync.audits import evidence
from nightly_sync.audits.compare import Row
from nightly_sync.audits.evidence import FileLines
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.lines import Line
from nightly_sync.audits.model import Finding, FindingKind, Parent


def dropped(facts: AuditFacts, parent: Parent, kind: FindingKind) -> list[Finding]:
    """One warning for each file; `line` is a line of the parent's file.

    A file that was lost whole is `lost_files`' to report; one that the other side deleted while
    this parent worked on it is reported here.
    """
    return evidence.findings(facts, kind, _files(facts, parent))


def _files(facts: AuditFacts, parent: Parent) -> Iterator[FileLines]:
    for row in facts.rows:
        lines = facts.comparison.lines_of(row).of(parent)
        if lines and not row.lost(parent):
            yield FileLines(
                row, lines, _sentence(facts, row, parent), _remarks(facts, row, parent, lines)
            )


def _sentence(facts: AuditFacts, row: Row, parent: Parent) -> str:
    where = "missing in the merged file"
    if row.merged is None:
        where = f"gone with the file, which the {parent.other} deleted"
    return f"added by the {parent}, {where}{evidence.by_rule(facts, row)}; {parent}'s text:"


def _remarks(
    facts: AuditFacts, row: Row, parent: Parent, lines: tuple[Line, ...]
) -> tuple[str, ...]:
    on_purpose = evidence.removers(lines, row, facts.removed.get(parent.other, ()))
    return (*on_purpose, *evidence.touches(facts, row, parent))
