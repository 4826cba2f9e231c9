"""The nightly sync: take everything that landed on the source into the target, losing nothing."""

from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed

from nightly_sync import recording, session
from nightly_sync.config import SyncConfig
from nightly_sync.record import RunRecord
from nightly_sync.reports.model import ReportFacts
from nightly_sync.session import Session
from tasks.audit import audit
from tasks.ci_loop import ci_loop, conclude_pull_request
from tasks.diff_stats import diff_stats
from tasks.divergence import check_divergence
from tasks.mend_findings import mend_findings
from tasks.merge import merge
from tasks.metrics import record_metrics
from tasks.plain_logs import plain_logs
from tasks.pull_request import open_pull_request
from tasks.remerge_diff import remerge_diff
from tasks.secrets import read_secret
from tasks.stale_pull_requests import close_stale_pull_requests, find_stale_pull_requests


@flow(
    name="nightly-sync",
    flow_run_name="{config.source}-into-{config.target}",
    validate_parameters=True,
)
def sync(config: SyncConfig) -> Any:
    """One sync of one repository and branch pair; the run's record is the result.

    The final state is named after the outcome. A run that has to stop for a person fails, with
    the reason as its message, after its record was kept.
    """
    plain_logs()
    with session.opened(config, str(flow_run.get_id()), secret=read_secret) as run:
        start = recording.start(run)
        try:
            record = _sync(run, start)
        except Exception as error:
            failed = recording.failed(start, run.clock(), error)
            failed = recording.with_cost(failed, run.forge.cost)
            record_metrics(run, failed, return_state=True)  # never hides the first error
            raise
        return _ended(record_metrics(run, recording.with_cost(record, run.forge.cost)))


def _sync(run: Session, record: RunRecord) -> RunRecord:
    stale = find_stale_pull_requests(run)
    parted = check_divergence(run)
    record = recording.with_divergence(record, parted)
    if parted.stops or parted.behind == 0:
        if not parted.stops:
            close_stale_pull_requests(run, stale, None)
        outcome = recording.outcome_of_divergence(parted)
        return recording.finish(record, run.clock(), outcome, parted.message)

    merged = merge(run, parted)
    if merged.choice is None:
        return recording.unresolved(record, run.clock(), merged.facts)

    facts: ReportFacts = audit(run, merged.facts)
    facts = remerge_diff(run, facts)
    facts = diff_stats(run, facts)
    pull = open_pull_request(run, merged, facts)
    close_stale_pull_requests(run, stale, pull)
    head = mend_findings(run, merged, pull, facts)
    watched = ci_loop(run, pull, head, facts)
    facts = conclude_pull_request(run, pull, facts, watched)

    record = recording.with_checks(recording.with_facts(record, facts), watched)
    return recording.concluded(record, run.clock(), facts)


def _ended(record: RunRecord) -> State[RunRecord]:
    """A final state that says in a list of runs how it went. Stops raise before this."""
    recording.raise_if_stopped(record)
    return Completed(name=record.outcome.value, message=record.reason, data=record)
