"""Follow the checks of the sync branch to a verdict: poll, triage, baseline, fix, poll again.

Decisions are the gate's and the triage's; here is only who is asked when. Time comes from the
session's clock and waiting from the forge, so that a test needs no sleep.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from nightly_sync import git, last_look, repair
from nightly_sync.checks.baseline import Classification, classify
from nightly_sync.checks.gate import Expectations, Verdict, VerdictKind, judge
from nightly_sync.checks.names import is_exempt
from nightly_sync.checks.triage import Failure, group, triage
from nightly_sync.errors import StopForPerson, SyncError
from nightly_sync.fixers.base import Fixer, GaveUp
from nightly_sync.forge.base import PullRequest
from nightly_sync.repair import Head, Repaired
from nightly_sync.session import Session

MOST_ROUNDS = 20  # of repairs; a fixer that never ends is a bug
OnPoll = Callable[[Verdict], None]
Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class Watched:
    """What the checks of a head commit came to."""

    head: Head
    verdict: Verdict
    failures: tuple[Failure, ...] = ()
    baselines: dict[Key, Classification] = field(default_factory=dict)  # by Check.key
    polls: int = 0
    rounds: int = 0  # repairs pushed
    notes: tuple[str, ...] = ()  # what was tried
    timed_out: bool = False
    refusal: str = ""  # why origin did not take a repair


def follow(
    run: Session, pull: PullRequest, head: Head, fixers: Sequence[Fixer], on_poll: OnPoll
) -> Watched:
    """Trigger, poll and repair until there is nothing left to do but report.

    Raises StopForPerson when somebody else moves the branch.
    """
    deadline = run.started + timedelta(minutes=run.config.time_limit_minutes)
    watched = Watched(head, _unknown())
    while True:
        watched = _poll(run, pull, watched, deadline, on_poll)
        if watched.verdict.kind is not VerdictKind.FAILED or watched.rounds >= MOST_ROUNDS:
            return watched
        repaired = _repair(run, watched, fixers)
        if repaired.head.tip == watched.head.tip:
            return repaired
        watched = repaired


def _unknown() -> Verdict:
    return Verdict(kind=VerdictKind.NOT_STARTED, reason="not looked at yet", final=False)


def _poll(
    run: Session, pull: PullRequest, before: Watched, deadline: datetime, on_poll: OnPoll
) -> Watched:
    """One head commit: from the trigger to a final verdict, or to the time limit."""
    sha = before.head.tip
    expected = expectations(run, sha, run.forge.trigger_ci(pull.number, sha))
    watched = before
    while True:
        verdict = judge(run.forge.rollup(sha), expected, run.clock())
        if verdict.kind is VerdictKind.FAILED:
            watched = _explained(run, replace(watched, verdict=verdict))
            proven = _proven(watched)
            if proven - expected.pre_existing:
                expected = expected.model_copy(
                    update={"pre_existing": expected.pre_existing | proven}
                )
                continue
        watched = replace(watched, verdict=verdict, polls=watched.polls + 1)
        on_poll(verdict)
        if verdict.final:
            return watched
        if run.clock() >= deadline:
            return replace(watched, timed_out=True)
        run.forge.wait(sha, run.config.poll_seconds)


def expectations(run: Session, sha: str, triggered_at: datetime) -> Expectations:
    """What a green verdict needs of this head commit, by the config."""
    config = run.config
    own = [check.name for check in config.checks if not is_exempt(check.name, config.exempt)]
    return Expectations(
        head_sha=sha,
        triggered_at=triggered_at,
        grace=timedelta(minutes=config.grace_minutes),
        sentinel=config.sentinel,
        expected=tuple(dict.fromkeys((*config.expected_checks, *own))),
        exempt=config.exempt,
        accept_pre_existing=config.accept_pre_existing,
        no_ci=config.no_ci,
    )


def _explained(run: Session, watched: Watched) -> Watched:
    """Triage each failure once, and ask the target whether it knows it too."""
    known = {failure.check.key: failure for failure in watched.failures}
    baselines = dict(watched.baselines)
    for check in watched.verdict.failed:
        if check.key not in known:
            known[check.key] = triage(check, run.forge.log(watched.head.tip, check))
            baselines[check.key] = _baseline(run, watched.head, known[check.key])
    return replace(watched, failures=tuple(known.values()), baselines=baselines)


def _baseline(run: Session, head: Head, failure: Failure) -> Classification:
    found = run.forge.baseline(head.target, failure.check)
    if found is None:
        evidence = "the same check could not be run on the target"
        return Classification(pre_existing=False, evidence=evidence)
    check, log = found
    return classify(failure, None if check.conclusion == "SUCCESS" else triage(check, log))


def _proven(watched: Watched) -> frozenset[Key]:
    return frozenset(
        failure.check.key
        for failure in watched.failures
        if watched.baselines[failure.check.key].pre_existing
    )


def _repair(run: Session, watched: Watched, fixers: Sequence[Fixer]) -> Watched:
    """Ask the fixers about what is ours; push what they change, or say why they gave up."""
    ours = [
        failure
        for failure in watched.failures
        if not watched.baselines[failure.check.key].pre_existing
    ]
    change = repair.attempt(run, watched.head, group(ours), fixers)
    if isinstance(change, GaveUp):
        return replace(watched, notes=(*watched.notes, change.reason))
    try:
        head = repair.push(run, watched.head, change)
    except (git.GitError, StopForPerson) as error:
        last_look.check_unmoved(run, watched.head)  # raises where somebody was quicker
        return _refused(watched, change, error)
    return replace(
        watched,
        head=head,
        failures=(),
        baselines={},
        rounds=watched.rounds + 1,
        notes=(*watched.notes, change.summary),
    )


def _refused(watched: Watched, change: Repaired, error: SyncError) -> Watched:
    """Origin's own rules forbid the push (no branch may be rewritten, say): end with what is."""
    why = " ".join(str(error).split())
    refusal = f"Origin did not take the repair ({change.summary}): {why}"
    return replace(watched, refusal=refusal, notes=(*watched.notes, refusal))
