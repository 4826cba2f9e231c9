"""Step: the run's record, as a metrics table and as a file beside the report."""

from prefect import get_run_logger, task

from nightly_sync.record import RunRecord
from nightly_sync.reports.artifacts import claude_rows, metrics_rows
from nightly_sync.session import Session
from tasks import artifacts
from tasks.policy import LOCAL


@task(name="metrics", task_run_name="metrics", **LOCAL)
def record_metrics(run: Session, record: RunRecord) -> RunRecord:
    """Keep the record where the history finds it."""
    artifacts.table("metrics", metrics_rows(record), run.config)
    artifacts.table("claude", claude_rows(run.assistant.facts()), run.config)
    file = run.workspace.run / "record.json"
    file.write_text(record.model_dump_json(indent=1) + "\n", "utf-8")
    get_run_logger().info("%s after %.0f s: %s", record.outcome, record.seconds, record.reason)
    return record
