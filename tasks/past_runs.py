"""Step of the history: read every run's metrics artifact back, page by page."""

from typing import Any

from prefect import get_run_logger, task
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey
from prefect.client.schemas.sorting import ArtifactSort

from nightly_sync import history
from tasks.policy import LOCAL

PAGE = 200  # rows; the server gives no more at once


@task(name="past-runs", task_run_name="past-runs", **LOCAL)
def read_past_runs() -> list[dict[str, Any]]:
    """One row a run, in no order."""
    wanted = ArtifactFilter(key=ArtifactFilterKey(like_="metrics-%"))
    rows: list[dict[str, Any]] = []
    with get_client(sync_client=True) as client:
        offset = 0
        while page := client.read_artifacts(
            artifact_filter=wanted, sort=ArtifactSort.UPDATED_DESC, limit=PAGE, offset=offset
        ):
            rows.extend(row for item in page for row in history.rows_of(item.data))
            offset += len(page)
    get_run_logger().info("%d recorded runs", len(rows))
    return rows
