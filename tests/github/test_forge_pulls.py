"""Pull requests, labels, comments, ready and draft."""

from collections.abc import Callable
from typing import Any

import pytest

from nightly_sync.errors import StopForPerson, Unreachable
from nightly_sync.forge.github.pulls import CLOSED_BY_US
from nightly_sync.forge.github.refusals import GitHubError
from nightly_sync.forge.github.texts import CROSSED
from tests.github.client import BRANCH, Site
from tests.github.forge_support import Rig, make_rig
from tests.github.state import Protection, Pull


@pytest.fixture
def rig(site: Site) -> Rig:
    return make_rig(site)


def _draft(rig: Rig) -> int:
    return rig.forge.create_draft(BRANCH, "dev", "Sync", "body").number


def _pull(rig: Rig, number: int = 1) -> Pull:
    found = rig.site.repository.pull(number)
    assert found
    return found


def _texts(rig: Rig, number: int = 1) -> list[str]:
    return [said.body for said in rig.site.repository.comments if said.number == number]


def test_a_draft_is_opened_once(rig: Rig) -> None:
    made = rig.forge.create_draft(BRANCH, "dev", "Sync", "body")
    assert (made.draft, made.open, made.head) == (True, True, rig.site.head)
    assert (made.branch, made.target, made.author) == (BRANCH, "dev", "sync-bot")
    assert (made.title, made.body) == ("Sync", "body")
    assert rig.forge.create_draft(BRANCH, "dev", "other", "other") == made
    assert rig.forge.open_pull_requests("main2dev/") == [made]
    assert len(rig.site.repository.pulls) == 1


@pytest.mark.parametrize("fault", ["lose", "cut"])
def test_a_draft_whose_answer_was_lost_is_not_opened_again(rig: Rig, fault: str) -> None:
    getattr(rig.site.github.faults, fault)(r"POST .*/pulls$")
    assert _draft(rig) == 1
    assert len(rig.site.repository.pulls) == 1


@pytest.mark.parametrize("fork", ["mallory/widgets", "acme/another"])
def test_a_fork_does_not_pass_for_ours(rig: Rig, fork: str) -> None:
    person = rig.site.github.person(rig.site.repository, "mallory")
    theirs = person.open_pull(BRANCH, "main", fork=fork)
    assert rig.forge.open_pull_requests("main2dev/") == []
    assert _draft(rig) == 2
    rig.site.client.patch(f"pulls/{theirs.number}", {"state": "closed"})
    assert rig.forge.closed_pull_request(BRANCH) is None


def test_only_branches_below_the_prefix_are_listed(rig: Rig) -> None:
    person = rig.site.github.person(rig.site.repository)
    person.branch("main2development/x", BRANCH)
    person.open_pull("main2development/x", "dev")
    _draft(rig)
    assert [pull.number for pull in rig.forge.open_pull_requests("main2dev/")] == [2]


def test_a_repository_without_drafts_says_so(rig: Rig) -> None:
    rig.site.repository.drafts = False
    with pytest.raises(GitHubError, match="no draft pull requests"):
        _draft(rig)


def test_a_body_that_is_too_long_is_refused_in_words(rig: Rig) -> None:
    number = _draft(rig)
    rig.forge.revise_body(number, lambda _: "x" * 65_536)
    with pytest.raises(GitHubError, match="longer than the 65,536 characters"):
        rig.forge.revise_body(number, lambda _: "x" * 65_537)


# A text that two write at once


def _more(word: str) -> Callable[[str], str]:
    return lambda text: f"{text}\n\n{word}"


@pytest.mark.parametrize("earlier", [0, 1, 2])
def test_what_a_person_writes_while_we_write_is_put_back(rig: Rig, earlier: int) -> None:
    """Reported: a person's edit between our look and our write was lost."""
    number, person = _draft(rig), rig.site.github.person(rig.site.repository)
    for time in range(earlier):
        person.write(number, _more(f"before {time}"))
    theirs = _more("- [x] seen")
    rig.site.github.faults.before("PATCH .*/pulls/1", lambda: person.write(number, theirs))
    rig.forge.revise_body(number, lambda text: text.replace("body", "ours"))
    text = _pull(rig).body or ""
    assert text.startswith("ours")
    assert text.endswith("- [x] seen")
    assert text.count("before") == earlier
    assert _texts(rig) == []


def test_an_answer_from_before_our_write_does_not_hide_what_we_overwrote(rig: Rig) -> None:
    """Reported: GitHub still showed the old text for a moment, and nobody looked again."""
    number, person = _draft(rig), rig.site.github.person(rig.site.repository)
    faults, pull, now = rig.site.github.faults, _pull(rig), dict[str, Any]()

    def back() -> None:
        now.update(body=pull.body, edits=pull.edits)
        pull.body, pull.edits = "body", []

    def forth() -> None:
        pull.body, pull.edits = now["body"], now["edits"]

    faults.before("PATCH .*/pulls/1", lambda: person.write(number, _more("theirs")))
    faults.before("userContentEdits", back, skip=1)
    faults.after("userContentEdits", forth, skip=1)
    rig.forge.revise_body(number, lambda text: text.replace("body", "ours"))
    assert pull.body == "ours\n\ntheirs"
    assert rig.sleeps == [2]


def test_of_two_edits_that_cross_ours_the_newer_counts_and_has_both(rig: Rig) -> None:
    number, person = _draft(rig), rig.site.github.person(rig.site.repository)

    def write() -> None:
        person.write(number, _more("one"))
        person.write(number, _more("two"))

    rig.site.github.faults.before("PATCH .*/pulls/1", write)
    rig.site.github.faults.lose("PATCH .*/pulls/1")
    rig.forge.revise_body(number, lambda text: text.replace("body", "ours"))
    assert _pull(rig).body == "ours\n\none\n\ntwo"


def test_what_is_written_after_us_is_nobodys_loss(rig: Rig) -> None:
    number, person = _draft(rig), rig.site.github.person(rig.site.repository)
    rig.site.github.faults.after("PATCH .*/pulls/1", lambda: person.write(number, _more("more")))
    rig.forge.revise_body(number, lambda _: "ours")
    assert _pull(rig).body == "ours\n\nmore"
    assert _texts(rig) == []


def test_edits_on_both_sides_of_ours_are_left_to_a_person(rig: Rig) -> None:
    number, person = _draft(rig), rig.site.github.person(rig.site.repository)
    faults = rig.site.github.faults
    faults.before("PATCH .*/pulls/1", lambda: person.write(number, _more("before")))
    faults.after("PATCH .*/pulls/1", lambda: person.write(number, _more("after")))
    rig.forge.revise_body(number, lambda _: "ours")
    assert _pull(rig).body == "ours\n\nafter"
    assert _texts(rig) == [CROSSED]
    assert "body\n\nbefore" in [edit.text for edit in _pull(rig).edits]


def test_a_text_that_stays_as_it_is_is_not_written(rig: Rig) -> None:
    number = _draft(rig)
    rig.forge.revise_body(number, lambda text: text)
    assert _pull(rig).edits == []
    assert rig.site.github.requests.of("PATCH ") == []


def test_a_token_that_may_not_see_the_history_still_writes_the_text(rig: Rig) -> None:
    number = _draft(rig)
    rig.site.github.faults.fail("userContentEdits", times=2, status=403)
    rig.forge.revise_body(number, lambda text: f"{text}, ours")
    assert _pull(rig).body == "body, ours"


# Labels, reviewers, comments


def test_labels_are_made_if_missing_and_others_stay(rig: Rig) -> None:
    number = _draft(rig)
    rig.forge.add_labels(number, ("nightly-sync", "area: sync/nightly"))
    rig.forge.add_labels(number, ("Nightly-Sync", "more"))
    rig.forge.add_labels(number, ())
    assert rig.forge.get(number).labels == ("nightly-sync", "area: sync/nightly", "more")


def test_a_label_that_the_repository_has_already_is_used(rig: Rig) -> None:
    rig.site.client.post("labels", {"name": "sync", "color": "000000"})
    rig.forge.add_labels(_draft(rig), ("sync",))
    assert rig.forge.get(1).labels == ("sync",)


def test_people_are_asked_for_a_review(rig: Rig) -> None:
    number = _draft(rig)
    rig.site.github.person(rig.site.repository, "alice")
    rig.forge.ask_for_review(number, ("alice",))
    rig.forge.ask_for_review(number, ())
    assert _pull(rig).reviewers == ["alice"]
    with pytest.raises(GitHubError, match="no collaborator"):
        rig.forge.ask_for_review(number, ("mallory",))


@pytest.mark.parametrize("fault", ["lose", "cut", "reset", "fail"])
def test_a_comment_is_said_once_whatever_happens_to_its_answer(rig: Rig, fault: str) -> None:
    number = _draft(rig)
    getattr(rig.site.github.faults, fault)(r"POST .*/comments")
    rig.forge.comment(number, "hello")
    assert _texts(rig) == ["hello"]


def test_a_comment_that_was_given_up_is_not_said_again_if_it_arrived(site: Site) -> None:
    """Reported: after a long outage the same comment stood there twice."""
    rig = make_rig(site, patience=1)
    number, faults = _draft(rig), site.github.faults
    faults.lose(r"POST .*/comments")
    faults.fail(r"GET .*/comments", times=2)
    with pytest.raises(Unreachable):
        rig.forge.comment(number, "hello")
    site.github.world.clock.advance(3600)
    rig.forge.comment(number, "hello")
    assert _texts(rig) == ["hello"]
    rig.forge.comment(number, "hello")
    assert _texts(rig) == ["hello"] * 2


def test_a_comment_of_an_earlier_time_does_not_pass_for_a_lost_one(rig: Rig) -> None:
    number = _draft(rig)
    rig.forge.comment(number, "/ok to test")
    rig.site.github.world.clock.advance(60)
    rig.site.github.faults.reset(r"POST .*/comments")
    rig.forge.comment(number, "/ok to test")
    assert _texts(rig) == ["/ok to test"] * 2


def test_closing_says_why_and_deletes_nothing(rig: Rig) -> None:
    number = _draft(rig)
    rig.forge.close(number, "Replaced by #2.")
    assert not rig.forge.get(number).open
    assert _texts(rig) == [f"Replaced by #2.\n\n{CLOSED_BY_US}"]
    assert BRANCH in rig.site.repository.branches()


def test_a_persons_closing_is_told_from_ours(rig: Rig) -> None:
    assert rig.forge.closed_pull_request(BRANCH) is None
    rig.forge.close(_draft(rig), "why")
    assert rig.forge.closed_pull_request(BRANCH) is None
    second = _draft(rig)
    rig.site.client.patch(f"pulls/{second}", {"state": "closed"})
    rig.forge.close(_draft(rig), "why")
    found = rig.forge.closed_pull_request(BRANCH)
    assert found
    assert found.number == second


def test_ready_and_draft_again(rig: Rig) -> None:
    number = _draft(rig)
    rig.forge.mark_ready(number, rig.site.head)
    assert not rig.forge.get(number).draft
    rig.forge.mark_draft(number)
    assert rig.forge.get(number).draft


def test_a_head_that_moved_before_is_never_marked_ready(rig: Rig) -> None:
    number = _draft(rig)
    rig.site.github.person(rig.site.repository).push(BRANCH, {"x": "1"})
    with pytest.raises(StopForPerson, match="look at what happened there"):
        rig.forge.mark_ready(number, rig.site.head)
    assert _pull(rig).draft
    assert rig.sleeps == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_push_during_the_mutation_brings_the_draft_back(rig: Rig, when: str) -> None:
    number, person = _draft(rig), rig.site.github.person(rig.site.repository)
    hook = getattr(rig.site.github.faults, when)
    hook("markPullRequestReady", lambda: person.push(BRANCH, {"x": "1"}))
    with pytest.raises(StopForPerson):
        rig.forge.mark_ready(number, rig.site.head)
    assert _pull(rig).draft


def test_ready_is_taken_back_if_the_head_cannot_be_read_again(site: Site) -> None:
    rig = make_rig(site, patience=1)
    number = _draft(rig)
    site.github.faults.after(
        "markPullRequestReady", lambda: site.github.faults.fail(r"GET .*/pulls/1", times=9)
    )
    with pytest.raises(GitHubError, match="did not recover"):
        rig.forge.mark_ready(number, site.head)
    assert _pull(rig).draft


def test_a_closed_pull_request_is_not_marked_ready(rig: Rig) -> None:
    number = _draft(rig)
    rig.site.client.patch("pulls/1", {"state": "closed"})
    with pytest.raises(StopForPerson, match="closed meanwhile"):
        rig.forge.mark_ready(number, rig.site.head)


def test_a_merged_pull_request_is_called_so(rig: Rig) -> None:
    number = _draft(rig)
    rig.site.github.person(rig.site.repository).merge(number)
    seen = rig.forge.get(number)
    assert (seen.open, seen.merged, seen.ended) == (False, True, "was merged by alice")
    with pytest.raises(StopForPerson, match="was merged by alice meanwhile"):
        rig.forge.mark_ready(number, rig.site.head)
    closed = rig.forge.closed_pull_request(BRANCH)
    assert closed
    assert closed.ended == "was merged"  # lists do not say by whom


def test_pull_requests_that_need_a_branch_are_found_wherever_they_come_from(rig: Rig) -> None:
    person = rig.site.github.person(rig.site.repository)
    assert rig.forge.in_use(BRANCH) == ()
    person.open_pull("main", BRANCH)
    person.open_pull("dev", BRANCH, fork="alice/widgets")
    person.open_pull(BRANCH, "main", fork="alice/widgets")  # another branch of this name
    person.open_pull(BRANCH, "main")
    assert rig.forge.in_use(BRANCH) == (1, 2, 4)


def test_a_head_that_github_shows_late_is_waited_for(rig: Rig) -> None:
    number = _draft(rig)
    _pull(rig).head_sha = rig.site.tip("dev")
    rig.site.github.faults.after(
        r"GET .*/git/ref", lambda: setattr(_pull(rig), "head_sha", rig.site.head)
    )
    rig.forge.mark_ready(number, rig.site.head)
    assert not _pull(rig).draft
    assert rig.sleeps == [2.0]


def test_required_checks_come_from_protection_and_rulesets(rig: Rig) -> None:
    github, repository = rig.site.github, rig.site.repository
    assert rig.forge.required_checks("dev") == ()
    github.protect(repository, Protection("dev", required_checks=("tests", "gate")))
    github.protect(repository, Protection("de*", ruleset=True, required_checks=("gate", "dco")))
    assert rig.forge.required_checks("dev") == ("tests", "gate", "dco")
    assert rig.forge.required_checks("main") == ()
