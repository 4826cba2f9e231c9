"""Rollups, triggers and logs."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from nightly_sync.checks.gate import Expectations, judge, run_of
from nightly_sync.checks.logs import CUT
from nightly_sync.errors import StopForPerson, Unreachable
from nightly_sync.forge.base import Check, CheckStatus
from nightly_sync.forge.github.auth import ReadTokens
from nightly_sync.forge.github.logs import Logs
from nightly_sync.forge.github.refusals import GitHubError
from nightly_sync.forge.github.rollup import Rollups
from tests.github.ci import FUTURE, NEVER, Act, External
from tests.github.client import BRANCH, Site
from tests.github.forge_support import Rig, make_rig

OK_TO_TEST = {"kind": "comment", "text": "/ok to test {sha}"}


@pytest.fixture
def rig(site: Site) -> Rig:
    return make_rig(site, trigger=OK_TO_TEST)


def _on_comment(rig: Rig, *acts: Act | External) -> int:
    rig.site.github.ci.on_comment(r"/ok to test (\w+)", acts)
    return rig.forge.create_draft(BRANCH, "dev", "Sync", "body").number


def _started(rig: Rig, *acts: Act | External) -> datetime:
    return rig.forge.trigger_ci(_on_comment(rig, *acts), rig.site.head)


def _checks(rig: Rig, polls: int = 1) -> dict[str, Check]:
    rollup = None
    for _ in range(polls):
        rollup = rig.forge.rollup(rig.site.head)
    assert rollup
    assert rollup.sha == rig.site.head
    return {check.name: check for check in rollup.checks}


# Rollups


def test_no_checks_and_no_commit_are_an_empty_rollup(rig: Rig) -> None:
    assert rig.forge.rollup(rig.site.head).checks == ()
    assert rig.forge.rollup("0" * 40).checks == ()


def test_a_check_run_goes_from_queued_to_its_end(rig: Rig) -> None:
    since = _started(rig, Act("tests", queued=1, running=1))
    queued = _checks(rig)["tests"]
    assert (queued.status, queued.conclusion, queued.started_at) == (CheckStatus.QUEUED, None, None)
    running = _checks(rig)["tests"]
    assert running.status is CheckStatus.IN_PROGRESS
    ended = _checks(rig)["tests"]
    assert (ended.status, ended.conclusion) == (CheckStatus.COMPLETED, "SUCCESS")
    assert (ended.app, ended.workflow) == ("github-actions", "CI")
    assert ended.started_at
    assert ended.started_at >= since
    assert ended.url.startswith("http")


def test_two_workflow_files_of_one_name_are_two_workflows(rig: Rig) -> None:
    """Reported: the green job of the one hid the red job of the other."""
    red, green = Act("tests", "FAILURE"), Act("tests", workflow="CI@more.yml", after=1)
    since = _started(rig, red, green, Act("CI summary", after=1))
    for _ in range(4):
        rollup = rig.forge.rollup(rig.site.head)
    assert rollup
    jobs = [check for check in rollup.checks if check.name == "tests"]
    assert [check.workflow for check in jobs] == ["CI", "CI"]
    assert len({check.workflow_id for check in jobs}) == 2
    expected = Expectations(
        head_sha=rig.site.head, triggered_at=since, grace=timedelta(0), sentinel="CI summary"
    )
    verdict = judge(rollup, expected, since + timedelta(hours=1))
    assert [check.conclusion for check in verdict.failed] == ["FAILURE"]


def test_commit_statuses_are_checks_too(rig: Rig) -> None:
    _started(rig, External("ci/outside", "FAILURE"), External("slow", pending=NEVER))
    found = _checks(rig, polls=2)
    assert (found["ci/outside"].status, found["ci/outside"].conclusion) == (
        CheckStatus.COMPLETED,
        "FAILURE",
    )
    assert (found["slow"].status, found["slow"].conclusion) == (CheckStatus.PENDING, None)


def test_a_status_that_is_only_expected_has_not_ended(rig: Rig) -> None:
    _started(rig, External("promised", "EXPECTED", pending=0))
    assert _checks(rig)["promised"].status is CheckStatus.PENDING


def test_words_that_github_invents_later_are_handed_on(rig: Rig) -> None:
    _started(rig, Act("tests", conclusion=FUTURE), External("other", FUTURE))
    found = _checks(rig, polls=2)
    assert found["tests"].conclusion == FUTURE
    assert found["other"].conclusion == FUTURE


def test_a_null_rollup_is_empty(rig: Rig) -> None:
    _started(rig, Act("tests"))
    rig.site.repository.without_rollup.add(rig.site.head)
    assert _checks(rig) == {}


@pytest.mark.parametrize(("count", "requests"), [(100, 1), (101, 2), (250, 3)])
def test_a_hundred_checks_cost_one_request(rig: Rig, count: int, requests: int) -> None:
    _started(rig, *(Act(f"test-{number}") for number in range(count)))
    before = rig.forge.cost
    assert len(_checks(rig)) == count
    spent = rig.forge.cost - before
    assert (spent.graphql, spent.points, spent.rest) == (requests, requests, 0)


def test_checks_of_one_name_in_two_suites_are_both_there(rig: Rig) -> None:
    _started(rig, Act("tests"), Act("tests", "FAILURE", workflow="Other"), Act("tests", app="bot"))
    rig.forge.rollup(rig.site.head)
    checks = rig.forge.rollup(rig.site.head).checks
    assert len({check.key for check in checks}) == 3


def test_a_rerun_takes_the_place_of_the_run_it_repeats(rig: Rig) -> None:
    _started(rig, Act("tests", "FAILURE", rerun=Act("tests")))
    first = _checks(rig, polls=2)["tests"]
    run = rig.site.repository.suites[-1].run
    assert run
    rig.site.client.post(f"actions/runs/{run.id}/rerun-failed-jobs")
    second = _checks(rig, polls=2)["tests"]
    assert (first.conclusion, second.conclusion) == ("FAILURE", "SUCCESS")
    assert first.key == second.key


def test_what_started_a_run_is_told_apart(rig: Rig) -> None:
    """Reported: a red push run disappeared behind a newer green run of the same workflow."""
    rig.site.github.ci.on_push("main2dev/*", [Act("tests", "FAILURE"), Act("lint", app="bot")])
    sha = rig.site.github.person(rig.site.repository).push(BRANCH, {"x": "1"})
    rig.forge.rollup(sha)
    since = rig.forge.trigger_ci(_on_comment(rig, Act("tests"), External("out")), sha)
    rig.forge.rollup(sha)
    rollup = rig.forge.rollup(sha)
    assert [(check.name, check.event, check.conclusion) for check in rollup.checks] == [
        ("tests", f"push {BRANCH}", "FAILURE"),
        ("lint", BRANCH, "SUCCESS"),
        ("tests", "push pull-request/1", "SUCCESS"),
        ("out", "", "SUCCESS"),
    ]
    wanted = _wanted(sha, since, expected=("tests",))
    assert judge(rollup, wanted, since).failed == rollup.checks[:1]


# Triggers


def test_a_comment_names_the_full_sha_and_its_own_time_counts(rig: Rig) -> None:
    since = _started(rig, Act("tests"))
    (said,) = rig.site.repository.comments
    assert said.body == f"/ok to test {rig.site.head}"
    assert since == said.created_at
    assert "tests" in _checks(rig)


def test_checks_at_work_are_joined_by_a_later_run(rig: Rig) -> None:
    first = _started(rig, Act("tests", running=NEVER))
    _checks(rig)
    assert make_rig(rig.site, trigger=OK_TO_TEST).forge.trigger_ci(1, rig.site.head) == first
    assert len(rig.site.repository.comments) == 1


def test_what_never_started_is_joined_only_within_the_grace_period(rig: Rig) -> None:
    first = _started(rig, Act("tests", after=NEVER))
    assert rig.forge.trigger_ci(1, rig.site.head) == first
    rig.site.github.world.clock.advance(3600)
    assert rig.forge.trigger_ci(1, rig.site.head) > first


def test_triggering_again_after_the_end_starts_anew(rig: Rig) -> None:
    first = _started(rig, Act("tests", "FAILURE"))
    old = _checks(rig, polls=2)["tests"]
    rig.site.github.world.clock.advance(60)
    second = rig.forge.trigger_ci(1, rig.site.head)
    assert old.started_at
    assert first <= old.started_at < second
    assert len(rig.site.repository.comments) == 2


def test_an_exempt_check_that_never_ends_does_not_hold_a_new_trigger_back(site: Site) -> None:
    rig = make_rig(site, trigger=OK_TO_TEST, exempt=["approval*"])
    first = _started(rig, Act("tests"), Act("approval needed", running=NEVER))
    assert _checks(rig, polls=2)["tests"].conclusion == "SUCCESS"
    assert rig.forge.trigger_ci(1, site.head) > first


def test_a_comment_of_somebody_else_is_not_joined(rig: Rig) -> None:
    number = _on_comment(rig, Act("tests"))
    person = rig.site.github.person(rig.site.repository, "mallory")
    person.comment(number, f"/ok to test {rig.site.head} ")
    rig.forge.trigger_ci(number, rig.site.head)
    assert len(rig.site.repository.comments) == 2


@pytest.mark.parametrize("kind", ["comment", "workflow", "label", "none"])
def test_nothing_is_triggered_on_a_head_that_moved(site: Site, kind: str) -> None:
    text = "" if kind == "none" else "x {sha}" if kind == "comment" else "ci.yml"
    rig = make_rig(site, trigger={"kind": kind, "text": text})
    number = rig.forge.create_draft(BRANCH, "dev", "Sync", "body").number
    site.github.person(site.repository).push(BRANCH, {"x": "1"})
    with pytest.raises(StopForPerson):
        rig.forge.trigger_ci(number, site.head)
    assert site.repository.comments == []


def test_a_workflow_is_dispatched_on_the_branch(site: Site) -> None:
    rig = make_rig(site, trigger={"kind": "workflow", "text": "ci.yml"})
    site.github.workflow(site.repository, "CI", "ci.yml")
    site.github.ci.on_dispatch("ci.yml", [Act("tests")])
    number = rig.forge.create_draft(BRANCH, "dev", "Sync", "body").number
    since = rig.forge.trigger_ci(number, site.head)
    found = _checks(rig)["tests"]
    assert found.started_at
    assert since <= found.started_at <= since + timedelta(seconds=10)


BY_WORKFLOW: dict[str, Any] = {"trigger": {"kind": "workflow", "text": "ci.yml"}}
BY_LABEL: dict[str, Any] = {"trigger": {"kind": "label", "text": "run ci"}}


def _asked_by(site: Site, settings: dict[str, Any], *acts: Act) -> tuple[int, datetime]:
    """CI was asked for by a run that died then: the pull request, and when."""
    site.github.workflow(site.repository, "CI", "ci.yml")
    site.github.ci.on_dispatch("ci.yml", acts)
    site.github.ci.on_label("run ci", acts)
    forge = make_rig(site, **settings).forge
    number = forge.create_draft(BRANCH, "dev", "Sync", "body").number
    return number, forge.trigger_ci(number, site.head)


def _times_asked(site: Site) -> int:
    """How often a workflow was dispatched, or the label put on."""
    return len(site.github.requests.of("POST .*/(dispatches|issues/[0-9]+/labels)"))


@pytest.mark.parametrize(
    ("settings", "act"),
    [
        (BY_WORKFLOW, Act("tests", running=NEVER)),
        (BY_WORKFLOW, Act("tests", queued=NEVER)),
        (BY_LABEL, Act("tests", running=NEVER)),
        (BY_LABEL, Act("tests", after=NEVER)),  # nothing of it is to be seen yet
    ],
)
def test_what_a_run_that_died_asked_for_is_joined_while_it_is_at_work(
    site: Site, settings: dict[str, Any], act: Act
) -> None:
    """Reported: only a comment was recognised, so that a resumed run started all anew."""
    number, first = _asked_by(site, settings, act)
    site.github.world.clock.advance(300)
    rig = make_rig(site, **settings)
    since = rig.forge.trigger_ci(number, site.head)
    assert first <= since <= first + timedelta(seconds=5)
    assert _times_asked(site) == 1
    started = [check.started_at for check in _checks(rig, polls=3).values() if check.started_at]
    assert all(since <= at for at in started)


@pytest.mark.parametrize("settings", [BY_WORKFLOW, BY_LABEL])
def test_what_was_asked_for_and_has_ended_is_asked_for_anew(
    site: Site, settings: dict[str, Any]
) -> None:
    number, first = _asked_by(site, settings, Act("tests"))
    rig = make_rig(site, **settings)
    _checks(rig, polls=2)
    site.github.world.clock.advance(60)
    assert rig.forge.trigger_ci(number, site.head) > first + timedelta(seconds=30)
    assert _times_asked(site) == 2


@pytest.mark.parametrize("settings", [BY_WORKFLOW, BY_LABEL])
def test_what_was_asked_for_an_earlier_commit_is_not_joined(
    site: Site, settings: dict[str, Any]
) -> None:
    number, _ = _asked_by(site, settings, Act("tests", running=NEVER))
    sha = site.github.person(site.repository).push(BRANCH, {"x": "1"})
    make_rig(site, **settings).forge.trigger_ci(number, sha)
    assert _times_asked(site) == 2


def test_a_dispatched_run_is_joined_until_its_sentinel_has_ended(site: Site) -> None:
    """Also between two stages, while no check is at work."""
    stages = (Act("build"), Act("gate", after=2), Act("approval", after=3, running=NEVER))
    number, _ = _asked_by(site, BY_WORKFLOW, *stages)
    rig = make_rig(site, sentinel="gate", **BY_WORKFLOW)
    for asked in (1, 1, 1, 2):
        rig.forge.trigger_ci(number, site.head)
        assert _times_asked(site) == asked


def test_a_label_that_somebody_took_off_is_put_on_again(site: Site) -> None:
    number, _ = _asked_by(site, BY_LABEL, Act("tests", queued=NEVER))
    site.repository.pulls[0].labels.clear()
    make_rig(site, **BY_LABEL).forge.trigger_ci(number, site.head)
    assert _times_asked(site) == 2


def test_a_label_that_was_there_before_the_commit_is_put_on_for_it(site: Site) -> None:
    site.github.ci.on_label("run ci", [Act("tests", queued=NEVER)])
    rig = make_rig(site, **BY_LABEL)
    number = rig.forge.create_draft(BRANCH, "dev", "Sync", "body").number
    site.github.person(site.repository).label(number, "run ci")
    rig.forge.trigger_ci(number, site.head)
    assert _times_asked(site) == 1
    assert "tests" in _checks(rig)


@pytest.mark.parametrize("settings", [BY_WORKFLOW, BY_LABEL])
def test_a_request_whose_answer_was_lost_is_not_made_again(
    site: Site, settings: dict[str, Any]
) -> None:
    """Reported: a dispatch was made again, and two runs were at work."""
    site.github.faults.lose("POST .*/(dispatches|issues/[0-9]+/labels)")
    _asked_by(site, settings, Act("tests", running=NEVER))
    assert len(site.repository.runs_of(site.head)) == 1


def test_a_dispatch_that_never_arrived_is_made_again(site: Site) -> None:
    site.github.faults.fail("POST .*/dispatches")
    _asked_by(site, BY_WORKFLOW, Act("tests", running=NEVER))
    assert len(site.repository.runs_of(site.head)) == 1


def test_a_workflow_that_cannot_be_dispatched_is_explained(site: Site) -> None:
    rig = make_rig(site, trigger={"kind": "workflow", "text": "ci.yml"})
    site.github.workflow(site.repository, "CI", "ci.yml", dispatch=False)
    number = rig.forge.create_draft(BRANCH, "dev", "Sync", "body").number
    with pytest.raises(GitHubError, match="no workflow_dispatch trigger"):
        rig.forge.trigger_ci(number, site.head)


@pytest.mark.parametrize("label", ["run ci", "ci/run 100%"])
def test_a_label_is_put_on_anew_each_time(site: Site, label: str) -> None:
    rig = make_rig(site, trigger={"kind": "label", "text": label})
    site.github.ci.on_label(label, [Act("tests")])
    number = rig.forge.create_draft(BRANCH, "dev", "Sync", "body").number
    first = rig.forge.trigger_ci(number, site.head)
    assert _checks(rig, polls=2)["tests"].conclusion == "SUCCESS"
    site.github.world.clock.advance(60)
    second = rig.forge.trigger_ci(number, site.head)
    again = _checks(rig)["tests"]
    assert first < second
    assert again.started_at
    assert again.started_at >= second
    assert rig.forge.get(number).labels == (label,)


def test_without_a_trigger_the_first_check_of_the_push_counts(site: Site) -> None:
    rig = make_rig(site)
    site.github.ci.on_push("main2dev/*", [Act("tests")])
    sha = site.github.person(site.repository).push(BRANCH, {"x": "1"})
    number = rig.forge.create_draft(BRANCH, "dev", "Sync", "body").number
    rig.forge.rollup(sha)
    site.github.world.clock.advance(600)
    since = rig.forge.trigger_ci(number, sha)
    assert since == rig.forge.rollup(sha).checks[0].started_at


def test_a_bot_that_refuses_to_start_ci_is_quoted(rig: Rig) -> None:
    number = _on_comment(rig, Act("tests"))
    since = rig.forge.trigger_ci(number, rig.site.head)
    bot = rig.site.github.person(rig.site.repository, "copy-pr-bot[bot]")
    bot.comment(number, "not a\ncommit I trust")
    found = rig.forge.not_started_hints(number, rig.site.head, since)
    assert found[0] == "copy-pr-bot[bot] said: not a commit I trust."


def test_a_workflows_own_token_is_named_as_a_reason(site: Site) -> None:
    token = site.github.token(login="github-actions[bot]")
    rig = make_rig(site, ReadTokens(lambda: token))
    number = rig.forge.create_draft(BRANCH, "dev", "Sync", "body").number
    found = rig.forge.not_started_hints(number, site.head, rig.forge.trigger_ci(number, site.head))
    assert "workflow's own token" in found[0]


# Reruns


def _wanted(sha: str, since: datetime, **fields: Any) -> Expectations:
    return Expectations(head_sha=sha, triggered_at=since, grace=timedelta(minutes=15), **fields)


def _asked(rig: Rig) -> int:
    """How many workflow runs were asked to run their failed jobs again."""
    return len(rig.site.github.requests.of("rerun-failed-jobs"))


def test_failed_jobs_run_again_in_each_workflow_they_belong_to(rig: Rig) -> None:
    red = (Act("tests", "FAILURE", rerun=Act("tests")), Act("docs", "FAILURE", rerun=Act("docs")))
    nightly = Act("nightly", "FAILURE", workflow="Nightly", rerun=Act("nightly"))
    _started(rig, *red, nightly, Act("lint"))
    old = _checks(rig, polls=2)
    failed = tuple(old[name] for name in ("tests", "docs", "nightly"))
    when = rig.forge.rerun(1, rig.site.head, failed)
    assert when
    assert (_asked(rig), len(rig.site.repository.comments)) == (2, 1)
    new = _checks(rig, polls=2)
    assert new["lint"] == old["lint"]
    for name in ("tests", "docs", "nightly"):
        first, second = old[name], new[name]
        assert (first.conclusion, second.conclusion) == ("FAILURE", "SUCCESS")
        assert first.key == second.key
        assert first.completed_at
        assert second.started_at
        assert first.completed_at <= when <= second.started_at


def test_right_after_the_request_no_verdict_is_made_of_the_old_results(rig: Rig) -> None:
    """A workflow whose sentinel is skipped over a failure, and starts late the second time."""
    tests = Act("tests", "FAILURE", rerun=Act("tests", after=1))
    gate = Act("gate", "SKIPPED", after=1, running=0, rerun=Act("gate", after=3))
    wanted = _wanted(rig.site.head, _started(rig, tests, gate), sentinel="gate")
    clock = rig.site.github.world.clock
    _checks(rig)
    first = judge(rig.forge.rollup(rig.site.head), wanted, clock.now())
    assert (first.kind, first.blocking[0].conclusion) == ("failed", "SKIPPED")
    again = (*first.failed, *first.blocking)
    clock.advance(5)  # reading logs
    when = rig.forge.rerun(1, rig.site.head, again)
    keys = frozenset(run_of(check) for check in again)
    wanted = wanted.model_copy(update={"rerun": keys, "rerun_at": when})
    seen = [judge(rig.forge.rollup(rig.site.head), wanted, clock.now()).kind for _ in range(6)]
    assert seen[:2] == ["not-started", "running"]
    assert seen[2:] == ["not-started", "running", "green", "green"]


def test_while_a_workflow_run_is_at_work_nothing_runs_again_yet(rig: Rig) -> None:
    slow = Act("slow", running=2)
    _started(rig, Act("other", "FAILURE", workflow="Other"), Act("tests", "FAILURE"), slow)
    found = _checks(rig, polls=2)
    failed = (found["other"], found["tests"])
    with pytest.raises(Unreachable, match="still at work"):
        rig.forge.rerun(1, rig.site.head, failed)
    assert _asked(rig) == 0
    _checks(rig)
    assert rig.forge.rerun(1, rig.site.head, failed)
    assert _asked(rig) == 2


def test_a_rerun_whose_answer_was_lost_is_not_asked_for_again(rig: Rig) -> None:
    _started(rig, Act("tests", "FAILURE", rerun=Act("tests", running=NEVER)))
    failed = _checks(rig, polls=2)["tests"]
    rig.site.github.faults.lose("rerun-failed-jobs")
    assert rig.forge.rerun(1, rig.site.head, (failed,))
    run = rig.site.repository.suites[-1].run
    assert run
    assert run.attempt == 2


def test_what_a_rerun_replaced_is_kept_with_its_log(rig: Rig) -> None:
    rig.site.repository.all_attempts = True
    _started(rig, Act("tests", "FAILURE", log="first", rerun=Act("tests", log="second")))
    old = _checks(rig, polls=2)["tests"]
    assert rig.forge.rollup(rig.site.head).earlier == ()
    rig.forge.rerun(1, rig.site.head, (old,))
    _checks(rig)
    rollup = rig.forge.rollup(rig.site.head)
    assert rollup.earlier == (old,)
    assert [check.conclusion for check in rollup.checks] == ["SUCCESS"]
    assert "first" in rig.forge.log(rig.site.head, old)
    assert "second" in rig.forge.log(rig.site.head, rollup.checks[0])


def test_a_token_that_may_not_run_jobs_again_is_named(site: Site) -> None:
    _started(make_rig(site, trigger=OK_TO_TEST), Act("tests", "FAILURE"))
    weak = site.github.fine_grained({"pull_requests": "write", "actions": "read"})
    rig = make_rig(site, ReadTokens(lambda: weak))
    failed = _checks(rig, polls=2)["tests"]
    with pytest.raises(GitHubError, match="lacks a permission") as caught:
        rig.forge.rerun(1, site.head, (failed,))
    assert not isinstance(caught.value, Unreachable)


def test_a_workflow_run_that_github_does_not_take_again_is_explained(rig: Rig) -> None:
    _started(rig, Act("tests", FUTURE))
    odd = _checks(rig, polls=2)["tests"]
    with pytest.raises(GitHubError, match="does not run it again"):
        rig.forge.rerun(1, rig.site.head, (odd,))


def test_other_checks_are_asked_for_by_a_new_comment_whatever_is_at_work(rig: Rig) -> None:
    slow = Act("slow", workflow="Slow", running=NEVER)
    _started(rig, External("out", "FAILURE"), Act("tests", "FAILURE", workflow="Other"), slow)
    found = _checks(rig, polls=2)
    when = rig.forge.rerun(1, rig.site.head, (found["out"], found["tests"]))
    first, second = rig.site.repository.comments
    assert (first.body, _asked(rig)) == (second.body, 1)
    assert when
    assert first.created_at < when <= second.created_at


@pytest.mark.parametrize(("kind", "text"), [("workflow", "ci.yml"), ("label", "run ci")])
def test_other_checks_start_anew_with_the_trigger_there_is(
    site: Site, kind: str, text: str
) -> None:
    rig = make_rig(site, trigger={"kind": kind, "text": text})
    site.github.workflow(site.repository, "CI", "ci.yml")
    site.github.ci.on_dispatch("ci.yml", [External("out", "FAILURE")], [External("out")])
    site.github.ci.on_label("run ci", [External("out", "FAILURE")], [External("out")])
    number = rig.forge.create_draft(BRANCH, "dev", "Sync", "body").number
    rig.forge.trigger_ci(number, site.head)
    failed = _checks(rig, polls=2)["out"]
    when = rig.forge.rerun(number, site.head, (failed,))
    assert when
    new = _checks(rig, polls=2)["out"]
    assert (failed.conclusion, new.conclusion) == ("FAILURE", "SUCCESS")
    assert new.started_at
    assert new.started_at >= when


def test_where_one_check_cannot_run_again_nothing_is_started(site: Site) -> None:
    rig = make_rig(site)
    acts = (Act("tests", "FAILURE"), Act("lint", "FAILURE", app="bot"), External("out", "ERROR"))
    site.github.ci.play(site.repository, site.head, acts, BRANCH)
    number = rig.forge.create_draft(BRANCH, "dev", "Sync", "body").number
    found = _checks(rig, polls=2)
    tests, lint, out = (found[name] for name in ("tests", "lint", "out"))
    unknown = tests.model_copy(update={"suite": "1"})
    for checks in ((lint,), (out,), (tests, lint), (tests, out), (tests, unknown), ()):
        assert rig.forge.rerun(number, site.head, checks) is None
    assert _asked(rig) == 0
    assert rig.forge.rerun(number, site.head, (tests,))


def test_nothing_runs_again_on_a_head_that_moved(rig: Rig) -> None:
    _started(rig, Act("tests", "FAILURE"))
    failed = _checks(rig, polls=2)["tests"]
    rig.site.github.person(rig.site.repository).push(BRANCH, {"x": "1"})
    with pytest.raises(StopForPerson):
        rig.forge.rerun(1, rig.site.head, (failed,))
    assert _asked(rig) == 0


# Logs


def test_a_failed_jobs_log_comes_as_it_is_and_no_token_goes_there(rig: Rig) -> None:
    _started(rig, Act("tests", "FAILURE", log="E   AssertionError: no\nFAILED test_x.py"))
    check = _checks(rig, polls=2)["tests"]
    log = rig.forge.log(rig.site.head, check)
    assert log.startswith("\ufeff")
    assert "\x1b[31mE   AssertionError: no\x1b[0m" in log
    assert "##[error]Process completed" in log


def test_a_log_of_a_repository_that_was_renamed_meanwhile_is_refused(rig: Rig) -> None:
    """Reported: the new address was asked without a token, and the log passed for a lost one."""
    _started(rig, Act("tests", "FAILURE", log="out"))
    check = _checks(rig, polls=3)["tests"]
    rig.site.github.rename(rig.site.repository, "acme/gadgets")
    with pytest.raises(GitHubError, match="It is acme/gadgets now"):
        rig.forge.log(rig.site.head, check)


def test_a_new_process_finds_the_log_too(rig: Rig) -> None:
    _started(rig, Act("tests", "FAILURE", log="boom"))
    check = _checks(rig, polls=2)["tests"]
    assert "boom" in make_rig(rig.site).forge.log(rig.site.head, check)


def test_a_long_log_keeps_its_end_and_says_so(rig: Rig) -> None:
    log = "".join(f"line {number}\n" for number in range(5000)).encode()
    _started(rig, Act("tests", "FAILURE", log=log))
    check = _checks(rig, polls=2)["tests"]
    found = Rollups(rig.client).read(rig.site.head)
    text = Logs(rig.client, shown=1000).read(found, check)
    assert text.splitlines()[0] == CUT
    assert text.endswith("line 4998\nline 4999\n")
    assert len(text) < 1100


@pytest.mark.parametrize("fault", ["fail", "reset", "cut"])
def test_a_broken_download_is_tried_again_with_a_new_address(rig: Rig, fault: str) -> None:
    _started(rig, Act("tests", "FAILURE", log="boom\n" * 1000))
    check = _checks(rig, polls=2)["tests"]
    getattr(rig.site.github.faults, fault)("LOGS", times=2)
    assert rig.forge.log(rig.site.head, check).count("boom") == 1000


def test_what_has_no_log_tells_what_it_says_itself(rig: Rig) -> None:
    _started(rig, Act("lint", "FAILURE", app="bot"), External("out", "ERROR", description="sad"))
    found = _checks(rig, polls=2)
    assert rig.forge.log(rig.site.head, found["out"]) == "sad"
    assert isinstance(rig.forge.log(rig.site.head, found["lint"]), str)
    unknown = found["lint"].model_copy(update={"name": "unknown"})
    assert rig.forge.log(rig.site.head, unknown) == ""
