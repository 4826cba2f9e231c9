"""What GitHub's check runs say of events, workflow runs and attempts."""

from typing import Any

import pytest

from nightly_sync.forge.base import Check, CheckStatus, Rollup
from nightly_sync.forge.github.rerun import runs_of
from nightly_sync.forge.github.rollup import CheckRun, Context, Found, newest, replaced

URL = "https://github.com/acme/widgets/actions/runs/11620789306"


def run(number: int, conclusion: str | None = "SUCCESS", **suite: Any) -> CheckRun:
    """A job of a workflow run that a push to `dev` started, unless the suite says otherwise."""
    flow = {"workflow": {"id": "W_1", "name": "CI"}, "event": "push", "databaseId": 5, "url": URL}
    facts = {"app": {"slug": "github-actions"}, "branch": {"name": "dev"}, "workflowRun": flow}
    return CheckRun.model_validate(
        {
            "databaseId": number,
            "name": "tests",
            "status": "COMPLETED" if conclusion else "QUEUED",
            "conclusion": conclusion,
            "checkSuite": {"databaseId": 7, **facts, **suite},
        }
    )


def counted(*runs: CheckRun, **attempts: int) -> list[Context]:
    """The runs that count; `job1=2` says that job 1 belongs to attempt 2."""
    return newest(runs, lambda number: attempts.get(f"job{number}"))


@pytest.mark.parametrize(
    ("suite", "event"),
    [
        ({}, "push dev"),
        ({"branch": None}, "push"),
        ({"workflowRun": None}, "dev"),
        ({"branch": None, "workflowRun": None}, ""),
        ({"workflowRun": {"workflow": {"id": "W_1", "name": "CI"}}}, "dev"),
    ],
)
def test_an_event_is_as_much_as_github_says(suite: dict[str, Any], event: str) -> None:
    assert run(1, **suite).check().event == event


@pytest.mark.parametrize(
    ("facts", "number"),
    [
        ({"databaseId": 5, "url": URL}, 5),
        ({"databaseId": None, "url": URL}, 11620789306),
        ({"url": "https://github.com/acme/widgets/actions"}, None),
        ({}, None),
    ],
)
def test_a_workflow_runs_number_is_in_its_address_too(
    facts: dict[str, Any], number: int | None
) -> None:
    flow = run(
        1, workflowRun={"workflow": {"id": "W_1", "name": "CI"}, **facts}
    ).check_suite.workflow_run
    assert flow
    assert flow.number == number


def test_a_job_that_had_passed_may_be_copied_into_the_new_attempt_or_not() -> None:
    failed, passed = run(1, "FAILURE"), run(2)
    again, copy = run(3), run(4)
    assert counted(failed, passed, again, job1=1, job2=1, job3=2) == [again]
    every = counted(failed, passed, again, copy, job1=1, job2=1, job3=2, job4=2)
    assert every == [again, copy]


def test_a_failure_counts_until_every_failed_namesake_has_a_new_run() -> None:
    """Jobs show up one after the other: the first must not hide that the second is to come."""
    old, again = (run(1, "FAILURE"), run(2, "CANCELLED")), (run(3), run(4, None))
    assert counted(*old, again[0], job1=1, job2=1, job3=2) == [*old, again[0]]
    assert counted(*old, *again, job1=1, job2=1, job3=2, job4=2) == list(again)


def test_only_the_attempt_before_the_last_is_compared_with_it() -> None:
    first, second = (run(1, "FAILURE"), run(2, "FAILURE")), (run(3), run(4, "FAILURE"))
    attempts = {"job1": 1, "job2": 1, "job3": 2, "job4": 2, "job5": 3}
    assert counted(*first, *second, run(5), **attempts) == [run(5)]


def gone(*runs: CheckRun, **attempts: int) -> list[Context]:
    """Those that a rerun replaced, as far as that is certain."""

    def attempt_of(number: int) -> int | None:
        return attempts.get(f"job{number}")

    return replaced(runs, newest(runs, attempt_of), attempt_of)


def test_what_a_rerun_replaced_is_known() -> None:
    passed, failed = run(1), run(2, "FAILURE")
    assert gone(passed, failed, job1=1, job2=2) == [passed]
    bot: dict[str, Any] = {"app": {"slug": "bot"}, "workflowRun": None}
    assert gone(run(1, **bot), run(2, **bot)) == [run(1, **bot)]
    assert gone(passed, failed) == []


def test_of_two_jobs_of_one_name_nobody_knows_which_one_ran_again() -> None:
    """Reported: the failing one was called flaky, as the other had passed in the attempt before."""
    passed, failed, again = run(1), run(2, "FAILURE"), run(3, "FAILURE")
    assert gone(passed, failed, again, job1=1, job2=1, job3=2) == []


def _check(suite: str, app: str = "github-actions") -> Check:
    return Check(name="tests", app=app, suite=suite, status=CheckStatus.COMPLETED)


def test_each_workflow_run_is_asked_once_and_none_is_left_out() -> None:
    found = Found(Rollup(sha="x"), {}, {}, {"1": 20, "2": 10, "3": 10})
    assert runs_of(found, (_check("1"), _check("2"), _check("3"), _check("1"))) == (10, 20)
    assert runs_of(found, (_check("9", app="bot"),)) == ()
    assert runs_of(found, (_check("1"), _check("9"))) is None
