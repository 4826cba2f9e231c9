"""What broke, and does the target know it too? From failed checks to explained failures."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from nightly_sync import baseline_run
from nightly_sync.checks.baseline import Classification, classify
from nightly_sync.checks.flaky import passed_before
from nightly_sync.checks.gate import Verdict
from nightly_sync.checks.triage import Failure, FailureGroup, triage
from nightly_sync.errors import StopForPerson, SyncError, one_line
from nightly_sync.forge.base import Check, Rollup
from nightly_sync.repair import Head
from nightly_sync.session import Session


@dataclass(frozen=True)
class Explained:
    """One failed check: what its log says, and whether the untouched target fails alike."""

    failure: Failure
    baseline: Classification


def new(
    run: Session, head: Head, verdict: Verdict, known: Mapping[Check, Classification]
) -> Iterator[Explained]:
    """Each failed check that is not known yet, one after the other: each costs requests.

    A check that ran again is not known. Those that only sum up others come last, as they can
    only be judged by these.
    """
    good, sums = set(proven(known)), []
    for check in (check for check in verdict.failed if check not in known):
        failure = _triaged(run, head, check)
        if failure.aggregate:
            sums.append(failure)
            continue
        found = _explained(run, head, failure, good)
        good |= proven({check: found.baseline})
        yield found
    for failure in sums:
        yield _explained(run, head, failure, good)


def _triaged(run: Session, head: Head, check: Check) -> Failure:
    """The failure; where its log cannot be had, it is nobody's but ours, and says so."""
    try:
        log = run.forge.log(head.tip, check)
    except StopForPerson:
        raise
    except SyncError as error:
        why = f"its log could not be read: {one_line(error)}"
        return triage(check, "").model_copy(update={"unfinished": why, "excerpt": why})
    if run.assistant.usable:  # the excerpt is not all that it may read
        kept = run.log_file(check)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(log, "utf-8", "replace")
    return triage(check, log)


def _explained(run: Session, head: Head, failure: Failure, good: Collection[Check]) -> Explained:
    found = baseline_run.find(run, head.target, failure)
    return Explained(failure, classify(failure, found, good))


def proven(baselines: Mapping[Check, Classification]) -> frozenset[Check]:
    """The failures that a baseline has proven to be the target's own. Pure."""
    return frozenset(check for check, found in baselines.items() if found.pre_existing)


def with_baselines(item: FailureGroup, baselines: Mapping[Check, Classification]) -> FailureGroup:
    """The same with what is known of its checks without the merge. Pure."""
    found = [baselines[failure.check] for failure in item.failures if failure.check in baselines]
    new = dict.fromkeys(text for known in found for text in known.new_items)
    said = [*(known.evidence for known in found), *(f"only with the merge: {text}" for text in new)]
    return item.model_copy(update={"baseline": tuple(dict.fromkeys(said))})


def flaky(failed: Iterable[Check], rollup: Rollup) -> list[str]:
    """A note for each failed check that passed before on the same commit. Pure."""
    return [
        f"{check.name}: flaky, it passed before on this same commit"
        for check in failed
        if passed_before(check, rollup)
    ]
