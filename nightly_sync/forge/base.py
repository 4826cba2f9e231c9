"""The forge: where pull requests and checks live. One protocol, one module an implementation."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from nightly_sync import git
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
    merged: bool = False  # closed by merging it
    merged_by: str = ""  # where the forge says

    @property
    def ended(self) -> str:
        """Completes "pull request 7 ...", for one that is not open."""
        if not self.merged:
            return "was closed"
        return f"was merged by {self.merged_by}" if self.merged_by else "was merged"


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
    workflow_id: str = ""  # the forge's own: two workflow files may give themselves one name
    suite: str = ""
    event: str = ""  # what started its run: GitHub's event and branch, e.g. `push dev`
    status: CheckStatus
    conclusion: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    url: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """What tells two checks of one name apart."""
        return self.name, self.app, self.workflow, self.workflow_id, self.suite


class Glance(Model):
    """What a look at the checks tells of the pull request, where that costs nothing more."""

    open: bool
    labels: tuple[str, ...] = ()
    head: str = ""  # SHA; empty where it was not looked up
    target: str = ""  # base branch; the same


class Rollup(Model):
    """All checks of one commit, as the forge sees them now."""

    sha: str
    checks: tuple[Check, ...] = ()
    earlier: tuple[Check, ...] = ()  # results that a rerun replaced; they never count
    at: datetime | None = None  # the forge's own time of the answer; None if it does not tell
    pull: Glance | None = None


class BaselineResult(Model):
    """The same check, run to its end where nothing of a sync is."""

    check: Check
    log: str
    where: str  # completes "it fails on ...": the untouched target, a merged pull request
    sha: str = ""  # the commit that it ran on
    older: str = ""  # which result of the forge's it was preferred to, with its address


@dataclass(frozen=True)
class Cost:
    """What was asked of a forge's API so far; two of them subtract. All 0 where there is none."""

    rest: int = 0  # requests that count against the quota
    unchanged: int = 0  # answered 304, which costs nothing
    graphql: int = 0  # requests
    points: int = 0  # GraphQL's own measure
    waited: float = 0.0  # seconds, for limits and hiccups
    left: int | None = None  # of the hourly quota last heard of

    def __sub__(self, before: "Cost") -> "Cost":
        return Cost(
            self.rest - before.rest,
            self.unchanged - before.unchanged,
            self.graphql - before.graphql,
            self.points - before.points,
            self.waited - before.waited,
            self.left,
        )


class Forge(Protocol):
    """What a sync needs of a forge. Every call may raise SyncError with a readable sentence."""

    @property
    def cost(self) -> Cost:
        """What was asked of the API so far."""

    def origin(self) -> git.Remote:
        """The repository, for git."""

    def disconnect(self) -> None:
        """The run is over; nothing is asked any more."""

    def required_checks(self, branch: str) -> tuple[str, ...]:
        """Names of the checks that must pass before anything is merged into the branch."""

    def ask_for_review(self, number: int, people: tuple[str, ...]) -> None:
        """Ask people to review a pull request; nobody is asked twice."""

    def not_started_hints(self, number: int, sha: str, since: datetime) -> tuple[str, ...]:
        """Why the checks that were asked for at `since` may not have started, a sentence each."""

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

    def in_use(self, branch: str) -> tuple[int, ...]:
        """Numbers of the open pull requests that come from a branch or go into it, forks' too."""

    def revise_body(self, number: int, revise: Callable[[str], str]) -> None:
        """Replace the body by what `revise`, which may be asked again, makes of the present one."""

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

    def rerun(self, number: int, sha: str, checks: tuple[Check, ...]) -> datetime | None:
        """Run these failed checks again on the same commit, and keep their results and logs.

        Returns the forge's own time from before the request, None if it has no way to run them
        all again; then nothing was started. Raises Unreachable while a run that they belong to is
        still at work, StopForPerson if the head is another commit.
        """

    def rollup(self, sha: str, number: int | None = None) -> Rollup:
        """All checks of a commit; empty if there are none yet.

        With the number of a pull request there is a glance at it too, if that costs no request.
        """

    def wait(self, sha: str, seconds: float) -> None:
        """Return after `seconds`, or sooner when the forge can tell that a check moved."""

    def log(self, sha: str, check: Check) -> str:
        """The text of a check's log, the newest part if it is long."""

    def baseline(self, target_sha: str, check: Check) -> BaselineResult | None:
        """The same check without us: on the untouched target, or, as far as the forge's history
        tells, on what the target is made of. None if it can't be had."""
