"""Secrets of a run: environment variables, and Prefect's Secret blocks."""

from prefect.blocks.system import Secret

from nightly_sync import secrets
from nightly_sync.errors import ConfigError


def read_secret(reference: str) -> str:
    """What `env:NAME` or `block:NAME` stands for, as it is now."""
    kind, _, name = reference.partition(":")
    return _block(name) if kind == "block" else secrets.from_environment(reference)


def _block(name: str) -> str:
    try:
        block = Secret.load(name)
    except ValueError as error:
        raise ConfigError(
            f"there is no Secret block called {name} on this Prefect server; make it there, or "
            "name another one in the config"
        ) from error
    if not isinstance(block, Secret):
        raise TypeError("a synchronous call got an asynchronous block")
    return str(block.get()).strip()
