"""Which group of the report a path belongs to, and what in it comes first: the riskiest."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nightly_sync.config import Category
from nightly_sync.merge.model import PathPlan, Status
from nightly_sync.patterns import matches
from nightly_sync.reports.model import ReportFacts, decisions

FOCUS = "Focus paths"
OTHER = "Other source"


@dataclass(frozen=True)
class Group:
    """Paths of one category, riskiest first; never empty."""

    name: str
    paths: tuple[PathPlan, ...]


def category_of(path: str, focus: Iterable[str], categories: Iterable[Category]) -> str:
    """Focus paths first, then the first category that matches, else other source."""
    if matches(path, focus):
        return FOCUS
    found = (item.name for item in categories if matches(path, item.paths))
    return next(found, OTHER)


def groups(facts: ReportFacts) -> tuple[Group, ...]:
    """Every path with a conflict or an open question: focus, other source, then as configured."""
    errors = Counter(finding.path for finding in facts.errors)
    order = dict.fromkeys((FOCUS, OTHER, *(item.name for item in facts.categories)))
    members: dict[str, list[PathPlan]] = {name: [] for name in order}
    for item in shown_paths(facts):
        members[category_of(item.path, facts.focus, facts.categories)].append(item)
    return tuple(
        Group(name, tuple(sorted(paths, key=lambda item: risk(item, errors))))
        for name, paths in members.items()
        if paths
    )


def shown_paths(facts: ReportFacts) -> tuple[PathPlan, ...]:
    """Conflicts, and paths without one that a rule changed without being sure."""
    return tuple(
        item for item in facts.plan.paths if item.kinds or item.status is not Status.SETTLED
    )


def risk(item: PathPlan, errors: Mapping[str, int]) -> tuple[int, int, int, str]:
    """Sort key: unresolved, then error findings, then proposals by their hunks, then settled."""
    open_hunks = sum(status is not Status.SETTLED for _, status in decisions(item))
    return _rank(item, errors), -errors.get(item.path, 0), -open_hunks, item.path


def _rank(item: PathPlan, errors: Mapping[str, int]) -> int:
    if item.status is Status.UNRESOLVED:
        return 0
    if errors.get(item.path):
        return 1
    return 2 if item.status is Status.PROPOSAL else 3


def riskiest(facts: ReportFacts) -> tuple[PathPlan, ...]:
    """All shown paths that are not settled, focus paths before others at the same risk."""
    errors = Counter(finding.path for finding in facts.errors)
    open_ones = (item for item in shown_paths(facts) if item.status is not Status.SETTLED)

    def key(item: PathPlan) -> tuple[int, bool, int, int, str]:
        rank, found, hunks, path = risk(item, errors)
        return rank, not matches(path, facts.focus), found, hunks, path

    return tuple(sorted(open_ones, key=key))
