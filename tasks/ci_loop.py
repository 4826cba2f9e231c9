"""Step: follow the checks, repair what can be repaired, and mark ready or say why not."""

from prefect import get_run_logger, task

from nightly_sync import ci, conclude
from nightly_sync.checks.gate import Verdict, progress_of
from nightly_sync.ci import Watched
from nightly_sync.fixers import fixers_for
from nightly_sync.forge.base import Cost, PullRequest
from nightly_sync.repair import Head
from nightly_sync.reports.model import ReportFacts
from nightly_sync.session import Session
from tasks import artifacts, claude_progress
from tasks.policy import LOCAL
from tasks.remerge_diff import write_report


@task(name="ci-loop", task_run_name="ci-loop", **LOCAL)
def ci_loop(run: Session, pull: PullRequest, head: Head, facts: ReportFacts) -> Watched:
    """Poll, triage, baseline, fix; ends with a final verdict or at the time limit."""
    log = get_run_logger()
    bar = artifacts.progress("ci-progress", run.config)
    told: list[str] = []

    def on_poll(verdict: Verdict, cost: Cost) -> None:
        done, total = progress_of(verdict)
        artifacts.move(bar, done, total)
        if verdict.reason not in told[-1:]:
            told.append(verdict.reason)
            log.info("checks: %s, %d of %d ended. %s%s", verdict.kind, done, total, verdict.reason,
                     _price(cost))  # fmt: skip

    claude_progress.follow(run)
    fixers = fixers_for(run, facts, head.tip)
    watched = ci.follow(run, pull, head, fixers, on_poll)
    for note in watched.notes:
        log.info("%s", note)
    return watched


def _price(cost: Cost) -> str:
    """What one look at the checks cost; nothing where the forge has no API."""
    if not cost.graphql:
        return ""
    left = f", {cost.left} left this hour" if cost.left is not None else ""
    return f" (GraphQL requests: {cost.graphql}, points: {cost.points}{left})"


@task(name="conclude", task_run_name="conclude", **LOCAL)
def conclude_pull_request(
    run: Session, pull: PullRequest, facts: ReportFacts, watched: Watched
) -> ReportFacts:
    """Ready or draft, the final body and the summary comment."""
    final = conclude.after_repairs(run, facts, watched)
    concluded = conclude.conclude(run, pull, final, watched)
    write_report(run, concluded)
    get_run_logger().info("outcome: %s", concluded.outcome)
    return concluded
