"""Step: how the result differs from git's own merge, as a patch and as the report."""

from prefect import get_run_logger, task

from nightly_sync import report_facts, report_files
from nightly_sync.reports import report
from nightly_sync.reports.model import ReportFacts
from nightly_sync.session import Session
from tasks import artifacts
from tasks.policy import LOCAL, MINUTE


@task(name="remerge-diff", task_run_name="remerge-diff", timeout_seconds=30 * MINUTE, **LOCAL)
def remerge_diff(run: Session, facts: ReportFacts) -> ReportFacts:
    """The facts with the patch of the merge, or of the final tree once repairs lie on top."""
    repo = run.workspace.repository
    found = report_facts.with_diffs(facts, repo, facts.merge_commit, facts.head)
    get_run_logger().info("the result differs from git's own merge in %d files", len(found.diffs))
    return found


def write_report(run: Session, facts: ReportFacts) -> None:
    """The report as files in the run's folder, and as a Markdown artifact."""
    folder = run.workspace.run / "report"
    report_files.write(folder, run.workspace.repository, facts)
    artifacts.markdown("report", report.render(facts), run.config, str(folder / "report.md"))
