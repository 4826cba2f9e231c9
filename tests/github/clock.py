"""The stand-in's own time: real time, plus what a test or a script moved it ahead."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class Clock:
    """Moves with real time and can be pushed on, so that no test has to sleep."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        """The moment the stand-in believes in, in whole seconds as GitHub gives it."""
        return (datetime.now(UTC) + self._ahead).replace(microsecond=0)

    def advance(self, seconds: float) -> None:
        """Push the time on. Fits where a client takes a `sleep` function."""
        self._ahead += timedelta(seconds=seconds)

    def passed(self, seconds: float) -> Callable[[], bool]:
        """Tells whether so many seconds have gone by since now."""
        end = self.now() + timedelta(seconds=seconds)
        return lambda: self.now() >= end

    def real(self) -> float:
        """Seconds of the real clock, which clients use to sign their tokens."""
        return time.time()


def stamp(moment: datetime | None) -> str | None:
    """A moment as GitHub writes it; None stays None."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None
