"""Exempt patterns against the names of checks."""

import pytest

from nightly_sync.checks.names import UNREADABLE, is_exempt


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("build-docs", "build-docs"),
        ("Build Docs", "build docs"),
        ("codecov/patch", "*codecov*"),
        ("Needs Approval (2)", "*approval*"),
        ("test 3.12", "test 3.1?"),
        ("test [3.12]", "test [3.12]"),
        ("Coverage (unit-test)", "Coverage (unit-test)"),
        ("line\nbreak", "line*"),
    ],
)
def test_a_name_is_exempt_whatever_its_case(name: str, pattern: str) -> None:
    assert is_exempt(name, ["other", pattern])


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("build-docs-summary", "build-docs"),
        ("my build-docs", "build-docs"),
        ("tests", ""),
        ("unit tests", "tests*"),
    ],
)
def test_part_of_a_name_is_not_enough(name: str, pattern: str) -> None:
    assert not is_exempt(name, [pattern])


def test_without_patterns_every_check_counts() -> None:
    assert not is_exempt("tests", [])


@pytest.mark.parametrize("pattern", ["*", "*check*", UNREADABLE])
def test_what_could_not_be_read_is_never_exempt(pattern: str) -> None:
    """Reported: a pattern such as `*check*` exempted every result that was not shown."""
    assert not is_exempt(UNREADABLE, [pattern])
