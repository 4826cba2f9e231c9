"""From the config to a forge that GitHub answers."""

from collections.abc import Callable
from datetime import datetime, timedelta

from nightly_sync import secrets
from nightly_sync.config import SyncConfig
from nightly_sync.forge.github.address import Address, parse
from nightly_sync.forge.github.auth import AppTokens, ReadTokens, Tokens
from nightly_sync.forge.github.client import Client
from nightly_sync.forge.github.forge import GitHubForge


def connect(
    config: SyncConfig,
    secret: secrets.Read,
    clock: Callable[[], datetime],
    sleep: Callable[[float], None],
) -> GitHubForge:
    """The forge of a repository on GitHub. Raises ConfigError for a secret that is not there."""
    address = parse(config.repository, config.github.api)
    end = clock() + timedelta(minutes=config.time_limit_minutes)
    client = Client(
        address,
        _tokens(config, address, secret, clock),
        sleep,
        left=lambda: (end - clock()).total_seconds(),
    )
    return GitHubForge(config, client, sleep)


def _tokens(
    config: SyncConfig, address: Address, secret: secrets.Read, clock: Callable[[], datetime]
) -> Tokens:
    given = config.github
    if given.app_key:
        return AppTokens(address, given.app_id, secret(given.app_key), clock)
    secret(given.token)  # now rather than at the first request
    return ReadTokens(lambda: secret(given.token))
