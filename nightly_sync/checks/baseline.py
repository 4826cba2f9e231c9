"""Is a failure ours? It is pre-existing only if the untouched target fails in the same way. Pure.

Fails closed: whatever cannot be compared counts as ours.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from nightly_sync.checks.gate import run_of, workflow_of
from nightly_sync.checks.items import FailureKind
from nightly_sync.checks.names import is_exempt, listed
from nightly_sync.checks.triage import Failure, triage
from nightly_sync.forge.base import BaselineResult, Check, CheckStatus, Rollup
from nightly_sync.model import Model

CONCLUSIVE = frozenset({"SUCCESS", "FAILURE", "ERROR"})
"""Conclusions of a check that ran to its end, as far as the forge can tell."""


class NoBaseline(Model):
    """Nobody knows how the check fares without us."""

    why: str  # a sentence without its full stop


class Classification(Model):
    """Pre-existing or not, with the evidence in words."""

    pre_existing: bool
    evidence: str  # one sentence
    new_items: tuple[str, ...] = ()  # what fails here and not on the target, as far as it is known
    url: str = ""  # where the check was seen without us


def same_check(left: Check, right: Check) -> bool:
    """Is it the same check, of one commit or of two? A suite belongs to one commit."""
    return run_of(left) == run_of(right)


def _same_workflow(left: Check, right: Check) -> bool:
    return workflow_of(left) == workflow_of(right) and bool(left.workflow)


def conclusive(rollup: Rollup, wanted: Check) -> Check | None:
    """The newest result that ran to its end of the same check, on another commit."""
    ended = [
        check
        for check in rollup.checks
        if same_check(check, wanted)
        and check.status is CheckStatus.COMPLETED
        and check.conclusion in CONCLUSIVE
        and check.started_at is not None
    ]
    return max(ended, key=lambda check: str(check.started_at), default=None)


def is_under_way(rollup: Rollup, wanted: Check) -> bool:
    """Is a run of the same check, or of a workflow that it is a job of, still going on?"""
    running = (check for check in rollup.checks if check.status is not CheckStatus.COMPLETED)
    return any(same_check(check, wanted) or _same_workflow(check, wanted) for check in running)


def is_over(
    rollup: Rollup, since: datetime, now: datetime, grace: timedelta, exempt: tuple[str, ...]
) -> bool:
    """Has everything that counts ended, and so long ago that nothing more is going to start?"""
    if is_at_work(rollup, exempt):
        return False
    ends = (check.completed_at for check in rollup.checks if check.completed_at is not None)
    return now >= max((since, *ends)) + grace


def is_at_work(rollup: Rollup, exempt: tuple[str, ...]) -> bool:
    """Is any check that counts still going on?"""
    return any(
        check.status is not CheckStatus.COMPLETED and not is_exempt(check.name, exempt)
        for check in rollup.checks
    )


def classify(
    failure: Failure, found: BaselineResult | NoBaseline, proven: Collection[Check] = ()
) -> Classification:
    """Compare a failure on the sync branch with the same check where nothing of the sync is.

    `proven` are the failed checks of the same commit that are known to be pre-existing. A check
    that only sums up a workflow's jobs needs one of that workflow among them, as its own log
    tells nothing more.
    """
    if isinstance(found, NoBaseline):
        evidence = f"Not known whether it fails without this sync: {found.why}."
        return Classification(pre_existing=False, evidence=evidence)
    if found.check.conclusion == "SUCCESS":
        evidence = f"It passes on {found.where}.{_older(found)}"
        return Classification(pre_existing=False, evidence=evidence, url=found.check.url)
    there = triage(found.check, found.log)
    doubt = _doubt(failure, there, found.where) or _doubtful_sum(failure, proven)
    known = _compared(failure, there, found.where, doubt)
    return known.model_copy(update={"evidence": f"{known.evidence}{_older(found)}"})


def _older(found: BaselineResult) -> str:
    return f" Less telling is the result on {found.older}." if found.older else ""


def unprovable(failure: Failure) -> str:
    """Why its signature may not stand for all that is wrong, so that no comparison proves anything.

    Empty if it does.
    """
    if failure.unfinished or not failure.signature:
        return failure.unfinished or "the log says nothing"
    if failure.kind is FailureKind.INFRASTRUCTURE:
        return "it failed over its surroundings, so nobody knows what else it would have found"
    if failure.kind is FailureKind.UNKNOWN and not failure.aggregate:
        return "no line of its log says what failed"
    return ""


def tells(found: BaselineResult) -> bool:
    """Does it say how the check fares there, and not only that it ended?"""
    return found.check.conclusion == "SUCCESS" or not unprovable(triage(found.check, found.log))


def _compared(here: Failure, there: Failure, where: str, doubt: str) -> Classification:
    new = _more(here.items, there.items)
    same = not doubt and here.signature == there.signature and here.steps <= there.steps
    return Classification(
        pre_existing=same,
        evidence=doubt or _evidence(here, there, where, same),
        new_items=() if same else new,
        url=there.check.url,
    )


def _doubt(here: Failure, there: Failure, where: str) -> str:
    """Why the two cannot be compared at all; empty if they can."""
    if here.check.name != there.check.name:
        return f"{here.check.name} cannot be compared with {there.check.name}."
    if why := unprovable(here):
        return f"Not known: {why}."
    if why := unprovable(there):
        return f"Not known, for on {where} {why}."
    return ""


def _doubtful_sum(failure: Failure, proven: Collection[Check]) -> str:
    """Why a report on other jobs may stand for more than the failures that are proven."""
    known = any(_same_workflow(check, failure.check) for check in proven)
    if failure.aggregate and not known:
        return "Not known: it only says that other jobs failed."
    return ""


def _evidence(here: Failure, there: Failure, where: str, same: bool) -> str:
    if same:
        return f"Fails in the same way on {where}: {listed(here.items)}."
    parts = (
        ("only here", _more(here.items, there.items)),
        (f"only on {where}", _more(there.items, here.items)),
    )
    said = "; ".join(f"{place}: {listed(items)}" for place, items in parts if items)
    return f"{said or f'Fails in another way on {where}'}."


def _more(items: Iterable[str], than: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted((Counter(items) - Counter(than)).elements()))
