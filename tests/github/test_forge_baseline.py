"""Results of a check without us: on the target's commits, on merged pull requests, on a branch."""

from typing import Any

import pytest

from nightly_sync.checks.names import UNREADABLE
from nightly_sync.forge.base import BaselineResult, Check, CheckStatus, Rollup
from nightly_sync.forge.github.baseline import PULLS, History, MergedPull, usable
from nightly_sync.forge.github.refusals import GitHubError
from tests.github.ci import NEVER, Act
from tests.github.client import BRANCH, Site
from tests.github.forge_support import Rig, make_rig
from tests.github.state import Pull

RED = Act("tests", "FAILURE", log="FAILED test_old.py::test_old - assert 1 == 2")
GREEN = Act("tests")
ELSEWHERE = Act("lint")
WANTED = Check(
    name="tests",
    app="github-actions",
    workflow="CI",
    workflow_id="W_ci.yml",
    status=CheckStatus.COMPLETED,
    conclusion="FAILURE",
)


@pytest.fixture
def rig(site: Site) -> Rig:
    return make_rig(site)


def _commit(rig: Rig, *acts: Act, branch: str = "dev") -> str:
    """One more commit, on which these checks ended long ago."""
    repository = rig.site.repository
    rig.site.github.world.clock.advance(60)
    count = len(repository.suites) + len(repository.pulls)
    sha = rig.site.github.person(repository).push(branch, {"x": f"{branch} {count}"})
    rig.site.github.ci.past(repository, sha, acts)
    return sha


def _pull(rig: Rig, name: str, *acts: Act, **more: Any) -> Pull:
    """A pull request with one commit, on which these checks ended."""
    person = rig.site.github.person(rig.site.repository)
    person.branch(name, "dev")
    _commit(rig, *acts, branch=name)
    return person.open_pull(name, "dev", **more)


def _merged(rig: Rig, name: str, *acts: Act, **more: Any) -> Pull:
    pull = _pull(rig, name, *acts, **more)
    rig.site.github.person(rig.site.repository).merge(pull.number)
    return pull


def _found(rig: Rig, target: str = "dev", check: Check = WANTED) -> BaselineResult | None:
    return rig.forge.baseline(rig.site.repository.branches().get(target, target), check)


# The target's commits


def test_the_newest_conclusive_run_on_the_target_counts(rig: Rig) -> None:
    old = _commit(rig, RED)
    _commit(rig, Act("tests", "CANCELLED"))
    _commit(rig, ELSEWHERE)
    found = _found(rig)
    assert found
    assert (found.check.conclusion, found.where) == ("FAILURE", f"the target's commit {old[:12]}")
    assert found.check.url.startswith("http")
    assert "FAILED test_old.py" in found.log
    _commit(rig, GREEN)
    newer = make_rig(rig.site).forge.baseline(rig.site.tip("dev"), WANTED)
    assert newer
    assert newer.check.conclusion == "SUCCESS"
    assert _found(rig, "main") is None


def test_work_in_progress_that_a_merge_brought_along_is_not_the_target(rig: Rig) -> None:
    """Reported: a branch's broken first commit was taken for a state of the target."""
    person = rig.site.github.person(rig.site.repository)
    person.branch("topic", "dev")
    _commit(rig, RED, branch="topic")
    _commit(rig, branch="topic")
    person.merge(person.open_pull("topic", "dev").number)
    assert _found(rig) is None


def test_merged_commits_push_no_commit_of_the_target_off_the_list(rig: Rig) -> None:
    _commit(rig, RED)
    for number in range(2):
        _merged(rig, f"topic-{number}")
    forge = rig.forge
    history = History(rig.client, forge.rollup, forge.log, "dev", "main2dev/", page=1)
    found = history.find(rig.site.tip("dev"), WANTED)
    assert found
    assert found.check.conclusion == "FAILURE"


# Merged pull requests


def test_a_merged_pull_request_tells_where_no_commit_of_the_target_does(rig: Rig) -> None:
    first, second = _merged(rig, "one", RED), _merged(rig, "two", RED)
    found = _found(rig)
    assert found
    assert found.where == f"the merged pull request #{second.number}"
    assert second.number > first.number
    assert "FAILED test_old.py" in found.log


def test_a_commit_of_the_target_is_heard_before_any_pull_request(rig: Rig) -> None:
    _commit(rig, GREEN)
    _merged(rig, "one", RED)
    found = _found(rig)
    assert found
    assert found.check.conclusion == "SUCCESS"


@pytest.mark.parametrize("acts", [(RED, GREEN), (GREEN, RED), (GREEN,)])
def test_merged_pull_requests_prove_nothing_once_one_of_them_passed(
    rig: Rig, acts: tuple[Act, ...]
) -> None:
    """A head without the target's newest repair fails for its own reasons."""
    for number, act in enumerate(acts):
        _merged(rig, f"topic-{number}", act)
    assert _found(rig) is None


def test_what_was_not_merged_proves_nothing(rig: Rig) -> None:
    _pull(rig, "open", RED)
    closed = _pull(rig, "closed", RED)
    rig.site.client.patch(f"pulls/{closed.number}", {"state": "closed"})
    closed.merge_commit_sha = rig.site.tip("dev")
    assert _found(rig) is None


def test_what_was_merged_later_than_the_target_we_merged_proves_nothing(rig: Rig) -> None:
    before = rig.site.tip("dev")
    _merged(rig, "later", RED)
    assert _found(rig, before) is None


def test_a_pull_request_of_a_fork_proves_nothing(rig: Rig) -> None:
    """Forks run without secrets, so they fail where nothing else does."""
    _merged(rig, "secretless", RED).head_repository = "mallory/widgets"
    assert _found(rig) is None


def test_a_sync_pull_request_proves_nothing(rig: Rig) -> None:
    person = rig.site.github.person(rig.site.repository)
    rig.site.github.ci.past(rig.site.repository, rig.site.head, [RED])
    person.merge(person.open_pull(BRANCH, "dev").number)
    assert _found(rig) is None


def test_a_pull_request_into_the_source_proves_nothing(rig: Rig) -> None:
    """Its merge is among the target's commits too, once it was synced."""
    person = rig.site.github.person(rig.site.repository)
    person.branch("topic", "main")
    _commit(rig, RED, branch="topic")
    person.merge(person.open_pull("topic", "main").number)
    person.merge(person.open_pull("main", "dev").number)
    assert _found(rig) is None


def test_only_the_newest_merges_are_looked_at(rig: Rig) -> None:
    pulls = [_listed(rig, _merged(rig, f"topic-{number}")) for number in range(2)]
    several = [pulls[at % 2] for at in range(PULLS + 2)]
    contains = frozenset(pull.merge_commit_sha or "" for pull in pulls)
    chosen = usable(several, contains, "Acme/Widgets", "main2dev/")
    assert len(chosen) == PULLS
    assert chosen[0].number == pulls[1].number


def _listed(rig: Rig, pull: Pull) -> MergedPull:
    return MergedPull.model_validate(rig.site.client.get(f"pulls/{pull.number}").json())


# Cost


def test_each_commit_is_read_once_a_run_whatever_fails(rig: Rig) -> None:
    for number in range(3):
        _merged(rig, f"topic-{number}", RED)
    line = len(rig.site.client.get("commits", sha="dev").json()) - 3  # without the topics' own
    before = rig.forge.cost
    assert _found(rig)
    spent = rig.forge.cost - before
    assert (spent.graphql, spent.rest) == (line + 3, 3)  # two lists and a log
    other = WANTED.model_copy(update={"name": "other"})
    before = rig.forge.cost
    for _ in range(3):
        assert _found(rig, check=other) is None
    spent = rig.forge.cost - before
    assert (spent.graphql, spent.rest) == (0, 0)


def test_a_target_that_tells_costs_no_look_at_pull_requests(rig: Rig) -> None:
    _merged(rig, "topic", RED)
    _commit(rig, RED)
    before = rig.forge.cost
    assert _found(rig)
    spent = rig.forge.cost - before
    assert (spent.graphql, spent.rest) == (1, 2)


def test_what_was_at_work_is_read_again(rig: Rig) -> None:
    sha = _commit(rig)
    rig.site.github.ci.play(rig.site.repository, sha, [Act("tests", "FAILURE", running=1)])
    assert _found(rig) is None
    found = _found(rig)
    assert found
    assert found.check.conclusion == "FAILURE"


def test_a_commit_with_results_that_cannot_be_read_proves_nothing(rig: Rig) -> None:
    """The one that is hidden may be newer, and a pass."""
    when = rig.site.github.world.clock.now()
    red = WANTED.model_copy(update={"started_at": when})
    hidden = Check(name=UNREADABLE, status=CheckStatus.OTHER)

    def found(*checks: Check) -> BaselineResult | None:
        def read(sha: str) -> Rollup:
            return Rollup(sha=sha, checks=checks)

        history = History(rig.client, read, lambda sha, check: "log", "dev", "main2dev/")
        return history.find(rig.site.tip("dev"), WANTED)

    assert found(red)
    assert found(red, hidden) is None


# Starting CI on a branch


@pytest.mark.parametrize("kind", ["comment", "label"])
def test_what_needs_a_pull_request_says_so(site: Site, kind: str) -> None:
    forge = make_rig(site, trigger={"kind": kind, "text": "run ci"}).forge
    assert forge.cannot_start_on_branch() == f"a trigger of kind {kind} needs a pull request"


def test_a_push_starts_what_a_push_starts(rig: Rig) -> None:
    assert rig.forge.cannot_start_on_branch() == ""
    before = len(rig.site.github.requests.of(""))
    rig.forge.start_on_branch("dev", rig.site.tip("dev"))
    assert len(rig.site.github.requests.of("")) == before


def test_a_workflow_is_dispatched_once_github_knows_the_branch(site: Site) -> None:
    rig = make_rig(site, trigger={"kind": "workflow", "text": "ci.yml"})
    site.github.workflow(site.repository, "CI", "ci.yml")
    site.github.ci.on_dispatch("ci.yml", [Act("tests", running=NEVER)])
    site.github.faults.fail("GET .*/git/ref/heads/dev", times=2, status=404)
    assert rig.forge.cannot_start_on_branch() == ""
    rig.forge.start_on_branch("dev", site.tip("dev"))
    assert [check.name for check in rig.forge.rollup(site.tip("dev")).checks] == ["tests"]
    assert rig.sleeps == [2.0, 4.0]


def test_a_workflow_without_a_dispatch_trigger_is_explained(site: Site) -> None:
    rig = make_rig(site, trigger={"kind": "workflow", "text": "ci.yml"})
    site.github.workflow(site.repository, "CI", "ci.yml", dispatch=False)
    with pytest.raises(GitHubError, match="no workflow_dispatch trigger"):
        rig.forge.start_on_branch("dev", site.tip("dev"))
