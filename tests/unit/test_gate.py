"""The gate, condition by condition. `tests/mutate_gate.py` checks that each one is pinned here.

Everything is reached through `gate.`, so that the mutation script can put a mutant in its place.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nightly_sync.checks import gate
from nightly_sync.forge.base import Check, CheckStatus, Rollup

HEAD = "a" * 40
TRIGGER = datetime(2026, 11, 30, 21, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SENTINEL = "CI summary"


def check(name: str, conclusion: str | None = "SUCCESS", **fields: Any) -> Check:
    """A finished check run of this trigger, unless the fields say otherwise."""
    defaults: dict[str, Any] = {
        "app": "actions",
        "workflow": "ci.yml",
        "suite": "1",
        "status": CheckStatus.COMPLETED,
        "started_at": TRIGGER + MINUTE,
        "completed_at": TRIGGER + 5 * MINUTE,
    }
    return Check(name=name, conclusion=conclusion, **{**defaults, **fields})


def outside(name: str, conclusion: str | None = "SUCCESS", **fields: Any) -> Check:
    """A check that the trigger does not start, such as DCO: older than it."""
    return check(
        name, conclusion, **{"workflow": "", "app": "dco", "started_at": TRIGGER - MINUTE, **fields}
    )


def expectations(**fields: Any) -> gate.Expectations:
    """A sentinel is expected, and the trigger was an hour ago unless `now` says otherwise."""
    defaults: dict[str, Any] = {
        "head_sha": HEAD,
        "triggered_at": TRIGGER,
        "grace": 15 * MINUTE,
        "sentinel": SENTINEL,
    }
    return gate.Expectations(**{**defaults, **fields})


def judge(*checks: Check, now: datetime = TRIGGER + 60 * MINUTE, **fields: Any) -> gate.Verdict:
    """The verdict on these checks of the head commit."""
    return gate.judge(Rollup(sha=HEAD, checks=checks), expectations(**fields), now)


def names(checks: tuple[Check, ...]) -> list[str]:
    """Names of a list of the verdict."""
    return [item.name for item in checks]


def test_a_sentinel_that_succeeded_after_the_trigger_is_green() -> None:
    verdict = judge(check(SENTINEL), check("lint"))
    assert (verdict.kind, verdict.final) == ("green", True)
    assert names(verdict.passed) == [SENTINEL, "lint"]
    assert verdict.reason == "Every check that counts passed (2)."


def test_results_of_another_commit_are_stale_even_when_green() -> None:
    rollup = Rollup(sha="b" * 40, checks=(check(SENTINEL),))
    verdict = gate.judge(rollup, expectations(), TRIGGER + MINUTE)
    assert (verdict.kind, verdict.final) == ("stale", True)
    assert verdict.reason == f"The results belong to {'b' * 12}, the head is {'a' * 12}."


def test_results_of_no_commit_are_stale() -> None:
    verdict = gate.judge(Rollup(sha=""), expectations(), TRIGGER)
    assert verdict.reason.startswith("The results belong to no commit")


@pytest.mark.parametrize(("minutes", "final"), [(14, False), (15, True)])
def test_an_empty_rollup_is_not_started_and_final_after_the_grace_period(
    minutes: int, final: bool
) -> None:
    verdict = judge(now=TRIGGER + minutes * MINUTE)
    assert (verdict.kind, verdict.final) == ("not-started", final)
    assert verdict.missing == (SENTINEL,)
    started = "Never started" if final else "Not started yet"
    assert verdict.reason == f"{started}: {SENTINEL}."


@pytest.mark.parametrize(("minutes", "final"), [(14, False), (15, True)])
@pytest.mark.parametrize("no_ci", [False, True])
def test_a_null_rollup_is_never_green(minutes: int, final: bool, no_ci: bool) -> None:
    wanted = expectations(no_ci=True, sentinel=None) if no_ci else expectations()
    verdict = gate.judge(None, wanted, TRIGGER + minutes * MINUTE)
    assert (verdict.kind, verdict.final) == ("not-started", final)


def test_no_ci_and_an_empty_rollup_is_green_and_says_why() -> None:
    verdict = judge(no_ci=True, sentinel=None)
    assert (verdict.kind, verdict.final) == ("green", True)
    assert verdict.reason == "No CI is configured, so no check had to pass."


def test_no_ci_still_counts_the_checks_that_are_there() -> None:
    assert judge(check("surprise", "FAILURE"), no_ci=True, sentinel=None).kind == "failed"
    assert judge(check("fine"), no_ci=True, sentinel=None).reason.startswith("Every check")


@pytest.mark.parametrize(
    "fields",
    [
        {"sentinel": None},
        {"sentinel": None, "required": ("review",), "exempt": ("review",)},
        {"no_ci": True},
        {"no_ci": True, "sentinel": None, "required": ("tests",)},
        {"exempt": ("ci *",)},
        {"expected": ("docs",), "exempt": ("docs",)},
        {"expected": ("docs",), "exempt": ("*",)},
    ],
)
def test_expectations_that_contradict_themselves_block_whatever_the_checks_say(
    fields: dict[str, Any],
) -> None:
    verdict = judge(check(SENTINEL), check("docs"), check("tests"), **fields)
    assert (verdict.kind, verdict.final) == ("blocked", True)
    assert verdict.passed == ()


def test_a_contradiction_is_said_in_words() -> None:
    both = judge(sentinel="gate", expected=("x",), exempt=("gate",)).reason
    assert both == "gate must pass and is exempt at once."
    assert judge(sentinel=None).reason.startswith("Nothing is expected of CI")
    assert (
        judge(no_ci=True).reason
        == f"The config says that there is no CI, yet {SENTINEL} must pass."
    )


@pytest.mark.parametrize("conclusion", ["SUCCESS", "SKIPPED", "NEUTRAL"])
def test_success_skipped_and_neutral_pass(conclusion: str) -> None:
    assert judge(check(SENTINEL), check("lint", conclusion)).kind == "green"


@pytest.mark.parametrize("conclusion", ["FAILURE", "ERROR", "TIMED_OUT"])
def test_failure_error_and_timed_out_fail(conclusion: str) -> None:
    verdict = judge(check(SENTINEL), check("lint", conclusion))
    assert (verdict.kind, verdict.final) == ("failed", True)
    assert verdict.reason == f"Failed: lint ({conclusion})."


@pytest.mark.parametrize(
    "conclusion",
    [
        "CANCELLED",
        "STALE",
        "ACTION_REQUIRED",
        "STARTUP_FAILURE",
        "EXPECTED",
        "SOMETHING_NEW",
        "success",
        "",
        None,
    ],
)
def test_every_other_conclusion_fails_closed(conclusion: str | None) -> None:
    verdict = judge(check(SENTINEL), check("lint", conclusion))
    assert (verdict.kind, verdict.final) == ("blocked", True)
    assert verdict.reason == f"Neither passed nor failed: lint ({conclusion or 'no conclusion'})."


@pytest.mark.parametrize("status", [item for item in CheckStatus if item != "COMPLETED"])
def test_every_status_but_completed_is_running_even_with_a_conclusion(status: CheckStatus) -> None:
    verdict = judge(check(SENTINEL), check("lint", "SUCCESS", status=status))
    assert (verdict.kind, verdict.final) == ("running", False)
    assert verdict.reason == f"Not finished: lint ({status})."


def test_a_running_check_with_a_failed_conclusion_has_not_failed() -> None:
    running = check("lint", "FAILURE", status=CheckStatus.IN_PROGRESS)
    assert judge(check(SENTINEL), running).kind == "running"


@pytest.mark.parametrize("conclusion", ["SKIPPED", "NEUTRAL"])
def test_a_sentinel_that_did_not_run_is_not_a_success(conclusion: str) -> None:
    assert judge(check(SENTINEL, conclusion), check("lint")).kind == "blocked"


def test_a_sentinel_that_started_with_the_trigger_counts() -> None:
    assert judge(check(SENTINEL, started_at=TRIGGER)).kind == "green"


@pytest.mark.parametrize("conclusion", ["SUCCESS", "FAILURE"])
def test_a_sentinel_from_before_the_trigger_has_not_started(conclusion: str) -> None:
    old = check(SENTINEL, conclusion, started_at=TRIGGER - MINUTE, workflow="")
    verdict = judge(old, check("lint"), now=TRIGGER + 19 * MINUTE)
    assert (verdict.kind, verdict.final) == ("not-started", False)
    assert verdict.missing == (SENTINEL,)
    assert verdict.outdated == (old,)
    assert judge(old, check("lint"), now=TRIGGER + 20 * MINUTE).final


def test_a_sentinel_without_a_start_cannot_be_shown_to_belong_to_the_trigger() -> None:
    assert judge(check(SENTINEL, started_at=None)).kind == "blocked"


def test_jobs_of_the_sentinels_workflow_must_be_newer_than_the_trigger_too() -> None:
    old = check("lint", "FAILURE", started_at=TRIGGER - MINUTE)
    verdict = judge(check(SENTINEL), old)
    assert (verdict.kind, verdict.final) == ("not-started", True)
    assert verdict.missing == ("lint",)
    assert judge(check(SENTINEL), check("lint", started_at=None)).kind == "blocked"


def test_a_fresh_namesake_of_another_app_does_not_stand_in_for_the_old_sentinel() -> None:
    old = check(SENTINEL, started_at=TRIGGER - MINUTE)
    verdict = judge(old, check(SENTINEL, app="other"))
    assert (verdict.kind, verdict.missing) == ("not-started", (SENTINEL,))


def test_checks_of_other_workflows_may_be_older_than_the_trigger() -> None:
    sentinel = check(SENTINEL)
    assert judge(sentinel, outside("DCO")).kind == "green"
    assert judge(sentinel, outside("DCO", started_at=None)).kind == "green"
    assert judge(sentinel, outside("DCO", "FAILURE")).kind == "failed"
    assert judge(sentinel, outside("build", workflow="push.yml")).kind == "green"


def test_a_status_sentinel_without_a_workflow_does_not_date_other_statuses() -> None:
    status = check(SENTINEL, app="dco", workflow="")
    assert judge(status, outside("DCO")).kind == "green"


@pytest.mark.parametrize("field", ["expected", "required"])
def test_an_expected_check_that_is_not_there_is_missing(field: str) -> None:
    twice: dict[str, Any] = {field: ("docs", "docs")}
    verdict = judge(check(SENTINEL), **twice)
    assert (verdict.kind, verdict.missing) == ("not-started", ("docs",))
    assert judge(check(SENTINEL), check("docs", "SKIPPED"), **twice).kind == "green"


def test_expected_checks_are_enough_without_a_sentinel() -> None:
    assert judge(check("lint"), sentinel=None, expected=("lint",)).kind == "green"
    assert judge(check("lint", "SKIPPED"), sentinel=None, expected=("lint",)).kind == "green"


def test_a_later_stage_gets_its_own_grace_period_after_the_last_check_ended() -> None:
    early = check("build", completed_at=TRIGGER + 50 * MINUTE)
    assert not judge(early, now=TRIGGER + 60 * MINUTE).final
    assert judge(early, now=TRIGGER + 65 * MINUTE).final
    assert judge(check("build", completed_at=None), now=TRIGGER + 15 * MINUTE).final


def test_exempt_and_outdated_checks_do_not_prolong_the_grace_period() -> None:
    late: dict[str, Any] = {"completed_at": TRIGGER + 59 * MINUTE}
    assert judge(check("docs", **late), exempt=("docs",)).final
    assert judge(check(SENTINEL, started_at=TRIGGER - MINUTE, **late)).final


def test_a_missing_check_is_only_running_while_others_run() -> None:
    running = check("build", None, status=CheckStatus.IN_PROGRESS)
    verdict = judge(running)
    assert (verdict.kind, verdict.missing) == ("running", (SENTINEL,))


@pytest.mark.parametrize("conclusion", ["FAILURE", "CANCELLED", None])
def test_an_exempt_check_never_counts_and_is_listed(conclusion: str | None) -> None:
    bot = check("Coverage (unit-test)", conclusion)
    queued = check("code review", None, status=CheckStatus.QUEUED)
    verdict = judge(check(SENTINEL), bot, queued, exempt=("coverage*", "*review*"))
    assert verdict.kind == "green"
    assert verdict.exempt_used == (bot, queued)


def test_a_required_check_that_is_exempt_need_not_be_there() -> None:
    assert judge(check(SENTINEL), required=("codeowners",), exempt=("codeowners",)).kind == "green"


def test_an_exempt_check_cannot_stand_in_for_one_that_must_be_there() -> None:
    assert judge(check("docs"), exempt=("docs",)).kind == "not-started"


def test_the_first_failure_decides_while_others_run_or_are_cancelled() -> None:
    verdict = judge(
        check("lint", "FAILURE"),
        check("tests", None, status=CheckStatus.QUEUED),
        check("docs", "CANCELLED"),
    )
    assert (verdict.kind, verdict.final) == ("failed", True)
    assert (names(verdict.pending), names(verdict.blocking)) == (["tests"], ["docs"])


def test_a_cancelled_check_does_not_decide_while_others_run() -> None:
    running = check("tests", None, status=CheckStatus.IN_PROGRESS)
    assert judge(check(SENTINEL), check("docs", "CANCELLED"), running).kind == "running"


def test_a_cancelled_check_decides_once_nothing_else_can_start() -> None:
    cancelled = check("docs", "CANCELLED")
    assert judge(cancelled, now=TRIGGER + 19 * MINUTE).kind == "not-started"
    assert judge(cancelled, now=TRIGGER + 20 * MINUTE).kind == "blocked"


def test_a_newer_run_in_another_suite_replaces_the_older_one() -> None:
    old = check("lint", "FAILURE", suite="1")
    new = check("lint", suite="2", started_at=TRIGGER + 2 * MINUTE)
    for runs in ((old, new), (new, old)):
        verdict = judge(check(SENTINEL), *runs)
        assert (verdict.kind, verdict.outdated) == ("green", (old,))


def test_an_older_success_does_not_hide_a_newer_failure_or_queue() -> None:
    old, sentinel = check("lint", suite="1"), check(SENTINEL)
    later = {"suite": "2", "started_at": TRIGGER + 2 * MINUTE}
    assert judge(sentinel, old, check("lint", "FAILURE", **later)).kind == "failed"
    queued = check("lint", None, status=CheckStatus.QUEUED, **later)
    assert judge(sentinel, old, queued).kind == "running"
    unstarted = check("lint", None, status=CheckStatus.QUEUED, suite="2", started_at=None)
    assert judge(sentinel, old, unstarted).kind == "running"


def test_runs_of_one_name_all_count_where_a_start_is_missing_or_equal() -> None:
    sentinel = check(SENTINEL)
    for start in (None, TRIGGER + MINUTE):
        old = outside("lint", "FAILURE", suite="1", started_at=start)
        new = outside("lint", suite="2", started_at=TRIGGER + MINUTE)
        assert judge(sentinel, old, new).kind == "failed"


def test_two_jobs_of_one_name_in_one_suite_both_count() -> None:
    """A matrix whose jobs share a name: neither replaces the other."""
    first = check("test", "FAILURE")
    second = check("test", started_at=TRIGGER + 2 * MINUTE)
    assert judge(check(SENTINEL), first, second).kind == "failed"


@pytest.mark.parametrize("field", ["app", "workflow"])
def test_namesakes_of_another_app_or_workflow_both_count(field: str) -> None:
    failed = outside("test", "FAILURE", workflow="push.yml")
    passed = outside("test", **{"workflow": "push.yml", field: "other"}, suite="2")
    newer = passed.model_copy(update={"started_at": TRIGGER})
    assert judge(check(SENTINEL), failed, newer).kind == "failed"


def test_only_pre_existing_failures_leave_the_draft() -> None:
    old = check("slow tests", "FAILURE")
    verdict = judge(check(SENTINEL), old, pre_existing={old.key})
    assert (verdict.kind, verdict.final) == ("pre-existing-only", True)
    assert (verdict.pre_existing, verdict.failed) == ((old,), ())
    assert verdict.reason == "Only failures that the target has too: slow tests (FAILURE)."


def test_accepted_pre_existing_failures_are_green_and_the_reason_says_so() -> None:
    old = check("slow tests", "ERROR")
    verdict = judge(check(SENTINEL), old, pre_existing={old.key}, accept_pre_existing=True)
    assert verdict.kind == "green"
    assert verdict.reason.startswith("Green only because the config accepts pre-existing failures")
    assert judge(check(SENTINEL), accept_pre_existing=True).reason.startswith("Every check")


def test_a_proof_of_one_check_does_not_cover_another_or_another_suite() -> None:
    old = check("slow tests", "FAILURE")
    other = old.model_copy(update={"suite": "2", "started_at": TRIGGER + 2 * MINUTE})
    assert judge(check(SENTINEL), other, pre_existing={old.key}).kind == "failed"
    both = judge(check(SENTINEL), old, check("lint", "FAILURE"), pre_existing={old.key})
    assert (both.kind, names(both.failed)) == ("failed", ["lint"])


@pytest.mark.parametrize(
    ("conclusion", "kind"), [("TIMED_OUT", "failed"), ("CANCELLED", "blocked")]
)
def test_only_a_failure_that_ran_to_the_end_can_be_pre_existing(conclusion: str, kind: str) -> None:
    old = check("slow tests", conclusion)
    verdict = judge(check(SENTINEL), old, pre_existing={old.key}, accept_pre_existing=True)
    assert verdict.kind == kind


def test_pre_existing_failures_wait_for_the_rest() -> None:
    old = check("slow tests", "FAILURE")
    fields: dict[str, Any] = {"pre_existing": {old.key}, "accept_pre_existing": True}
    running = check("lint", None, status=CheckStatus.IN_PROGRESS)
    assert judge(check(SENTINEL), old, running, **fields).kind == "running"
    assert judge(old, **fields).kind == "not-started"
    assert judge(check(SENTINEL), old, check("lint", "STALE"), **fields).kind == "blocked"


def test_a_reason_names_at_most_five_checks() -> None:
    failed = [check(f"job {number}", "FAILURE") for number in range(7)]
    assert judge(*failed[:5]).reason.endswith("job 4 (FAILURE).")
    assert judge(*failed).reason.endswith("job 4 (FAILURE) and 2 more.")


def test_a_verdict_survives_json() -> None:
    verdict = judge(check(SENTINEL), check("lint", "FAILURE"), expected=("docs",))
    assert gate.Verdict.model_validate_json(verdict.model_dump_json()) == verdict
    wanted = expectations(pre_existing={check("lint").key})
    assert gate.Expectations.model_validate_json(wanted.model_dump_json()) == wanted
