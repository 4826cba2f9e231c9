"""How CI is started on a head commit, and since when results count: by GitHub's own clock."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from nightly_sync.checks.names import is_exempt
from nightly_sync.config import Trigger
from nightly_sync.forge.base import CheckStatus, Rollup
from nightly_sync.forge.github.client import Client
from nightly_sync.forge.github.pulls import Comment, Pull, Pulls


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
        if self.trigger.kind == "comment":
            return self._comment(pull, sha, now)
        if self.trigger.kind == "workflow":
            self._dispatch(pull.head.ref)
        elif self.trigger.kind == "label":
            return self._label(number, now)
        else:
            return first_sign(self.rollup(sha), now)
        return now

    def _comment(self, pull: Pull, sha: str, now: datetime) -> datetime:
        text = self.trigger.text.format(sha=sha)
        said = self._said(pull, text)
        if said and self._at_work(sha, said.created_at, now):
            return said.created_at
        return self.pulls.comment(pull.number, text).created_at

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

    def _dispatch(self, branch: str) -> None:
        file = self.trigger.text
        self.client.call(
            self.client.api.actions.create_workflow_dispatch,
            f"start the workflow {file} on {branch}",
            workflow_id=file,
            ref=branch,
        )

    def _label(self, number: int, now: datetime) -> datetime:
        """A label starts CI when it is put on, so one that is there comes off first."""
        self.pulls.remove_label(number, self.trigger.text)
        self.pulls.add_labels(number, (self.trigger.text,))
        return now


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
