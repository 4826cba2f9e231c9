"""Step: push the sync branch and open its draft pull request."""

from prefect import get_run_logger, task

from nightly_sync import publish
from nightly_sync.forge.base import PullRequest
from nightly_sync.merge.step import Merged
from nightly_sync.reports.model import ReportFacts
from nightly_sync.session import Session
from tasks.policy import MINUTE, REMOTE
from tasks.remerge_diff import write_report


@task(name="pull-request", task_run_name="pull-request", timeout_seconds=30 * MINUTE, **REMOTE)
def open_pull_request(run: Session, merged: Merged, facts: ReportFacts) -> PullRequest:
    """The draft with its body; repeating it pushes nothing twice and opens nothing twice."""
    write_report(run, facts)
    pull = publish.publish(run, merged.model_copy(update={"facts": facts}))
    log = get_run_logger()
    log.info("draft pull request %s for %s", pull.url, pull.branch)
    unasked = publish.ask_for_review(run, pull)
    if unasked:
        log.warning("%s", unasked)
    return pull
