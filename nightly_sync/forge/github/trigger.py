"""How CI is started on a head commit, and since when results count: by GitHub's own clock.

What asks for CI must not ask twice, also where the run that asked died. GitHub remembers comments
and dispatched runs; when a label was put on, and for which commit, a hidden line in the pull
request's body says, outside the part that reports replace.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from nightly_sync import labels
from nightly_sync.checks.gate import SKEW
from nightly_sync.checks.names import is_exempt
from nightly_sync.config import Trigger
from nightly_sync.forge.base import CheckStatus, Rollup
from nightly_sync.forge.github.client import Client, Wire, parse
from nightly_sync.forge.github.pulls import LAGS, Comment, Pull, Pulls
from nightly_sync.forge.github.reply import Reply
from nightly_sync.forge.github.texts import Texts

LONGEST_BODY = 65_536  # characters
_LABELLED = re.compile(r"^<!-- nightly-sync-label: (\w+) (\S+) -->[ \t]*\r?$", re.MULTILINE)


class _Run(Wire):
    """A workflow run."""

    id: int
    head_sha: str
    status: str | None = None
    created_at: datetime


@dataclass(frozen=True)
class _Asked:
    """What asked for CI on this commit before: when, and whether GitHub calls it at work."""

    at: datetime
    going_on: bool = False


@dataclass(frozen=True)
class Starter:
    """Starts CI the configured way."""

    client: Client
    pulls: Pulls
    texts: Texts
    trigger: Trigger
    grace: timedelta
    rollup: Callable[[str], Rollup]
    sentinel: str | None = None
    exempt: tuple[str, ...] = ()

    def start(self, number: int, sha: str) -> datetime:
        """Start the checks of the head commit; results count from the returned moment on.

        The time is the server's, taken right before what starts CI, so that no check of ours can
        be older. Asked for again while what it started for this commit is at work, that is
        joined and not repeated: its own time is returned. Raises StopForPerson if the head is
        another commit or the pull request is closed.
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
            self._dispatch(pull.head.ref, sha)
        else:
            self._label(pull, sha, now)
        return now

    def _text(self, sha: str) -> str:
        return self.trigger.text.format(sha=sha)

    def _joined(self, pull: Pull, sha: str, now: datetime) -> datetime | None:
        """When that was asked for which is still at work on this commit; None if nothing is."""
        before = self._asked(pull, sha)
        if before and self._at_work(sha, before, now):
            return before.at
        return None

    def _asked(self, pull: Pull, sha: str) -> _Asked | None:
        """The newest request for this commit; a text that does not name it may be for another."""
        if self.trigger.kind == "workflow":
            run = self._dispatched(pull.head.ref, sha)
            return _Asked(run.created_at, run.status != "completed") if run else None
        if self.trigger.kind == "label":
            on = labels.has(pull.view().labels, self.trigger.text)
            at = labelled(pull.body or "", sha) if on else None
            return _Asked(at) if at else None
        said = self._said(pull, self._text(sha)) if sha in self._text(sha) else None
        return _Asked(said.created_at) if said else None

    def _at_work(self, sha: str, before: _Asked, now: datetime) -> bool:
        found = self.rollup(sha)
        counted = tuple(c for c in found.checks if not is_exempt(c.name, self.exempt))
        rollup = found.model_copy(update={"checks": counted})
        return at_work(rollup, before.at, now, self.grace, self.sentinel, before.going_on)

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
            self._dispatch(branch, sha)

    def _await_branch(self, branch: str, sha: str) -> None:
        """GitHub may not know a branch for a while after its push, and dispatches nothing then."""
        for pause in LAGS:
            if self.pulls.tip(branch) == sha:
                return
            self.pulls.sleep(pause)

    def _dispatch(self, branch: str, sha: str) -> None:
        """Once: a try without an answer may have been carried out."""
        before = self._dispatched(branch, sha)
        self.client.call(
            self.client.api.actions.create_workflow_dispatch,
            f"start the workflow {self.trigger.text} on {branch}",
            done=lambda: self._arrived(branch, sha, before),
            workflow_id=self.trigger.text,
            ref=branch,
        )

    def _arrived(self, branch: str, sha: str, before: _Run | None) -> Reply | None:
        """Is there a newer run? GitHub may make it some seconds after it was asked for."""
        for pause in LAGS[:3]:
            run = self._dispatched(branch, sha)
            if run and (before is None or run.id != before.id):
                return Reply(204, None, {})
            self.pulls.sleep(pause)
        return None

    def _dispatched(self, branch: str, sha: str) -> _Run | None:
        """The newest run of the workflow that was dispatched on this commit of the branch."""
        doing = f"read the runs of {self.trigger.text} on {branch}"
        reply = self.client.call(
            self.client.api.actions.list_workflow_runs,
            doing,
            workflow_id=self.trigger.text,
            event="workflow_dispatch",
            branch=branch,
            head_sha=sha,
        )
        found = (parse(_Run, item, doing) for item in reply.data["workflow_runs"])
        runs = (run for run in found if run.head_sha == sha)  # not every server has that filter
        return max(runs, key=lambda run: run.id, default=None)

    def _label(self, pull: Pull, sha: str, now: datetime) -> None:
        """A label starts CI when it is put on, so one that is there comes off first."""
        self.pulls.remove_label(pull.number, self.trigger.text)
        self.texts.revise(pull.number, lambda body: with_label(body, sha, now))
        self.pulls.add_labels(pull.number, (self.trigger.text,))


def labelled(body: str, sha: str) -> datetime | None:
    """When the label was put on for this commit, as far as a body says. Pure."""
    found = (match for match in _LABELLED.finditer(body) if match[1] == sha)
    return next((_moment(match[2]) for match in found), None)


def _moment(text: str) -> datetime | None:
    """People can edit a body: what is no time with its zone is none."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else None


def with_label(body: str, sha: str, at: datetime) -> str:
    """The body, saying when the label was put on, and for which commit. Pure."""
    rest = _LABELLED.sub("", body).rstrip()
    said = f"{rest}\n\n<!-- nightly-sync-label: {sha} {at.isoformat()} -->".lstrip()
    return said if len(said) <= LONGEST_BODY else body  # then a resumed run asks anew


def first_sign(rollup: Rollup, now: datetime) -> datetime:
    """Since when a push has started checks: the start of the first one, else about now. Pure.

    All results are of this commit, which is pushed only once, so none is too old. A check may
    show up later than it started, or have been dated by the clock of an App.
    """
    starts = (check.started_at for check in rollup.checks if check.started_at)
    return min((now - SKEW, *starts))


def at_work(
    rollup: Rollup,
    asked: datetime,
    now: datetime,
    grace: timedelta,
    sentinel: str | None = None,
    going_on: bool = False,
) -> bool:
    """Is what was asked for at `asked` still to come, or running? Pure.

    `going_on`: what it started is at work, whatever its checks show. Over once the sentinel ended,
    whatever else waits (for an approval, say).
    """
    after = [c for c in rollup.checks if c.started_at is None or c.started_at >= asked]
    ended = [check for check in after if check.status is CheckStatus.COMPLETED]
    if any(check.name == sentinel for check in ended):
        return False
    waiting = len(ended) < len(after) if after else now - asked < grace
    return going_on or waiting
