"""Failures of a check that passed before on the same commit."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nightly_sync.checks.flaky import passed_before
from nightly_sync.forge.base import Check, CheckStatus, Rollup

START = datetime(2026, 11, 30, 2, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def run(minute: int, conclusion: str = "SUCCESS", **fields: Any) -> Check:
    """A run of `tests` that took a minute."""
    start = START + minute * MINUTE
    facts = {"name": "tests", "app": "actions", "workflow": "CI", "suite": str(minute)}
    times = {"started_at": start, "completed_at": start + MINUTE}
    done = {"status": CheckStatus.COMPLETED, "conclusion": conclusion}
    return Check.model_validate({**facts, **times, **done, **fields})


FAILED = run(10, "FAILURE")


def before(check: Check, *beside: Check, earlier: tuple[Check, ...] = ()) -> Check | None:
    """What passed before, among these results of the commit."""
    return passed_before(check, Rollup(sha="x", checks=(*beside, check), earlier=earlier))


def test_the_newest_earlier_success_is_named() -> None:
    first, second = run(1), run(5)
    assert before(FAILED, second, first) == second
    assert before(FAILED, first, run(9)) == run(9)
    assert before(FAILED, first, earlier=(second,)) == second
    assert before(FAILED) is None


def test_the_suite_and_what_started_it_do_not_matter() -> None:
    other = run(1, event="push dev")
    assert before(FAILED, other) == other
    replaced = run(1, suite=FAILED.suite)
    assert before(FAILED, earlier=(replaced,)) == replaced


def test_a_job_of_one_name_that_another_waited_for_says_nothing() -> None:
    """Reported: the second of two jobs of one name was called flaky, as the first had passed."""
    assert before(FAILED, run(1, suite=FAILED.suite)) is None


@pytest.mark.parametrize(
    "other",
    [
        run(1, "FAILURE"),
        run(1, "SKIPPED"),
        run(1, status=CheckStatus.IN_PROGRESS),
        run(1, name="lint"),
        run(1, app="other"),
        run(1, workflow="Nightly"),
        run(1, workflow_id="W_2"),  # another file of the same name
        run(10),  # a job of the same name beside it
        run(11),
        run(9, completed_at=START + 11 * MINUTE),
        run(1, completed_at=None),
    ],
)
def test_other_results_say_nothing(other: Check) -> None:
    assert before(FAILED, other) is None


def test_a_failure_without_a_start_cannot_be_compared() -> None:
    assert before(run(10, "FAILURE", started_at=None), run(1)) is None
