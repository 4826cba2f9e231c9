"""Step: look at the whole merged tree for what the merge may have broken or lost."""

from prefect import get_run_logger, task

from nightly_sync import report_facts
from nightly_sync.paths import quote
from nightly_sync.reports.artifacts import finding_rows
from nightly_sync.reports.model import ReportFacts
from nightly_sync.session import Session
from tasks import artifacts
from tasks.policy import LOCAL, MINUTE

SHOWN = 10  # errors in the log; all are in the report


@task(name="audit", task_run_name="audit", timeout_seconds=30 * MINUTE, **LOCAL)
def audit(run: Session, facts: ReportFacts) -> ReportFacts:
    """The facts with every finding on the head commit's tree."""
    repo = run.workspace.repository
    found = report_facts.with_audits(facts, repo, facts.head, run.config)
    artifacts.table("findings", finding_rows(found.findings), run.config)
    log = get_run_logger()
    log.info("%d errors, %d warnings", len(found.errors), len(found.audit_warnings))
    for item in found.errors[:SHOWN]:
        log.warning("%s in %s: %s", item.kind, quote(item.path), item.evidence.splitlines()[0])
    if len(found.errors) > SHOWN:
        log.warning("and %d more errors, see the report", len(found.errors) - SHOWN)
    return found
