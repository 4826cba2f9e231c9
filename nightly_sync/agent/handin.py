"""What a conversation is to bring: handed in, judged by code, sent back while tries are left."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

from pydantic import Field

from nightly_sync.agent.assistant import Assistant
from nightly_sync.agent.base import Input, Tool, ToolResult, tool
from nightly_sync.agent.data import Marker, listed, plain
from nightly_sync.model import Model
from nightly_sync.review.harm import Objection

REASON = 500  # characters of why there is nothing
MISSHAPEN = Objection("wrong-shape", "it was in no shape that could be read")


class GiveUp(Model):
    """Input of the tool that ends a task without an answer."""

    reason: str = Field(min_length=1, description="Why, and what a person should look at.")


@dataclass
class HandIn(Generic[Input]):
    """What came of one conversation: `taken`, or `left`, which says why there is none.

    `judge` says what is wrong with an answer and counts it; what it finds nothing wrong with is
    taken. `again` tells the model how to go on after an answer that was not.
    """

    assistant: Assistant
    marker: Marker
    judge: Callable[[Input], Sequence[Objection]]
    again: str
    taken: Input | None = None
    left: str = ""
    _tries: int = 0
    _wrong: Sequence[Objection] = ()  # with the last answer, if it could be read

    def tools(self, answer: str, told: str, takes: type[Input], leave: str) -> tuple[Tool, Tool]:
        """The tools called `answer`, which takes one, and `leave`, which ends the task without."""
        made = tool(answer, told, takes, self._judged)
        tried = replace(made, run=lambda given: self._tried(made, given))
        return tried, tool(leave, "End the task without an answer.", GiveUp, self._given_up)

    def _given_up(self, given: GiveUp) -> ToolResult:
        self.left = f"Claude gave up: {plain(given.reason, REASON)}"
        return ToolResult("Noted.", done=True)

    def _tried(self, made: Tool, given: Mapping[str, Any]) -> ToolResult:
        """Answers that cannot even be read count as tries too."""
        self._tries += 1
        self._wrong = ()
        result = made.call(given)
        if self.taken is not None:
            return result
        if not self._wrong:
            self._wrong = (MISSHAPEN,)
            self.assistant.rejected.update([MISSHAPEN.kind])
        left = self.assistant.settings.answers - self._tries
        if left <= 0:
            count = "answer was" if self._tries == 1 else f"{self._tries} answers were"
            last = plain(self._wrong[0].sentence, REASON)
            self.left = f"Claude's {count} sent back; the last one: {last}"
        tries = "1 try is left" if left == 1 else f"{left} tries are left"
        return replace(result, text=f"{result.text}\n{tries}.", is_error=True, done=left <= 0)

    def _judged(self, given: Input) -> ToolResult:
        self._wrong = self.judge(given)
        if not self._wrong:
            self.taken = given
            return ToolResult("Taken.", done=True)
        hunks = ("" if item.hunk is None else f"hunk {item.hunk}: " for item in self._wrong)
        lines = (f"- {at}{item.sentence}" for at, item in zip(hunks, self._wrong, strict=True))
        text = self.marker.wrap("what is wrong with it", listed(lines))
        return ToolResult(f"Not taken. {self.again}\n{text}", is_error=True)
