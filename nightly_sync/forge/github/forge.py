"""The `Forge` protocol on GitHub."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from nightly_sync import git
from nightly_sync.config import SyncConfig
from nightly_sync.forge.base import BaselineResult, Check, Cost, PullRequest, Rollup
from nightly_sync.forge.github import hints
from nightly_sync.forge.github.baseline import History
from nightly_sync.forge.github.client import Client
from nightly_sync.forge.github.credentials import git_credentials
from nightly_sync.forge.github.logs import Logs
from nightly_sync.forge.github.pulls import Pulls
from nightly_sync.forge.github.refusals import explain_push
from nightly_sync.forge.github.required import required_checks
from nightly_sync.forge.github.rerun import Reruns
from nightly_sync.forge.github.rollup import Found, Rollups
from nightly_sync.forge.github.texts import Texts
from nightly_sync.forge.github.trigger import Starter

Sleep = Callable[[float], None]


class GitHubForge:
    """Pull requests and checks of one repository on GitHub."""

    def __init__(self, config: SyncConfig, client: Client, sleep: Sleep = time.sleep):
        self._config = config
        self._client = client
        self._sleep = sleep
        self._pulls = Pulls(client, sleep)
        self._texts = Texts(client, self._pulls)
        self._rollups = Rollups(client)
        self._logs = Logs(client)
        self._history = History(client, self.rollup, self.log, config.target, config.prefix())
        self._starter = Starter(
            client,
            self._pulls,
            self._texts,
            config.trigger,
            timedelta(minutes=config.grace_minutes),
            self.rollup,
            config.sentinel,
            config.exempt,
        )
        self._reruns = Reruns(client, self._pulls, self._starter, self._known)
        self._found: dict[str, Found] = {}  # the newest rollup of each commit, for logs

    # Pull requests

    def open_pull_requests(self, prefix: str) -> list[PullRequest]:
        """Our open sync pull requests, oldest first; none from a fork."""
        return self._pulls.open_below(prefix)

    def create_draft(self, branch: str, target: str, title: str, body: str) -> PullRequest:
        """Open a draft, or return the open one that the branch has into this target."""
        return self._pulls.create_draft(branch, target, title, body).view()

    def closed_pull_request(self, branch: str) -> PullRequest | None:
        """The newest closed pull request of a branch that this job did not close itself."""
        found = self._pulls.closed_by_person(branch)
        return found.view() if found else None

    def get(self, number: int) -> PullRequest:
        """The pull request as it is now."""
        return self._pulls.get(number).view()

    def in_use(self, branch: str) -> tuple[int, ...]:
        """Numbers of the open pull requests that come from a branch or go into it, forks' too."""
        return self._pulls.in_use(branch)

    def revise_body(self, number: int, revise: Callable[[str], str]) -> None:
        """Replace the body by what `revise` makes of it; a change that crosses it is kept."""
        self._texts.revise(number, revise)

    def add_labels(self, number: int, labels: tuple[str, ...]) -> None:
        """Add labels, creating those that do not exist."""
        self._pulls.add_labels(number, labels)

    def comment(self, number: int, text: str) -> None:
        """Add a comment."""
        self._pulls.comment(number, text)

    def close(self, number: int, comment: str) -> None:
        """Close with a comment that says why. Nothing is deleted."""
        self._pulls.close(number, comment)

    def mark_ready(self, number: int, sha: str) -> None:
        """Draft to ready, only while the head is `sha`; StopForPerson otherwise."""
        self._pulls.mark_ready(number, sha)

    def mark_draft(self, number: int) -> None:
        """Ready back to draft."""
        self._pulls.mark_draft(number)

    # Checks

    def trigger_ci(self, number: int, sha: str) -> datetime:
        """Start the checks of the head commit; returns GitHub's own time of the trigger."""
        return self._starter.start(number, sha)

    def rerun(self, number: int, sha: str, checks: tuple[Check, ...]) -> datetime | None:
        """Run failed checks again on the same commit; None if there is no way to.

        Returns GitHub's own time from before the request. Raises GitHubUnreachable, and has
        started nothing, while a workflow run that they belong to is still at work.
        """
        return self._reruns.start(number, sha, checks)

    def rollup(self, sha: str, number: int | None = None) -> Rollup:
        """All checks of a commit; empty if there are none yet.

        With a number it has a glance at that pull request, from the same request.
        """
        return self._read(sha, number).rollup

    def wait(self, sha: str, seconds: float) -> None:
        """Return after `seconds`: nothing on GitHub tells earlier at less cost than a poll."""
        self._sleep(seconds)

    def log(self, sha: str, check: Check) -> str:
        """The end of a check's log, at most 2 MiB, with a mark if it is cut."""
        found = self._known(sha)
        if check not in (*found.rollup.checks, *found.rollup.earlier):
            found = self._read(sha)
        return self._logs.read(found, check)

    def baseline(self, target_sha: str, check: Check) -> BaselineResult | None:
        """The same check on the target's last commits, else on pull requests merged into it."""
        return self._history.find(target_sha, check)

    def cannot_start_on_branch(self) -> str:
        """Why no checks can be started on a branch without a pull request; "" if they can."""
        return self._starter.cannot_start_on_branch()

    def start_on_branch(self, branch: str, sha: str) -> None:
        """Start the checks of a branch that was just pushed and has no pull request."""
        self._starter.start_on_branch(branch, sha)

    def required_checks(self, branch: str) -> tuple[str, ...]:
        """Names that the branch's protection and rulesets demand."""
        return required_checks(self._client, branch)

    def not_started_hints(self, number: int, sha: str, since: datetime) -> tuple[str, ...]:
        """Why the checks that were asked for at `since` may not have started; may be empty."""
        author, comments = self.get(number).author, self._pulls.comments(number)
        return hints.hints(author, comments, hints.signed(self._client, sha), since)

    # For those who run it

    def ask_for_review(self, number: int, people: tuple[str, ...]) -> None:
        """Ask people for a review of a pull request."""
        self._pulls.ask_for_review(number, people)

    def disconnect(self) -> None:
        """Close the connection to GitHub."""
        self._client.close()

    @property
    def cost(self) -> Cost:
        """What was asked of GitHub so far."""
        return self._client.cost

    def origin(self) -> git.Remote:
        """The repository, for git over HTTPS with a token that is valid at each command."""
        return git.Remote(self._config.repository, self._access, explain_push)

    def _access(self) -> git.Access:
        return git_credentials(self._client.address, self._client.token())

    # Inside

    def _known(self, sha: str) -> Found:
        return self._found.get(sha) or self._read(sha)

    def _read(self, sha: str, number: int | None = None) -> Found:
        self._found[sha] = self._rollups.read(sha, number)
        return self._found[sha]
