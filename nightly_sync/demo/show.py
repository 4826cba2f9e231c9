"""One demo from its set-up to what came of it, on the local forge or on GitHub's stand-in."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Protocol

from nightly_sync.demo.build import build
from nightly_sync.demo.model import DemoSite
from nightly_sync.errors import ConfigError
from nightly_sync.record import RunRecord

STAND_IN = "tests.github.demo"


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
def staged(folder: Path, now: datetime, *, broken: bool, on_github: bool) -> Iterator[Show]:
    """Build the demo below `folder`; it can be run until the context ends.

    Raises ConfigError where it cannot be on GitHub, and what `build` raises.
    """
    if not on_github:
        yield Local(build(folder, now, broken=broken))
        return
    if broken:
        raise ConfigError("the demo is either --broken or on --github; leave one of them out")
    with _stand_in()(folder, now) as show:
        yield show


def _stand_in() -> Callable[[Path, datetime], AbstractContextManager[Show]]:
    """The show on GitHub, which lies beside the stand-in that the tests use."""
    try:
        found: Callable[[Path, datetime], AbstractContextManager[Show]]
        found = import_module(STAND_IN).on_github
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"demo --github needs the stand-in for GitHub that the tests use ({error}): start it "
            "in a checkout by .uv/bin/uv run nightly-sync demo --github"
        ) from error
    return found
