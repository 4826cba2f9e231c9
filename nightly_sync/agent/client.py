"""Claude's API through the SDK's own clients. Importing this takes seconds: do it late."""

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from anthropic import Anthropic, AnthropicBedrock, AnthropicVertex

from nightly_sync.agent.settings import AgentSettings
from nightly_sync.agent.stream import Api, Client
from nightly_sync.errors import ConfigError

# The SDK would take these from the environment, and send the key or the headers there unasked.
_ADDRESSES = ("ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL")
_HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
_CLOUD_PLATFORM = "https://www.googleapis.com/auth/cloud-platform"
_Made = tuple[Client, tuple[type[Exception], ...]]  # and the errors of the cloud's own library


def connect(settings: AgentSettings, key: str | None) -> Api:
    """Claude, asked with `key`: what the setting `key` refers to, None if that is null.

    Keys, addresses and headers that the SDK would take from the environment by itself are given
    or refused; only where `key` is null, the cloud's own library looks for credentials. Raises
    ConfigError for what cannot work: no key or none that fits into a header, a missing package,
    no credentials.
    """
    _check_environment(settings)
    usable = None if key is None else _usable(key, settings)
    base_url = settings.base_url or None
    common = {"max_retries": 0, "open_telemetry": False, "base_url": base_url}
    client, outages = _CLIENTS[settings.provider](settings, usable, common)
    return Api(client, settings.stall_seconds, outages=outages)


def _anthropic(settings: AgentSettings, key: str | None, common: dict[str, Any]) -> _Made:
    if key is None:
        raise ConfigError("there is no key for Claude: Anthropic's own API needs one")
    return Anthropic(api_key=key, **common), ()


def _bedrock(settings: AgentSettings, key: str | None, common: dict[str, Any]) -> _Made:
    boto3, errors = _package("boto3", "bedrock"), _package("botocore.exceptions", "bedrock")
    if key is None and boto3.Session(region_name=settings.region).get_credentials() is None:
        raise ConfigError("AWS's own library finds no credentials for Bedrock on this machine")
    client = AnthropicBedrock(aws_region=settings.region, api_key=key, **common)
    return client, (errors.BotoCoreError,)


def _vertex(settings: AgentSettings, key: str | None, common: dict[str, Any]) -> _Made:
    auth, errors = _package("google.auth", "vertex"), _package("google.auth.exceptions", "vertex")
    try:
        found = None if key else auth.default(scopes=[_CLOUD_PLATFORM])[0]
    except errors.GoogleAuthError as error:
        raise ConfigError(
            f"Google's own library finds no credentials for Vertex: {error}"
        ) from None
    client = AnthropicVertex(
        region=settings.region,
        project_id=settings.project,
        access_token=key,
        credentials=found,
        **common,
    )
    return client, (errors.GoogleAuthError,)


_CLIENTS: dict[str, Callable[[AgentSettings, str | None, dict[str, Any]], _Made]] = {
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "vertex": _vertex,
}


def _check_environment(settings: AgentSettings) -> None:
    names = (_HEADERS,) if settings.base_url else (_HEADERS, *_ADDRESSES)
    found = next((name for name in names if os.environ.get(name)), None)
    if found:
        raise ConfigError(
            f"{found} is set, but where requests to Claude go is said in the config: unset it, and "
            "name the address as base_url there"
        )


def _usable(key: str, settings: AgentSettings) -> str:
    """The key without the line end that files have; its characters are shown to nobody."""
    stripped = key.strip()
    if not stripped:
        raise ConfigError(f"there is no key for Claude: {settings.key} is empty")
    if not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        raise ConfigError(f"what {settings.key} holds is no key: it has characters no key has")
    return stripped


def _package(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ConfigError(
            f"Claude on {extra} needs more packages: install anthropic[{extra}]"
        ) from None
