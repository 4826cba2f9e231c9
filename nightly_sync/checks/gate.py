"""May this pull request be marked ready? One rollup in, one verdict out; the same for every forge.

What counts as green is written here and nowhere else, and everything unknown fails closed. The
words for states and conclusions are GitHub's (GraphQL enums CheckStatusState,
CheckConclusionState and StatusState); the local forge uses the same ones.
"""

from collections import defaultdict
from collections.abc import Iterable
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
RunKey = tuple[str, str, str]
_Workflow = tuple[str, str, str]  # app, name, id


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
    grace: timedelta  # how long nothing may move before what is missing counts as never started
    sentinel: str | None = None  # must be SUCCESS, and started by this trigger
    expected: tuple[str, ...] = ()  # must be there, by the config
    required: tuple[str, ...] = ()  # must be there, by branch protection; exempt ones need not
    exempt: tuple[str, ...] = ()  # patterns of checks that never count, see `names.is_exempt`
    accept_pre_existing: bool = False
    no_ci: bool = False  # the repository has no checks, and says so
    open_ended: bool = False  # nothing tells that all checks have shown up: wait for late ones
    pre_existing: frozenset[Check] = frozenset()  # failures a baseline has proven
    rerun: frozenset[RunKey] = frozenset()  # (name, app, workflow) that were asked to run again
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
    AGAIN = "again"  # what a rerun was asked for, until its new result is there; outdated as well


_Lists = dict[_Place, tuple[Check, ...]]


def judge(rollup: Rollup | None, expectations: Expectations, now: datetime) -> Verdict:
    """Weigh all checks of a commit. Total: every input has a verdict, none raises.

    Order: a contradiction in the expectations, another commit's results, then the first that
    holds of failed, running, not started within the grace period, blocked, not started, not
    settled after a rerun, pre-existing only, green. So the first failure decides without waiting
    for the rest, and a cancelled check (its replacement may be on the way) only once nothing runs
    any more. `rollup.earlier` never counts.
    """
    contradiction = expectations.contradiction()
    if contradiction:
        return Verdict(kind=VerdictKind.BLOCKED, reason=contradiction, final=True)
    if rollup is None:
        return _unread(expectations, now)
    if rollup.sha != expectations.head_sha:
        return _stale(rollup.sha, expectations.head_sha)
    lists = _sort(rollup.checks, expectations)
    missing = _missing(lists, expectations)
    kind, reason, final = _decide(lists, missing, expectations, now)
    return Verdict.model_validate(
        {"kind": kind, "reason": reason, "final": final, "missing": missing, **_named(lists)}
    )


def _unread(expectations: Expectations, now: datetime) -> Verdict:
    waiting = now < expectations.triggered_at + expectations.grace
    return Verdict(
        kind=VerdictKind.NOT_STARTED,
        reason="The forge has no results for this commit at all.",
        final=not waiting,
        missing=expectations.names,
    )


def _stale(found: str, head: str) -> Verdict:
    reason = f"The results belong to {found[:12] or 'no commit'}, the head is {head[:12]}."
    return Verdict(kind=VerdictKind.STALE, reason=reason, final=True)


def _sort(checks: Iterable[Check], expectations: Expectations) -> _Lists:
    checks = tuple(checks)
    superseded = _superseded(checks)
    triggered = _triggered_workflows(checks, expectations)
    lists: dict[_Place, list[Check]] = defaultdict(list)
    for check in checks:
        lists[_place(check, expectations, superseded, triggered)].append(check)
    return {place: tuple(items) for place, items in lists.items()}


def _named(lists: _Lists) -> dict[str, tuple[Check, ...]]:
    """The lists by the names that a verdict has for them."""
    outdated = (*lists.get(_Place.OUTDATED, ()), *lists.get(_Place.AGAIN, ()))
    shown = {place.value: lists.get(place, ()) for place in _Place if place is not _Place.AGAIN}
    return {**shown, _Place.OUTDATED.value: outdated}


def _superseded(checks: Iterable[Check]) -> frozenset[Check]:
    """Runs that a newer run of the same check replaces.

    Within one (name, app, workflow file) and one event the suite of the newest start counts, with
    all its checks, and the other suites do not. Where a start is missing nobody can tell, so all
    of them count. Runs that different events started (pushes to two branches, a push and a pull
    request) run different things, so none hides another.
    """
    runs: dict[tuple[tuple[str, _Workflow], str], list[Check]] = defaultdict(list)
    for check in checks:
        runs[_run_of(check), check.event].append(check)
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
    sentinels = [check for check in checks if check.name == expectations.sentinel]
    return frozenset(_workflow_of(check) for check in sentinels if check.workflow)


def _place(
    check: Check,
    expectations: Expectations,
    superseded: frozenset[Check],
    triggered: frozenset[_Workflow],
) -> _Place:
    place = _place_now(check, expectations, superseded, triggered)
    bad = place in (_Place.FAILED, _Place.BLOCKING, _Place.PRE_EXISTING)
    return _Place.AGAIN if bad and _asked_again(check, expectations) else place


def _asked_again(check: Check, expectations: Expectations) -> bool:
    """Is this still the result that a rerun was asked for?

    Not one that was at work at that time and ended later: it was no part of the request.
    """
    at = expectations.rerun_at
    asked = (check.name, check.app, check.workflow) in expectations.rerun
    if at is None or not asked:
        return False
    ended = check.completed_at is None or check.completed_at <= at + SKEW
    return ended and _before(check, at)


def _before(check: Check, at: datetime) -> bool:
    """Did it start before that moment? What has no start can't be shown to be newer."""
    return check.started_at is None or check.started_at < at


def _place_now(
    check: Check,
    expectations: Expectations,
    superseded: frozenset[Check],
    triggered: frozenset[_Workflow],
) -> _Place:
    """The place of a check, whatever was asked to run again."""
    if is_exempt(check.name, expectations.exempt):
        return _Place.EXEMPT
    if check in superseded:
        return _Place.OUTDATED
    # A running check can carry a conclusion already: the status decides.
    if check.status is not CheckStatus.COMPLETED:
        return _Place.PENDING
    is_sentinel = check.name == expectations.sentinel
    if is_sentinel or _workflow_of(check) in triggered:
        if check.started_at is None:
            return _Place.BLOCKING
        if check.started_at < expectations.triggered_at:
            return _Place.OUTDATED
    return _concluded(check, is_sentinel, expectations.pre_existing)


def _concluded(check: Check, is_sentinel: bool, proven: frozenset[Check]) -> _Place:
    if check.conclusion in RAN_TO_THE_END and check in proven:
        return _Place.PRE_EXISTING
    if check.conclusion in FAILED:
        return _Place.FAILED
    green = {"SUCCESS"} if is_sentinel else GREEN
    return _Place.PASSED if check.conclusion in green else _Place.BLOCKING


def _counted(lists: _Lists) -> list[Check]:
    ignored = (_Place.EXEMPT, _Place.OUTDATED, _Place.AGAIN)
    return [check for place, checks in lists.items() if place not in ignored for check in checks]


def _run_of(check: Check) -> tuple[str, _Workflow]:
    """What stays the same from run to run, whatever started them."""
    return check.name, _workflow_of(check)


def _workflow_of(check: Check) -> _Workflow:
    """The workflow, by its id too: another file of the same name runs something else."""
    return check.app, check.workflow, check.workflow_id


def _missing(lists: _Lists, expectations: Expectations) -> tuple[str, ...]:
    """Names that must be there and are not, and checks whose only runs predate the trigger.

    A run since the trigger stands in for an older one of another event: CI that the push of our
    branch had started may be started anew on a branch of the trigger's own. For a check that was
    asked to run again nothing stands in: its old result must have given way to the new one.
    """
    counted = _counted(lists)
    names, runs = {check.name for check in counted}, {_run_of(check) for check in counted}
    old = (check.name for check in lists.get(_Place.OUTDATED, ()) if _run_of(check) not in runs)
    again = (check.name for check in lists.get(_Place.AGAIN, ()))
    absent = (name for name in expectations.names if name not in names)
    return tuple(dict.fromkeys((*absent, *old, *again)))


def _decide(
    lists: _Lists, missing: tuple[str, ...], expectations: Expectations, now: datetime
) -> tuple[VerdictKind, str, bool]:
    failed, pending = lists.get(_Place.FAILED, ()), lists.get(_Place.PENDING, ())
    blocking = lists.get(_Place.BLOCKING, ())
    may_start = now < _last_move(lists, expectations) + expectations.grace
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
    workflows = {(app, workflow) for _, app, workflow in expectations.rerun if workflow}
    sentinels = (check for check in passed if check.name == expectations.sentinel)
    settled = {_workflow_of(check) for check in sentinels if not _before(check, at)}
    skipped = (check for check in passed if check.conclusion == "SKIPPED" and _before(check, at))
    waiting = (check for check in skipped if _workflow_of(check) not in settled)
    return tuple(check for check in waiting if (check.app, check.workflow) in workflows)


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


def _last_move(lists: _Lists, expectations: Expectations) -> datetime:
    """When a check that counts last ended; a job of a later stage shows up only after that."""
    ends = (check.completed_at for check in _counted(lists) if check.completed_at is not None)
    asked = (expectations.triggered_at, expectations.rerun_at or expectations.triggered_at)
    return max((*asked, *ends))


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
