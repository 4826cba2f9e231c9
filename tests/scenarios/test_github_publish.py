"""The draft pull request on GitHub: its text, labels and reviewers, and the same day's reruns."""

from contextlib import suppress
from typing import Any

import pytest

from nightly_sync import publish, sync_branch
from nightly_sync.config import check_runnable
from nightly_sync.errors import ConfigError, StopForPerson, SyncError, Unreachable
from nightly_sync.record import Outcome
from nightly_sync.reports import marker
from tests.github import bare
from tests.github.ci import Act
from tests.github.state import Protection, Pull
from tests.support.github_night import Night, merged, opened, whole
from tests.support.github_site import ASK, GATE, GREEN, GitHubSite

DAY: dict[str, Any] = {"date_format": "today"}
TODAY = "main2dev/today"


def _pull(hub: GitHubSite, number: int = 1) -> Pull:
    found = hub.repository.pull(number)
    assert found is not None
    return found


def _asked(hub: GitHubSite, number: int = 1) -> list[str]:
    return [said for said in hub.comments(number) if said.startswith("/ok to test")]


# The text


def test_what_people_wrote_around_our_part_stays(night: Night) -> None:
    night.plays(GREEN)
    with night.opened() as (run, pull):
        publish.update_body(run, pull, night.start.facts)
    ours = night.pull.body or ""
    assert marker.parse(ours) is not None
    around = ("Do **not** merge before Monday.\r\n\r\n", "\r\n\r\n- [x] seen")
    night.pull.body = ours.replace("\n", "\r\n").join(around)
    night.through()
    body = night.pull.body
    assert body.startswith(around[0])
    assert body.endswith("\n- [x] seen")
    assert body.count("nightly-sync:begin") == 1
    assert "Ready" in body


def test_what_people_wrote_leaves_less_room_for_our_part(night: Night) -> None:
    night.plays(GREEN)
    with night.opened() as (run, pull):
        publish.update_body(run, pull, night.start.facts)
    theirs = "x" * 65_000
    night.pull.body = f"{night.pull.body}\n{theirs}"
    assert night.through().facts.outcome is Outcome.READY
    assert len(night.pull.body) <= 65_536
    assert theirs in night.pull.body
    assert marker.parse(night.pull.body) is not None


def test_labels_are_made_and_reviewers_asked_once(hub: GitHubSite) -> None:
    """Reported: each rerun of the day asked the reviewers again."""
    hub.github.person(hub.repository, "alice")
    hub.github.ci.on_comment(ASK, GREEN)
    fields = {**DAY, "labels": ["sync", "ci: nightly"], "reviewers": ["alice"]}
    for run_id in ("run-1", "run-2"):
        assert whole(hub, run_id, **fields).facts.outcome is Outcome.READY
    assert _pull(hub).labels == ["sync", "ci: nightly"]
    assert _pull(hub).reviewers == ["alice"]
    assert len(hub.github.requests.of("POST .*requested_reviewers")) == 1
    assert len(hub.github.requests.of("POST .*/repos/acme/widgets/labels")) == 2


def test_a_reviewer_who_is_no_collaborator_is_a_warning_only(night: Night) -> None:
    with night.opened(reviewers=["stranger"]) as (run, pull):
        said = publish.ask_for_review(run, pull)
    assert said.endswith("a reviewer is no collaborator of the repository")


def test_what_a_person_writes_while_a_night_writes_stays(night: Night) -> None:
    """Reported: it was lost where it fell between the night's look and its write."""
    night.plays(GREEN)
    note = "\n\n- [x] seen"
    write = "PATCH .*/pulls/1"
    night.github.faults.before(write, lambda: night.person.write(1, lambda text: text + note))
    assert night.through().facts.outcome is Outcome.READY
    assert (night.pull.body or "").endswith(note)
    assert marker.parse(night.pull.body or "") is not None


# What people do to it meanwhile


def test_what_a_person_merges_in_mid_run_is_called_merged_and_left_as_it_is(night: Night) -> None:
    """Reported: it was called closed, with the advice to reopen it."""
    night.plays(GREEN)
    night.at_poll(1, lambda: night.person.merge(1))
    ended = night.through(delete_stale_branches=True)
    told = "pull request 1 was merged by alice while its checks ran"
    assert (ended.facts.outcome, "reopen" in ended.facts.reason) == (Outcome.STOPPED, False)
    assert told in ended.facts.reason
    assert told in (night.pull.body or "")
    assert told in night.said[-1]
    assert (night.pull.merged_at is None, night.pull.open) == (False, False)
    assert night.branch in night.hub.repository.branches()


@pytest.mark.parametrize("during", ["checks", "ready"])
def test_one_that_a_person_points_at_another_branch_is_a_draft_that_says_so(
    night: Night, during: str
) -> None:
    """Reported: it was marked ready, and nobody had tested what would be merged there."""
    night.plays(GREEN)

    def retarget() -> None:
        night.pull.base = "main"

    if during == "checks":
        night.at_poll(1, retarget)
    else:
        night.github.faults.after("markPullRequestReady", retarget)
    ended = night.through()
    assert ended.facts.outcome is Outcome.STOPPED
    assert "goes into main now" in ended.facts.reason
    assert night.pull.draft
    assert "goes into main now" in (night.pull.body or "")


# The end of it


def _summaries(hub: GitHubSite) -> list[str]:
    return [said for said in hub.comments(1) if said.startswith("**Ready")]


def test_a_summary_that_arrived_without_an_answer_is_not_said_again(night: Night) -> None:
    """Reported: GitHub was away for an hour then, and the summary stood there twice."""
    night.plays(GREEN)
    summary = "POST .*/comments"  # the first one asks for CI
    night.github.faults.after(summary, lambda: night.github.outage(3600), skip=1)
    night.github.faults.lose(summary, skip=1)
    assert night.through().facts.outcome is Outcome.READY
    assert len(_summaries(night.hub)) == 1


def test_an_outage_right_after_ready_loses_no_word_and_the_next_run_says_it(
    hub: GitHubSite,
) -> None:
    """What the summary says is in the text before anything is marked ready."""
    hub.github.ci.on_comment(ASK, GREEN)
    hub.github.faults.after("markPullRequestReady", lambda: hub.github.outage(10_800))
    with pytest.raises(Unreachable):
        whole(hub, **DAY)
    body = _pull(hub).body or ""
    assert (_pull(hub).draft, _summaries(hub)) == (False, [])
    assert "Ready" in body
    assert "tests" in body
    assert GATE in body
    hub.github.world.clock.advance(10_800)
    assert whole(hub, "run-2", **DAY).facts.outcome is Outcome.READY
    assert (_pull(hub).draft, len(_summaries(hub)), len(hub.repository.pulls)) == (False, 1, 1)


# The same day again


def test_a_rerun_with_the_same_inputs_goes_on_and_asks_for_nothing_twice(hub: GitHubSite) -> None:
    hub.github.ci.on_comment(ASK, [Act("tests", running=3), Act(GATE, after=3)])
    with opened(hub, **DAY) as run:
        made = merged(run)
        pull = publish.publish(run, made)
        run.forge.trigger_ci(pull.number, made.facts.head)
        run.forge.rollup(made.facts.head)
    ended = whole(hub, "run-2", **DAY)
    assert ended.facts.outcome is Outcome.READY
    assert [item.number for item in hub.repository.pulls] == [1]
    assert _asked(hub) == [f"/ok to test {made.facts.head}"]
    assert hub.synced() == [TODAY]
    assert len(hub.github.requests.of("POST .*git-receive-pack")) == 1


def test_new_commits_get_a_suffix_and_the_first_is_closed_as_replaced(hub: GitHubSite) -> None:
    hub.github.ci.on_comment(ASK, GREEN)
    whole(hub, **DAY)
    first = hub.tip(TODAY)
    hub.person.push("main", {"more.py": "m = 1\n"})
    ended = whole(hub, "run-2", **DAY)
    assert ended.facts.outcome is Outcome.READY
    assert hub.synced() == [TODAY, f"{TODAY}-2"]
    assert hub.tip(TODAY) == first
    old, new = _pull(hub, 1), _pull(hub, 2)
    assert (old.open, new.open, new.head, new.draft) == (False, True, f"{TODAY}-2", False)
    assert hub.comments(1)[-1].startswith("Replaced by #2 (")


def test_a_branch_that_was_merged_and_dropped_again_is_not_taken_up(hub: GitHubSite) -> None:
    before = hub.tip("dev")
    with opened(hub, **DAY) as run:
        publish.publish(run, merged(run))
    hub.person.merge(1)
    hub.person.rewrite("dev", before)
    with (
        opened(hub, "run-2", **DAY) as run,
        pytest.raises(StopForPerson, match="was merged; delete the branch to start anew"),
    ):
        publish.publish(run, merged(run))


def test_no_push_of_a_night_ever_drops_a_commit_that_is_not_a_repair(hub: GitHubSite) -> None:
    """Held against a server that lets every rewrite through."""
    hub.github.ci.on_comment(ASK, GREEN)
    whole(hub, **DAY)
    made = hub.tip(TODAY)
    mine = hub.person.push(TODAY, {"mine.py": "m = 1\n"})
    with pytest.raises(StopForPerson, match="is not ours; nothing was pushed"):
        whole(hub, "run-2", **DAY)
    hub.person.push("main", {"more.py": "m = 1\n"})
    whole(hub, "run-3", **DAY)
    assert hub.tip(TODAY) == mine
    assert bare.is_ancestor(hub.repository.path, made, mine)
    assert _pull(hub).open  # a person works there


def test_a_branch_that_somebody_makes_first_is_never_overwritten(hub: GitHubSite) -> None:
    hub.github.faults.before("GET .*git-receive-pack", lambda: hub.person.branch(TODAY, "main"))
    with pytest.raises(StopForPerson, match="nothing was pushed"):
        whole(hub, **DAY)
    assert hub.tip(TODAY) == hub.tip("main")


def test_a_draft_that_could_not_be_opened_is_opened_by_the_next_run(hub: GitHubSite) -> None:
    """The branch is there already, and is taken up, not made anew."""
    access = {"contents": "write", "pull_requests": "read", "issues": "write", "actions": "write"}
    good = hub.token
    hub.use(hub.github.fine_grained(access))
    with pytest.raises(SyncError, match="the token lacks a permission for it"):
        whole(hub, **DAY)
    assert (hub.repository.pulls, hub.synced()) == ([], [TODAY])
    hub.use(good)
    hub.github.ci.on_comment(ASK, GREEN)
    assert whole(hub, "run-2", **DAY).facts.outcome is Outcome.READY
    assert hub.synced() == [TODAY]


def test_ci_of_a_pull_request_that_is_opened_hours_after_its_push_is_waited_for(
    hub: GitHubSite,
) -> None:
    """Reported: the push's own checks were long over, and it was ready before CI had begun."""
    fields = {**DAY, "trigger": {"kind": "none"}, "sentinel": None, "expected_checks": ["DCO"]}
    hub.github.ci.on_push("main2dev/*", [Act("DCO", app="dco", workflow="", running=0)])
    with opened(hub, **fields) as run:
        made = merged(run)
        assert made.choice is not None
        place, target = run.workspace.repository, made.facts.plan.target
        commit = made.facts.merge_commit
        sync_branch.push_commit(place, run.origin, target, commit, made.choice, run.config)
    assert hub.repository.runs_of(hub.tip(TODAY))
    hub.github.world.clock.advance(7200)
    hub.github.ci.on_pull_request("opened", [Act("tests", "FAILURE", after=3, log="boom")])
    ended = whole(hub, "run-2", **fields)
    assert (ended.facts.outcome, _pull(hub).draft) == (Outcome.CI_FAILED, True)


def test_a_first_push_whose_answer_was_lost_is_not_made_twice(hub: GitHubSite) -> None:
    """Reported: GitHub has the branch by then, which was taken for a refusal."""
    hub.github.faults.lose("POST .*git-receive-pack")
    with opened(hub, **DAY) as run:
        made = merged(run)
        assert made.choice is not None
        with suppress(Unreachable):  # git's transport may try again by itself
            publish.publish(run, made)
        pull = publish.publish(run, made)
    assert hub.tip(TODAY) == made.facts.merge_commit == _pull(hub, pull.number).head_sha


# What is expected of CI


def test_without_anything_expected_of_ci_the_config_is_refused(hub: GitHubSite) -> None:
    with opened(hub, sentinel=None, trigger={"kind": "none"}) as run:
        with pytest.raises(ConfigError, match="Nothing is expected of CI"):
            check_runnable(run.config, run.forge.required_checks("dev"))
        hub.github.protect(hub.repository, Protection("dev", required_checks=(GATE,)))
        check_runnable(run.config, run.forge.required_checks("dev"))


def test_no_ci_and_a_protected_target_contradict_each_other(hub: GitHubSite) -> None:
    hub.github.protect(hub.repository, Protection("dev", required_checks=(GATE,)))
    with (
        opened(hub, sentinel=None, trigger={"kind": "none"}, no_ci=True) as run,
        pytest.raises(ConfigError, match="no_ci says"),
    ):
        check_runnable(run.config, run.forge.required_checks("dev"))
