"""Follow the checks of the sync branch to a verdict: poll, triage, baseline, fix, poll again.

Decisions are the gate's and the triage's; here is only who is asked when. Time comes from the
session's clock and waiting from the forge, so that a test needs no sleep. An outage of the forge
is waited out, up to the time limit.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from nightly_sync import baseline_run, explain, last_look, publish, repair
from nightly_sync.checks.baseline import Classification
from nightly_sync.checks.gate import Expectations, Verdict, VerdictKind, judge, run_of
from nightly_sync.checks.items import FailureKind
from nightly_sync.checks.names import is_exempt, listed
from nightly_sync.checks.triage import Failure, group
from nightly_sync.config import SyncConfig
from nightly_sync.errors import StopForPerson, SyncError, Unreachable, one_line
from nightly_sync.fixers.base import Fixer, GaveUp
from nightly_sync.forge.base import Check, Cost, PullRequest, Rollup
from nightly_sync.repair import Head, Repaired
from nightly_sync.session import Session

COMES_BACK = 2  # times that the same failure may come back after a repair
OnPoll = Callable[[Verdict, Cost], None]
"""Called after each look with the verdict and what reading the checks has cost."""


@dataclass(frozen=True)
class Watched:
    """What the checks of a head commit came to."""

    head: Head
    verdict: Verdict
    failures: tuple[Failure, ...] = ()
    baselines: dict[Check, Classification] = field(default_factory=dict)  # by failed check
    polls: int = 0
    rounds: int = 0  # repairs pushed
    reruns: int = 0  # of infrastructure failures, on any head commit
    notes: tuple[str, ...] = ()  # what was tried and seen
    hints: tuple[str, ...] = ()  # why nothing started
    timed_out: bool = False
    refusal: str = ""  # why origin did not take a repair
    expected: Expectations | None = None  # by the last trigger; None until the head has one
    stopped: str = ""  # why a person has to go on from here


def follow(
    run: Session, pull: PullRequest, head: Head, fixers: Sequence[Fixer], on_poll: OnPoll
) -> Watched:
    """Trigger, poll, run again and repair until there is nothing left to do but report.

    Where somebody else moves the branch, closes the pull request or claims it, `stopped` says so.
    """
    following = _Following(run, pull, head, fixers, on_poll)
    try:
        following.to_the_end()
    except StopForPerson as stop:
        following.stopped(stop)
    following.leave()  # not where it was cancelled: that has to end at once
    return following.watched


class _Following:
    """One run's loop over its checks. What has come of it so far is in `watched`."""

    def __init__(
        self, run: Session, pull: PullRequest, head: Head, fixers: Sequence[Fixer], on_poll: OnPoll
    ):
        self._run = run
        self._pull = pull
        self._fixers = fixers
        self._on_poll = on_poll
        self._deadline = run.started + timedelta(minutes=run.config.time_limit_minutes)
        self._unpushed: Repaired | None = None
        self._repaired_before = Counter[str]()  # by failure; see `_signs`
        self._reruns_of_head = 0
        self.watched = Watched(head, _unknown(), notes=head.fixes)

    def to_the_end(self) -> None:
        """Look, act, wait; ends with a final verdict or at the time limit."""
        while (pause := self._step()) is not None:
            if self._run.clock() >= self._deadline:
                self._note(timed_out=True)
                return
            if pause:
                self._run.forge.wait(self._sha, pause)

    def stopped(self, stop: StopForPerson) -> None:
        """A person has to go on from here."""
        self._note(stopped=str(stop))

    def leave(self) -> None:
        """Take away what was only there for the wait."""
        if self._run.config.baseline.branch:
            self._say(*baseline_run.sweep(self._run))

    @property
    def _sha(self) -> str:
        return self.watched.head.tip

    def _note(self, **changes: Any) -> None:
        self.watched = replace(self.watched, **changes)

    def _say(self, *notes: str) -> None:
        new = [note for note in notes if note not in self.watched.notes]
        self._note(notes=(*self.watched.notes, *new))

    def _step(self) -> float | None:
        """Seconds until the next look; None if there is nothing left to do."""
        try:
            self._look()
            if not self.watched.verdict.final:
                return self._run.config.poll_seconds
            return 0.0 if self._acts() else None
        except Unreachable as error:
            self._shown(_outage(error), Cost())
            return self._run.config.poll_seconds

    # Looking

    def _look(self) -> None:
        expected = self.watched.expected or self._triggered()
        before = self._run.forge.cost
        rollup = self._run.forge.rollup(self._sha, self._pull.number)
        cost = self._run.forge.cost - before
        last_look.check_glance(self._run, self._pull, self.watched.head, rollup.pull)
        expected = self._since(rollup, expected)
        verdict = _judged(self._run, rollup, expected)
        if verdict.kind is VerdictKind.FAILED:
            verdict = self._explained(rollup, verdict, expected)
        self._note(polls=self.watched.polls + 1)
        self._shown(verdict, cost)
        if verdict.final and verdict.kind is VerdictKind.NOT_STARTED:
            since = expected.triggered_at
            hints = self._run.forge.not_started_hints(self._pull.number, self._sha, since)
            self._note(hints=hints)

    def _triggered(self) -> Expectations:
        # Read first: where this fails, nothing was started that a second try would start again.
        required = self._run.forge.required_checks(self._run.config.target)
        last_look.check_open(self._run, self._pull)
        when = self._run.forge.trigger_ci(self._pull.number, self._sha)
        self._reruns_of_head = 0
        expected = expectations(self._run.config, required, self._sha, when)
        self._note(expected=expected)
        return expected

    def _since(self, rollup: Rollup, expected: Expectations) -> Expectations:
        """With the time of the first look at this head."""
        if expected.watched_since is None:
            now = {"watched_since": rollup.at or self._run.clock()}
            expected = expected.model_copy(update=now)
            self._note(expected=expected)
        return expected

    def _shown(self, verdict: Verdict, cost: Cost) -> None:
        self._note(verdict=verdict)
        self._on_poll(verdict, cost)

    def _explained(self, rollup: Rollup, verdict: Verdict, expected: Expectations) -> Verdict:
        """The verdict again, once it is known which failures the target has too."""
        for found in explain.new(self._run, self.watched.head, verdict, self.watched.baselines):
            baselines = {**self.watched.baselines, found.failure.check: found.baseline}
            self._note(failures=(*self.watched.failures, found.failure), baselines=baselines)
        self._say(*explain.flaky(verdict.failed, rollup))
        proven = explain.proven(self.watched.baselines)
        if proven - expected.pre_existing:
            known = {"pre_existing": expected.pre_existing | proven}
            expected = expected.model_copy(update=known)
            self._note(expected=expected)
            verdict = _judged(self._run, rollup, expected)
        if verdict.kind is VerdictKind.FAILED and verdict.pending and self._may_rerun(verdict):
            reason = f"{verdict.reason} To be run again once the rest has ended."
            return verdict.model_copy(update={"final": False, "reason": reason})
        return verdict

    # Acting

    def _acts(self) -> bool:
        """Run again or repair what failed; is there something to wait for now?

        Where nothing is left to do it may be that somebody moved the branch, and that this is
        why: their push may have cancelled the checks. Green gets its own last look.
        """
        kind = self.watched.verdict.kind
        if kind is VerdictKind.GREEN:
            return False
        last_look.check_open(self._run, self._pull)
        publish.back_to_draft(self._run, self._pull)  # a person may have marked it ready
        if kind is VerdictKind.FAILED and (self._reruns() or self._repairs()):
            return True
        last_look.check_unmoved(self._run, self.watched.head)
        return False

    def _ours(self, verdict: Verdict) -> list[Failure]:
        return [item for item in self.watched.failures if item.check in verdict.failed]

    def _may_rerun(self, verdict: Verdict) -> bool:
        """Did only infrastructure fail, and is there a try left on this commit?

        And is there nothing in the way that no rerun could make good?
        """
        own = [item for item in self._ours(verdict) if not item.aggregate]
        only = all(item.kind is FailureKind.INFRASTRUCTURE for item in own)
        left = self._reruns_of_head < self._run.config.rerun_limit
        return bool(own) and only and left and not _foreign(verdict)

    def _reruns(self) -> bool:
        verdict, expected = self.watched.verdict, self.watched.expected
        self._say(*(_in_the_way(check) for check in _foreign(verdict)))
        if expected is None or not self._may_rerun(verdict):
            return False
        checks = _again(verdict)
        names = listed(check.name for check in (*verdict.failed, *verdict.blocking))
        when, why_not = self._asked_again(checks)
        if when is None:
            self._say(f"{names}: failed over infrastructure, and {why_not}")
            return False
        self._reruns_of_head += 1
        count = f"{self._reruns_of_head} of {self._run.config.rerun_limit}"
        self._say(f"{names}: failed over infrastructure, run again ({count})")
        self._note(reruns=self.watched.reruns + 1)
        again = frozenset(run_of(check) for check in checks)
        asked = {"rerun": expected.rerun | again, "rerun_at": when}
        self._note(expected=expected.model_copy(update=asked))
        return True

    def _asked_again(self, checks: tuple[Check, ...]) -> tuple[datetime | None, str]:
        """When the checks were asked to run again; None with the reason if they can't be."""
        try:
            when = self._run.forge.rerun(self._pull.number, self._sha, checks)
        except (Unreachable, StopForPerson):
            raise
        except SyncError as error:
            return None, one_line(error)
        return when, "" if when else "this forge has no way to run them all again"

    def _repairs(self) -> bool:
        """Ask the fixers about what is ours; push what they change, or say why they gave up."""
        change = self._unpushed or self._repaired()
        if isinstance(change, GaveUp):
            self._say(change.reason)
            return False
        self._unpushed = change  # an outage does not cost the work
        last_look.check_open(self._run, self._pull)  # a fixer may take its time
        try:
            head = repair.push(self._run, self.watched.head, change)
        except Unreachable:
            raise
        except SyncError as error:
            last_look.check_unmoved(self._run, self.watched.head)  # raises: somebody was quicker
            self._refused(change, error)
            return False
        self._pushed(head, change)
        return True

    def _repaired(self) -> Repaired | GaveUp:
        signs, ours = self._signs(), group(self._ours(self.watched.verdict))
        if signs and all(self._repaired_before[sign] >= COMES_BACK for sign in signs):
            return GaveUp(reason="the same failure came back unchanged twice: no more is tried")
        told = [explain.with_baselines(item, self.watched.baselines) for item in ours]
        return repair.attempt(self._run, self.watched.head, told, self._fixers)

    def _signs(self) -> set[str]:
        """What tells the present failures from others, whatever commit they are of."""
        own = [item for item in self._ours(self.watched.verdict) if not item.aggregate]
        return {item.signature or f"{item.check.name}: {item.title}" for item in own}

    def _pushed(self, head: Head, change: Repaired) -> None:
        self._repaired_before.update(self._signs())
        self._unpushed = None
        self._note(head=head, expected=None, failures=(), baselines={})
        self._note(rounds=self.watched.rounds + 1)
        self._say(change.summary)

    def _refused(self, change: Repaired, error: SyncError) -> None:
        """Origin's own rules forbid the push (no branch may be rewritten, say), or ours do."""
        why = one_line(error)
        refusal = f"Origin did not take the repair ({change.summary}): {why}"
        self._note(refusal=refusal)
        self._say(refusal)


def judged_again(run: Session, watched: Watched) -> Verdict:
    """The verdict of this moment, by what the last one was judged by."""
    if watched.expected is None:
        return watched.verdict
    return _judged(run, run.forge.rollup(watched.head.tip), watched.expected)


def _judged(run: Session, rollup: Rollup, expected: Expectations) -> Verdict:
    """By the forge's own time where it tells it: how long nothing moved is told by its clock."""
    return judge(rollup, expected, rollup.at or run.clock())


def _unknown() -> Verdict:
    return Verdict(kind=VerdictKind.NOT_STARTED, reason="not looked at yet", final=False)


def _outage(error: Unreachable) -> Verdict:
    reason = f"Not known at the moment: {one_line(error)}"
    return Verdict(kind=VerdictKind.RUNNING, reason=reason, final=False)


def _foreign(verdict: Verdict) -> list[Check]:
    """Checks that did not fail, of Apps none of whose checks did: nothing starts these anew."""
    apps = {check.app for check in verdict.failed}
    return [check for check in verdict.blocking if not check.workflow and check.app not in apps]


def _in_the_way(check: Check) -> str:
    word = check.conclusion or "no conclusion"
    return f"{check.name}: {word}, which no rerun changes; it is up to {check.app or 'its App'}"


def _again(verdict: Verdict) -> tuple[Check, ...]:
    """What has to run again; with it the known failures of the same workflow runs."""
    asked = (*verdict.failed, *verdict.blocking)
    suites = {check.suite for check in asked if check.workflow}
    return (*asked, *(check for check in verdict.pre_existing if check.suite in suites))


def expectations(
    config: SyncConfig, required: tuple[str, ...], sha: str, triggered_at: datetime
) -> Expectations:
    """What a green verdict needs of this head commit, by the config and branch protection."""
    own = [check.name for check in config.checks if not is_exempt(check.name, config.exempt)]
    return Expectations(
        head_sha=sha,
        triggered_at=triggered_at,
        grace=timedelta(minutes=config.grace_minutes),
        sentinel=config.sentinel,
        expected=tuple(dict.fromkeys((*config.expected_checks, *own))),
        required=required,
        exempt=config.exempt,
        accept_pre_existing=config.accept_pre_existing,
        no_ci=config.no_ci,
        open_ended=not (config.sentinel or config.checks or config.no_ci),
    )
