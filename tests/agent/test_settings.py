"""What the settings accept, and what they mean for the API."""

from typing import Any

import pytest
from pydantic import ValidationError

from nightly_sync.agent.settings import AgentSettings, Price

PRICE = Price(input=4, output=20, cache_read=0.4, cache_write=5)
BEDROCK = {"provider": "bedrock", "model": "some.claude-v1:0", "key": None, "region": "eu-west-1"}
VERTEX = {**BEDROCK, "provider": "vertex", "project": "acme"}


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("opus", "claude-opus-5-5"),
        ("sonnet", "claude-sonnet-5-5"),
        ("haiku", "claude-haiku-5-5"),
        ("claude-opus-4-8", "claude-opus-4-8"),
        ("whatever@2027", "whatever@2027"),
    ],
)
def test_an_alias_is_the_current_model_and_any_id_passes(name: str, id: str) -> None:
    assert AgentSettings(model=name).model_id == id


@pytest.mark.parametrize("named", ["opus", "claude-opus-5-5"])
def test_a_price_is_found_by_alias_and_by_id(named: str) -> None:
    assert AgentSettings(model="opus", prices={named: PRICE}).price == PRICE


def test_nothing_costs_anything_by_default_and_claude_is_not_asked() -> None:
    settings = AgentSettings()
    assert (settings.enabled, settings.price, settings.turns) == (False, None, 1500)


@pytest.mark.parametrize("good", [BEDROCK, VERTEX, {**BEDROCK, "key": "env:BEDROCK_KEY"}])
def test_clouds_are_accepted_with_what_they_need(good: dict[str, Any]) -> None:
    AgentSettings(**good)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"money": 5}, "a money limit needs a price for opus in prices"),
        ({"money": 5, "prices": {"haiku": PRICE}}, "a money limit needs a price for opus"),
        ({"key": None}, "Anthropic's own API needs a key"),
        ({"key": "sk-ant-12345"}, "the secret itself never stands in the config"),
        ({"region": "eu-west-1"}, "region and project are for Bedrock and Vertex only"),
        ({**BEDROCK, "model": "opus"}, "bedrock has its own names for models"),
        ({**BEDROCK, "key": "env:ANTHROPIC_API_KEY"}, "bedrock takes no key of Anthropic's"),
        ({**BEDROCK, "region": ""}, "bedrock needs a region"),
        ({**BEDROCK, "project": "acme"}, "project is needed for Vertex, and for nothing else"),
        ({**VERTEX, "project": ""}, "project is needed for Vertex, and for nothing else"),
        ({"base_url": "api.example.com"}, "write the address as https://HOST"),
        ({"base_url": "ftp://example.com"}, "write the address as https://HOST"),
        ({"base_url": "https://me:secret@example.com"}, "holds a user name or a password"),
        ({"turns": 0}, "greater than 0"),
        ({"thinking": "enabled"}, "adaptive"),
        ({"prices": {"opus": {"input": 1}}}, "prices.opus.output"),
    ],
)
def test_what_cannot_work_is_refused_with_a_reason(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        AgentSettings(**wrong)
    assert said in str(caught.value)


def test_every_setting_says_what_it_means() -> None:
    for model in (AgentSettings, Price):
        assert all(field.description for field in model.model_fields.values())
