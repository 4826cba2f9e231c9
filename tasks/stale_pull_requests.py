"""Steps: find the sync pull requests of earlier nights; close them once they are replaced."""

from prefect import get_run_logger, task

from nightly_sync import stale
from nightly_sync.forge.base import PullRequest
from nightly_sync.session import Session
from tasks.policy import MINUTE, REMOTE


@task(name="find-stale-pull-requests", task_run_name="find-stale-pull-requests",
      timeout_seconds=10 * MINUTE, **REMOTE)  # fmt: skip
def find_stale_pull_requests(run: Session) -> tuple[PullRequest, ...]:
    """The sync pull requests that are open before this run opens its own."""
    found = stale.find(run)
    get_run_logger().info("%d open sync pull requests of earlier runs", len(found))
    return found


@task(name="close-stale-pull-requests", task_run_name="close-stale-pull-requests",
      timeout_seconds=10 * MINUTE, **REMOTE)  # fmt: skip
def close_stale_pull_requests(
    run: Session, found: tuple[PullRequest, ...], replacement: PullRequest | None
) -> list[str]:
    """Close what is replaced, or all when nothing is left to sync (`replacement` None)."""
    lines = stale.close(run, found, replacement)
    for line in lines:
        get_run_logger().info("%s", line)
    return lines
