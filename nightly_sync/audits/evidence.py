"""How findings put their evidence: a sentence, then quoted lines. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nightly_sync import paths
from nightly_sync.audits import ranking
from nightly_sync.audits.compare import Row
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.history import Removal
from nightly_sync.audits.lines import Line
from nightly_sync.audits.model import Finding, FindingKind, Parent, Severity
from nightly_sync.merge.model import Touch

SAMPLES = 5  # lines quoted in one finding
WIDTH = 200  # characters of a quoted line
COMMITS = 3  # commits named for one file


@dataclass(frozen=True)
class FileLines:
    """Lines of one file that a finding is about; `sentence` says what is amiss with them."""

    row: Row
    lines: tuple[Line, ...]
    sentence: str
    remarks: tuple[str, ...] = ()  # what else a person wants to know, a line each


def plural(number: int, word: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def quote(lines: Sequence[Line]) -> str:
    """The first few lines as they stand in their file, each with its number."""
    return numbered([(line.number, paths.from_bytes(line.text)) for line in lines], SAMPLES)


def numbered(lines: Sequence[tuple[int, str]], limit: int) -> str:
    """Lines with their numbers, indented, and how many more there are."""
    shown = [f"  {number}: {clip(text)}" for number, text in lines[:limit]]
    more = [f"  and {len(lines) - limit} more"] if len(lines) > limit else []
    return "\n".join([*shown, *more])


def clip(text: str) -> str:
    """A line of code, cut where it gets too long to read."""
    return text if len(text) <= WIDTH else f"{text[:WIDTH]}..."


def findings(facts: AuditFacts, kind: FindingKind, found: Iterable[FileLines]) -> list[Finding]:
    """One warning a file, ranked; a rank's smallest files share one when there are many."""

    def rank_of(item: FileLines) -> int:
        return ranking.rank(item.row.path, facts.config)

    ordered = sorted(found, key=lambda item: (rank_of(item), -len(item.lines), item.row.path))
    result = []
    for shown, rest in ranking.split(ordered, rank_of):
        result += [_finding(kind, item) for item in shown]
        result += [_rest(kind, rest)] if rest else []
    return result


def _finding(kind: FindingKind, item: FileLines) -> Finding:
    head = f"{plural(len(item.lines), 'line')} {item.sentence}"
    return Finding(
        severity=Severity.WARNING,
        kind=kind,
        path=item.row.path,
        line=item.lines[0].number,
        evidence="\n".join([head, quote(item.lines), *item.remarks]),
    )


def _rest(kind: FindingKind, items: Sequence[FileLines]) -> Finding:
    total = sum(len(item.lines) for item in items)
    head = f"and {plural(total, 'line')} in {plural(len(items), 'more file')} of this kind:"
    names = (f"  {item.row.path} ({len(item.lines)})" for item in items)
    evidence = "\n".join([head, *names])
    return Finding(severity=Severity.WARNING, kind=kind, path=items[0].row.path, evidence=evidence)


def removers(lines: Iterable[Line], row: Row, removed: Iterable[Removal]) -> Iterator[str]:
    """Commits that took these very lines out of the file, with how many; the newest for each."""
    blame: dict[bytes, Removal] = {}
    for item in removed:
        if item.path in row.names:
            for key in item.lines:
                blame.setdefault(key, item)
    counts = Counter(blame[line.key].name for line in lines if line.key in blame)
    for name, count in counts.most_common(COMMITS):
        yield f"{count} of them removed on purpose: {name}"


def touches(facts: AuditFacts, row: Row, parent: Parent) -> Iterator[str]:
    """The commits of one side that touched the file, as the plan knows them."""
    plan = facts.plan_of(row)
    if plan is None:
        return
    commits = plan.source_commits if parent is Parent.SOURCE else plan.target_commits
    if commits:
        yield f"{parent} commits here: {', '.join(_named(item) for item in commits[:COMMITS])}"


def _named(commit: Touch) -> str:
    return f"{commit.sha[:10]} {commit.subject}"


def by_rule(facts: AuditFacts, row: Row) -> str:
    """The rule that made the file what it is, to end a sentence; empty if none did."""
    plan = facts.plan_of(row)
    return f" (rule {plan.rule})" if plan else ""
