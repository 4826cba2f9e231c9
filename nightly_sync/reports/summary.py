"""The last word of a run: a comment on the pull request, and the same for the terminal."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from nightly_sync.diffs import python_line
from nightly_sync.reports import markdown as md
from nightly_sync.reports.claude import claude_line
from nightly_sync.reports.cutting import cut
from nightly_sync.reports.headline import verdict
from nightly_sync.reports.model import (
    CheckResult,
    ChecksFacts,
    ReportFacts,
    decisions,
    plural,
)

EVIDENCE = 200  # characters of the reason why a check failed
LISTED = 30  # names of one list
CUT = "Cut for size; the pull request's text and the report have it all."
LIMIT = 60_000  # characters of the comment; GitHub takes 65,536


@dataclass(frozen=True)
class _Item:
    """A line in plain text, with an address to read on."""

    text: str
    url: str = ""
    baseline: str = ""


def comment(facts: ReportFacts) -> str:
    """The summary as Markdown: outcome, checks, exemptions, known failures, files by rule."""
    blocks = [f"**{md.inline(verdict(facts))}**", md.inline(facts.reason)]
    blocks += [_block(title, items, _markdown) for title, items in _lists(facts).items() if items]
    text = "\n\n".join(block for block in blocks if block)
    return cut(text, LIMIT, CUT) + "\n"


def terminal(facts: ReportFacts) -> str:
    """The same in plain lines; control characters of foreign text are shown, not obeyed."""
    link = f"Pull request: {facts.pull_request}" if facts.pull_request else ""
    lines = [md.one_line(text) for text in (verdict(facts), facts.reason, link)]
    lines += [_block(title, items, _plain) for title, items in _lists(facts).items() if items]
    return "\n".join(line for line in lines if line) + "\n"


def _block(title: str, items: list[_Item], show: Callable[[_Item], str]) -> str:
    more = len(items) - LISTED
    rest = [f"- and {more} more"] if more > 0 else []
    return "\n".join([f"{title}:", *(f"- {show(item)}" for item in items[:LISTED]), *rest])


def _markdown(item: _Item) -> str:
    links = {"details": item.url, "on the target": item.baseline}
    shown = ", ".join(md.link(text, url) for text, url in links.items() if url)
    return md.inline(item.text) + (f" ({shown})" if shown else "")


def _plain(item: _Item) -> str:
    return md.one_line(" ".join(part for part in (item.text, item.url, item.baseline) if part))


def _lists(facts: ReportFacts) -> dict[str, list[_Item]]:
    checks = facts.checks or ChecksFacts()
    return {
        "Figures": _figures(facts),
        "Files by rule": _rules(facts),
        "Checks passed": [_Item(name) for name in checks.passed],
        "Checks failed": [_result(item) for item in checks.failed],
        "Fail on the target too": [_result(item) for item in checks.pre_existing],
        "Not finished": [_Item(name) for name in checks.waiting],
        "Exempt": [_Item(f"{item.name}, by pattern {item.pattern}") for item in checks.exempt],
        "On the way": [_Item(note) for note in checks.notes],
    }


def _figures(facts: ReportFacts) -> list[_Item]:
    plan = facts.plan
    conflicts = (
        f"{plural(len(plan.conflicts), 'conflicted file')}: {len(plan.proposals)} to look at, "
        f"{len(plan.unresolved)} to decide"
    )
    audits = (
        f"{plural(len(facts.errors), 'error')} and "
        f"{plural(len(facts.audit_warnings), 'warning')} of the audits"
    )
    stats = [_Item(python_line(facts.stats))] if facts.stats else []
    claude = claude_line(facts.agent)
    return [_Item(conflicts), _Item(audits), *stats, *([_Item(claude)] if claude else [])]


def _rules(facts: ReportFacts) -> list[_Item]:
    """A file with hunks of two rules counts for both."""
    counts: Counter[str] = Counter()
    for item in facts.plan.paths:
        counts.update({rule for rule, _ in decisions(item)})
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [_Item(f"{rule}: {number}") for rule, number in ranked]


def _result(item: CheckResult) -> _Item:
    why = ": ".join(text for text in (item.conclusion, item.evidence) if text)
    text = f"{item.name}: {md.one_line(why, EVIDENCE)}" if why else item.name
    return _Item(text, item.url, item.baseline)
