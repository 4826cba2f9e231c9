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


PUSH, BOT = "push main2dev/x", "push pull-request/12"


@pytest.mark.parametrize("event", [PUSH, "pull_request main2dev/x", ""])
@pytest.mark.parametrize("workflow", ["ci.yml", "push.yml"])
def test_a_red_run_is_not_hidden_by_a_newer_green_one_of_another_event(
    event: str, workflow: str
) -> None:
    """Reported: a red push run disappeared behind a newer green run of a pull request."""
    red = check("lint", "FAILURE", workflow=workflow, event=event)
    later = {"suite": "2", "started_at": TRIGGER + 2 * MINUTE}
    green = red.model_copy(update={"conclusion": "SUCCESS", "event": BOT, **later})
    for runs in ((red, green), (green, red)):
        verdict = judge(check(SENTINEL), *runs)
        assert (verdict.kind, verdict.failed, verdict.outdated) == ("failed", (red,), ())


def test_a_newer_red_run_counts_beside_an_older_green_one_of_another_event() -> None:
    green = check("lint", event=PUSH)
    red = check("lint", "FAILURE", event=BOT, suite="2", started_at=TRIGGER + 2 * MINUTE)
    assert judge(check(SENTINEL), green, red).failed == (red,)


def test_a_newer_run_of_the_same_event_still_replaces_the_older_one() -> None:
    red = check("lint", "FAILURE", event=PUSH)
    green = check("lint", event=PUSH, suite="2", started_at=TRIGGER + 2 * MINUTE)
    verdict = judge(check(SENTINEL), red, green)
    assert (verdict.kind, verdict.outdated) == ("green", (red,))


def test_what_the_trigger_starts_on_its_own_branch_stands_in_for_the_push_before_it() -> None:
    old = [
        check(name, result, event=PUSH, started_at=TRIGGER - MINUTE)
        for name, result in ((SENTINEL, "FAILURE"), ("lint", "FAILURE"), ("docs", "SUCCESS"))
    ]
    new = [check(name, event=BOT, suite="2") for name in (SENTINEL, "lint", "docs")]
    assert judge(*old, *new).kind == "green"
    assert judge(*old, *new[:2]).missing == ("docs",)
    assert judge(*old, new[0], check("lint", "FAILURE", event=BOT, suite="2")).kind == "failed"


def test_a_sentinel_that_two_events_started_since_the_trigger_must_succeed_in_both() -> None:
    green = check(SENTINEL, event=BOT, suite="2", started_at=TRIGGER + 2 * MINUTE)
    for conclusion, kind in (("SUCCESS", "green"), ("FAILURE", "failed"), ("SKIPPED", "blocked")):
        assert judge(check(SENTINEL, conclusion, event=PUSH), green).kind == kind


def test_results_that_a_rerun_replaced_never_count() -> None:
    earlier = (check("lint", "FAILURE"), check(SENTINEL), check("docs"))
    bare = Rollup(sha=HEAD, checks=(check("lint"),), earlier=earlier)
    verdict = gate.judge(bare, expectations(expected=("docs",)), TRIGGER + 60 * MINUTE)
    assert verdict.missing == (SENTINEL, "docs")
    assert verdict.outdated == ()
    full = Rollup(sha=HEAD, checks=(check(SENTINEL), check("lint")), earlier=earlier)
    assert gate.judge(full, expectations(), TRIGGER + 60 * MINUTE).kind == "green"


ASKED = TRIGGER + 10 * MINUTE


def rerun(*checks: Check, now: datetime = ASKED + MINUTE, **fields: Any) -> gate.Verdict:
    """The verdict after `lint` and the sentinel were asked to run again."""
    keys = {gate.run_of(check("lint")), gate.run_of(check(SENTINEL))}
    return judge(*checks, now=now, **{"rerun": keys, "rerun_at": ASKED, **fields})


def again(name: str, conclusion: str | None = "SUCCESS", **fields: Any) -> Check:
    """A result that came after the request."""
    return check(
        name,
        conclusion,
        **{"started_at": ASKED + MINUTE, "completed_at": ASKED + 2 * MINUTE, **fields},
    )


BAD = ["FAILURE", "ERROR", "TIMED_OUT", "CANCELLED", "STARTUP_FAILURE", "NOT_INVENTED_YET", None]


@pytest.mark.parametrize("conclusion", BAD)
@pytest.mark.parametrize("started", [TRIGGER + MINUTE, None])
def test_the_result_that_a_rerun_was_asked_for_is_outdated_and_missing(
    conclusion: str | None, started: datetime | None
) -> None:
    old = check("lint", conclusion, workflow="ci.yml", started_at=started)
    verdict = rerun(check(SENTINEL, "SUCCESS"), old)
    assert (verdict.kind, verdict.final) == ("not-started", False)
    assert verdict.reason == "Not started yet: lint."
    assert (verdict.failed, verdict.blocking, verdict.outdated) == ((), (), (old,))
    assert (names(verdict.passed), verdict.missing) == ([SENTINEL], ("lint",))


def test_a_result_that_was_proven_pre_existing_is_waited_for_too() -> None:
    old = check("lint", "FAILURE")
    fields: dict[str, Any] = {"pre_existing": {old}, "accept_pre_existing": True}
    verdict = rerun(check(SENTINEL), old, **fields)
    assert (verdict.kind, verdict.missing) == ("not-started", ("lint",))


def test_the_sentinel_that_was_skipped_over_a_failure_is_waited_for() -> None:
    verdict = rerun(check(SENTINEL, "SKIPPED"), check("lint", "FAILURE"))
    assert (verdict.kind, verdict.missing) == ("not-started", (SENTINEL, "lint"))


def test_the_new_result_of_a_rerun_decides() -> None:
    sentinel = again(SENTINEL)
    assert rerun(sentinel, again("lint")).kind == "green"
    assert rerun(sentinel, again("lint", started_at=ASKED)).kind == "green"
    for start in (ASKED, ASKED + MINUTE):
        fails = again("lint", "FAILURE", started_at=start, completed_at=start + MINUTE)
        assert rerun(sentinel, fails).kind == "failed"
    running = check("lint", None, status=CheckStatus.QUEUED, started_at=None)
    assert rerun(check(SENTINEL, "FAILURE"), running).kind == "running"


def test_a_rerun_leaves_all_other_results_as_they_are() -> None:
    sentinel = check(SENTINEL)
    for other in ({"workflow": "push.yml"}, {"app": "dco", "workflow": ""}):
        assert rerun(sentinel, check("lint", "FAILURE", **other)).kind == "failed"
    assert rerun(sentinel, check("tests", "FAILURE")).kind == "failed"
    assert rerun(sentinel, check("lint")).kind == "green"
    assert rerun(sentinel, check("lint", "FAILURE"), exempt=("lint",)).kind == "green"


def test_without_the_time_of_a_request_no_old_failure_is_excused() -> None:
    assert rerun(check(SENTINEL), check("lint", "FAILURE"), rerun_at=None).kind == "failed"
    skipped = check("docs", "SKIPPED")
    assert rerun(check(SENTINEL), skipped, rerun_at=None, now=TRIGGER + 6 * MINUTE).kind == "green"


def test_what_was_at_work_at_the_time_of_the_request_was_no_part_of_it() -> None:
    """One (name, app, workflow) may run for two events at once."""
    within = check("lint", "FAILURE", completed_at=ASKED + MINUTE)
    assert rerun(check(SENTINEL), within).kind == "not-started"
    assert rerun(check(SENTINEL), check("lint", "FAILURE", completed_at=None)).missing
    beyond = check("lint", "FAILURE", completed_at=ASKED + timedelta(seconds=61))
    assert rerun(check(SENTINEL), beyond).kind == "failed"


@pytest.mark.parametrize(
    "namesake",
    [
        check("lint"),
        again("lint"),
        check("lint", suite="2"),  # of the same start
        check("lint", suite="2", event=BOT),
        again("lint", suite="2", event=BOT),
    ],
)
def test_no_namesake_stands_in_for_a_check_that_is_to_run_again(namesake: Check) -> None:
    old = check("lint", "FAILURE")
    verdict = rerun(again(SENTINEL), old, namesake, now=ASKED + 60 * MINUTE)
    assert (verdict.kind, verdict.final, verdict.missing) == ("not-started", True, ("lint",))


def test_a_newer_suite_replaces_what_was_asked_to_run_again() -> None:
    old = check("lint", "FAILURE")
    verdict = rerun(again(SENTINEL, suite="2"), old, again("lint", suite="2"))
    assert (verdict.kind, verdict.outdated) == ("green", (old,))


@pytest.mark.parametrize(("minutes", "final"), [(14, False), (15, True)])
def test_a_rerun_gets_a_grace_period_of_its_own(minutes: int, final: bool) -> None:
    old = check("lint", "FAILURE", completed_at=ASKED + MINUTE)
    verdict = rerun(check(SENTINEL), old, now=ASKED + minutes * MINUTE)
    assert (verdict.kind, verdict.final) == ("not-started", final)
    assert verdict.reason.startswith("Never started: lint" if final else "Not started yet: lint")


@pytest.mark.parametrize(("minutes", "ended"), [(14, False), (15, True)])
@pytest.mark.parametrize("fields", [{}, {"sentinel": None, "expected": ("DCO",)}])
def test_a_run_that_joins_what_is_hours_old_waits_a_grace_period_of_its_own(
    minutes: int, ended: bool, fields: dict[str, Any]
) -> None:
    """Reported: CI that a late pull request starts "never started", or was not waited for."""
    joined = TRIGGER + 120 * MINUTE
    dco = outside("DCO", started_at=TRIGGER, completed_at=TRIGGER)
    wanted = {"watched_since": joined, "open_ended": bool(fields), **fields}
    verdict = judge(dco, now=joined + minutes * MINUTE, **wanted)
    assert verdict.final is ended
    assert verdict.kind == (("green" if ended else "running") if fields else "not-started")


def test_the_grace_period_of_a_trigger_after_a_rerun_is_not_cut_short() -> None:
    earlier = TRIGGER - 60 * MINUTE
    assert not rerun(now=TRIGGER + 14 * MINUTE, rerun_at=earlier).final


def test_a_job_skipped_over_the_failure_may_still_run_after_the_rerun() -> None:
    skipped = check("docs", "SKIPPED", completed_at=TRIGGER + 5 * MINUTE)
    fields: dict[str, Any] = {"sentinel": None, "expected": ("lint", "docs")}
    late = ASKED + 2 * MINUTE + 15 * MINUTE
    verdict = rerun(again("lint"), skipped, now=late - MINUTE, **fields)
    assert (verdict.kind, verdict.final) == ("running", False)
    assert verdict.reason == "May still run after the rerun: docs (SKIPPED)."
    assert rerun(again("lint"), skipped, now=late, **fields).kind == "green"
    assert rerun(again("lint"), again("docs", "SKIPPED"), **fields).kind == "green"
    assert rerun(again("lint"), check("docs"), **fields).kind == "green"


@pytest.mark.parametrize("other", [{"workflow": "push.yml"}, {"app": "dco"}])
def test_jobs_of_workflows_that_do_not_run_again_are_settled(other: dict[str, Any]) -> None:
    assert rerun(again(SENTINEL), again("lint"), check("docs", "SKIPPED", **other)).kind == "green"
    assert rerun(check("lint", "SKIPPED"), sentinel=None, expected=("lint",)).kind == "running"


def test_an_app_without_workflows_has_no_jobs_that_wait_for_each_other() -> None:
    skipped = outside("DCO", "SKIPPED")
    assert rerun(check(SENTINEL), skipped, rerun={gate.run_of(skipped)}).kind == "green"


def test_a_sentinel_that_succeeded_anew_has_waited_for_the_jobs_of_its_workflow() -> None:
    skipped = check("docs", "SKIPPED")
    assert rerun(again(SENTINEL), again("lint"), skipped).kind == "green"
    assert rerun(check(SENTINEL), again("lint"), skipped).kind == "running"
    elsewhere = again(SENTINEL, workflow="push.yml")
    assert rerun(elsewhere, again("lint"), skipped).kind == "running"
    assert rerun(again(SENTINEL, app="dco"), again("lint"), skipped).kind == "running"


def test_progress_counts_what_has_ended_among_all_that_counts() -> None:
    proven = check("slow", "FAILURE")
    verdict = judge(
        *(check(SENTINEL), proven, check("lint", "ERROR"), check("docs", "CANCELLED")),
        *(check("tests", status=CheckStatus.QUEUED), check("bot"), check("a"), check("b")),
        expected=("later",),
        exempt=("bot",),
        pre_existing={proven},
    )
    assert gate.progress_of(verdict) == (5, 8)


def test_only_pre_existing_failures_leave_the_draft() -> None:
    old = check("slow tests", "FAILURE")
    verdict = judge(check(SENTINEL), old, pre_existing={old})
    assert (verdict.kind, verdict.final) == ("pre-existing-only", True)
    assert (verdict.pre_existing, verdict.failed) == ((old,), ())
    assert verdict.reason == "Only failures that the target has too: slow tests (FAILURE)."


def test_accepted_pre_existing_failures_are_green_and_the_reason_says_so() -> None:
    old = check("slow tests", "ERROR")
    verdict = judge(check(SENTINEL), old, pre_existing={old}, accept_pre_existing=True)
    assert verdict.kind == "green"
    assert verdict.reason.startswith("Green only because the config accepts pre-existing failures")
    assert judge(check(SENTINEL), accept_pre_existing=True).reason.startswith("Every check")


def test_a_proof_of_one_result_covers_no_other_check_suite_or_later_result() -> None:
    old = check("slow tests", "FAILURE")
    other = old.model_copy(update={"suite": "2", "started_at": TRIGGER + 2 * MINUTE})
    later = old.model_copy(update={"started_at": TRIGGER + 2 * MINUTE})
    assert judge(check(SENTINEL), other, pre_existing={old}).kind == "failed"
    assert judge(check(SENTINEL), later, pre_existing={old}).kind == "failed"
    both = judge(check(SENTINEL), old, check("lint", "FAILURE"), pre_existing={old})
    assert (both.kind, names(both.failed)) == ("failed", ["lint"])


@pytest.mark.parametrize(
    ("conclusion", "kind"), [("TIMED_OUT", "failed"), ("CANCELLED", "blocked")]
)
def test_only_a_failure_that_ran_to_the_end_can_be_pre_existing(conclusion: str, kind: str) -> None:
    old = check("slow tests", conclusion)
    verdict = judge(check(SENTINEL), old, pre_existing={old}, accept_pre_existing=True)
    assert verdict.kind == kind


def test_pre_existing_failures_wait_for_the_rest() -> None:
    old = check("slow tests", "FAILURE")
    fields: dict[str, Any] = {"pre_existing": {old}, "accept_pre_existing": True}
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
    wanted = expectations(pre_existing={check("lint")})
    assert gate.Expectations.model_validate_json(wanted.model_dump_json()) == wanted


def test_without_a_sentinel_green_waits_for_checks_that_may_still_start() -> None:
    """Reported: DCO was green at push, and a comment's CI, red later, had not shown up yet."""
    early, late = TRIGGER + 6 * MINUTE, TRIGGER + 30 * MINUTE
    fields: dict[str, Any] = {"sentinel": None, "expected": ("DCO",), "open_ended": True}
    waiting = judge(outside("DCO"), now=early, **fields)
    assert (waiting.kind, waiting.final) == ("running", False)
    assert "may still start" in waiting.reason
    assert judge(outside("DCO"), now=late, **fields).kind == "green"
    assert judge(outside("DCO"), now=early, **{**fields, "open_ended": False}).kind == "green"


# Two workflow files of one name


def twin(name: str, conclusion: str | None = "SUCCESS", **fields: Any) -> Check:
    """A check of another workflow file that gives itself the same name."""
    return check(name, conclusion, **{"suite": "2", "workflow_id": "W_2", **fields})


def test_a_workflow_of_the_same_name_hides_no_failure() -> None:
    """Reported: a later job `tests` of another file that is named `CI` too hid the red one."""
    red = check("tests", "FAILURE", workflow_id="W_1")
    later = twin("tests", started_at=TRIGGER + 2 * MINUTE)
    verdict = judge(red, later, check(SENTINEL, workflow_id="W_1"))
    assert (verdict.kind, verdict.failed) == ("failed", (red,))
    assert verdict.outdated == ()


def test_a_workflow_of_the_same_name_does_not_stand_in_for_an_old_result() -> None:
    """Reported: the old result counted as replaced by the other file's job of that name."""
    old = check("tests", workflow_id="W_1", started_at=TRIGGER - MINUTE)
    verdict = judge(old, twin("tests"), check(SENTINEL, workflow_id="W_1"))
    assert (verdict.kind, verdict.missing) == ("not-started", ("tests",))


def test_a_workflow_of_the_same_name_may_be_older_than_the_trigger() -> None:
    """Only the sentinel's own file is started by the trigger."""
    old = twin("docs", started_at=TRIGGER - MINUTE)
    verdict = judge(old, check(SENTINEL, workflow_id="W_1"))
    assert (verdict.kind, verdict.outdated) == ("green", ())


def test_a_rerun_leaves_a_red_namesake_of_another_workflow_file_as_it_is() -> None:
    """Reported: it ended as `Never started`, as if it had been asked to run again too."""
    red = twin("lint", "FAILURE")
    verdict = rerun(again(SENTINEL), again("lint"), red, now=ASKED + 60 * MINUTE)
    assert (verdict.kind, verdict.failed, verdict.missing) == ("failed", (red,), ())


def test_a_rerun_does_not_wait_for_skipped_jobs_of_another_workflow_file() -> None:
    jobs = (check(SENTINEL), again("lint"), twin("deploy", "SKIPPED"))
    assert rerun(*jobs).kind == "green"


def test_a_sentinel_does_not_settle_a_workflow_of_the_same_name() -> None:
    again = TRIGGER + 6 * MINUTE
    new: dict[str, Any] = {"started_at": again + MINUTE, "completed_at": again + 2 * MINUTE}
    verdict = judge(
        check(SENTINEL, workflow_id="W_1", **new),
        twin("build", **new),
        twin("deploy", "SKIPPED"),
        now=again + 3 * MINUTE,
        rerun={gate.run_of(twin("build"))},
        rerun_at=again,
    )
    assert (verdict.kind, verdict.final) == ("running", False)


# Asked for again on the same commit


def earlier(name: str, conclusion: str | None = "FAILURE", **fields: Any) -> Check:
    """A result of an earlier trigger; of a workflow that the sentinel is no part of, by default."""
    times = {"started_at": TRIGGER - 10 * MINUTE, "completed_at": TRIGGER - 5 * MINUTE}
    place = {"workflow": "lint.yml", "event": BOT, "suite": "0"}
    return check(name, conclusion, **{**times, **place, **fields})


BEFORE = earlier(SENTINEL, workflow="ci.yml")  # the trigger before had its sentinel
AFTER = check(SENTINEL, event=BOT)  # ended 5 minutes after the trigger
QUEUED = check(SENTINEL, None, event=BOT, status=CheckStatus.QUEUED, started_at=None)


@pytest.mark.parametrize("conclusion", ["SUCCESS", "FAILURE", "CANCELLED"])
def test_what_the_trigger_starts_anew_is_not_judged_by_its_old_result(conclusion: str) -> None:
    """Reported: an old failure of a workflow other than the sentinel's decided at once."""
    old = earlier("lint", conclusion)
    verdict = judge(BEFORE, old, now=TRIGGER + MINUTE)
    assert (verdict.kind, verdict.final) == ("not-started", False)
    assert (verdict.missing, verdict.outdated) == ((SENTINEL, "lint"), (BEFORE, old))
    assert judge(BEFORE, old, QUEUED).kind == "running"
    verdict = judge(BEFORE, old, AFTER, now=TRIGGER + 19 * MINUTE)
    assert (verdict.kind, verdict.missing, verdict.failed) == ("not-started", ("lint",), ())


def test_the_new_result_decides_as_soon_as_it_is_there() -> None:
    old, soon = earlier("lint"), TRIGGER + 6 * MINUTE
    new = check("lint", workflow="lint.yml", event=BOT)
    assert judge(BEFORE, old, AFTER, new, now=soon).kind == "green"
    red = new.model_copy(update={"conclusion": "FAILURE"})
    assert judge(BEFORE, old, QUEUED, red, now=soon).failed == (red,)
    queued = check("lint", None, workflow="lint.yml", event=BOT, status=CheckStatus.QUEUED)
    waiting = queued.model_copy(update={"started_at": None})
    assert judge(BEFORE, old, AFTER, waiting, now=soon).kind == "running"


@pytest.mark.parametrize(
    ("conclusion", "kind"), [("FAILURE", "failed"), ("CANCELLED", "blocked"), ("SUCCESS", "green")]
)
def test_an_old_result_that_never_comes_anew_counts_in_the_end(conclusion: str, kind: str) -> None:
    old = earlier("lint", conclusion)
    assert judge(BEFORE, old, AFTER, now=TRIGGER + 20 * MINUTE).kind == kind
    late = old.model_copy(update={"completed_at": TRIGGER + 59 * MINUTE})
    assert judge(BEFORE, late, AFTER, now=TRIGGER + 20 * MINUTE).kind == kind


def test_an_old_failure_counts_after_the_sentinel_while_others_run() -> None:
    running = check("slow", None, workflow="slow.yml", status=CheckStatus.IN_PROGRESS)
    assert judge(BEFORE, earlier("lint"), AFTER, running).kind == "failed"


def test_while_the_sentinel_is_to_come_no_old_result_counts_however_long_it_takes() -> None:
    old = earlier("lint")
    assert judge(BEFORE, old, QUEUED).failed == ()
    verdict = judge(BEFORE, old)
    assert (verdict.kind, verdict.final, verdict.failed) == ("not-started", True, ())


@pytest.mark.parametrize("sentinel", [AFTER, QUEUED])
def test_a_first_trigger_holds_nothing_that_ran_at_push(sentinel: Check) -> None:
    old = earlier("lint")
    assert judge(sentinel, old, now=TRIGGER + 6 * MINUTE).failed == (old,)


def test_only_what_the_new_run_of_the_sentinel_belongs_to_starts_anew() -> None:
    """The push may have run the same workflows before; it does not happen again."""
    pushed = earlier(SENTINEL, workflow="ci.yml", event=PUSH)
    at_push, by_bot = earlier("lint", event=PUSH), earlier("docs")
    soon = TRIGGER + 6 * MINUTE
    assert judge(pushed, at_push, now=soon).failed == ()
    for sentinel in (QUEUED, AFTER):
        assert judge(pushed, at_push, sentinel, now=soon).failed == (at_push,)
        both = judge(pushed, BEFORE, at_push, by_bot, sentinel, now=soon)
        assert (both.failed, by_bot in both.outdated) == ((at_push,), True)


@pytest.mark.parametrize(
    ("sentinel", "other"),
    [
        ({"event": ""}, {"event": "", "workflow": "", "app": "dco"}),
        ({"event": "dev", "workflow": ""}, {"event": "dev", "workflow": "", "app": "dco"}),
        ({}, {"event": PUSH}),
        ({}, {"event": "", "workflow": "", "app": "dco"}),
    ],
)
def test_what_is_not_known_to_be_of_the_triggers_event_decides_at_once(
    sentinel: dict[str, Any], other: dict[str, Any]
) -> None:
    old, soon = earlier("other", **other), TRIGGER + 6 * MINUTE
    before = earlier(SENTINEL, **{"workflow": "ci.yml", **sentinel})
    assert judge(before, old, now=soon).failed == (old,)
