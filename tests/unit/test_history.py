"""The history of runs as a frame, a summary and a table of rules."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from nightly_sync import history
from nightly_sync.record import Outcome, RunRecord
from nightly_sync.reports.artifacts import metrics_rows

START = datetime(2026, 11, 30, 21, 0, tzinfo=UTC)


def _row(night: int, **fields: Any) -> dict[str, Any]:
    record = RunRecord(
        run_id=fields.pop("run_id", f"run-{night}"),
        started_at=START + timedelta(days=night),
        seconds=60.0 + night,
        repository=fields.pop("repository", "origin.git"),
        source_branch="main",
        target_branch="dev",
        outcome=fields.pop("outcome", Outcome.READY),
        **fields,
    )
    (row,) = metrics_rows(record)
    return row


def test_a_metrics_artifact_comes_back_as_rows() -> None:
    assert history.rows_of(json.dumps([_row(0)])) == [_row(0)]
    assert history.rows_of("null") == []


def test_runs_are_in_order_and_counted_once() -> None:
    again = _row(1, outcome=Outcome.CI_FAILED)
    table = history.frame([_row(2), again, _row(0), _row(1)])
    assert list(table["run_id"]) == ["run-0", "run-1", "run-2"]
    assert table["started_at"].dt.tz is not None
    assert table["proposals"].dtype == "int64"


def test_no_runs_make_an_empty_frame_and_no_rows() -> None:
    table = history.frame([])
    assert len(table) == 0
    assert history.summary(table) == []
    assert history.rules_table(table) == []


def test_unknown_columns_of_a_newer_schema_are_left_out() -> None:
    assert "moon" not in history.frame([_row(0) | {"moon": "full"}]).columns


def test_the_summary_has_one_row_a_pair_of_plain_values() -> None:
    rows = history.summary(
        history.frame(
            [
                _row(0, conflicts={"contents": 2, "add/add": 1}, proposals=2),
                _row(1, outcome=Outcome.CI_FAILED, errors=3),
                _row(2, run_id="other", repository="second.git"),
            ]
        )
    )
    first, second = rows
    assert (first["runs"], first["ready"], first["ready_percent"]) == (2, 1, 50.0)
    assert (first["conflicts"], first["proposals"], first["errors"]) == (3, 2, 3)
    assert (first["last_outcome"], second["repository"]) == ("ci-failed", "second.git")
    assert all(type(value) in (str, int, float) for row in rows for value in row.values())
    assert first.keys() == second.keys()


def test_rules_add_up_over_runs() -> None:
    table = history.frame(
        [_row(0, rules={"fallback": 2}), _row(1, rules={"fallback": 1, "protect": 1})]
    )
    assert history.rules_table(table) == [
        {"rule": "fallback", "decisions": 3},
        {"rule": "protect", "decisions": 1},
    ]
