"""Which failures of a step are worth another try.

Reported: a rejecting hook, a plain folder as origin, a failed invariant and mismatched object
formats were tried three times, 60 to 80 seconds in all, before the reason was told.
"""

from typing import Any, cast

import pytest

from nightly_sync.errors import ConfigError, StopForPerson, SyncError, Unreachable
from nightly_sync.forge.github.refusals import GitHubError, GitHubUnreachable
from nightly_sync.git import GitError, GitRefused, GitTimeout, GitUnreachable

ANY = cast(Any, None)  # the task and its run decide nothing


def _retried(error: Exception) -> bool:
    from prefect.states import Failed

    from tasks.policy import may_pass_by_itself

    return may_pass_by_itself(ANY, ANY, Failed(data=error))


@pytest.mark.parametrize(
    "words",
    [
        "Could not resolve host: example.com",
        "fatal: the remote end hung up unexpectedly",
        "Unable to create '/x/shallow.lock': File exists.",
    ],
)
def test_a_failure_of_the_moment_is_tried_again(words: str) -> None:
    assert _retried(GitError(("fetch",), 128, words))


def test_a_git_that_took_too_long_is_tried_again() -> None:
    assert _retried(GitTimeout("git fetch took over 600 s and was stopped"))


@pytest.mark.parametrize("kind", [Unreachable, GitHubUnreachable])
def test_a_forge_that_did_not_answer_is_asked_again(kind: type[Exception]) -> None:
    assert _retried(kind("could not read pull request 1: GitHub did not recover in time"))
    assert _retried(GitUnreachable(("push",), 128, "Connection reset by peer"))


@pytest.mark.parametrize(
    "words",
    [
        "! [remote rejected] x -> y (pre-receive hook declined)",
        "remote: error: hook declined to update refs/heads/x",
        "fatal: '/x' does not appear to be a git repository",
        "fatal: mismatched algorithms: client sha1; server sha256",
        "cannot lock ref 'refs/heads/a': 'refs/heads/a/b' exists; cannot create 'refs/heads/a'",
    ],
)
def test_what_git_would_say_again_is_told_at_once(words: str) -> None:
    assert not _retried(GitError(("push",), 1, words))


@pytest.mark.parametrize(
    "kind", [SyncError, ConfigError, StopForPerson, GitRefused, GitHubError, ValueError]
)
def test_what_is_not_gits_is_told_at_once(kind: type[Exception]) -> None:
    assert not _retried(kind("refusing to push: the protected path x differs from the target"))
