"""What GitHub refuses on the way to a draft pull request: one sentence that says what to do."""

from collections.abc import Callable
from typing import Any

import pytest

from nightly_sync.errors import SyncError
from tests.github.state import Protection
from tests.support.github_night import whole
from tests.support.github_site import GitHubSite

WRITE = ("contents", "pull_requests", "issues", "workflows", "actions")
Prepare = Callable[[GitHubSite], object]


def _refusal(hub: GitHubSite, **fields: Any) -> str:
    """Why the night ended; nothing half-done is left, and the token is not in the words."""
    before = hub.repository.branches()
    with pytest.raises(SyncError) as error:
        whole(hub, **fields)
    words = str(error.value)
    assert hub.repository.branches().keys() - {"main2dev"} == before.keys() - {"main2dev"}
    assert hub.repository.pulls == []
    assert hub.token not in words
    assert hub.github.requests.leaks(hub.token) == []
    return words


def _rule(**what: Any) -> Prepare:
    return lambda hub: hub.github.protect(hub.repository, Protection("main2dev/*", **what))


def _fine_grained(**access: str) -> Prepare:
    held = {**dict.fromkeys(WRITE, "write"), **access}
    return lambda hub: hub.use(hub.github.fine_grained(held))


def _archived(hub: GitHubSite) -> None:
    hub.repository.archived = True


def _in_the_way(hub: GitHubSite) -> None:
    """Somebody makes the branch while the night is at work."""
    hub.github.faults.before(
        "GET .*git-receive-pack", lambda: hub.person.branch("main2dev", "main")
    )


def _expires(before: str) -> Prepare:
    return lambda hub: hub.github.faults.before(before, lambda: hub.github.expire(hub.token))


@pytest.mark.parametrize(
    ("prepare", "sentence"),
    [
        (_rule(pull_request=True), "the rule's pattern must not match the sync branches"),
        (_rule(pull_request=True, ruleset=True), "must not match the sync branches"),
        (_rule(signatures=True), "take the sync branches out of that rule"),
        (_rule(signatures=True, ruleset=True), "take the sync branches out of that rule"),
        (_archived, "unarchive it or end this job"),
        (_in_the_way, "delete that branch or change branch_prefix"),
        (_fine_grained(contents="read"), "it needs Contents: write"),
        (_expires("GET .*git-upload-pack"), "put a new one into the environment"),
        (_expires("GET .*git-receive-pack"), "put a new one into the environment"),
    ],
)
def test_what_github_refuses_is_told_with_what_to_do(
    hub: GitHubSite, prepare: Prepare, sentence: str
) -> None:
    """Reported: what git's transport is refused (403, 404, 401) was told in git's raw words."""
    prepare(hub)
    words = _refusal(hub)
    assert sentence in words
    assert "\n" not in words


def test_a_workflow_that_the_merge_changes_needs_a_scope(hub: GitHubSite) -> None:
    file = ".github/workflows/ci.yml"
    lines = "".join(f"x{number}: {number}\n" for number in range(9))
    hub.person.push("main", {file: lines})
    hub.person.rewrite("dev", hub.person.branch("both", "main"))
    hub.person.push("main", {file: f"top: 1\n{lines}"})
    hub.person.push("dev", {file: f"{lines}end: 1\n"})
    hub.person.delete("both")
    hub.use(hub.github.token(scopes=("repo",)))
    words = _refusal(hub)
    assert "give a classic token the workflow scope" in words


def test_a_repository_that_is_not_there_is_told(hub: GitHubSite) -> None:
    url = hub.github.git_url(hub.repository).replace("widgets", "gadgets")
    words = _refusal(hub, repository=url)
    assert "it is not there, or the token may not see it" in words


def test_a_private_repository_that_the_token_may_not_see_is_told(hub: GitHubSite) -> None:
    hub.repository.private = True
    hub.use(hub.github.token(scopes=()))
    words = _refusal(hub)
    assert "it is not there, or the token may not see it" in words


def test_a_token_that_ended_long_ago_is_told(hub: GitHubSite) -> None:
    hub.github.expire(hub.token)
    assert "put a new one into the environment" in _refusal(hub)
