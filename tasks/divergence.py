"""Step: how far have the branches parted, and may they be merged at all?"""

from prefect import get_run_logger, task

from nightly_sync import divergence, git, workspace
from nightly_sync.config import check_runnable
from nightly_sync.divergence import Divergence
from nightly_sync.session import Session
from tasks.policy import MINUTE, REMOTE


@task(name="divergence", task_run_name="divergence", timeout_seconds=30 * MINUTE, **REMOTE)
def check_divergence(run: Session) -> Divergence:
    """Fetch origin and compare the branches; the result may be a stop."""
    found = _check(run)
    log = get_run_logger()
    log.info("%s", found.message)
    if found.squashed:
        log.warning("%s", found.squashed)
    return found


def _check(run: Session) -> Divergence:
    origin = workspace.local_path(run.config.repository)
    if origin and git.is_shallow(origin):
        return divergence.shallow()
    workspace.fetch(run.workspace, run.origin, run.config.git_timeout_seconds)
    branches = workspace.branches(run.workspace)
    today = run.config.branch_name(run.started)
    stop = divergence.check_branches(branches, run.config, today)
    if stop:
        return stop
    source, target = branches[run.config.source], branches[run.config.target]
    found = divergence.check(run.workspace.repository, source, target, run.config)
    if found.behind and not found.stops:
        # Refused now rather than after the work: there is nothing that could turn green.
        check_runnable(run.config, run.forge.required_checks(run.config.target))
    return found
