"""The `Forge` protocol on GitHub."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from nightly_sync.config import SyncConfig
from nightly_sync.forge.base import Check, PullRequest, Rollup
from nightly_sync.forge.github import hints
from nightly_sync.forge.github.client import Client, Cost, Wire, parse
from nightly_sync.forge.github.credentials import GitCredentials, git_credentials
from nightly_sync.forge.github.logs import Logs
from nightly_sync.forge.github.pulls import Pulls
from nightly_sync.forge.github.required import required_checks
from nightly_sync.forge.github.rollup import Found, Rollups, conclusive
from nightly_sync.forge.github.trigger import Starter

BASELINE_COMMITS = 10  # of the target, the newest first, that a baseline looks at
Sleep = Callable[[float], None]


class _Commit(Wire):
    sha: str


class GitHubForge:
    """Pull requests and checks of one repository on GitHub."""

    def __init__(self, config: SyncConfig, client: Client, sleep: Sleep = time.sleep):
        self._config = config
        self._client = client
        self._sleep = sleep
        self._pulls = Pulls(client, sleep)
        self._rollups = Rollups(client)
        self._logs = Logs(client)
        self._starter = Starter(
            client,
            self._pulls,
            config.trigger,
            timedelta(minutes=config.grace_minutes),
            self.rollup,
            config.sentinel,
            config.exempt,
        )
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

    def update_body(self, number: int, body: str) -> None:
        """Replace the body."""
        self._pulls.update_body(number, body)

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

    def rollup(self, sha: str) -> Rollup:
        """All checks of a commit; empty if there are none yet."""
        return self._read(sha).rollup

    def wait(self, sha: str, seconds: float) -> None:
        """Return after `seconds`: nothing on GitHub tells earlier at less cost than a poll."""
        self._sleep(seconds)

    def log(self, sha: str, check: Check) -> str:
        """The end of a check's log, at most 2 MiB, with a mark if it is cut."""
        found = self._found.get(sha)
        if found is None or check not in found.rollup.checks:
            found = self._read(sha)
        return self._logs.read(found, check)

    def baseline(self, target_sha: str, check: Check) -> tuple[Check, str] | None:
        """The same check on the newest of the target's last commits where it ran to its end."""
        for sha in self._commits(target_sha):
            known = conclusive(self._read(sha).rollup, check)
            if known:
                return known, self.log(sha, known)
        return None

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

    def close_connection(self) -> None:
        """Close the connection to GitHub."""
        self._client.close()

    @property
    def cost(self) -> Cost:
        """What was asked of GitHub so far."""
        return self._client.cost

    def git_credentials(self) -> GitCredentials:
        """For the next git command that talks to GitHub; the token is valid now."""
        return git_credentials(self._client.address, self._client.token())

    # Inside

    def _read(self, sha: str) -> Found:
        self._found[sha] = self._rollups.read(sha)
        return self._found[sha]

    def _commits(self, sha: str) -> list[str]:
        doing = f"list the commits before {sha[:12]}"
        listed = self._client.call(
            self._client.api.repos.list_commits, doing, sha=sha, per_page=BASELINE_COMMITS
        )
        return [parse(_Commit, item, doing).sha for item in listed.data]
