"""What Prefect's server keeps of a run; only for tests that have the `prefect` fixture."""

import json
from typing import Any
from uuid import UUID

from nightly_sync.config import SyncConfig
from nightly_sync.reports.artifacts import artifact_key


def kept_by_prefect(run_id: str) -> str:
    """Every log line of a run and every artifact that it left."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import (
        ArtifactFilter,
        ArtifactFilterFlowRunId,
        LogFilter,
        LogFilterFlowRunId,
    )
    from prefect.logging.handlers import APILogHandler

    APILogHandler().flush()
    lines = LogFilter(flow_run_id=LogFilterFlowRunId(any_=[UUID(run_id)]))
    made = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[UUID(run_id)]))
    with get_client(sync_client=True) as client:
        logs = [item.message for item in client.read_logs(lines)]
        kept = [str(item.data) for item in client.read_artifacts(artifact_filter=made, limit=200)]
        run = client.read_flow_run(UUID(run_id)).model_dump_json()
    assert logs
    assert kept
    return "\n".join([*logs, *kept, run])


def artifact_keys(run_id: str) -> set[str]:
    """The keys of what a run left."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterFlowRunId

    made = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[UUID(run_id)]))
    with get_client(sync_client=True) as client:
        return {str(item.key) for item in client.read_artifacts(artifact_filter=made, limit=200)}


def newest_table(kind: str, config: SyncConfig) -> list[dict[str, Any]]:
    """The rows of the newest table of a kind that runs of this config left."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey
    from prefect.client.schemas.sorting import ArtifactSort

    key = artifact_key(kind, config.repository, config.source, config.target)
    with get_client(sync_client=True) as client:
        found = client.read_artifacts(
            artifact_filter=ArtifactFilter(key=ArtifactFilterKey(any_=[key])),
            sort=ArtifactSort.CREATED_DESC,
            limit=1,
        )
    rows: list[dict[str, Any]] = json.loads(str(found[0].data))
    return rows
