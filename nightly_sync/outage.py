"""Outages of the forge at a point where giving up would cost the night, or work that cost money."""

from collections.abc import Callable
from typing import TypeVar

from nightly_sync.errors import Unreachable
from nightly_sync.session import Session

PAUSES = (60.0, 300.0, 900.0, 1800.0)  # seconds
T = TypeVar("T")


def waited_out(run: Session, sha: str, act: Callable[[], T]) -> T:
    """What `act` returns, as soon as the forge answers; it may be called several times.

    `sha` is the commit whose checks are waited for. Raises Unreachable after the last pause.
    """
    for pause in PAUSES:
        try:
            return act()
        except Unreachable:
            run.forge.wait(sha, pause)
    return act()
