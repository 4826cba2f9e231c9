"""All runs as one pandas frame, and what they add up to. Pure: rows in, frames and rows out."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from nightly_sync.record import RunRecord
from nightly_sync.reports.artifacts import Row

COLUMNS = tuple(RunRecord.model_fields)
_MAPPINGS = ("conflicts", "rules", "findings")
_PAIR = ["repository", "source_branch", "target_branch"]
_READY = ("ready", "ready-needs-look", "nothing-to-do")


def rows_of(data: object) -> list[dict[str, Any]]:
    """The rows of one metrics artifact: Prefect hands tables back as a JSON string."""
    found = json.loads(data) if isinstance(data, str) else data
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """One line a run, oldest first; a run that was recorded twice counts once, the newest way.

    Times are UTC, counts integers; the mappings stay JSON text, as a table has no place for them.
    Rows of a newer schema keep the columns known here.
    """
    table = pd.DataFrame(list(rows), columns=list(COLUMNS))
    table["started_at"] = pd.to_datetime(table["started_at"], utc=True, format="ISO8601")
    numbers = [name for name, field in RunRecord.model_fields.items() if field.annotation is int]
    table[numbers] = table[numbers].fillna(0).astype("int64")
    table["seconds"] = table["seconds"].astype("float64")
    newest_last = table.sort_values(["started_at", "run_id"], kind="stable")
    return newest_last.drop_duplicates("run_id", keep="last").reset_index(drop=True)


def spread(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """A mapping column (`conflicts`, `rules`, `findings`) as one integer column a key."""
    found = [json.loads(text) if isinstance(text, str) and text else {} for text in table[column]]
    return pd.DataFrame(found, index=table.index).fillna(0).astype("int64").sort_index(axis=1)


def summary(table: pd.DataFrame) -> list[Row]:
    """One row a repository and branch pair: how often, how well, how long, how much work."""
    groups = table.groupby(_PAIR, sort=True)
    return [_summary(dict(zip(_PAIR, names, strict=True)), group) for names, group in groups]


def _summary(names: Mapping[str, Any], group: pd.DataFrame) -> Row:
    good = group["outcome"].isin(_READY)
    conflicts = spread(group, "conflicts")
    return {
        **{key: str(value) for key, value in names.items()},
        "runs": len(group),
        "ready": int(good.sum()),
        "ready_percent": round(100.0 * float(good.mean()), 1),
        "last_run": group["started_at"].iloc[-1].isoformat(),
        "last_outcome": str(group["outcome"].iloc[-1]),
        "median_seconds": round(float(group["seconds"].median()), 1),
        "conflicts": int(conflicts.to_numpy().sum()),
        "proposals": int(group["proposals"].sum()),
        "errors": int(group["errors"].sum()),
        "warnings": int(group["warnings"].sum()),
    }


def rules_table(table: pd.DataFrame) -> list[Row]:
    """How often each rule decided, over all runs, most often first."""
    totals = spread(table, "rules").sum().sort_values(ascending=False, kind="stable")
    return [{"rule": str(rule), "decisions": int(number)} for rule, number in totals.items()]
