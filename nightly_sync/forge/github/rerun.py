"""Failed checks run again on the same commit: Actions by workflow run, others by our trigger.

Actions: `POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun-failed-jobs` makes a new attempt
with the failed jobs and those that need them; the attempts before keep their results and logs.
GitHub takes it only once the whole run has ended, and answers 403 until then.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from nightly_sync.forge.base import Check
from nightly_sync.forge.github.client import Client, Wire, parse
from nightly_sync.forge.github.pulls import Pulls
from nightly_sync.forge.github.refusals import GitHubError, GitHubUnreachable
from nightly_sync.forge.github.rollup import ACTIONS, Found
from nightly_sync.forge.github.trigger import Starter


class _Run(Wire):
    status: str | None = None


@dataclass(frozen=True)
class Reruns:
    """Asks for failed checks again; `known` is what was read of a commit's checks."""

    client: Client
    pulls: Pulls
    starter: Starter
    known: Callable[[str], Found]

    def start(self, number: int, sha: str, checks: tuple[Check, ...]) -> datetime | None:
        """Run them again; None, and nothing is started, if there is no way to for all of them.

        Checks of other Apps, and commit statuses, start anew with whatever our trigger starts.
        Returns the server's own time from before anything is asked for. Raises GitHubUnreachable
        while a workflow run is still at work, before anything is started; GitHubError where GitHub
        refuses, and what was asked for before that runs all the same.
        """
        pull, now = self.pulls.at_head_timed(number, sha)
        runs = runs_of(self.known(sha), checks)
        others = any(check.app != ACTIONS for check in checks)
        if not checks or runs is None or (others and not self.starter.can_ask):
            return None
        for run in runs:
            self._demand_end(run)
        for run in runs:
            self._again(run)
        if others:
            self.starter.ask(pull, sha, now)
        return now

    def _demand_end(self, run: int) -> None:
        if not self._ended(run):
            raise GitHubUnreachable(
                f"could not run the failed jobs of workflow run {run} again yet: others of it are "
                "still at work",
                403,
            )

    def _again(self, run: int) -> None:
        doing = f"run the failed jobs of workflow run {run} again"
        ask = self.client.api.actions.re_run_workflow_failed_jobs
        try:
            self.client.call(ask, doing, run_id=run)
        except GitHubError as error:
            # At work again: a try whose answer was lost did it, or somebody was quicker.
            if error.status != 403 or self._ended(run):
                raise

    def _ended(self, run: int) -> bool:
        doing = f"read workflow run {run}"
        read = self.client.api.actions.get_workflow_run
        return (
            parse(_Run, self.client.call(read, doing, run_id=run).data, doing).status == "completed"
        )


def runs_of(found: Found, checks: tuple[Check, ...]) -> tuple[int, ...] | None:
    """The workflow runs of those checks that are Actions jobs; None if one is unknown. Pure."""
    suites = {check.suite for check in checks if check.app == ACTIONS}
    if suites - found.workflow_runs.keys():
        return None
    return tuple(sorted({found.workflow_runs[suite] for suite in suites}))
