"""Where the key goes, and what is missing for a client."""

import sys

import pytest

from nightly_sync.agent.client import connect
from nightly_sync.agent.settings import AgentSettings
from nightly_sync.errors import ConfigError
from tests.agent.standin import KEY, StandIn, says
from tests.agent.test_stream import BODY, text

BEDROCK = AgentSettings(
    provider="bedrock", model="some.claude-v1:0", key="env:CLOUD_KEY", region="eu-west-1"
)
VERTEX = AgentSettings(
    provider="vertex", model="claude@1", key="env:CLOUD_KEY", region="eu", project="acme"
)


def test_only_the_key_that_was_given_is_sent(
    claude: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "somebody-elses")
    claude.play(says("hello"))
    claude.connect()(BODY, 60, lambda failure: None)
    assert "somebody-elses" not in str(claude.headers)
    assert claude.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "name",
    [
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_BEDROCK_BASE_URL",
        "ANTHROPIC_VERTEX_BASE_URL",
        "ANTHROPIC_CUSTOM_HEADERS",
    ],
)
def test_an_address_or_headers_from_the_environment_are_refused(
    claude: StandIn, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "https://elsewhere.example")
    with pytest.raises(ConfigError, match=f"^{name} is set, but"):
        connect(AgentSettings(), KEY)


def test_an_address_in_the_config_stands_above_the_environment(
    claude: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://elsewhere.example")
    claude.play(says("hello"))
    assert text(claude.connect()(BODY, 60, lambda failure: None)) == "hello"


def test_without_one_it_is_anthropics_own(claude: StandIn) -> None:
    base = str(connect(AgentSettings(), KEY).client.base_url)
    assert base.rstrip("/") == "https://api.anthropic.com"


@pytest.mark.parametrize("key", ["", " \n"])
def test_an_empty_key_is_named_by_its_reference(claude: StandIn, key: str) -> None:
    with pytest.raises(ConfigError, match="no key for Claude: env:ANTHROPIC_API_KEY is empty"):
        connect(AgentSettings(), key)


def test_no_key_at_all_is_an_error_for_anthropic(claude: StandIn) -> None:
    with pytest.raises(ConfigError, match="Anthropic's own API needs one"):
        connect(AgentSettings(), None)


def test_a_key_read_from_a_file_may_end_its_line(claude: StandIn) -> None:
    claude.play(says("hello"))
    connect(claude.settings(), f"{KEY}\n")(BODY, 60, lambda failure: None)
    assert claude.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schl\u00fcssel", "nul\0"])
def test_what_cannot_be_a_key_is_refused_without_showing_it(claude: StandIn, key: str) -> None:
    with pytest.raises(ConfigError, match="env:ANTHROPIC_API_KEY holds is no key") as caught:
        connect(AgentSettings(), key)
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "package", "extra"),
    [(BEDROCK, "boto3", "bedrock"), (VERTEX, "google.auth", "vertex")],
)
def test_a_missing_package_of_a_cloud_is_named(
    claude: StandIn,
    settings: AgentSettings,
    package: str,
    extra: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigError, match=rf"install anthropic\[{extra}\]"):
        connect(settings, "key")


def test_the_sdk_does_not_retry_by_itself(claude: StandIn) -> None:
    assert connect(AgentSettings(), KEY).client.max_retries == 0
