"""Secrets: where the config says they are, never what they are.

A reference is `env:NAME`, an environment variable, or `block:NAME`, a Prefect Secret block. The
name of a variable must tell that it holds a secret, since by its name it is kept from every
command of the user's that a run starts.
"""

import os
import re
from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator

from nightly_sync.errors import ConfigError

Read = Callable[[str], str]
"""From a reference to the secret; ConfigError if it is not there."""

_REFERENCE = re.compile(r"(?P<kind>env|block):(?P<name>\S+)")
_TELLING = re.compile(
    r"(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|KEY|PAT)$|SECRET|PRIVATE", re.I
)


def is_secret_name(variable: str) -> bool:
    """Does the name of an environment variable say that it holds a secret?"""
    return bool(_TELLING.search(variable))


def _reference(value: str) -> str:
    found = _REFERENCE.fullmatch(value)
    if not found:
        raise ValueError(
            "a secret is named by env:VARIABLE or block:NAME (a Prefect Secret block); "
            "the secret itself never stands in the config"
        )
    if found["kind"] == "env" and not is_secret_name(found["name"]):
        raise ValueError(
            f"the variable {found['name']} could be seen by formatters and checks; give it a name "
            "that ends in TOKEN, KEY, SECRET or PASSWORD, which are kept from them"
        )
    return value


SecretReference = Annotated[str, AfterValidator(_reference)]


def from_environment(reference: str) -> str:
    """What an `env:` reference names. A block can only be read where Prefect is."""
    kind, _, name = reference.partition(":")
    if kind != "env":
        raise ConfigError(f"{reference} can only be read inside a run of the Prefect flow")
    value = os.environ.get(name, "").strip()
    if not value:
        raise ConfigError(f"the environment variable {name} is not set; it must hold the secret")
    return value


def check_environment(reference: str) -> None:
    """Raise ConfigError if an `env:` reference names nothing; blocks are looked at later."""
    if reference.startswith("env:"):
        from_environment(reference)
