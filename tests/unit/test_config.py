"""SyncConfig: its names, its digest, and settings that contradict each other."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from pydantic import ValidationError

from nightly_sync.config import SyncConfig, check_runnable, dotted
from nightly_sync.errors import ConfigError, Exit

EVENING = datetime(2026, 11, 30, 21, 0, tzinfo=UTC)


def config(**changes: Any) -> SyncConfig:
    """A config that is right but for `changes`."""
    return SyncConfig.model_validate({"repository": "../project"} | changes)


def refusal(**changes: Any) -> str:
    """What a person reads about a wrong config."""
    with pytest.raises(ValidationError) as caught:
        config(**changes)
    return "\n".join(f"{dotted(item['loc'])}: {item['msg']}" for item in caught.value.errors())


def rule(name: str, *patterns: str) -> dict[str, object]:
    """A path rule as it stands in YAML."""
    return {"rule": name, "paths": list(patterns)}


def test_the_default_branch_name_holds_both_branches_and_the_day() -> None:
    assert config().branch_name(EVENING) == "main2dev/30_11_2026"


def test_the_title_holds_both_branches_and_the_day() -> None:
    assert config().title_for(EVENING) == "chore: nightly sync main into dev (30_11_2026)"


def test_the_day_is_that_of_the_configured_time_zone() -> None:
    assert config(timezone="Asia/Tokyo").date(EVENING) == "01_12_2026"
    assert config(timezone="UTC").date(EVENING) == "30_11_2026"


def test_the_offset_of_the_given_time_does_not_change_the_day() -> None:
    elsewhere = EVENING.astimezone(timezone(timedelta(hours=14)))
    assert config().date(elsewhere) == "30_11_2026"


def test_a_time_without_a_zone_is_a_bug() -> None:
    with pytest.raises(ValueError, match="time zone"):
        config().date(EVENING.replace(tzinfo=None))


def test_a_folder_in_the_date_is_allowed() -> None:
    assert config(date_format="%Y/%m/%d").branch_name(EVENING) == "main2dev/2026/11/30"


def test_the_digest_ignores_what_cannot_change_the_outcome() -> None:
    assert config(poll_seconds=1, workspace="x").digest() == config().digest()
    assert config(fallback="stop").digest() != config().digest()


def test_a_config_survives_json() -> None:
    full = config(
        rules=[rule("protect", "/a")],
        checks=[{"name": "t", "run": "pytest -q"}],
        trigger={"kind": "comment", "text": "/test {sha}"},
    )
    assert SyncConfig.model_validate_json(full.model_dump_json()) == full


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"source": "dev"}, "target: the source is 'dev' too"),
        ({"branch_prefix": "main2dev"}, "branch_prefix: Value error, a branch prefix ends in /"),
        ({"branch_prefix": "/x/"}, "branch_prefix: Value error, a branch prefix ends in /"),
        ({"branch_prefix": "{date}/"}, "unknown placeholder {date}"),
        ({"branch_prefix": "a b/"}, "branch_prefix: the sync branch would be 'a b/30_11_2026'"),
        ({"branch_prefix": "a.lock/"}, "ends in .lock"),
        ({"branch_prefix": "{source}/"}, "lies below the branch 'main'"),
        ({"branch_prefix": "dev/sync/"}, "lies below the branch 'dev'"),
        ({"source": "dev~3"}, "holds '~', refused by git"),
        ({"title": "sync {sha}"}, "unknown placeholder {sha}: this template knows {source}, "),
        ({"title": "sync {}"}, "unknown placeholder {}"),
        ({"title": "sync {source.x}"}, "unknown placeholder {source.x}"),
        ({"title": "sync {source!r}"}, "unknown placeholder {source}"),
        ({"title": "sync {source:>9}"}, "unknown placeholder {source}"),
        ({"title": "sync {source"}, "stray brace"),
        ({"title": "two\nlines"}, "one line"),
        ({"title": " "}, "one line"),
        ({"date_format": "%H:%M"}, "which holds ':', refused by git"),
        ({"date_format": "%d %m"}, "which holds ' ', refused by git"),
        ({"date_format": "%Y..%m"}, "holds '..'"),
        ({"date_format": ""}, "has an empty part"),
        ({"date_format": "%!"}, "unknown % directive"),
        ({"date_format": "%e_%m_%Y"}, "the format gives ' 2_01_2027', which holds ' '"),
        ({"date_format": "%d_%l"}, "which holds ' '"),
        ({"repository": "a\0b"}, "repository: holds a NUL character"),
        ({"workspace": "a\0b"}, "workspace: holds a NUL character"),
        ({"timezone": "Mars/Base"}, "no time zone is called 'Mars/Base'"),
        ({"labels": ["a", "nightly-sync/manual"]}, "labels[1]: this label says hands off"),
        ({"sentinel": "Code Review", "exempt": ["*review*"]}, "sentinel: the check 'Code Review'"),
        ({"expected_checks": ["a", "docs"], "exempt": ["DOCS"]}, "expected_checks[1]: the check"),
        ({"checks": [{"name": "a", "run": "x"}] * 2}, "checks[1].name: an earlier check"),
        ({"checks": [{"name": "a", "run": "x 'y"}]}, "checks[0].run: Value error, the command"),
        ({"checks": [{"name": "a", "run": "  "}]}, "a command line is empty"),
        ({"formatters": [{"name": "a", "run": "''"}]}, "formatters[0].run: Value error, a command"),
        ({"linters": [{"name": "a", "run": "x", "paths": ["/"]}]}, "linters[0].paths[0]"),
        ({"focus": ["../x"]}, "focus[0]: Value error, the pattern '../x' leaves"),
        ({"rules": [rule("protect")]}, "rules[0].paths: Value error, needs at least one"),
        ({"trigger": {"kind": "comment"}}, "a trigger of kind comment needs its text"),
        ({"trigger": {"text": "/test"}}, "a trigger of kind none has no text"),
        ({"trigger": {"kind": "comment", "text": "{sh}"}}, "unknown placeholder {sh}"),
        ({"poll_seconds": 0}, "poll_seconds: Input should be greater than 0"),
    ],
)
def test_a_contradiction_is_refused_with_its_place(
    changes: dict[str, object], expected: str
) -> None:
    assert expected in refusal(**changes)


@pytest.mark.parametrize("second", ["take-source", "take-target", "delete-wins"])
def test_one_pattern_cannot_stand_under_two_rules(second: str) -> None:
    rules = [rule("protect", "/x", "/a/b"), rule(second, "/y", "a/b/")]
    expected = "rules[1].paths[1]: the pattern 'a/b/' is already under rules[0] (protect)"
    assert expected in refusal(rules=rules)


def test_anchored_and_free_patterns_are_not_the_same() -> None:
    assert config(rules=[rule("protect", "/a"), rule("take-source", "a")])


def test_rules_may_take_back_the_same_path() -> None:
    rules = [rule("protect", "/a/", "!/a/x"), rule("take-source", "/b/", "!/a/x")]
    assert config(rules=rules)


def test_a_pattern_may_stand_twice_under_one_rule() -> None:
    assert config(rules=[rule("protect", "/a"), rule("protect", "/a")])


def test_several_contradictions_are_counted() -> None:
    assert "(and 1 more)" in refusal(source="dev", sentinel="x", exempt=["x"])


def test_a_green_pull_request_needs_something_to_be_green() -> None:
    with pytest.raises(ConfigError, match="Nothing is expected of CI") as caught:
        check_runnable(config())
    assert caught.value.exit_code is Exit.USAGE


def test_checks_that_are_all_exempt_are_nothing() -> None:
    checks = [{"name": "docs", "run": "true"}]
    with pytest.raises(ConfigError, match="Nothing is expected"):
        check_runnable(config(checks=checks, exempt=["docs"]))


@pytest.mark.parametrize(
    "changes",
    [
        {"checks": [{"name": "t", "run": "pytest"}]},
        {"sentinel": "CI"},
        {"expected_checks": ["CI"]},
    ],
)
def test_any_expectation_makes_a_config_runnable_and_contradicts_no_ci(
    changes: dict[str, object],
) -> None:
    check_runnable(config(**changes))
    with pytest.raises(ConfigError, match="no_ci says"):
        check_runnable(config(no_ci=True, **changes))


def test_a_repository_without_checks_can_say_so() -> None:
    check_runnable(config(no_ci=True))


@pytest.mark.parametrize("name", ["/x/caf\udce9", '/x/"a"', "C:\\x", "/x/new\nline", "../r"])
def test_a_repository_of_any_name_has_a_digest_and_survives_json(name: str) -> None:
    """Reported: the preview in a folder whose name is not UTF-8 ended in a traceback."""
    odd = config(repository=name)
    assert odd.repository == name
    assert len(odd.digest()) == 12
    assert SyncConfig.model_validate_json(odd.model_dump_json()) == odd
    assert SyncConfig.model_validate(odd.model_dump(mode="json")) == odd
