"""How CI is started on a head commit, and since when results count: by GitHub's own clock."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from nightly_sync.checks.names import is_exempt
from nightly_sync.config import Trigger
from nightly_sync.forge.base import CheckStatus, Rollup
from nightly_sync.forge.github.client import Client
from nightly_sync.forge.github.pulls import LAGS, Comment, Pull, Pulls


@dataclass(frozen=True)
class Starter:
    """Starts CI the configured way."""

    client: Client
    pulls: Pulls
    trigger: Trigger
    grace: timedelta
    rollup: Callable[[str], Rollup]
    sentinel: str | None = None
    exempt: tuple[str, ...] = ()

    def start(self, number: int, sha: str) -> datetime:
        """Start the checks of the head commit; results count from the returned moment on.

        The time is the server's, taken right before what starts CI, so that no check of ours can
        be older. Asked for again while the checks it started are at work, a comment is joined
        and not repeated: its own time is returned. Raises StopForPerson if the head is another
        commit or the pull request is closed.
        """
        pull, now = self.pulls.at_head_timed(number, sha)
        if not self.can_ask:
            return first_sign(self.rollup(sha), now)
        return self._joined(pull, sha, now) or self.ask(pull, sha, now)

    @property
    def can_ask(self) -> bool:
        """Is there anything that starts CI but the push itself?"""
        return self.trigger.kind != "none"

    def ask(self, pull: Pull, sha: str, now: datetime) -> datetime:
        """Start CI anew, whatever is at work; results count from the returned moment on."""
        if self.trigger.kind == "comment":
            return self.pulls.comment(pull.number, self._text(sha)).created_at
        if self.trigger.kind == "workflow":
            self._dispatch(pull.head.ref)
        else:
            self._label(pull.number)
        return now

    def _text(self, sha: str) -> str:
        return self.trigger.text.format(sha=sha)

    def _joined(self, pull: Pull, sha: str, now: datetime) -> datetime | None:
        """When a comment asked for what is still at work; None if there is none.

        A text that does not name the commit may have asked for an earlier one.
        """
        tells = self.trigger.kind == "comment" and sha in self._text(sha)
        said = self._said(pull, self._text(sha)) if tells else None
        if said and self._at_work(sha, said.created_at, now):
            return said.created_at
        return None

    def _at_work(self, sha: str, asked: datetime, now: datetime) -> bool:
        found = self.rollup(sha)
        counted = tuple(c for c in found.checks if not is_exempt(c.name, self.exempt))
        rollup = found.model_copy(update={"checks": counted})
        return at_work(rollup, asked, now, self.grace, self.sentinel)

    def _said(self, pull: Pull, text: str) -> Comment | None:
        """The newest comment that asked for this, by the account that opened the pull request."""
        for said in reversed(self.pulls.comments(pull.number)):
            if (said.body or "").strip() == text.strip() and said.user == pull.user:
                return said
        return None

    def cannot_start_on_branch(self) -> str:
        """Why no checks can be started on a branch without a pull request; "" if they can."""
        if self.trigger.kind in ("comment", "label"):
            return f"a trigger of kind {self.trigger.kind} needs a pull request"
        return ""

    def start_on_branch(self, branch: str, sha: str) -> None:
        """Start the checks of a branch that was just pushed; without a trigger the push does it."""
        if self.trigger.kind == "workflow":
            self._await_branch(branch, sha)
            self._dispatch(branch)

    def _await_branch(self, branch: str, sha: str) -> None:
        """GitHub may not know a branch for a while after its push, and dispatches nothing then."""
        for pause in LAGS:
            if self.pulls.tip(branch) == sha:
                return
            self.pulls.sleep(pause)

    def _dispatch(self, branch: str) -> None:
        file = self.trigger.text
        self.client.call(
            self.client.api.actions.create_workflow_dispatch,
            f"start the workflow {file} on {branch}",
            workflow_id=file,
            ref=branch,
        )

    def _label(self, number: int) -> None:
        """A label starts CI when it is put on, so one that is there comes off first."""
        self.pulls.remove_label(number, self.trigger.text)
        self.pulls.add_labels(number, (self.trigger.text,))


def first_sign(rollup: Rollup, now: datetime) -> datetime:
    """Since when a push has started checks: the start of the first one, else now. Pure.

    All results are of this commit, which is pushed only once.
    """
    return min((check.started_at for check in rollup.checks if check.started_at), default=now)


def at_work(
    rollup: Rollup, asked: datetime, now: datetime, grace: timedelta, sentinel: str | None = None
) -> bool:
    """Is what was asked for at `asked` still to come, or running? Pure.

    Over once the sentinel ended, whatever else waits (for an approval, say).
    """
    after = [c for c in rollup.checks if c.started_at is None or c.started_at >= asked]
    ended = [check for check in after if check.status is CheckStatus.COMPLETED]
    if any(check.name == sentinel for check in ended):
        return False
    return len(ended) < len(after) if after else now - asked < grace
