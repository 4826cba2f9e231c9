"""A failure is pre-existing only where nothing at all speaks against it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nightly_sync.checks.baseline import (
    Classification,
    NoBaseline,
    classify,
    conclusive,
    is_at_work,
    is_over,
    is_under_way,
    tells,
    unprovable,
)
from nightly_sync.checks.items import FailureKind
from nightly_sync.checks.logs import CUT
from nightly_sync.checks.triage import Failure, triage
from nightly_sync.forge.base import BaselineResult, Check, CheckStatus, Rollup

WHERE = "the target's commit 1a2b3c4d5e6f"
NOW = datetime(2026, 11, 30, 3, tzinfo=UTC)
GRACE = timedelta(minutes=15)


def log(*tests: str, ending: str = "") -> str:
    """What pytest prints where these tests fail."""
    lines = [f"FAILED tests/test_a.py::{test} - assert 1 == 2" for test in tests]
    return "\n".join([*lines, f"{len(tests)} failed in 0.1s", ending])


def check(**fields: Any) -> Check:
    """A check that failed."""
    given = {"name": "tests", "status": CheckStatus.COMPLETED, "conclusion": "FAILURE"}
    return Check.model_validate(given | fields)


def failure(*tests: str, ending: str = "", **fields: Any) -> Failure:
    """A check in which these tests fail."""
    return triage(check(**fields), log(*tests, ending=ending))


def there(*tests: str, ending: str = "", **fields: Any) -> BaselineResult:
    """The same on the target."""
    return BaselineResult(check=check(**fields), log=log(*tests, ending=ending), where=WHERE)


def said(text: str, **fields: Any) -> tuple[Failure, BaselineResult]:
    """One log, here and there."""
    red = check(**fields)
    return triage(red, text), BaselineResult(check=red, log=text, where=WHERE)


def test_the_same_failures_on_the_target_are_pre_existing_with_place_and_link() -> None:
    result = classify(failure("test_a", "test_b"), there("test_b", "test_a", url="ci/1.log"))
    assert result.pre_existing
    assert result.evidence.startswith(f"Fails in the same way on {WHERE}: FAILED tests/test_a.py")
    assert (result.new_items, result.url) == ((), "ci/1.log")


def test_more_failures_than_on_the_target_are_ours_and_named() -> None:
    result = classify(failure("test_a", "test_b"), there("test_a"))
    assert not result.pre_existing
    assert result.new_items == ("FAILED tests/test_a.py::test_b - assert 1 == 2",)
    assert result.evidence == f"only here: {result.new_items[0]}."


def test_the_same_test_failing_twice_as_often_is_not_the_same() -> None:
    assert not classify(failure("test_a", "test_a"), there("test_a")).pre_existing


def test_fewer_or_other_failures_are_not_the_same_either() -> None:
    fewer = classify(failure("test_a"), there("test_a", "test_b"))
    assert not fewer.pre_existing
    assert fewer.evidence.startswith(f"only on {WHERE}: FAILED tests/test_a.py::test_b")
    other = classify(failure("test_a"), there("test_b"))
    assert "only here" in other.evidence
    assert f"only on {WHERE}" in other.evidence


def test_a_difference_beyond_the_items_that_are_kept_is_a_difference() -> None:
    """Of very long lists only the last items are kept; the signature is made of all."""
    here, other = said("\n".join(f"src/a.py:1:1: F{number} bad" for number in range(1000, 2000)))
    longer = other.model_copy(update={"log": f"src/a.py:1:1: A1 bad\n{other.log}"})
    assert classify(here, other).pre_existing
    result = classify(here, longer)
    assert (result.pre_existing, result.evidence) == (False, f"Fails in another way on {WHERE}.")


def test_what_passes_on_the_target_is_ours_and_says_where() -> None:
    passed = classify(failure("test_a"), there("test_a", conclusion="SUCCESS", url="ci/2.log"))
    assert passed == Classification(
        pre_existing=False, evidence=f"It passes on {WHERE}.", url="ci/2.log"
    )


def test_what_nobody_knows_of_the_target_is_ours_and_says_why() -> None:
    result = classify(failure("test_a"), NoBaseline(why="no such check"))
    assert not result.pre_existing
    assert result.evidence == "Not known whether it fails without this sync: no such check."


@pytest.mark.parametrize(
    "change",
    [
        {"conclusion": "TIMED_OUT"},
        {"conclusion": "CANCELLED"},
        {"conclusion": "STARTUP_FAILURE"},
        {"status": CheckStatus.IN_PROGRESS},
        {"ending": "!!!! stopping after 1 failures !!!!"},
        {"ending": "##[error]Process completed with exit code 137."},
        {"ending": "##[error]The job has exceeded the maximum execution time of 6h0m0s"},
        {"ending": CUT},
    ],
)
def test_a_run_that_did_not_end_on_either_side_proves_nothing(change: dict[str, Any]) -> None:
    here = classify(failure("test_a", **change), there("test_a"))
    other = classify(failure("test_a"), there("test_a", **change))
    assert not here.pre_existing
    assert not other.pre_existing
    assert here.evidence.startswith("Not known: ")
    assert other.evidence.startswith(f"Not known, for on {WHERE} ")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the log says nothing"),
        ("it broke, as it always does", "no line of its log says what failed"),
        ("E: Failed to fetch http://deb.debian.org/x", "it failed over its surroundings"),
    ],
)
def test_two_equal_failures_that_say_too_little_prove_nothing(text: str, why: str) -> None:
    here, other = said(text)
    result = classify(here, other)
    assert not result.pre_existing
    assert result.evidence.startswith(f"Not known: {why}")
    told = classify(failure("test_a"), other)
    assert told.evidence.startswith(f"Not known, for on {WHERE} {why}")


def test_an_empty_signature_is_equal_to_none() -> None:
    nothing = Failure(check=check(), kind=FailureKind.TEST, signature="", title="")
    assert unprovable(nothing)


def test_another_check_proves_nothing() -> None:
    assert not classify(failure("test_a"), there("test_a", name="other")).pre_existing


def test_a_check_of_another_workflow_file_of_the_same_name_is_another() -> None:
    """Reported: two files that name themselves `CI` answered for each other."""
    mine = check(workflow="CI", workflow_id="W_1", started_at=NOW)
    others = rollup(mine.model_copy(update={"workflow_id": "W_2"}))
    assert conclusive(others, mine) is None
    assert conclusive(rollup(mine), mine) == mine
    sums, result = said("Some jobs failed: tests", **SUM, workflow_id="W_1")
    proven = check(app="github-actions", workflow="CI", workflow_id="W_2")
    assert not classify(sums, result, [proven]).pre_existing


def test_long_evidence_is_shortened() -> None:
    tests = [f"test_{number}" for number in range(9)]
    assert classify(failure(*tests), there(*tests)).evidence.endswith("and 4 more.")


STEP = "##[error]Process completed with exit code 1."


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (f"docs/a.md: broken link to new.md\n{STEP}", "2 failing steps"),
        (
            "FAIL Required test coverage of 80% not reached. Total coverage: 61%",
            "FAIL Required test coverage of 80% not reached. Total coverage: 61%",
        ),
        ("Coverage failure: total of 61 is less than fail-under=80", "Coverage failure: "),
        ("##[error]Secrets found in src/config.py", "##[error]Secrets found in src/config.py"),
    ],
)
def test_what_another_step_says_is_not_hidden_behind_a_failing_test(more: str, named: str) -> None:
    """Reported: a failure of no known pattern beside a known one was taken for pre-existing."""
    other = there("test_a", ending=STEP)
    assert classify(failure("test_a", ending=STEP), other).pre_existing
    result = classify(failure("test_a", ending=f"{STEP}\n{more}"), other)
    assert not result.pre_existing
    assert result.evidence.startswith(f"only here: {named}")


def test_a_first_step_that_ends_with_an_exit_code_is_one_more_than_none() -> None:
    """Reported: an action's failure on the target hid that a command failed here as well."""
    said_so = "##[error]The process failed"
    other = there("test_a", ending=said_so)
    assert classify(failure("test_a", ending=said_so), other).pre_existing
    assert not classify(failure("test_a", ending=f"{said_so}\n{STEP}"), other).pre_existing


def test_the_same_steps_failing_on_the_target_are_pre_existing() -> None:
    both = f"{STEP}\n##[error]Secrets found in src/config.py\n{STEP}"
    assert classify(failure("test_a", ending=both), there("test_a", ending=both)).pre_existing


SUM = {"name": "gate", "app": "github-actions", "workflow": "CI"}


def test_a_sum_of_jobs_is_pre_existing_only_beside_a_job_of_its_workflow_that_is() -> None:
    here, other = said("Some jobs failed: tests", **SUM)
    job = check(app="github-actions", workflow="CI")
    assert here.aggregate
    assert classify(here, other, [job]).pre_existing
    for proven in ([], [job.model_copy(update={"workflow": "Other"})]):
        result = classify(here, other, proven)
        assert not result.pre_existing
        assert result.evidence == "Not known: it only says that other jobs failed."


def test_a_sum_without_a_workflow_has_no_jobs_that_anyone_could_know() -> None:
    here, other = said("Some jobs failed: tests", name="external", app="commit-status")
    assert not classify(here, other, [check(app="commit-status")]).pre_existing


def test_a_sum_of_other_jobs_is_another_failure() -> None:
    here, _ = said("Some jobs failed: tests", **SUM)
    _, other = said("Some jobs failed: lint", **SUM)
    assert not classify(here, other, [check(app="github-actions", workflow="CI")]).pre_existing


def test_a_result_tells_if_it_passed_or_says_what_failed() -> None:
    assert tells(there("test_a"))
    assert tells(there(conclusion="SUCCESS"))
    assert not tells(there("test_a", conclusion="TIMED_OUT"))
    assert not tells(said("it broke")[1])


# What is still to come


def rollup(*checks: Check) -> Rollup:
    """All checks of a commit."""
    return Rollup(sha="1" * 40, checks=checks)


def test_a_check_is_under_way_while_it_or_a_job_of_its_workflow_runs() -> None:
    wanted = check(app="github-actions", workflow="CI")
    running = {"status": CheckStatus.IN_PROGRESS, "conclusion": None}
    assert is_under_way(rollup(wanted.model_copy(update=running)), wanted)
    other = wanted.model_copy(update={"name": "build", **running})
    assert is_under_way(rollup(other), wanted)
    assert not is_under_way(rollup(wanted), wanted)
    assert not is_under_way(rollup(other.model_copy(update={"workflow": "Docs"})), wanted)
    status = check(app="commit-status")
    assert is_under_way(rollup(status.model_copy(update=running)), status)
    assert not is_under_way(
        rollup(status.model_copy(update={"name": "cla", **running})),
        status,
    )


@pytest.mark.parametrize(
    ("checks", "minutes", "over"),
    [
        ((), 15, True),
        ((), 14, False),
        ((check(completed_at=NOW + timedelta(minutes=5)),), 19, False),
        ((check(completed_at=NOW + timedelta(minutes=5)),), 20, True),
        ((check(completed_at=NOW - timedelta(hours=1)),), 15, True),
        ((check(status=CheckStatus.QUEUED),), 600, False),
        ((check(status=CheckStatus.OTHER),), 600, False),
        ((check(name="approval", status=CheckStatus.WAITING),), 600, True),
    ],
)
def test_it_is_over_once_nothing_runs_and_nothing_has_started_for_long(
    checks: tuple[Check, ...], minutes: int, over: bool
) -> None:
    now = NOW + timedelta(minutes=minutes)
    assert is_over(rollup(*checks), NOW, now, GRACE, ("approval*",)) is over


def test_an_exempt_check_keeps_nobody_waiting() -> None:
    waiting = check(name="approval", status=CheckStatus.WAITING)
    assert is_at_work(rollup(waiting), ())
    assert not is_at_work(rollup(waiting), ("approval",))
