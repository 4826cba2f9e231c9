"""A failure is pre-existing only where nothing at all speaks against it."""

from typing import Any

import pytest

from nightly_sync.checks.baseline import classify
from nightly_sync.checks.triage import Failure, triage
from nightly_sync.forge.base import Check, CheckStatus


def failure(*tests: str, ending: str = "", name: str = "tests", **fields: Any) -> Failure:
    """A check in which these tests fail."""
    lines = [f"FAILED tests/test_a.py::{test} - assert 1 == 2" for test in tests]
    log = "\n".join([*lines, f"{len(tests)} failed in 0.1s", ending])
    given = {"status": CheckStatus.COMPLETED, "conclusion": "FAILURE", **fields}
    return triage(Check.model_validate({"name": name, **given}), log)


def test_the_same_failures_on_the_target_are_pre_existing_with_evidence() -> None:
    result = classify(failure("test_a", "test_b"), failure("test_b", "test_a", url="ci/1.log"))
    assert result.pre_existing
    assert result.evidence.startswith("Fails in the same way on the untouched target: FAILED tests")
    assert (result.new_items, result.url) == ((), "ci/1.log")


def test_more_failures_than_on_the_target_are_ours_and_named() -> None:
    result = classify(failure("test_a", "test_b"), failure("test_a"))
    assert not result.pre_existing
    assert result.new_items == ("FAILED tests/test_a.py::test_b - assert 1 == 2",)
    assert result.evidence == f"only here: {result.new_items[0]}."


def test_the_same_test_failing_twice_as_often_is_not_the_same() -> None:
    assert not classify(failure("test_a", "test_a"), failure("test_a")).pre_existing


def test_fewer_or_other_failures_are_not_the_same_either() -> None:
    fewer = classify(failure("test_a"), failure("test_a", "test_b"))
    assert not fewer.pre_existing
    assert fewer.evidence.startswith("only on the target: FAILED tests/test_a.py::test_b")
    other = classify(failure("test_a"), failure("test_b"))
    assert "only here" in other.evidence
    assert "only on the target" in other.evidence


def test_without_a_failure_on_the_target_it_is_ours() -> None:
    assert not classify(failure("test_a"), None).pre_existing
    passed = classify(failure("test_a"), failure("test_a", conclusion="SUCCESS"))
    assert (passed.pre_existing, passed.evidence) == (False, "It passes on the target.")


@pytest.mark.parametrize(
    "change",
    [
        {"conclusion": "TIMED_OUT"},
        {"conclusion": "CANCELLED"},
        {"ending": "!!!! stopping after 1 failures !!!!"},
        {"ending": "##[error]Process completed with exit code 137."},
    ],
)
def test_a_run_that_did_not_end_on_either_side_proves_nothing(change: dict[str, str]) -> None:
    ended, broken = failure("test_a"), failure("test_a", **change)
    here, there = classify(broken, ended), classify(ended, broken)
    assert not here.pre_existing
    assert not there.pre_existing
    assert here.evidence.startswith("Not known: ")
    assert there.evidence.startswith("Not known, for on the target ")


def test_two_silent_failures_prove_nothing() -> None:
    silent = triage(Check(name="x", status=CheckStatus.COMPLETED, conclusion="FAILURE"), "")
    assert not classify(silent, silent).pre_existing


def test_another_check_proves_nothing() -> None:
    assert not classify(failure("test_a"), failure("test_a", name="other")).pre_existing


def test_long_evidence_is_shortened() -> None:
    many = failure(*(f"test_{number}" for number in range(9)))
    assert classify(many, many).evidence.endswith("and 4 more.")
