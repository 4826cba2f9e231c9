"""One demo from its set-up to what came of it: on the local forge or a stand-in for GitHub, alone
or with a model that plays a script."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Protocol

from nightly_sync.demo.build import build
from nightly_sync.demo.model import DemoSite
from nightly_sync.errors import ConfigError
from nightly_sync.record import RunRecord

STAND_IN = "tests.github.demo"
SCRIPT = "tests.agent.demo"
Stage = Callable[[Path, datetime], AbstractContextManager["Show"]]


class Show(Protocol):
    """A demo that is on: run the flow on `site.config`, then ask what came of it."""

    @property
    def site(self) -> DemoSite:
        """What was built."""

    def lines(self, record: RunRecord) -> list[str]:
        """What there is to see, in plain text."""

    def problems(self, record: RunRecord) -> list[str]:
        """A sentence for what ended otherwise than promised, traps aside; empty is good."""


@dataclass(frozen=True)
class Local:
    """The demo on the local forge: the traps are all there is to show."""

    site: DemoSite

    def lines(self, record: RunRecord) -> list[str]:
        """What each trap is there for."""
        return [f"- {trap.name}: {trap.shows}" for trap in self.site.traps]

    def problems(self, record: RunRecord) -> list[str]:
        """Nothing beside traps and outcome is promised."""
        return []


@contextmanager
def staged(
    folder: Path, now: datetime, *, broken: bool = False, on_github: bool = False, agent: str = ""
) -> Iterator[Show]:
    """Build the demo below `folder`; it can be run until the context ends.

    `agent` is "scripted" or empty. Raises ConfigError where it cannot be shown so, and what
    `build` raises.
    """
    _check(broken, on_github, agent)
    if not on_github and not agent:
        yield Local(build(folder, now, broken=broken))
        return
    found = _module(STAND_IN) if on_github else _module(SCRIPT)
    stage: Stage = found.on_github if on_github else found.by_script
    with stage(folder, now) as show:
        yield show


def _check(broken: bool, on_github: bool, agent: str) -> None:
    if agent not in ("", "scripted"):
        raise ConfigError(f"demo --agent knows only scripted, not {agent}")
    if broken + on_github + bool(agent) > 1:
        raise ConfigError(
            "the demo is either --broken or on --github or by --agent: leave the others out"
        )


def _module(name: str) -> ModuleType:
    """What lies beside a stand-in that the tests use, and is in no package."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"this demo needs a stand-in that the tests use ({error}): start it in a checkout, by "
            ".uv/bin/uv run nightly-sync demo"
        ) from error
