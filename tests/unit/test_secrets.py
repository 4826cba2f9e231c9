"""Where secrets are named, and that no command of the user's sees one."""

from typing import Any

import pytest
from pydantic import ValidationError

from nightly_sync import secrets, session
from nightly_sync.commands import command_environment
from nightly_sync.config import SyncConfig
from nightly_sync.errors import ConfigError

URL = "https://github.com/acme/widgets"


def _config(**github: Any) -> SyncConfig:
    fields = {"repository": URL, "sentinel": "gate", "github": github}
    return SyncConfig.model_validate(fields)


def test_a_variable_is_read_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from tasks.secrets import read_secret

    monkeypatch.setenv("MY_TOKEN", " one\n")
    assert secrets.from_environment("env:MY_TOKEN") == "one"
    monkeypatch.setenv("MY_TOKEN", "two")
    assert read_secret("env:MY_TOKEN") == "two"


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    with pytest.raises(ConfigError, match="GITHUB_TOKEN is not set"):
        session.check(_config())


def test_a_block_is_not_looked_for_before_the_flow_runs() -> None:
    session.check(_config(token="block:sync-token"))
    with pytest.raises(ConfigError, match="inside a run"):
        secrets.from_environment("block:sync-token")


@pytest.mark.parametrize("wrong", ["ghp_0123456789", "env:", "file:/x", "env:A B"])
def test_a_secret_itself_is_refused_in_the_config(wrong: str) -> None:
    with pytest.raises(ValidationError, match="never stands in the config"):
        _config(token=wrong)


def test_a_variable_that_commands_would_see_is_refused() -> None:
    with pytest.raises(ValidationError, match="could be seen by formatters"):
        _config(token="env:MY_VARIABLE")


def test_an_app_is_whole_or_not_there() -> None:
    with pytest.raises(ValidationError, match="app_key is missing"):
        _config(app_id="12")
    with pytest.raises(ValidationError, match="app_id is missing"):
        _config(app_key="block:key")
    assert _config(app_id="12", app_key="block:key").github.secret == "block:key"


@pytest.mark.parametrize(
    "name",
    ["GITHUB_TOKEN", "GH_TOKEN", "ANTHROPIC_API_KEY", "NIGHTLY_SYNC_GIT_TOKEN", "X_PRIVATE_KEY_PEM",
     "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "MY_PAT", "gh_token", "GOOGLE_CREDENTIALS"],
)  # fmt: skip
def test_no_command_gets_a_variable_whose_name_says_secret(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "hush")
    assert secrets.is_secret_name(name)
    assert "hush" not in command_environment().values()


@pytest.mark.parametrize("name", ["PATH", "HOME", "LANG", "VIRTUAL_ENV", "MONKEY_BUSINESS", "TERM"])
def test_commands_keep_what_they_need(name: str) -> None:
    assert not secrets.is_secret_name(name)


def test_check_commands_are_for_local_repositories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "x")
    checks = [{"name": "tests", "run": "pytest"}]
    config = SyncConfig.model_validate({"repository": URL, "checks": checks})
    with pytest.raises(ConfigError, match=r"baseline\.commands"):
        session.check(config)


def test_ci_that_is_asked_for_needs_a_sentinel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reported: checks of the push were green before the asked-for CI had shown up."""
    monkeypatch.setenv("GITHUB_TOKEN", "x")
    trigger = {"kind": "comment", "text": "/ok to test {sha}"}
    fields = {"repository": URL, "expected_checks": ["DCO"], "trigger": trigger}
    with pytest.raises(ConfigError, match="without a sentinel"):
        session.check(SyncConfig.model_validate(fields))
    session.check(SyncConfig.model_validate({**fields, "sentinel": "gate"}))


def test_what_branch_protection_demands_makes_a_config_runnable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from nightly_sync.config import check_runnable

    monkeypatch.setenv("GITHUB_TOKEN", "x")
    bare = SyncConfig(repository=URL)
    session.check(bare)  # nobody has asked GitHub yet
    check_runnable(bare, ("gate",))
    with pytest.raises(ConfigError, match="Nothing is expected of CI"):
        check_runnable(bare, ())
    with pytest.raises(ConfigError, match="no checks, but 'gate' is expected"):
        check_runnable(SyncConfig(repository=URL, no_ci=True), ("gate",))
