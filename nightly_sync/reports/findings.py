"""Findings as Markdown: where, what, the evidence, and what became of it."""

from collections.abc import Iterable

from nightly_sync.audits.model import Finding, Severity
from nightly_sync.reports import markdown as md
from nightly_sync.reports.excerpt import excerpt
from nightly_sync.reports.headline import PROSE, place
from nightly_sync.reports.model import ReportFacts, plural
from nightly_sync.reports.parts import Part

EVIDENCE_LINES = 12


def findings_part(facts: ReportFacts) -> Part:
    """Every finding, errors first; inside a severity in the order the audits ranked them."""
    ranked = (*facts.errors, *facts.audit_warnings)
    text = "\n".join(_item(item) for item in ranked) or "The audits found nothing."
    counts = f"{plural(len(facts.errors), 'error')}, {plural(len(facts.audit_warnings), 'warning')}"
    return Part("Findings", f"## Findings: {counts}", text)


def finding_line(item: Finding) -> str:
    """A finding where its file is already named."""
    line = f" line {item.line}" if item.line else ""
    first, _ = _evidence(item)
    return f"{_bold(item)} {item.kind}{line}: {first}{_outcome(item)}"


def _item(item: Finding) -> str:
    first, rest = _evidence(item)
    line = f"- {_bold(item)} {item.kind}, {place(item)}: {first}{_outcome(item)}"
    return "\n".join([line, "", *_indented(rest), ""]) if rest else line


def _bold(item: Finding) -> str:
    return f"**{item.severity}**" if item.severity is Severity.ERROR else item.severity.value


def _evidence(item: Finding) -> tuple[str, str]:
    """The first line as prose; further lines, such as lost code, as they are."""
    first, _, rest = item.evidence.strip().partition("\n")
    return md.inline(first, PROSE), rest


def _indented(rest: str) -> Iterable[str]:
    block = md.fence(excerpt(rest, "see the findings table", EVIDENCE_LINES))
    return (f"  {line}" for line in block.split("\n"))


def _outcome(item: Finding) -> str:
    return f" Outcome: {md.inline(item.outcome, PROSE)}" if item.outcome else ""
