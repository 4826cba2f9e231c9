"""How tasks of a sync behave: no caching, retries only where a retry can help."""

from typing import Any

from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun

from nightly_sync.errors import ConfigError, StopForPerson

MINUTE = 60.0  # seconds


def may_pass_by_itself(task: Any, task_run: TaskRun, state: State[Any]) -> bool:
    """Retry a network or git failure; never what a person has to decide, and never a bug."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, Exception) and not isinstance(error, (StopForPerson, ConfigError))


LOCAL: dict[str, Any] = {"cache_policy": NO_CACHE}
REMOTE: dict[str, Any] = {
    "cache_policy": NO_CACHE,
    "retries": 2,
    "retry_delay_seconds": [10, 60],
    "retry_jitter_factor": 0.3,
    "retry_condition_fn": may_pass_by_itself,
}
