"""What Claude is told of a merge that has to be repaired: from facts to framed text. Pure."""

from collections.abc import Iterable, Sequence

from nightly_sync.agent.data import Marker
from nightly_sync.agent.inside import shown
from nightly_sync.audits.model import Finding
from nightly_sync.checks.triage import FailureGroup
from nightly_sync.merge.model import MergePlan, PathPlan, Status
from nightly_sync.reports.model import decisions, kind_of

LISTED = 120  # lines of a list
EXCERPT = 6000  # characters of one check's log
ITEMS = 40  # failing tests and the like of one group
COMMITS = 3  # of each side, for one path
REASONS = 600  # characters for one path
_RANK = {Status.UNRESOLVED: 0, Status.PROPOSAL: 1, Status.SETTLED: 2}


def conflicts(plan: MergePlan, marker: Marker) -> str:
    """Which paths were decided by whom and why, those that nothing proved first."""
    ordered = sorted(plan.paths, key=lambda item: (_RANK[item.status], item.path))
    if not ordered:
        return "git merged everything without a conflict."
    label = "paths that git could not merge, or a rule decided, and by which rule"
    return marker.wrap(label, listed(map(_conflict, ordered)))


def _conflict(item: PathPlan) -> str:
    made = ", ".join(dict.fromkeys(f"{rule} ({status})" for rule, status in decisions(item)))
    reasons = "; ".join(dict.fromkeys(part.evidence for part in item.hunks or (item,)))
    commits = (*item.source_commits[:COMMITS], *item.target_commits[:COMMITS])
    named = "; ".join(f"{touch.sha[:10]} {touch.subject}" for touch in commits)
    lines = (
        f"{shown(item.path)}: {kind_of(item)}, {made}",
        f"  why: {reasons[:REASONS]}",
        *([f"  commits: {named}"] if named else []),
    )
    return "\n".join(lines)


def findings(found: Sequence[Finding], marker: Marker, label: str = "findings of audits") -> str:
    """What audits said, framed; "" if nothing."""
    return marker.wrap(label, listed(map(finding, found))) if found else ""


def finding(item: Finding) -> str:
    """One finding: kind, place, evidence."""
    line = f" line {item.line}" if item.line else ""
    return f"{item.severity} {item.kind} in {shown(item.path)}{line}: {item.evidence}"


def failures(groups: Sequence[FailureGroup], marker: Marker) -> str:
    """What failed: one root after the other, with what each log says."""
    return "\n\n".join(_group(at, item, marker) for at, item in enumerate(groups, 1))


def _group(number: int, item: FailureGroup, marker: Marker) -> str:
    roots = sorted({root for failure in item.failures for root in failure.roots})
    items = dict.fromkeys(text for failure in item.failures for text in failure.items)
    facts = (
        f"what: {item.title}",
        f"checks: {', '.join(item.checks)}",
        *([f"missing modules and names: {', '.join(roots)}"] if roots else []),
        *(f"without the merge: {text}" for text in item.baseline),
        *list(items)[:ITEMS],
    )
    # Failures of one root say the same: the first log stands for all.
    log = item.failures[0].excerpt
    return "\n".join(
        (
            f"Failure {number} of kind {item.kind}:",
            marker.wrap(f"failure {number}", "\n".join(facts)),
            marker.wrap(f"from the log of failure {number}", log, EXCERPT, keep="end"),
        )
    )


def listed(lines: Iterable[str]) -> str:
    """The first lines of a list, and how many more there are."""
    every = list(lines)
    more = [f"... and {len(every) - LISTED} more"] if len(every) > LISTED else []
    return "\n".join([*every[:LISTED], *more])
