"""How tasks of a sync behave: no caching, retries only where a retry can help."""

from typing import Any

from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun

from nightly_sync.errors import Unreachable
from nightly_sync.git import GitError, GitTimeout

MINUTE = 60.0  # seconds


# What git says where trying again cannot help.
LASTING = (
    "remote rejected",
    "hook declined",
    "pre-receive",
    "does not appear to be a git repository",
    "mismatched algorithms",
    "exists; cannot create",  # a branch above or below the one to be made
)


def may_pass_by_itself(task: Any, task_run: TaskRun, state: State[Any]) -> bool:
    """Retry where git or the forge did not answer, unless the words say that it would fail again.

    Any other SyncError is for a person, and anything else is a bug.
    """
    error = state.result(raise_on_failure=False)
    failed = isinstance(error, (GitError, GitTimeout, Unreachable))
    return failed and not any(words in str(error) for words in LASTING)


LOCAL: dict[str, Any] = {"cache_policy": NO_CACHE}
REMOTE: dict[str, Any] = {
    "cache_policy": NO_CACHE,
    "retries": 2,
    "retry_delay_seconds": [10, 60],
    "retry_jitter_factor": 0.3,
    "retry_condition_fn": may_pass_by_itself,
}
