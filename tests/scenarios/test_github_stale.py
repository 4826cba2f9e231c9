"""Pull requests of earlier nights on GitHub: closed once they are replaced, if they are ours."""

from collections.abc import Callable
from typing import Any

import pytest

from nightly_sync import stale, workspace
from nightly_sync.forge.github import client
from nightly_sync.forge.github.refusals import GitHubError
from nightly_sync.reports import marker
from nightly_sync.reports.marker import Marker
from tests.github.state import Pull
from tests.support.github_night import Night

OLD = "main2dev/01_02_2030"
US = "sync-bot"
MARK = marker.wrap(Marker(source="a" * 40, target="b" * 40, config="c" * 12), "text")
PUSH = "POST .*git-receive-pack"


def _opened(night: Night, who: str = US, body: str = MARK, **more: Any) -> Pull:
    """A pull request of an earlier night; its branch holds a merge commit of ours."""
    branch, base = more.pop("branch", OLD), more.pop("base", "dev")
    person = night.github.person(night.hub.repository, who)
    if branch not in night.hub.repository.branches():
        person.branch(branch, night.start.head.merge)
    return person.open_pull(branch, base, body=body, **more)


def _cleaned(
    night: Night, meanwhile: Callable[[], object] = lambda: None, **fields: Any
) -> tuple[list[str], int]:
    """The lines of the clean-up, and the number of the replacement."""
    with night.opened(**fields) as (run, replacement):
        found = tuple(pull for pull in stale.find(run) if pull.number != replacement.number)
        meanwhile()
        return stale.close(run, found, replacement), replacement.number


def _left_open(night: Night, old: Pull, why: str, **fields: Any) -> None:
    before = (old.body, tuple(old.labels))
    lines, _ = _cleaned(night, **fields)
    assert lines == [f"#{old.number} ({old.head}) left open: {why}"]
    assert old.open
    assert (old.body, tuple(old.labels)) == before
    assert night.hub.comments(old.number) == []


def test_ours_is_closed_with_a_comment_that_names_its_replacement(night: Night) -> None:
    old = _opened(night)
    lines, number = _cleaned(night)
    url = f"{night.github.url}/acme/widgets/pull/{number}"
    assert lines == [f"#1 ({OLD}) closed: Replaced by #{number} ({url})."]
    assert not old.open
    (said,) = night.hub.comments(old.number)
    assert said.startswith(f"Replaced by #{number} ({url}).")
    assert OLD in night.hub.repository.branches()


def test_on_every_page_of_the_list(night: Night, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "PAGE", 2)
    pulls = [_opened(night, branch=f"main2dev/{day}") for day in range(1, 6)]
    lines, _ = _cleaned(night)
    assert len(lines) == 5
    assert [pull.open for pull in pulls] == [False] * 5


def test_ours_without_its_marker_is_known_by_its_author(night: Night) -> None:
    old = _opened(night, body="somebody edited all of it away")
    _cleaned(night)
    assert not old.open


def test_ours_of_another_account_is_known_by_its_marker(night: Night) -> None:
    old = _opened(night, who="old-bot")
    _cleaned(night)
    assert not old.open


def test_somebody_elses_is_left_open(night: Night) -> None:
    old = _opened(night, who="alice", body="By hand")
    why = "its body has no marker of ours, so somebody else may have opened it"
    _left_open(night, old, why)


@pytest.mark.parametrize("other", [{"fork": "alice/widgets"}, {"base": "main"}])
def test_a_fork_or_another_target_is_none_of_our_business(
    night: Night, other: dict[str, str]
) -> None:
    old = _opened(night, **other)
    assert _cleaned(night)[0] == []
    assert old.open


@pytest.mark.parametrize("fetched", [True, False])
def test_a_commit_of_a_person_on_the_branch_keeps_it_open(night: Night, fetched: bool) -> None:
    old = _opened(night)
    mine = night.person.push(OLD, {"mine.py": "m = 1\n"})
    if fetched:
        with night.opened() as (run, _):
            workspace.fetch(run.workspace, run.origin, 60)
    _left_open(night, old, f"somebody else's commit {mine[:12]} is on its branch",
               delete_stale_branches=True)  # fmt: skip
    assert night.hub.tip(OLD) == mine


def test_the_manual_label_keeps_it_open(night: Night) -> None:
    old = _opened(night)
    night.person.label(old.number, "nightly-sync/manual")
    _left_open(night, old, "it has the label nightly-sync/manual")


def test_a_label_that_was_put_on_at_the_last_moment_counts(night: Night) -> None:
    """Reported: all of them were looked at before the first was closed."""
    first, second = _opened(night), _opened(night, branch="main2dev/02_02_2030")
    night.github.faults.after(
        "POST .*issues/1/comments", lambda: night.person.label(2, "nightly-sync/manual")
    )
    lines, _ = _cleaned(night)
    assert (first.open, second.open) == (False, True)
    assert "left open: it has the label" in lines[1]


def test_one_that_a_person_closed_meanwhile_is_passed_over(night: Night) -> None:
    old = _opened(night)

    def close() -> None:
        old.closed_at = night.clock.now()

    assert _cleaned(night, close)[0] == []
    assert night.hub.comments(old.number) == []


def test_its_branch_may_be_deleted_with_it(night: Night) -> None:
    _opened(night)
    _cleaned(night, delete_stale_branches=True)
    assert OLD not in night.hub.repository.branches()


def test_a_branch_that_moved_since_it_was_looked_at_is_not_deleted(night: Night) -> None:
    old = _opened(night)
    night.github.faults.before("GET .*git-receive-pack", lambda: night.person.push(OLD, {"m": ""}))
    lines, _ = _cleaned(night, delete_stale_branches=True)
    assert OLD in night.hub.repository.branches()
    assert "Its branch could not be deleted" in lines[0]
    assert not old.open


@pytest.mark.parametrize("more", [{}, {"fork": "alice/widgets"}])
def test_a_branch_that_somebodys_pull_request_goes_into_is_not_deleted(
    night: Night, more: dict[str, str]
) -> None:
    """Reported: GitHub closed the pull requests that people had stacked on it."""
    _opened(night)
    night.person.branch("feature", night.start.head.merge)
    stacked = night.person.open_pull("feature", OLD, **more)
    lines, _ = _cleaned(night, delete_stale_branches=True)
    assert OLD in night.hub.repository.branches()
    assert lines[0].endswith(" Its branch stays, as #2 needs it.")
    assert stacked.open


def test_a_branch_that_another_pull_request_comes_from_is_not_deleted(night: Night) -> None:
    _opened(night)
    night.person.open_pull(OLD, "main")
    lines, _ = _cleaned(night, delete_stale_branches=True)
    assert OLD in night.hub.repository.branches()
    assert "stays, as #2 needs it" in lines[0]


def test_with_nothing_left_to_sync_ours_is_closed_without_a_replacement(night: Night) -> None:
    old = _opened(night)
    with night.opened() as (run, pull):
        lines = stale.close(run, (run.forge.get(old.number),), None)
        assert run.forge.get(pull.number).open
    assert lines == [f"#1 ({OLD}) closed: Nothing is left to sync: dev has everything on main."]
    assert not old.open


def test_a_comment_that_github_refuses_closes_nothing(night: Night) -> None:
    """Closing says why, or it is not done."""
    old = _opened(night)
    night.github.faults.fail("POST .*/comments", status=403)
    with pytest.raises(GitHubError, match="could not comment on pull request 1"):
        _cleaned(night)
    assert old.open
