"""The library's GitHub forge against the stand-in, without real waiting."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import httpx2

from nightly_sync.config import SyncConfig
from nightly_sync.forge.github.address import parse
from nightly_sync.forge.github.auth import ReadTokens, Tokens
from nightly_sync.forge.github.client import PATIENCE, Client
from nightly_sync.forge.github.forge import GitHubForge
from tests.github.client import Site


@dataclass(frozen=True)
class Rig:
    """A forge at work on a site; its sleeping moves the site's clock."""

    site: Site
    forge: GitHubForge
    client: Client
    sleeps: list[float]


def make_rig(
    site: Site,
    tokens: Tokens | None = None,
    enterprise: bool = True,
    patience: float = PATIENCE,
    timeout: float = 10,
    left: Callable[[], float] = lambda: inf,
    **settings: Any,
) -> Rig:
    """A forge for `acme/widgets`, with the site's classic token unless told otherwise."""
    github, sleeps = site.github, list[float]()

    def sleep(seconds: float) -> None:
        sleeps.append(seconds)
        github.world.clock.advance(seconds)

    url = github.git_url(site.repository)
    address = parse(url, "" if enterprise else github.url)
    tokens = tokens or ReadTokens(lambda: site.token)
    limits = httpx2.Timeout(timeout)
    client = Client(address, tokens, sleep, lambda: 0.5, patience, limits, left)
    config = SyncConfig.model_validate({"repository": url, **settings})
    return Rig(site, GitHubForge(config, client, sleep), client, sleeps)
