"""May this pull request be marked ready? One rollup in, one verdict out; the same for every forge.

What counts as green is written here and nowhere else, and everything unknown fails closed. The
words for states and conclusions are GitHub's (GraphQL enums CheckStatusState,
CheckConclusionState and StatusState); the local forge uses the same ones.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import AwareDatetime, Field

from nightly_sync.checks.names import is_exempt, listed
from nightly_sync.forge.base import Check, CheckStatus, Rollup
from nightly_sync.model import Model

GREEN = frozenset({"SUCCESS", "SKIPPED", "NEUTRAL"})
FAILED = frozenset({"FAILURE", "ERROR", "TIMED_OUT"})
RAN_TO_THE_END = frozenset({"FAILURE", "ERROR"})
"""The failures a baseline can prove to be pre-existing; a check that timed out proves nothing."""

SKEW = timedelta(minutes=1)  # how far apart the clocks of one forge's machines may be
_Workflow = tuple[str, str, str]  # app, name, id
RunKey = tuple[str, _Workflow]
"""What stays the same from run to run of a check, whatever started them."""


class VerdictKind(StrEnum):
    """What the checks of a commit add up to."""

    NOT_STARTED = "not-started"  # something expected has not shown up (yet, unless final)
    RUNNING = "running"
    FAILED = "failed"
    PRE_EXISTING_ONLY = "pre-existing-only"
    GREEN = "green"
    STALE = "stale"  # the results belong to another commit
    BLOCKED = "blocked"  # neither green nor failed, and waiting will not change it


class Expectations(Model):
    """What a green verdict needs. `triggered_at` is the forge's own time of the trigger."""

    head_sha: str = Field(min_length=1)
    triggered_at: AwareDatetime
    watched_since: AwareDatetime | None = None  # the forge's own time of this run's first look
    grace: timedelta  # how long nothing may move before what is missing counts as never started
    sentinel: str | None = None  # must be SUCCESS, and started by this trigger
    expected: tuple[str, ...] = ()  # must be there, by the config
    required: tuple[str, ...] = ()  # must be there, by branch protection; exempt ones need not
    exempt: tuple[str, ...] = ()  # patterns of checks that never count, see `names.is_exempt`
    accept_pre_existing: bool = False
    no_ci: bool = False  # the repository has no checks, and says so
    open_ended: bool = False  # nothing tells that all checks have shown up: wait for late ones
    pre_existing: frozenset[Check] = frozenset()  # failures a baseline has proven
    rerun: frozenset[RunKey] = frozenset()  # checks that were asked to run again, see `run_of`
    rerun_at: AwareDatetime | None = None  # the forge's own time of the newest such request

    @property
    def names(self) -> tuple[str, ...]:
        """Every check that must be there, without doubles, the sentinel first."""
        required = (name for name in self.required if not is_exempt(name, self.exempt))
        return tuple(dict.fromkeys((*self._configured(), *required)))

    def contradiction(self) -> str:
        """Why no rollup could ever satisfy this, or why every one would; empty if sound."""
        names = self.names
        if self.no_ci and names:
            return f"The config says that there is no CI, yet {listed(names)} must pass."
        if not self.no_ci and not names:
            return "Nothing is expected of CI: name a sentinel or expected checks, or set no_ci."
        exempt = [name for name in self._configured() if is_exempt(name, self.exempt)]
        return f"{listed(exempt)} must pass and is exempt at once." if exempt else ""

    def _configured(self) -> tuple[str, ...]:
        return (self.sentinel, *self.expected) if self.sentinel else self.expected


class Verdict(Model):
    """The answer. Each check of the rollup is in exactly one list; `missing` holds names."""

    kind: VerdictKind
    reason: str  # one sentence
    final: bool  # False: look again later
    passed: tuple[Check, ...] = ()
    failed: tuple[Check, ...] = ()  # without the pre-existing ones
    pending: tuple[Check, ...] = ()
    missing: tuple[str, ...] = ()
    exempt_used: tuple[Check, ...] = ()  # exempt checks, whatever they say
    pre_existing: tuple[Check, ...] = ()
    blocking: tuple[Check, ...] = ()  # cancelled, action required, unknown words...
    outdated: tuple[Check, ...] = ()  # from before the trigger or the rerun, or superseded


class _Place(StrEnum):
    """The list of the verdict that a check belongs in."""

    PASSED = "passed"
    FAILED = "failed"
    PENDING = "pending"
    EXEMPT = "exempt_used"
    PRE_EXISTING = "pre_existing"
    BLOCKING = "blocking"
    OUTDATED = "outdated"
    # The next two are outdated as well, until a new result is there.
    AGAIN = "again"  # what a rerun was asked for
    HELD = "held"  # of an earlier trigger, where this one starts the same anew


_AWAITED = (_Place.AGAIN, _Place.HELD)
_Lists = dict[_Place, tuple[Check, ...]]


def judge(rollup: Rollup | None, expectations: Expectations, now: datetime) -> Verdict:
    """Weigh all checks of a commit. Total: every input has a verdict, none raises.

    Order: a contradiction in the expectations, another commit's results, then the first that
    holds of failed, running, not started within the grace period, blocked, not started, not
    settled after a rerun, pre-existing only, green. So the first failure decides without waiting
    for the rest, and a cancelled check (its replacement may be on the way) only once nothing runs
    any more. A result of an earlier trigger decides last, see `_asked_before`. `rollup.earlier`
    never counts. `now` is the forge's own time of the rollup.
    """
    contradiction = expectations.contradiction()
    if contradiction:
        return Verdict(kind=VerdictKind.BLOCKED, reason=contradiction, final=True)
    if rollup is None:
        return _unread(expectations, now)
    if rollup.sha != expectations.head_sha:
        return _stale(rollup.sha, expectations.head_sha)
    lists = _sort(rollup.checks, expectations, _asked_before(rollup.checks, expectations))
    if _nothing_anew(lists, expectations, now):
        lists = _sort(rollup.checks, expectations, frozenset())
    missing = _missing(lists, expectations)
    kind, reason, final = _decide(lists, missing, expectations, now)
    return Verdict.model_validate(
        {"kind": kind, "reason": reason, "final": final, "missing": missing, **_named(lists)}
    )


def _unread(expectations: Expectations, now: datetime) -> Verdict:
    return Verdict(
        kind=VerdictKind.NOT_STARTED,
        reason="The forge has no results for this commit at all.",
        final=not _may_start({}, expectations, now),
        missing=expectations.names,
    )


def _stale(found: str, head: str) -> Verdict:
    reason = f"The results belong to {found[:12] or 'no commit'}, the head is {head[:12]}."
    return Verdict(kind=VerdictKind.STALE, reason=reason, final=True)


@dataclass(frozen=True)
class _Whole:
    """What is known of a check only from all of them."""

    superseded: frozenset[Check]
    triggered: frozenset[_Workflow]
    held: frozenset[str]  # events


def _sort(checks: tuple[Check, ...], expectations: Expectations, held: frozenset[str]) -> _Lists:
    whole = _Whole(_superseded(checks), _triggered_workflows(checks, expectations), held)
    lists: dict[_Place, list[Check]] = defaultdict(list)
    for check in checks:
        lists[_place(check, expectations, whole)].append(check)
    return {place: tuple(items) for place, items in lists.items()}


def _named(lists: _Lists) -> dict[str, tuple[Check, ...]]:
    """The lists by the names that a verdict has for them."""
    old = (_Place.OUTDATED, *_AWAITED)
    outdated = tuple(check for place in old for check in lists.get(place, ()))
    shown = {place.value: lists.get(place, ()) for place in _Place if place not in old}
    return {**shown, _Place.OUTDATED.value: outdated}


def _superseded(checks: Iterable[Check]) -> frozenset[Check]:
    """Runs that a newer run of the same check replaces.

    Within one (name, app, workflow file) and one event the suite of the newest start counts, with
    all its checks, and the other suites do not. Where a start is missing nobody can tell, so all
    of them count. Runs that different events started (pushes to two branches, a push and a pull
    request) run different things, so none hides another.
    """
    runs: dict[tuple[RunKey, str], list[Check]] = defaultdict(list)
    for check in checks:
        runs[run_of(check), check.event].append(check)
    return frozenset(old for group in runs.values() for old in _older(group))


def _older(group: list[Check]) -> list[Check]:
    starts = [check.started_at for check in group if check.started_at is not None]
    if len(starts) < len(group):
        return []
    newest = max(starts)
    current = {check.suite for check in group if check.started_at == newest}
    return [check for check in group if check.suite not in current]


def _triggered_workflows(
    checks: Iterable[Check], expectations: Expectations
) -> frozenset[_Workflow]:
    """The workflows that the trigger starts: those the sentinel is part of.

    Checks outside them (DCO, approvals, a build that runs at push) may be older than the trigger.
    """
    return frozenset(workflow_of(check) for check in _sentinel_jobs(checks, expectations))


def _sentinel_jobs(checks: Iterable[Check], expectations: Expectations) -> list[Check]:
    """All runs of the sentinel that are part of a workflow."""
    return [check for check in checks if check.workflow and check.name == expectations.sentinel]


def _asked_before(checks: Iterable[Check], expectations: Expectations) -> frozenset[str]:
    """Events that an earlier trigger had caused, so that this one causes them again.

    An old result of the sentinel shows it. Other workflows of such an event start anew too, and
    until that shows their old results say nothing. As soon as the sentinel has a new run, its
    event is the only one: a push that ran the same workflow before happens only once.
    """
    jobs, at = _sentinel_jobs(checks, expectations), expectations.triggered_at
    old = [job for job in jobs if job.status is CheckStatus.COMPLETED and _before(job, at)]
    before = {job.event for job in old if job.event}
    now = {job.event for job in jobs if job not in old}
    return frozenset(before & now if now else before)


def _nothing_anew(lists: _Lists, expectations: Expectations, now: datetime) -> bool:
    """Did the sentinel end, and nothing start since, so that what is held will not run again?

    Some checks of the trigger's event run once (a workflow that no label starts): they count.
    """
    sentinels = [check for check in _counted(lists) if check.name == expectations.sentinel]
    over = bool(sentinels) and all(c.status is CheckStatus.COMPLETED for c in sentinels)
    return over and not _may_start(lists, expectations, now)


def _place(check: Check, expectations: Expectations, whole: _Whole) -> _Place:
    place = _place_now(check, expectations, whole)
    bad = place in (_Place.FAILED, _Place.BLOCKING, _Place.PRE_EXISTING)
    return _Place.AGAIN if bad and _asked_again(check, expectations) else place


def _asked_again(check: Check, expectations: Expectations) -> bool:
    """Is this still the result that a rerun was asked for?

    Not one that was at work at that time and ended later: it was no part of the request.
    """
    at = expectations.rerun_at
    if at is None or run_of(check) not in expectations.rerun:
        return False
    ended = check.completed_at is None or check.completed_at <= at + SKEW
    return ended and _before(check, at)


def _before(check: Check, at: datetime) -> bool:
    """Did it start before that moment? What has no start can't be shown to be newer."""
    return check.started_at is None or check.started_at < at


def _place_now(check: Check, expectations: Expectations, whole: _Whole) -> _Place:
    """The place of a check, whatever was asked to run again."""
    if is_exempt(check.name, expectations.exempt):
        return _Place.EXEMPT
    if check in whole.superseded:
        return _Place.OUTDATED
    # A running check can carry a conclusion already: the status decides.
    if check.status is not CheckStatus.COMPLETED:
        return _Place.PENDING
    is_sentinel = check.name == expectations.sentinel
    if is_sentinel or workflow_of(check) in whole.triggered:
        if check.started_at is None:
            return _Place.BLOCKING
        if check.started_at < expectations.triggered_at:
            return _Place.OUTDATED
    if check.event in whole.held and _before(check, expectations.triggered_at):
        return _Place.HELD
    return _concluded(check, is_sentinel, expectations.pre_existing)


def _concluded(check: Check, is_sentinel: bool, proven: frozenset[Check]) -> _Place:
    if check.conclusion in RAN_TO_THE_END and check in proven:
        return _Place.PRE_EXISTING
    if check.conclusion in FAILED:
        return _Place.FAILED
    green = {"SUCCESS"} if is_sentinel else GREEN
    return _Place.PASSED if check.conclusion in green else _Place.BLOCKING


def _counted(lists: _Lists) -> list[Check]:
    ignored = (_Place.EXEMPT, _Place.OUTDATED, _Place.AGAIN, _Place.HELD)
    return [check for place, checks in lists.items() if place not in ignored for check in checks]


def run_of(check: Check) -> RunKey:
    """What stays the same from run to run, whatever started them, and from commit to commit."""
    return check.name, workflow_of(check)


def workflow_of(check: Check) -> _Workflow:
    """The workflow, by its id too: another file of the same name runs something else."""
    return check.app, check.workflow, check.workflow_id


def _missing(lists: _Lists, expectations: Expectations) -> tuple[str, ...]:
    """Names that must be there and are not, and checks whose only runs predate the trigger.

    A run since the trigger stands in for an older one of another event: CI that the push of our
    branch had started may be started anew on a branch of the trigger's own. For a check that was
    asked to run again, or is held, nothing stands in: its old result must have given way to the
    new one.
    """
    counted = _counted(lists)
    names, runs = {check.name for check in counted}, {run_of(check) for check in counted}
    old = (check.name for check in lists.get(_Place.OUTDATED, ()) if run_of(check) not in runs)
    awaited = (check.name for place in _AWAITED for check in lists.get(place, ()))
    absent = (name for name in expectations.names if name not in names)
    return tuple(dict.fromkeys((*absent, *old, *awaited)))


def _decide(
    lists: _Lists, missing: tuple[str, ...], expectations: Expectations, now: datetime
) -> tuple[VerdictKind, str, bool]:
    failed, pending = lists.get(_Place.FAILED, ()), lists.get(_Place.PENDING, ())
    blocking = lists.get(_Place.BLOCKING, ())
    may_start = _may_start(lists, expectations, now)
    if failed:
        return VerdictKind.FAILED, f"Failed: {_shown(failed)}.", True
    if pending:
        return VerdictKind.RUNNING, f"Not finished: {_shown(pending)}.", False
    if missing and may_start:
        return VerdictKind.NOT_STARTED, f"Not started yet: {listed(missing)}.", False
    if blocking:
        return VerdictKind.BLOCKED, f"Neither passed nor failed: {_shown(blocking)}.", True
    if missing:
        return VerdictKind.NOT_STARTED, f"Never started: {listed(missing)}.", True
    skipped = _unsettled(lists, expectations)
    if skipped and may_start:
        return VerdictKind.RUNNING, f"May still run after the rerun: {_shown(skipped)}.", False
    if expectations.open_ended and may_start:
        return VerdictKind.RUNNING, "Nothing is wrong so far; more checks may still start.", False
    return _decide_good(lists, expectations)


def _unsettled(lists: _Lists, expectations: Expectations) -> tuple[Check, ...]:
    """Jobs that were skipped before a rerun, in a workflow that runs again.

    With a failed job GitHub runs those again that need it, and that may be skipped only for its
    failure; until their turn comes their old result is shown. They are not waited for once the
    workflow's sentinel, which needs them all, has succeeded anew.
    """
    at, passed = expectations.rerun_at, lists.get(_Place.PASSED, ())
    if at is None:
        return ()
    sentinels = (check for check in passed if check.name == expectations.sentinel)
    settled = {workflow_of(check) for check in sentinels if not _before(check, at)}
    again = {workflow for _, workflow in expectations.rerun} - settled
    skipped = (check for check in passed if check.conclusion == "SKIPPED" and _before(check, at))
    return tuple(check for check in skipped if check.workflow and workflow_of(check) in again)


def _decide_good(lists: _Lists, expectations: Expectations) -> tuple[VerdictKind, str, bool]:
    """Everything that counts is there and has ended, and nothing failed but known failures."""
    old, passed = lists.get(_Place.PRE_EXISTING, ()), lists.get(_Place.PASSED, ())
    if old and not expectations.accept_pre_existing:
        reason = f"Only failures that the target has too: {_shown(old)}."
        return VerdictKind.PRE_EXISTING_ONLY, reason, True
    if old:
        reason = f"Green only because the config accepts pre-existing failures: {_shown(old)}."
        return VerdictKind.GREEN, reason, True
    if not passed:
        return VerdictKind.GREEN, "No CI is configured, so no check had to pass.", True
    return VerdictKind.GREEN, f"Every check that counts passed ({len(passed)}).", True


def _may_start(lists: _Lists, expectations: Expectations, now: datetime) -> bool:
    return now < _last_move(lists, expectations) + expectations.grace


def _last_move(lists: _Lists, expectations: Expectations) -> datetime:
    """When a check that counts last ended; a job of a later stage shows up only after that.

    Not before this run began to look: what it joined may be hours old, and so may be what the push
    started, while the pull request that it has just opened starts more.
    """
    ends = (check.completed_at for check in _counted(lists) if check.completed_at is not None)
    asked = (expectations.triggered_at, expectations.rerun_at, expectations.watched_since)
    return max((*(moment for moment in asked if moment is not None), *ends))


def _shown(checks: tuple[Check, ...]) -> str:
    return listed([f"{check.name} ({_word(check)})" for check in checks])


def _word(check: Check) -> str:
    done = check.status is CheckStatus.COMPLETED
    return (check.conclusion if done else check.status.value) or "no conclusion"


def progress_of(verdict: Verdict) -> tuple[int, int]:
    """`(ended, all)` checks that count, for a progress bar."""
    ended = len(verdict.passed) + len(verdict.failed) + len(verdict.pre_existing)
    waiting = len(verdict.pending) + len(verdict.missing) + len(verdict.blocking)
    return ended, ended + waiting
