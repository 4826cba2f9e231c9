"""Is a failure ours? It is pre-existing only if the untouched target fails in the same way. Pure.

Fails closed: whatever cannot be compared counts as ours.
"""

from collections import Counter
from collections.abc import Iterable

from nightly_sync.checks.triage import Failure
from nightly_sync.model import Model

ITEMS_SHOWN = 5


class Classification(Model):
    """Pre-existing or not, with the evidence in words."""

    pre_existing: bool
    evidence: str  # one sentence
    new_items: tuple[str, ...] = ()  # what fails here and not on the target, as far as it is known
    url: str = ""  # the target's run of the check


def classify(failure: Failure, baseline_failure: Failure | None) -> Classification:
    """Compare a failure on the sync branch with the same check on the untouched target commit.

    `baseline_failure` is None where the check passed there or could not be run.
    """
    if baseline_failure is None:
        return Classification(pre_existing=False, evidence="It does not fail on the target.")
    doubt = _doubt(failure, baseline_failure)
    new = _more(failure.items, baseline_failure.items)
    same = not doubt and failure.signature == baseline_failure.signature
    return Classification(
        pre_existing=same,
        evidence=doubt or _evidence(failure, baseline_failure, same, new),
        new_items=() if same else new,
        url=baseline_failure.check.url,
    )


def _doubt(here: Failure, there: Failure) -> str:
    """Why the two cannot be compared at all; empty if they can."""
    if here.check.name != there.check.name:
        return f"{here.check.name} cannot be compared with {there.check.name}."
    if here.unfinished:
        return f"Not known: {here.unfinished}."
    if there.check.conclusion == "SUCCESS":
        return "It passes on the target."
    if there.unfinished:
        return f"Not known, for on the target {there.unfinished}."
    return ""


def _evidence(here: Failure, there: Failure, same: bool, new: tuple[str, ...]) -> str:
    if same:
        return f"Fails in the same way on the untouched target: {_listed(here.items)}."
    gone = _more(there.items, here.items)
    parts = (("only here", new), ("only on the target", gone))
    return "; ".join(f"{where}: {_listed(items)}" for where, items in parts if items) + "."


def _more(items: Iterable[str], than: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted((Counter(items) - Counter(than)).elements()))


def _listed(items: tuple[str, ...]) -> str:
    more = f" and {len(items) - ITEMS_SHOWN} more" if len(items) > ITEMS_SHOWN else ""
    return ", ".join(items[:ITEMS_SHOWN]) + more
