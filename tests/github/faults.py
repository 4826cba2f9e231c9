"""What goes wrong on the way, and what happens at just the wrong moment.

A pattern is searched in `METHOD /path?query`, followed for GraphQL by the query's text and its
variables; the log host's requests start with `LOGS`. Each fault has its own count.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

ENDLESS = 10**9
Kind = Literal["status", "reset", "lost", "cut", "slow", "before", "after"]


@dataclass
class Fault:
    """One thing to do to the next requests that match; `skip` lets the first ones pass."""

    kind: Kind
    pattern: re.Pattern[str]
    left: int
    skip: int = 0
    status: int = 502
    seconds: float = 0.0
    action: Callable[[], object] | None = None
    over: Callable[[], bool] = lambda: False

    def takes(self, subject: str) -> bool:
        """Whether this request is hit; counts."""
        if not self.left or self.over() or not self.pattern.search(subject):
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.left -= 1
        return True


class Faults:
    """All faults of a test. They are looked at in the order in which they were added."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def _add(self, kind: Kind, pattern: str, times: int, skip: int, **more: float) -> None:
        fault = Fault(kind, re.compile(pattern, re.DOTALL), times, skip)
        fault.status = int(more.get("status", fault.status))
        fault.seconds = more.get("seconds", 0.0)
        self._faults.append(fault)

    def fail(self, pattern: str = "", times: int = 1, skip: int = 0, status: int = 502) -> None:
        """Answer with an error page of the load balancer; nothing is done."""
        self._add("status", pattern, times, skip, status=status)

    def reset(self, pattern: str = "", times: int = 1, skip: int = 0) -> None:
        """Reset the connection; nothing is done."""
        self._add("reset", pattern, times, skip)

    def lose(self, pattern: str = "", times: int = 1, skip: int = 0) -> None:
        """Do what was asked, then reset the connection instead of answering."""
        self._add("lost", pattern, times, skip)

    def cut(self, pattern: str = "", times: int = 1, skip: int = 0) -> None:
        """Send half of the body, then close the connection."""
        self._add("cut", pattern, times, skip)

    def slow(self, seconds: float, pattern: str = "", times: int = 1, skip: int = 0) -> None:
        """Answer only after so many real seconds; closing the stand-in ends the wait."""
        self._add("slow", pattern, times, skip, seconds=seconds)

    def fail_until(self, over: Callable[[], bool], pattern: str = "", status: int = 502) -> None:
        """Answer every request with an error page until it is over; see `GitHub.outage`."""
        compiled = re.compile(pattern, re.DOTALL)
        self._faults.append(Fault("status", compiled, ENDLESS, status=status, over=over))

    def before(self, pattern: str, action: Callable[[], object], skip: int = 0) -> None:
        """Do something just before a request is looked at."""
        self._faults.append(Fault("before", re.compile(pattern, re.DOTALL), 1, skip, action=action))

    def after(self, pattern: str, action: Callable[[], object], skip: int = 0) -> None:
        """Do something when a request was carried out, before its answer goes back."""
        self._faults.append(Fault("after", re.compile(pattern, re.DOTALL), 1, skip, action=action))

    def take(self, subject: str) -> list[Fault]:
        """The faults that hit this request."""
        return [fault for fault in self._faults if fault.takes(subject)]
