"""The forge: where pull requests and checks live. One protocol, one module an implementation."""

from datetime import datetime
from enum import StrEnum
from typing import Protocol

from nightly_sync.model import Model


class PullRequest(Model):
    """A pull request as the forge knows it."""

    number: int
    url: str
    branch: str  # head branch, in the same repository
    target: str  # base branch
    head: str  # SHA the forge has for the head
    title: str
    body: str
    draft: bool
    open: bool
    labels: tuple[str, ...] = ()
    author: str = ""
    created_at: datetime


class CheckStatus(StrEnum):
    """GitHub's CheckStatusState; a commit status maps onto it. Unknown values are OTHER."""

    QUEUED = "QUEUED"
    REQUESTED = "REQUESTED"
    WAITING = "WAITING"
    PENDING = "PENDING"
    IN_PROGRESS = "IN_PROGRESS"
    COMPLETED = "COMPLETED"
    OTHER = "OTHER"


class Check(Model):
    """One check run or commit status. `conclusion` is the forge's own word, upper case."""

    name: str
    app: str = ""
    workflow: str = ""
    suite: str = ""
    status: CheckStatus
    conclusion: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    url: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells two checks of one name apart."""
        return self.name, self.app, self.workflow, self.suite


class Rollup(Model):
    """All checks of one commit, as the forge sees them now."""

    sha: str
    checks: tuple[Check, ...] = ()


class Forge(Protocol):
    """What a sync needs of a forge. Every call may raise SyncError with a readable sentence."""

    def open_pull_requests(self, prefix: str) -> list[PullRequest]:
        """Our open sync pull requests: head in this repository, branch name below `prefix`."""

    def create_draft(self, branch: str, target: str, title: str, body: str) -> PullRequest:
        """Open a draft pull request, or return the open one this branch already has."""

    def closed_pull_request(self, branch: str) -> PullRequest | None:
        """The newest closed pull request of a branch that a person closed; None if there is none.

        One that was closed through `close` does not count: that was this job's own cleaning up.
        """

    def get(self, number: int) -> PullRequest:
        """The pull request as it is now."""

    def update_body(self, number: int, body: str) -> None:
        """Replace the body."""

    def add_labels(self, number: int, labels: tuple[str, ...]) -> None:
        """Add labels, creating those that do not exist."""

    def comment(self, number: int, text: str) -> None:
        """Add a comment."""

    def close(self, number: int, comment: str) -> None:
        """Close with a comment that says why. Nothing is deleted."""

    def mark_ready(self, number: int, sha: str) -> None:
        """Draft to ready, only while the head is `sha`; StopForPerson otherwise."""

    def mark_draft(self, number: int) -> None:
        """Ready back to draft."""

    def trigger_ci(self, number: int, sha: str) -> datetime:
        """Start the checks of the head commit; returns the forge's own time of the trigger."""

    def rollup(self, sha: str) -> Rollup:
        """All checks of a commit; empty if there are none yet."""

    def wait(self, sha: str, seconds: float) -> None:
        """Return after `seconds`, or sooner when the forge can tell that a check moved."""

    def log(self, sha: str, check: Check) -> str:
        """The text of a check's log, the newest part if it is long."""

    def baseline(self, target_sha: str, check: Check) -> tuple[Check, str] | None:
        """The same check on the untouched target commit, with its log; None if it can't be had."""
