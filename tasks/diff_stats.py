"""Step: how many lines the sync brings, Python files only unless the config says otherwise."""

from prefect import get_run_logger, task

from nightly_sync import report_facts
from nightly_sync.diffs import python_line
from nightly_sync.reports.artifacts import stats_rows
from nightly_sync.reports.model import ReportFacts
from nightly_sync.session import Session
from tasks import artifacts
from tasks.policy import LOCAL, MINUTE


@task(name="diff-stats", task_run_name="diff-stats", timeout_seconds=10 * MINUTE, **LOCAL)
def diff_stats(run: Session, facts: ReportFacts) -> ReportFacts:
    """The facts with the line counts of `target...head`."""
    found = report_facts.with_stats(facts, run.workspace.repository, facts.head, run.config)
    if found.stats:
        artifacts.table("diff-stats", stats_rows(found.stats), run.config)
        get_run_logger().info("%s", python_line(found.stats))
    return found
