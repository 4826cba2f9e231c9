"""The end of a run: every verdict its outcome, ready only when nothing speaks against it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from nightly_sync.audits.model import Severity
from nightly_sync.checks.baseline import Classification
from nightly_sync.checks.gate import Verdict, VerdictKind
from nightly_sync.checks.triage import triage
from nightly_sync.ci import Watched
from nightly_sync.conclude import checks_facts, decide, reason, with_outcomes
from nightly_sync.errors import Exit
from nightly_sync.forge.base import Check, CheckStatus
from nightly_sync.record import Outcome, exit_of
from nightly_sync.repair import Head
from nightly_sync.reports.headline import WORDS, needs
from tests.support import facts as made

HEAD = Head("main2dev/30_11_2026", "b" * 40, "e" * 40, "e" * 40)


def _watched(kind: VerdictKind, **fields: Any) -> Watched:
    return Watched(HEAD, Verdict(kind=kind, reason="why", final=True), **fields)


def test_green_and_settled_is_ready() -> None:
    assert decide(made.facts(), _watched(VerdictKind.GREEN)) is Outcome.READY


@pytest.mark.parametrize(
    "facts",
    [
        made.facts(made.path("a.py")),
        made.facts(findings=(made.finding("a.py"),)),
        made.facts(warnings=("an earlier sync was squash-merged",)),
    ],
)
def test_green_with_something_to_look_at_is_ready_and_says_so(facts: Any) -> None:
    assert decide(facts, _watched(VerdictKind.GREEN)) is Outcome.READY_NEEDS_LOOK


def test_a_repair_is_something_to_look_at_whichever_run_made_it() -> None:
    """Reported: a run that took up an earlier run's fix commit said that nothing needs a person."""
    head = replace(HEAD, tip="f" * 40, fixes=("black: 1 file formatted",))
    watched = replace(_watched(VerdictKind.GREEN), head=head)
    assert decide(made.facts(), watched) is Outcome.READY_NEEDS_LOOK
    (told,) = needs(made.facts(fixes=head.fixes))
    assert told == "Look at 1 repair in the fix commit: black: 1 file formatted"


def test_an_accepted_failure_of_the_target_is_something_to_look_at() -> None:
    """Reported: the pull request said that every required check was green."""
    old = Check(name="unit", status=CheckStatus.COMPLETED, conclusion="FAILURE")
    verdict = Verdict(kind=VerdictKind.GREEN, reason="why", final=True, pre_existing=(old,))
    assert decide(made.facts(), Watched(HEAD, verdict)) is Outcome.READY_NEEDS_LOOK
    assert "every" not in WORDS[Outcome.READY_NEEDS_LOOK]


def test_an_audit_error_is_never_ready() -> None:
    facts = made.facts(findings=(made.finding("a.py", Severity.ERROR),))
    assert decide(facts, _watched(VerdictKind.GREEN)) is Outcome.DRAFT_FINDINGS


@pytest.mark.parametrize("kind", [kind for kind in VerdictKind if kind is not VerdictKind.GREEN])
def test_no_other_verdict_is_ready(kind: VerdictKind) -> None:
    outcome = decide(made.facts(), _watched(kind))
    assert outcome not in (Outcome.READY, Outcome.READY_NEEDS_LOOK, Outcome.NOTHING_TO_DO)
    assert exit_of(outcome) is not Exit.SETTLED


def test_running_out_of_time_is_its_own_outcome_whatever_the_checks_say() -> None:
    assert (
        decide(made.facts(), _watched(VerdictKind.GREEN, timed_out=True)) is Outcome.CI_TIME_LIMIT
    )


def test_a_draft_over_findings_names_the_first() -> None:
    facts = made.facts(findings=(made.finding("a.py", Severity.ERROR),))
    words = reason(Outcome.DRAFT_FINDINGS, facts, _watched(VerdictKind.GREEN))
    assert "1 error" in words
    assert "a.py" in words


def test_every_outcome_has_an_exit_code_and_only_three_are_settled() -> None:
    settled = {outcome for outcome in Outcome if exit_of(outcome) is Exit.SETTLED}
    assert settled == {Outcome.NOTHING_TO_DO, Outcome.READY}
    assert exit_of(Outcome.FAILED) is Exit.FAILED
    assert exit_of(Outcome.REVERTED) is Exit.STOPPED


def test_the_report_gets_log_lines_baseline_and_exemptions() -> None:
    check = Check(
        name="unit",
        status=CheckStatus.COMPLETED,
        conclusion="FAILURE",
        url="log.txt",
        started_at=datetime(2026, 11, 30, tzinfo=UTC),
    )
    exempt = check.model_copy(update={"name": "codecov/patch"})
    verdict = Verdict(
        kind=VerdictKind.FAILED,
        reason="unit failed",
        final=True,
        failed=(check,),
        exempt_used=(exempt,),
    )
    watched = Watched(
        HEAD,
        verdict,
        failures=(triage(check, "FAILED tests/test_a.py::test_b - assert 1 == 2"),),
        baselines={check: Classification(pre_existing=False, evidence="It passes there.")},
    )
    found = checks_facts(watched, ("*codecov*",))
    assert "It passes there." in found.failed[0].evidence
    assert "tests/test_a.py::test_b" in found.failed[0].evidence
    assert (found.exempt[0].name, found.exempt[0].pattern) == ("codecov/patch", "*codecov*")


def test_two_checks_of_one_name_keep_their_own_baselines() -> None:
    """Reported: baselines were kept by name, so the second check of a name hid the first's."""
    first = Check(name="unit", workflow="a", status=CheckStatus.COMPLETED, conclusion="FAILURE")
    second = first.model_copy(update={"workflow": "b"})
    verdict = Verdict(
        kind=VerdictKind.FAILED, reason="", final=True, failed=(first,), pre_existing=(second,)
    )
    baselines = {
        first: Classification(pre_existing=False, evidence="It passes there."),
        second: Classification(pre_existing=True, evidence="It fails there."),
    }
    found = checks_facts(Watched(HEAD, verdict, baselines=baselines), ())
    assert "It passes there." in found.failed[0].evidence
    assert "It fails there." in found.pre_existing[0].evidence


def test_a_result_that_ran_again_has_no_evidence_of_the_one_before() -> None:
    """Reported: evidence was kept by the check's name and suite, which a rerun shares."""
    first = Check(name="unit", suite="7", status=CheckStatus.COMPLETED, conclusion="FAILURE")
    again = first.model_copy(update={"started_at": datetime(2026, 11, 30, tzinfo=UTC)})
    verdict = Verdict(kind=VerdictKind.FAILED, reason="", final=True, failed=(again,))
    known = {first: Classification(pre_existing=True, evidence="It fails there.")}
    failures = (triage(first, "FAILED tests/test_a.py::test_b - assert 1 == 2"),)
    found = checks_facts(Watched(HEAD, verdict, failures=failures, baselines=known), ())
    assert found.failed[0].evidence == ""


def test_every_finding_says_what_became_of_it() -> None:
    error, warning, told = with_outcomes(
        (
            made.finding("a.py", Severity.ERROR),
            made.finding("b.py"),
            made.finding("c.py", outcome="gone after the fix commit"),
        )
    )
    assert "draft" in error.outcome
    assert "reviewer" in warning.outcome
    assert told.outcome == "gone after the fix commit"
