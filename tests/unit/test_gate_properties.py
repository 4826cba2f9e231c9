"""What no rollup whatsoever may get past the gate.

Thousands of random rollups from a fixed seed (the same ones on every run), and every single check
there can be beside an otherwise green rollup.
"""

import itertools
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random
from typing import Any

from nightly_sync.checks.gate import Expectations, Verdict, VerdictKind, judge, run_of
from nightly_sync.forge.base import Check, CheckStatus, Rollup

HEAD = "a" * 40
TRIGGER = datetime(2026, 11, 30, 21, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
LATE = TRIGGER + timedelta(hours=10)
EXEMPT = ("coverage*", "Code Review")
PASSING = ("SUCCESS", "SKIPPED", "NEUTRAL")
CONCLUSIONS = (
    *PASSING,
    *("ACTION_REQUIRED", "CANCELLED", "FAILURE", "STALE", "STARTUP_FAILURE", "TIMED_OUT"),
    *("ERROR", "EXPECTED", "PENDING", "NOT_INVENTED_YET", "", None),
)
STATUSES = (*CheckStatus, *6 * (CheckStatus.COMPLETED,))
MOMENTS = (None, *(TRIGGER + minutes * MINUTE for minutes in range(-2, 4)))
NAMES = ("gate", "lint", "tests", "docs", "coverage (unit)", "code review")
EVENTS = ("", "push dev", "push pull-request/1")
Case = tuple[list[Check], Expectations]


def random_check(random: Random) -> Check:
    """A check that is green more often than not, so that whole rollups can be green."""
    usual = random.random() < 0.85
    return Check(
        name=random.choice(("gate", *NAMES)),  # else few rollups have a sentinel
        app=random.choice(("actions", "actions", "dco")),
        workflow=random.choice(("ci.yml", "ci.yml", "")),
        suite=random.choice(("1", "2")),
        event=random.choice(EVENTS),
        status=CheckStatus.COMPLETED if usual else random.choice(STATUSES),
        conclusion=random.choice(PASSING if usual else (*CONCLUSIONS, *8 * ("FAILURE",))),
        started_at=TRIGGER + MINUTE if usual else random.choice(MOMENTS),
        completed_at=random.choice(MOMENTS),
    )


def random_expectations(random: Random) -> Expectations:
    """Sound ones and contradictory ones."""
    return Expectations(
        head_sha=HEAD,
        triggered_at=TRIGGER,
        grace=15 * MINUTE,
        sentinel=random.choice((None, "gate", "gate", "lint")),
        expected=random.choice(((), ("lint",), ("tests", "docs"))),
        required=random.choice(((), ("tests",), ("coverage (unit)",))),
        exempt=random.choice(((), EXEMPT)),
        no_ci=random.random() < 0.1,
    )


@cache
def cases() -> tuple[Case, ...]:
    """The random rollups, each with random expectations."""
    random = Random(20261130)
    sizes = (random.randrange(7) for _ in range(2000))
    return tuple(
        ([random_check(random) for _ in range(size)], random_expectations(random)) for size in sizes
    )


def weigh(found: list[Check], wanted: Expectations, **changes: object) -> Verdict:
    """The verdict on a rollup of the head, long after the trigger."""
    rollup = Rollup(sha=HEAD, checks=tuple(found))
    return judge(rollup, wanted.model_copy(update=changes), LATE)


@cache
def weighed() -> tuple[Verdict, ...]:
    """The verdict on each of the cases as it stands."""
    return tuple(weigh(*case) for case in cases())


def known() -> Iterator[tuple[list[Check], Expectations, Verdict]]:
    """The cases, and the verdict on each."""
    return ((*case, verdict) for case, verdict in zip(cases(), weighed(), strict=True))


def green_cases() -> list[Case]:
    """Those the gate lets pass."""
    return [(found, wanted) for found, wanted, verdict in known() if is_green(verdict)]


def is_green(verdict: Verdict) -> bool:
    """Would it be marked ready?"""
    return verdict.kind == VerdictKind.GREEN


def exempt(check: Check, wanted: Expectations) -> bool:
    """The same rule as `names.is_exempt`, in other words, for the names used here."""
    return bool(wanted.exempt) and check.name in ("coverage (unit)", "code review")


def counts(check: Check, found: list[Check], wanted: Expectations) -> bool:
    """Must this check be green? Not if it is exempt, or a run in another suite replaced it."""
    if exempt(check, wanted):
        return False
    runs = [run for run in found if run.key[:3] == check.key[:3] and run.event == check.event]
    starts = [run.started_at for run in runs if run.started_at]
    own = [run.started_at for run in runs if run.started_at and run.suite == check.suite]
    return len(starts) < len(runs) or max(own) == max(starts)


def bad(check: Check) -> bool:
    """Is it anything but finished and passed?"""
    return check.status != "COMPLETED" or check.conclusion not in PASSING


def test_no_rollup_with_a_bad_check_that_counts_is_ever_green() -> None:
    for found, wanted in green_cases():
        assert not [item for item in found if bad(item) and counts(item, found, wanted)]


def test_no_single_check_there_can_be_gets_a_bad_state_past_the_gate() -> None:
    wanted = Expectations(head_sha=HEAD, triggered_at=TRIGGER, grace=MINUTE, sentinel="gate")
    fields: dict[str, Any] = {"app": "actions", "workflow": "ci.yml", "started_at": TRIGGER}
    good = Check(name="gate", status=CheckStatus.COMPLETED, conclusion="SUCCESS", **fields)
    keys = ("status", "conclusion", "started_at", "workflow", "name")
    every = itertools.product(CheckStatus, CONCLUSIONS, MOMENTS, ("ci.yml", ""), ("gate", "lint"))
    green = 0
    for values in every:
        extra = good.model_copy(update={"suite": "2", **dict(zip(keys, values, strict=True))})
        if weigh([good, extra], wanted).kind == VerdictKind.GREEN:
            green += 1
            assert not (bad(extra) and counts(extra, [good, extra], wanted))
    assert green


def test_green_means_that_all_expected_is_there_and_the_sentinel_fresh() -> None:
    for found, wanted in green_cases():
        passed = {check.name for check in found if not bad(check) and not exempt(check, wanted)}
        assert {*wanted.expected, *wanted.required} - {"coverage (unit)"} <= passed
        sentinels = [c for c in found if c.name == wanted.sentinel and counts(c, found, wanted)]
        assert bool(sentinels) == (wanted.sentinel is not None)
        assert all(check.conclusion == "SUCCESS" for check in sentinels)
        assert all(check.started_at and check.started_at >= TRIGGER for check in sentinels)


def test_one_more_bad_check_turns_green_into_something_else() -> None:
    random = Random(7)
    for found, wanted in green_cases():
        extra = random_check(random).model_copy(update={"name": "one more"})
        kind = weigh([*found, extra], wanted).kind
        assert (kind == VerdictKind.GREEN) <= (not bad(extra))


def test_each_check_is_in_exactly_one_list() -> None:
    for found, wanted, verdict in known():
        lists = (
            *(verdict.passed, verdict.failed, verdict.pending, verdict.exempt_used),
            *(verdict.pre_existing, verdict.blocking, verdict.outdated),
        )
        listed = Counter(check for part in lists for check in part)
        assert wanted.contradiction() or listed == Counter(found)


def test_the_order_of_the_checks_does_not_matter() -> None:
    random = Random(8)
    for found, wanted, first in known():
        second = weigh(random.sample(found, len(found)), wanted)
        assert (first.kind, first.final) == (second.kind, second.final)


def test_without_a_check_that_counts_only_no_ci_is_green() -> None:
    for found, wanted in cases():
        uncounted = [check for check in found if exempt(check, wanted)]
        green = weigh(uncounted, wanted).kind == VerdictKind.GREEN
        assert green == (wanted.no_ci and not wanted.contradiction())


def test_proven_failures_are_green_only_where_they_are_accepted() -> None:
    accepted = 0
    for found, wanted in cases():
        proven = frozenset(found)
        verdict = weigh(found, wanted, pre_existing=proven)
        assert not (verdict.kind == VerdictKind.GREEN and verdict.pre_existing)
        second = weigh(found, wanted, pre_existing=proven, accept_pre_existing=True)
        if second.kind == VerdictKind.GREEN:
            counted = [check for check in found if counts(check, found, wanted)]
            assert all(check.status == "COMPLETED" for check in counted)
            assert {check.conclusion for check in counted} <= {*PASSING, "FAILURE", "ERROR"}
            accepted += bool(second.pre_existing)
    assert accepted


def asked_again(random: Random, found: list[Check]) -> dict[str, object]:
    """A rerun of some checks at some time; now and then with no time at all."""
    keys = frozenset(run_of(check) for check in found if random.random() < 0.7)
    return {"rerun": keys, "rerun_at": random.choice(MOMENTS)}


def test_no_rerun_whatsoever_makes_anything_green() -> None:
    random = Random(9)
    seen = Counter[bool]()
    for found, wanted, before in known():
        changes = asked_again(random, found)
        green = is_green(weigh(found, wanted, **changes))
        assert green <= is_green(before)
        proven = {"pre_existing": frozenset(found), "accept_pre_existing": True}
        accepted = weigh(found, wanted, **changes, **proven).kind == VerdictKind.GREEN
        assert accepted <= (weigh(found, wanted, **proven).kind == VerdictKind.GREEN)
        seen[green] += 1
    assert seen[True] > 50


def test_an_old_failure_that_is_to_run_again_is_neither_read_nor_forgotten() -> None:
    random = Random(10)
    reached = 0
    for found, wanted, before in known():
        changes = asked_again(random, found)
        verdict = weigh(found, wanted, **changes)
        old = [c for c in verdict.outdated if counts(c, found, wanted) and bad(c)]
        waited = [c for c in old if c in (*before.failed, *before.blocking)]
        assert all(check.name in verdict.missing for check in waited)
        assert not {*verdict.failed, *verdict.blocking} - {*before.failed, *before.blocking}
        reached += bool(waited)
    assert reached > 10


def test_telling_events_apart_makes_nothing_green() -> None:
    differ = 0
    for found, wanted, apart in known():
        together = weigh([c.model_copy(update={"event": ""}) for c in found], wanted)
        assert is_green(apart) <= is_green(together)
        differ += apart.kind != together.kind
    assert differ


def test_results_that_a_rerun_replaced_change_no_verdict() -> None:
    random = Random(11)
    for found, wanted, verdict in known():
        earlier = tuple(random_check(random) for _ in range(random.randrange(4)))
        rollup = Rollup(sha=HEAD, checks=tuple(found), earlier=earlier)
        assert judge(rollup, wanted, LATE) == verdict


def test_the_random_rollups_reach_every_verdict() -> None:
    """A property of green rollups would prove nothing if there were none."""
    seen = Counter(
        weigh(found, wanted, pre_existing=frozenset(found[:2])).kind for found, wanted in cases()
    )
    assert set(seen) == set(VerdictKind) - {VerdictKind.STALE}
    assert seen[VerdictKind.GREEN] > 100
