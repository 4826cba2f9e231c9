"""Step: let Claude repair what the audits found, before CI is asked."""

from prefect import get_run_logger, task

from nightly_sync import mend
from nightly_sync.errors import StopForPerson
from nightly_sync.forge.base import PullRequest
from nightly_sync.merge.step import Merged, head_of
from nightly_sync.repair import Head
from nightly_sync.reports.model import ReportFacts
from nightly_sync.session import Session
from tasks import claude_progress
from tasks.policy import LOCAL


@task(name="mend-findings", task_run_name="mend-findings", **LOCAL)
def mend_findings(run: Session, merged: Merged, pull: PullRequest, facts: ReportFacts) -> Head:
    """The sync branch with what could be repaired in a fix commit; as it was without Claude."""
    claude_progress.follow(run)
    head, log = head_of(run.workspace.repository, merged), get_run_logger()
    try:
        mended = mend.findings(run, pull, head, facts)
    except StopForPerson as stop:
        log.warning("%s", stop)  # the next step looks again, and ends the run in good order
        return head
    for line in mended.fixes[len(head.fixes) :]:
        log.info("repaired: %s", line)
    return mended
