"""An `Ask` that plays a script, without HTTP: for what is decided around conversations."""

from collections.abc import Callable
from itertools import count
from typing import Any

from nightly_sync.agent.base import Body, Failure, Reply
from nightly_sync.agent.budget import Spent
from tests.agent.rules import problems

SPENT = Spent(input=100, output=10)
_IDS = count(1)


def call(name: str, **given: Any) -> Reply:
    """The model uses one tool."""
    block = {"type": "tool_use", "id": f"toolu_{next(_IDS)}", "name": name, "input": given}
    return Reply((block,), "tool_use", SPENT)


def says(text: str, stop: str = "end_turn") -> Reply:
    """The model only talks."""
    return Reply(({"type": "text", "text": text},), stop, SPENT)


class Script:
    """Gives the replies one after the other; one request too many fails the test."""

    def __init__(self, *turns: Reply | Exception):
        self.bodies: list[Body] = []
        self._turns = list(turns)

    @property
    def left(self) -> int:
        """Turns nobody asked for yet."""
        return len(self._turns)

    def __call__(self, body: Body, seconds: float, failed: Callable[[Failure], None]) -> Reply:
        """The next turn, if the request keeps the API's rules."""
        self.bodies.append(body)
        assert list(problems(body, False)) == []
        assert self._turns, "the script is over"
        turn = self._turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return turn

    def opening(self, at: int = -1) -> str:
        """The first message of the conversation that a request belongs to."""
        return str(self.bodies[at]["messages"][0]["content"][0]["text"])

    def said(self, at: int = -1) -> str:
        """The newest tool result in a request."""
        return str(self.bodies[at]["messages"][-1]["content"][-1]["content"])
