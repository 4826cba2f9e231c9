"""How a run follows its checks on GitHub: reruns, baselines, outages, long nights, repairs.

The library's own steps over HTTP, from the open draft pull request on; the flow is under e2e.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from nightly_sync.checks.triage import FailureGroup
from nightly_sync.fixers.base import Change
from nightly_sync.record import Outcome
from tests.github import bare
from tests.github.ci import Act, External
from tests.github.state import Protection
from tests.support.github_night import Ended, Night, followed, whole
from tests.support.github_site import ASK, GATE, GREEN, VARIABLE, GitHubSite

NETWORK = "E: Could not resolve host: Temporary failure in name resolution"
BROKEN = "FAILED tests/test_old.py::test_old - assert 1 == 2"
SUM = "Some required jobs failed"


def _broken_way(**more: Any) -> Act:
    return Act("tests", "FAILURE", log=NETWORK, **more)


def _gate(conclusion: str = "SUCCESS", **more: Any) -> Act:
    """The job that needs all others: it waits for them, and says how they ended."""
    log = "ok" if conclusion == "SUCCESS" else SUM
    return Act(GATE, conclusion, log=log, queued=more.pop("queued", 2), **more)


def _is_draft(night: Night, ended: Ended, outcome: Outcome, *words: str) -> None:
    """It ended like this, and says these words in the body and in the last comment."""
    assert ended.facts.outcome is outcome, ended.facts.reason
    assert night.pull.draft
    assert night.pull.open
    for word in words:
        assert word in (night.pull.body or "")
        assert word in night.said[-1]


def _is_ready(night: Night, ended: Ended) -> None:
    assert ended.facts.outcome in (Outcome.READY, Outcome.READY_NEEDS_LOOK), ended.facts.reason
    assert not night.pull.draft
    assert night.pull.head_sha == ended.watched.head.tip


def _reruns(night: Night) -> int:
    return len(night.github.requests.of("rerun-failed-jobs"))


# Failures of infrastructure


def test_a_failure_of_infrastructure_is_run_again_on_the_same_commit(night: Night) -> None:
    again = Act("tests", after=2)  # for a while GitHub still shows the old result
    night.plays([_broken_way(rerun=again), _gate("FAILURE", rerun=Act(GATE, queued=3))])
    ended = night.through()
    _is_ready(night, ended)
    assert (ended.watched.reruns, _reruns(night), len(night.asked)) == (1, 1, 1)
    assert night.tip == night.start.head.tip
    note = "tests, CI gate: failed over infrastructure, run again (1 of 2)"
    assert note in ended.watched.notes
    assert note in night.said[-1]
    assert note in (night.pull.body or "")
    red = [seen for seen in ended.seen.verdicts if seen.kind == "failed" and seen.final]
    assert len(red) == 1


def test_nothing_runs_again_before_the_rest_has_ended(night: Night) -> None:
    slow = Act("slow", running=4)
    gate = _gate("FAILURE", queued=4, rerun=Act(GATE))
    night.plays([_broken_way(rerun=Act("tests")), slow, gate])
    ended = night.through()
    _is_ready(night, ended)
    assert any("To be run again once the rest has ended." in said for said in ended.seen.reasons)
    (asked,) = night.github.requests.of("rerun-failed-jobs")
    assert asked.status == 201


def test_the_rest_may_show_that_the_merge_is_broken_too(night: Night) -> None:
    night.plays([_broken_way(), Act("unit", "FAILURE", log=BROKEN, running=3), _gate("FAILURE")])
    ended = night.through()
    _is_draft(night, ended, Outcome.CI_FAILED, "unit")
    assert (_reruns(night), ended.watched.reruns) == (0, 0)


def test_what_fails_over_infrastructure_each_time_is_given_up(night: Night) -> None:
    night.plays([_broken_way(), _gate("FAILURE")])
    ended = night.through(rerun_limit=1)
    _is_draft(night, ended, Outcome.CI_FAILED, "run again (1 of 1)")
    assert (_reruns(night), ended.watched.reruns) == (1, 1)


def test_a_limit_of_none_runs_nothing_again(night: Night) -> None:
    night.plays([_broken_way(), _gate("FAILURE")])
    _is_draft(night, night.through(rerun_limit=0), Outcome.CI_FAILED)
    assert _reruns(night) == 0


def test_a_rerun_that_fails_in_earnest_is_understood_anew(night: Night) -> None:
    earnest = Act("tests", "FAILURE", log=BROKEN)
    night.plays([_broken_way(rerun=earnest), _gate("FAILURE")])
    ended = night.through()
    _is_draft(night, ended, Outcome.CI_FAILED, "test_old.py")
    assert "name resolution" not in night.said[-1]
    assert _reruns(night) == 1


def test_a_token_that_may_not_run_jobs_again_ends_the_night_with_a_reason(night: Night) -> None:
    """Reported: GitHub's refusal ended the run, and the pull request said nothing."""
    names = ("contents", "pull_requests", "issues", "workflows")
    access = {**dict.fromkeys(names, "write"), "actions": "read", "checks": "read"}
    night.hub.use(night.github.fine_grained(access))
    night.plays([_broken_way(), _gate("FAILURE")])
    ended = night.through()
    _is_draft(night, ended, Outcome.CI_FAILED, "the token lacks a permission for it")
    assert "could not run the failed jobs" in " ".join(ended.watched.notes)


def _on_dev(night: Night, *acts: Act) -> None:
    """CI has run on the target already."""
    night.ci.past(night.hub.repository, night.hub.tip("dev"), acts)


def test_a_known_failure_that_ran_again_too_is_compared_anew(night: Night) -> None:
    """Reported: with accept_pre_existing it was marked ready with a new failure in it.

    A run of the failed jobs takes those of the target with it, and they may fail in another way.
    """
    _on_dev(night, Act("unit", "FAILURE", log=BROKEN))
    log = "FAILED tests/test_new.py::test_new - assert 3 == 4"
    other = Act("unit", "FAILURE", log=log, after=3)
    known = Act("unit", "FAILURE", log=BROKEN, rerun=other)
    night.plays([known, _broken_way(rerun=Act("tests")), Act(GATE, queued=3)])
    ended = night.through(accept_pre_existing=True)
    _is_draft(night, ended, Outcome.CI_FAILED, "test_new.py")


def test_a_known_failure_beside_a_rerun_keeps_its_evidence(night: Night) -> None:
    """Reported: after a rerun the evidence and the link were gone."""
    known = Act("unit", "FAILURE", log=BROKEN, workflow="Other")
    _on_dev(night, known)
    night.plays([known, _broken_way(rerun=Act("tests")), Act(GATE, queued=3)])
    ended = night.through()
    _is_draft(night, ended, Outcome.PRE_EXISTING_ONLY, "Fails in the same way")
    assert _reruns(night) == 1


def test_what_only_another_app_can_settle_is_named_and_nothing_runs_again(night: Night) -> None:
    """Reported: the approval was asked to run again, and ended as `Never started`."""
    legal = Act("approval", "ACTION_REQUIRED", app="legal", running=0)
    night.plays([_broken_way(rerun=Act("tests")), legal, _gate("FAILURE", rerun=Act(GATE))])
    ended = night.through()
    note = "approval: ACTION_REQUIRED, which no rerun changes; it is up to legal"
    _is_draft(night, ended, Outcome.CI_FAILED, note)
    assert (_reruns(night), len(night.asked)) == (0, 1)


def test_a_red_namesake_in_another_workflow_file_is_no_part_of_a_rerun(night: Night) -> None:
    """Reported: it ended as `Never started`, as if it had been asked to run again too."""
    known = Act("tests", "FAILURE", log=BROKEN, workflow="CI@more.yml")
    _on_dev(night, Act(GATE), known)
    night.plays([known, _broken_way(rerun=Act("tests")), Act(GATE, queued=3)])
    _is_draft(night, night.through(), Outcome.PRE_EXISTING_ONLY, "Fails in the same way")
    assert _reruns(night) == 1


# Asked for again on the same commit

LINT_RED = [Act("lint", "FAILURE", log=BROKEN, workflow="Lint"), Act(GATE)]


def test_ci_that_is_asked_for_again_is_judged_by_its_new_results(night: Night) -> None:
    """Reported: the old failure of a workflow other than the gate's decided at once."""
    night.plays(LINT_RED, [Act("lint", workflow="Lint", after=2), Act(GATE, queued=1)])
    assert night.through().facts.outcome is Outcome.CI_FAILED
    ended = night.through()
    _is_ready(night, ended)
    assert not any(verdict.failed for verdict in ended.seen.verdicts)


def test_an_old_failure_that_never_runs_again_is_not_forgotten(night: Night) -> None:
    night.plays(LINT_RED, [Act(GATE)])
    assert night.through().facts.outcome is Outcome.CI_FAILED
    _is_draft(night, night.through(), Outcome.CI_FAILED, "lint")


# Failures by chance


def test_a_failure_of_what_passed_before_on_the_same_commit_is_called_flaky(night: Night) -> None:
    night.ci.past(night.hub.repository, night.tip, [Act("tests")])
    night.plays([Act("tests", "FAILURE", log=BROKEN), _gate("FAILURE")])
    note = "tests: flaky, it passed before on this same commit"
    _is_draft(night, night.through(), Outcome.CI_FAILED, note)


def test_a_rerun_that_fails_after_the_first_attempt_passed_is_called_flaky(night: Night) -> None:
    """A whole run that somebody started anew; GitHub keeps the attempt before."""
    night.hub.repository.all_attempts = True
    red = Act("tests", "FAILURE", log=BROKEN)
    night.plays([Act("tests", rerun=red), Act("style", "FAILURE", log=NETWORK, rerun=Act("style")),
                 Act(GATE, queued=9, rerun=Act(GATE))])  # fmt: skip
    night.at_poll(3, night.rerun_all)
    ended = night.through()
    _is_draft(night, ended, Outcome.CI_FAILED, "tests: flaky, it passed before")


# Failures of the target


def test_a_failure_that_the_target_has_too_leaves_the_draft_with_links(night: Night) -> None:
    """Reported: with a job that sums up the others it never was the target's own."""
    acts = [Act("tests", "FAILURE", log=BROKEN), _gate("FAILURE")]
    _on_dev(night, *acts)
    night.plays(acts)
    ended = night.through()
    words = ("Fails in the same way", "on the target", "/runs/")
    _is_draft(night, ended, Outcome.PRE_EXISTING_ONLY, *words)
    there = night.hub.repository.runs_of(night.hub.tip("dev"))[0]
    assert f"/job/{there.id}" in night.said[-1]
    assert f"/job/{there.id}" in (night.pull.body or "")


def test_the_targets_failures_may_be_accepted_and_the_evidence_is_told(night: Night) -> None:
    acts = [Act("tests", "FAILURE", log=BROKEN), _gate("FAILURE")]
    _on_dev(night, *acts)
    night.plays(acts)
    ended = night.through(accept_pre_existing=True)
    _is_ready(night, ended)
    for text in (night.said[-1], night.pull.body or ""):
        assert "because the config accepts pre-existing failures" in text
        assert "Fails in the same way" in text


def test_the_job_that_sums_up_is_the_targets_only_if_what_it_sums_up_is(night: Night) -> None:
    _on_dev(night, Act("tests", "FAILURE", log=BROKEN), _gate("FAILURE"))
    night.plays([Act("other", "FAILURE", log=BROKEN), _gate("FAILURE")])
    ended = night.through()
    _is_draft(night, ended, Outcome.CI_FAILED)
    assert ended.facts.checks is not None
    assert ended.facts.checks.pre_existing == ()


def test_another_failure_of_the_same_check_is_ours(night: Night) -> None:
    _on_dev(night, Act("tests", "FAILURE", log=BROKEN))
    more = f"{BROKEN}\n{BROKEN.replace('old', 'new')}"
    night.plays([Act("tests", "FAILURE", log=more), Act(GATE)])
    _is_draft(night, night.through(), Outcome.CI_FAILED, "only here")


def test_a_merged_pull_request_may_prove_it_where_the_target_was_never_tested(
    hub: GitHubSite,
) -> None:
    person, red = hub.person, Act("tests", "FAILURE", log=BROKEN)
    person.branch("feature", "dev")
    head = person.push("feature", {"feature.py": "f = 1\n"})
    number = person.open_pull("feature", "dev").number
    hub.github.ci.past(hub.repository, head, [red])
    person.merge(number)
    hub.github.ci.on_comment(ASK, [red, Act(GATE)])
    ended = whole(hub)
    assert ended.facts.outcome is Outcome.PRE_EXISTING_ONLY, ended.facts.reason
    assert f"the merged pull request #{number}" in hub.comments(2)[-1].replace("\u200b", "")


def test_a_command_of_the_site_may_prove_what_the_targets_ci_never_runs(night: Night) -> None:
    night.plays([Act("tests", "FAILURE", log=BROKEN), Act(GATE)])
    code = f'import sys; print("{BROKEN}"); sys.exit(1)'
    commands = [{"name": "tests", "run": f"python -c '{code}'"}]
    ended = night.through(baseline={"commands": commands})
    _is_draft(night, ended, Outcome.PRE_EXISTING_ONLY, "by the configured command")


def test_a_throw_away_branch_may_prove_it_and_is_deleted(night: Night) -> None:
    red = [Act("tests", "FAILURE", log=BROKEN), Act(GATE)]
    night.ci.on_push("main2dev/*", red)
    night.ci.on_push("nightly-sync-baseline/*", red)
    ended = night.through(baseline={"branch": True}, trigger={"kind": "none"})
    _is_draft(night, ended, Outcome.PRE_EXISTING_ONLY, "on a throw-away branch")
    assert [name for name in night.hub.repository.branches() if "baseline" in name] == []


# GitHub in trouble


def test_an_outage_beyond_all_patience_is_waited_out(night: Night) -> None:
    night.plays(GREEN)
    night.at_poll(2, lambda: night.github.outage(3600))
    ended = night.through()
    _is_ready(night, ended)
    assert any(said.startswith("Not known at the moment: could not read the checks")
               for said in ended.seen.reasons)  # fmt: skip


def test_an_outage_up_to_the_time_limit_is_told_once_github_is_back(night: Night) -> None:
    night.plays(GREEN)
    night.at_poll(2, lambda: night.github.outage(3600))
    ended = night.through(time_limit_minutes=50)
    words = ("The time limit was reached. Not known at the moment",)
    _is_draft(night, ended, Outcome.CI_TIME_LIMIT, *words)


def test_a_comment_whose_answer_was_lost_is_not_made_again(night: Night) -> None:
    night.plays(GREEN)
    night.github.faults.lose("POST .*/comments")
    _is_ready(night, night.through())
    assert len(night.asked) == 1


def test_an_outage_before_the_trigger_does_not_pull_it_twice(night: Night) -> None:
    """Reported: what the gate expects was read after the trigger, which was then pulled again."""
    night.github.workflow(night.hub.repository, "CI", "ci.yml")
    night.ci.on_dispatch("ci.yml", GREEN)
    night.github.outage(1200, "rules/branches")
    ended = night.through(trigger={"kind": "workflow", "text": "ci.yml"})
    _is_ready(night, ended)
    assert len(night.github.requests.of("POST .*/dispatches")) == 1


def test_an_outage_right_before_the_end_does_not_cost_the_night(night: Night) -> None:
    night.plays(GREEN)
    night.github.faults.before("git-upload-pack", lambda: night.github.outage(3600))
    ended = night.through()
    _is_ready(night, ended)
    assert len(night.said) == 2


def test_one_request_of_git_that_fails_in_the_end_does_not_cost_the_night(night: Night) -> None:
    """Reported: after hours of waiting one 502 to git left the draft without a word."""
    night.plays(GREEN)
    night.github.faults.fail("git-upload-pack", skip=1)
    _is_ready(night, night.through())


# Long nights


def test_twelve_hours_with_tokens_that_end_each_hour(night: Night) -> None:
    app = night.github.app()
    night.hub.use(app.private_key)
    night.plays([Act("tests", running=35), Act(GATE, queued=35)])
    night.ci.poll_seconds = 0
    access = {"app_id": str(app.id), "app_key": f"env:{VARIABLE}"}
    ended = night.through(github=access, poll_seconds=1200, time_limit_minutes=1500)
    _is_ready(night, ended)
    renewed = night.github.requests.of("POST /api/v3/app/installations/.*/access_tokens")
    assert ended.watched.polls > 35
    assert 11 <= len(renewed) <= 14
    assert {cost.graphql for cost in ended.seen.costs} == {1}
    rest = [cost.rest for cost in ended.seen.costs]
    assert sum(rest) == 0


@pytest.mark.parametrize(("count", "requests"), [(100, 1), (250, 3)])
def test_a_look_costs_one_request_for_a_hundred_checks(
    night: Night, count: int, requests: int
) -> None:
    others = [External(f"context {number}", pending=0) for number in range(count - 1)]
    night.plays([*others, Act(GATE)])
    ended = night.through()
    _is_ready(night, ended)
    assert len(ended.watched.verdict.passed) == count
    assert [(cost.graphql, cost.rest) for cost in ended.seen.costs] == [(requests, 0)] * 2


# Nothing starts


def test_a_clock_that_is_ahead_of_githubs_does_not_end_the_wait(night: Night) -> None:
    """Reported: on a machine 20 minutes ahead CI had never started as soon as it was asked for."""
    night.plays([Act("tests", after=3), Act(GATE, after=4)])
    with night.opened(grace_minutes=15) as (run, pull):
        ahead = replace(run, clock=lambda: run.clock() + timedelta(minutes=20))
        ended = followed(ahead, pull, night.start.head, night.start.facts, None)
    _is_ready(night, ended)


def test_checks_that_never_start_are_told_with_every_hint_there_is(night: Night) -> None:
    """Reported: the body was cut after 300 characters, so that later hints were lost."""
    token = night.github.token(login="github-actions[bot]", triggers=False)
    night.hub.use(token)
    night.plays(GREEN)
    said = "*Signed* commits only <b>please</b> @team"
    night.at_poll(3, lambda: night.github.person(night.hub.repository, "ci-bot").comment(1, said))
    ended = night.through(grace_minutes=10)
    words = ("a workflow's own token", "no verified signature", "ci-bot said: \\*Signed\\*")
    _is_draft(night, ended, Outcome.CI_NOT_STARTED, f"Never started: {GATE}", *words)
    assert "<b>" not in night.said[-1]
    assert ended.watched.polls > 3


def test_a_required_check_that_never_shows_up_keeps_the_draft(night: Night) -> None:
    rule = Protection("dev", required_checks=("license/cla",))
    night.github.protect(night.hub.repository, rule)
    night.plays([Act("tests"), Act(GATE)])
    _is_draft(night, night.through(), Outcome.CI_NOT_STARTED, "Never started: license/cla")


def test_branch_protection_alone_may_say_what_has_to_pass(night: Night) -> None:
    night.github.protect(night.hub.repository, Protection("dev", required_checks=(GATE,)))
    night.at_poll(1, lambda: night.ci.play(night.hub.repository, night.tip, GREEN))
    ended = night.through(sentinel=None, trigger={"kind": "none"})
    _is_ready(night, ended)
    assert "Nothing is wrong so far; more checks may still start." in ended.seen.reasons


# Nothing is ready that is not green at that moment


def _plays_now(night: Night, acts: list[Act]) -> Callable[[], None]:
    def play() -> None:
        night.ci.play(night.hub.repository, night.tip, acts)

    return play


def test_a_check_that_fails_after_the_last_look_keeps_the_draft(night: Night) -> None:
    """Reported: it was marked ready, as nobody looked at the checks again."""
    night.plays(GREEN)
    late = [Act("late", "FAILURE", running=0, workflow="Late")]
    night.github.faults.before("PATCH .*pulls", _plays_now(night, late))
    _is_draft(night, night.through(), Outcome.CI_FAILED, "After they were green", "late")


def test_a_check_that_fails_while_it_is_marked_ready_makes_it_a_draft_again(night: Night) -> None:
    night.plays(GREEN)
    late = [Act("late", "FAILURE", running=0, workflow="Late")]
    night.github.faults.before("markPullRequestReady", _plays_now(night, late))
    _is_draft(night, night.through(), Outcome.CI_FAILED, "late")


def test_a_ready_pull_request_is_a_draft_while_it_is_repaired(night: Night) -> None:
    """Reported: a fix commit that no check had seen was pushed to a ready pull request."""
    night.plays(STYLE, GREEN)
    drafts: list[bool] = []

    def marked_ready_by_somebody() -> None:
        night.pull.draft = False

    night.at_poll(2, marked_ready_by_somebody)
    night.github.faults.before(PUSH, lambda: drafts.append(night.pull.draft))
    _is_ready(night, night.through(**MEND))
    assert drafts == [True]


def test_a_label_of_another_case_is_the_same_label(night: Night) -> None:
    """Reported: Nightly-Sync/Manual was not seen, as GitHub's labels tell no case apart."""
    night.plays(GREEN)
    night.at_poll(2, lambda: night.person.label(night.pull.number, "Nightly-Sync/Manual"))
    assert night.through().facts.outcome is Outcome.STOPPED
    assert night.pull.draft


def test_a_log_that_cannot_be_had_hides_no_red_check(night: Night) -> None:
    """Reported: the night ended at its time limit, and the check was never named."""
    night.plays([Act("tests", "FAILURE", log=BROKEN), Act(GATE)])
    night.github.faults.fail("^LOGS", times=1000, status=403)
    ended = night.through()
    _is_draft(night, ended, Outcome.CI_FAILED, "tests")
    assert "its log could not be read" in ended.watched.failures[0].unfinished


def test_a_comment_that_names_no_commit_is_made_for_each(night: Night) -> None:
    """Reported: the fix commit got no CI, as the first commit's comment was taken for its own."""
    night.ci.on_comment("^/build$", STYLE, GREEN)
    _is_ready(night, night.through(trigger={"kind": "comment", "text": "/build"}, **MEND))
    assert night.said.count("/build") == 2


# Repairs

STYLE = [Act("style", "FAILURE", log="would reformat a.py"), _gate("FAILURE")]
MEND: dict[str, Any] = {
    "formatters": [{"name": "mend", "run": "sed -i s/2/3/", "paths": ["/a.py"]}]
}
PUSH = "POST .*git-receive-pack"


def _pushes(night: Night) -> int:
    return len([sent for sent in night.github.requests.of(PUSH) if sent.status == 200])


def _content(night: Night, name: str) -> str:
    return bare.git(night.hub.repository.path, "show", f"{night.tip}:{name}")


def test_a_repair_is_pushed_and_its_checks_are_asked_for(night: Night) -> None:
    night.plays(STYLE, GREEN)
    ended = night.through(**MEND)
    _is_ready(night, ended)
    assert ended.facts.outcome is Outcome.READY_NEEDS_LOOK
    assert _content(night, "a.py") == "x = 3\n"
    assert bare.commit(night.hub.repository.path, night.tip).parents == (night.start.head.merge,)
    assert night.asked == [f"/ok to test {sha}" for sha in (night.start.head.merge, night.tip)]
    assert "mend: 1 file formatted" in night.said[-1]


def test_a_repair_waits_for_git_to_answer_again(night: Night) -> None:
    night.plays(STYLE, GREEN)
    night.github.outage(600, "git-receive-pack")
    ended = night.through(**MEND)
    _is_ready(night, ended)
    assert (ended.watched.rounds, _pushes(night)) == (1, 1)
    assert any("Not known at the moment: git push" in said for said in ended.seen.reasons)


def test_a_repair_that_fails_inside_github_is_pushed_again(night: Night) -> None:
    """Reported: git tells such a failure as a rejection, which ended the repairs."""
    night.plays(STYLE, GREEN)
    night.hub.repository.broken_pushes = 2
    ended = night.through(**MEND)
    _is_ready(night, ended)
    assert (ended.watched.rounds, _pushes(night)) == (1, 3)


def test_a_repair_that_arrived_without_an_answer_is_not_pushed_again(night: Night) -> None:
    night.plays(STYLE, GREEN)
    night.github.faults.lose(PUSH)
    ended = night.through(**MEND)
    _is_ready(night, ended)
    assert (ended.watched.rounds, len(night.asked)) == (1, 2)
    added = f"{night.start.head.merge}..{night.tip}"
    assert len(bare.listed(night.hub.repository.path, added)) == 1


def test_what_a_person_pushes_before_a_repair_is_never_overwritten(night: Night) -> None:
    night.plays(STYLE, GREEN)
    pushed: list[str] = []
    night.github.faults.before(
        "GET .*git-receive-pack", lambda: pushed.append(night.person.push(night.branch, {"p": ""}))
    )
    ended = night.through(**MEND)
    _is_draft(night, ended, Outcome.STOPPED, "somebody moved it; nothing was overwritten")
    assert [night.tip] == pushed
    assert len(night.asked) == 1


def test_what_a_person_pushes_while_a_push_is_under_way_is_never_overwritten(night: Night) -> None:
    night.plays(STYLE, GREEN)
    pushed: list[str] = []
    night.github.faults.before(
        PUSH, lambda: pushed.append(night.person.push(night.branch, {"p": ""}))
    )
    ended = night.through(**MEND)
    _is_draft(night, ended, Outcome.STOPPED, "somebody moved it; nothing was overwritten")
    assert [night.tip] == pushed


def test_a_repair_that_a_rule_forbids_is_told_and_ends_the_repairs(night: Night) -> None:
    night.plays(STYLE, STYLE)
    night.github.protect(night.hub.repository, Protection("main2dev/*", ruleset=True))
    formatters = [{**MEND["formatters"][0], "run": "sed -i s/$/0/"}]
    ended = night.through(formatters=formatters)
    _is_draft(night, ended, Outcome.CI_FAILED, "a rule forbids to rewrite it")
    assert ended.watched.rounds == 1


# People in the way


def test_a_push_that_cancels_the_checks_is_named_as_the_reason(night: Night) -> None:
    """Reported: the outcome was blocked, over checks that somebody's push had cancelled."""
    night.plays([Act("tests", "CANCELLED", running=2), Act(GATE, "CANCELLED", queued=2)])
    night.at_poll(2, lambda: night.person.push(night.branch, {"p": ""}))
    ended = night.through()
    _is_draft(night, ended, Outcome.STOPPED, "somebody moved it; nothing was overwritten")


def _label(night: Night) -> None:
    night.person.label(1, "nightly-sync/manual")


def _close(night: Night) -> None:
    night.pull.closed_at = night.clock.now()


def _push(night: Night) -> None:
    night.person.push(night.branch, {"p": ""})


def _retarget(night: Night) -> None:
    night.pull.base = "main"


@pytest.mark.parametrize("takes_over", [_label, _close, _push, _retarget])
def test_who_takes_over_while_checks_run_is_noticed_at_the_next_look(
    night: Night, takes_over: Callable[[Night], None]
) -> None:
    """Reported: it was noticed only when the checks had ended, hours later."""
    night.plays([Act("slow", running=50), Act(GATE, after=50)])
    night.at_poll(2, lambda: takes_over(night))
    ended = night.through()
    assert ended.facts.outcome is Outcome.STOPPED
    assert (ended.watched.polls, len(ended.seen.costs)) == (2, 2)
    assert [(cost.graphql, cost.rest) for cost in ended.seen.costs] == [(1, 0)] * 2


def test_an_old_head_that_github_still_shows_ends_nothing(night: Night) -> None:
    """GitHub may show an old head for a while; where the branch is tells git."""
    night.plays([Act("tests", running=4), Act(GATE, queued=4)])
    sha = night.tip

    def shown(head: str) -> Callable[[], None]:
        return lambda: setattr(night.pull, "head_sha", head)

    night.at_poll(2, shown("0" * 40))
    night.at_poll(3, shown(sha))
    _is_ready(night, night.through())


MOMENTS = ["GET .*branches/dev", "statusCheckRollup", "jobs/.*/logs"]


@pytest.mark.parametrize("when", MOMENTS)
def test_what_a_person_claims_is_left_as_it_is_from_then_on(night: Night, when: str) -> None:
    """Reported: the checks were asked for after the label was on, when it came early enough."""
    night.plays(STYLE, GREEN)
    left: list[tuple[Any, ...]] = []

    def claim() -> None:
        night.person.label(1, "nightly-sync/manual")
        left.append((night.pull.body, night.pull.draft, *night.said))

    night.github.faults.before(when, claim)
    ended = night.through(**MEND)
    assert ended.facts.outcome is Outcome.STOPPED, ended.facts.reason
    assert left == [(night.pull.body, night.pull.draft, *night.said)]
    assert night.tip == night.start.head.tip


@pytest.mark.parametrize("when", MOMENTS)
def test_what_a_person_closes_stays_closed_and_says_why(night: Night, when: str) -> None:
    night.plays(STYLE, GREEN)
    asked: list[int] = []

    def close() -> None:
        night.pull.closed_at = night.clock.now()
        asked.append(len(night.asked))

    night.github.faults.before(when, close)
    ended = night.through(**MEND)
    assert (ended.facts.outcome, night.pull.open) == (Outcome.STOPPED, False)
    assert "was closed while its checks ran" in night.said[-1]
    assert "was closed while its checks ran" in (night.pull.body or "")
    assert (asked, night.tip) == ([len(night.asked)], night.start.head.tip)


def test_a_fixer_during_whose_work_a_person_takes_over_gets_nothing_pushed(night: Night) -> None:
    """Reported: the label was looked for only before the fixers ran."""
    night.plays(STYLE)

    class Slow:
        def fix(self, failures: Sequence[FailureGroup], worktree: Path) -> Change:
            night.person.label(1, "nightly-sync/manual")
            (worktree / "a.py").write_text("x = 3\n")
            return Change(summary="mended", files=("a.py",))

    ended = night.through((Slow(),))
    assert ended.facts.outcome is Outcome.STOPPED
    assert night.tip == night.start.head.tip
    assert len(night.said) == 1
