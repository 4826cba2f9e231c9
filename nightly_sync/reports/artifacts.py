"""What a run leaves in Prefect: keys, Markdown within its size, and rows of plain values.

A table's columns come from its first row, so that every row of a table has the same keys; values
are only str, int, float, bool and None.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence

from nightly_sync import paths
from nightly_sync.agent.facts import AgentFacts
from nightly_sync.audits.model import Finding
from nightly_sync.diffs import LineStats
from nightly_sync.merge.model import PathPlan, Touch
from nightly_sync.record import RunRecord
from nightly_sync.reports import markdown as md
from nightly_sync.reports.categories import category_of
from nightly_sync.reports.cutting import utf8_size
from nightly_sync.reports.model import ReportFacts, kind_of, plural

LIMIT = 480_000  # bytes; below 500 KB, as JSON adds escapes
CELL = 500  # characters

Value = str | int | float | bool | None
Row = dict[str, Value]


def artifact_key(kind: str, repository: str, source: str, target: str) -> str:
    """A key that stays the same from run to run: lowercase letters, digits and dashes.

    The readable part may be the same for two repositories; the hash is not.
    """
    home = _address(repository)
    digest = hashlib.sha256("\0".join((home, source, target)).encode("utf-8", "surrogateescape"))
    name = home.replace("\\", "/").rsplit("/", 1)[-1]
    words = (_slug(word) for word in (kind, name, source, target))
    return "-".join([*(word for word in words if word), digest.hexdigest()[:8]])


def _address(repository: str) -> str:
    """The address without credentials, a closing slash or `.git`."""
    bare = re.sub(r"^([a-z+]+://)[^/@]*@", r"\1", repository)
    return bare.rstrip("/").removesuffix(".git")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-")


def fit_rows(rows: Sequence[Row], limit: int = LIMIT) -> tuple[list[Row], str]:
    """The first rows that fit into `limit` bytes of JSON, and a sentence about the others."""
    used, kept = 2, 0
    for row in rows:
        used += utf8_size(json.dumps(row)) + 2
        if used > limit:
            break
        kept += 1
    more = len(rows) - kept
    note = f"{plural(more, 'row')} of {len(rows)} left out for size, see plan.json and report.md."
    return list(rows[:kept]), note if more else ""


def conflict_rows(facts: ReportFacts) -> list[Row]:
    """One row a conflicted path; empty without conflicts."""
    return [_conflict_row(item, facts) for item in facts.plan.conflicts]


def _conflict_row(item: PathPlan, facts: ReportFacts) -> Row:
    return {
        "path": _path(item.path),
        "category": category_of(item.path, facts.focus, facts.categories),
        "conflict": kind_of(item),
        "rule": item.rule,
        "took": item.take.value if item.take else "",
        "status": item.status.value,
        "hunks": len(item.hunks),
        "evidence": md.one_line(item.evidence, CELL),
        "source_pull_requests": _pull_requests(item.source_commits),
        "target_pull_requests": _pull_requests(item.target_commits),
    }


def _path(name: str) -> str:
    return md.one_line(paths.quote(name))


def _pull_requests(commits: Iterable[Touch]) -> str:
    numbers = (item.pull_request for item in commits)
    return ", ".join(dict.fromkeys(f"#{number}" for number in numbers if number is not None))


def stats_rows(stats: LineStats) -> list[Row]:
    """One row a counted file, the most changed first."""
    ranked = sorted(
        stats.per_file, key=lambda row: (-(row.added or 0) - (row.deleted or 0), row.path)
    )
    return [
        {
            "path": _path(row.path),
            "added": row.added or 0,
            "deleted": row.deleted or 0,
            "binary": row.added is None,
        }
        for row in ranked
    ]


def finding_rows(findings: Iterable[Finding]) -> list[Row]:
    """One row a finding, in the order given."""
    return [
        {
            "severity": item.severity.value,
            "kind": item.kind.value,
            "path": _path(item.path),
            "line": item.line,
            "evidence": md.one_line(item.evidence, CELL),
            "outcome": md.one_line(item.outcome, CELL),
        }
        for item in findings
    ]


def claude_rows(agent: AgentFacts) -> list[Row]:
    """What Claude cost: the run, each kind of task, each file; empty where it was not asked."""
    groups = (("run", {"": agent.spent}), ("task", agent.by_task), ("file", agent.by_file))
    if not agent.spent.turns:
        return []
    return [
        {"what": what, "name": _path(name), **cost.model_dump()}
        for what, items in groups
        for name, cost in items.items()
        if name or what == "run"
    ]


def metrics_rows(record: RunRecord) -> list[Row]:
    """The run as one row; what is a mapping in the record is JSON text here."""
    fields = record.model_dump(mode="json")
    return [{key: _plain(value) for key, value in fields.items()}]


def _plain(value: object) -> Value:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return json.dumps(value, sort_keys=True)
