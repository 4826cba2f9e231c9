"""One conversation about the hunks of a file: what is answered is checked, and may go back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from nightly_sync.agent.assistant import Assistant
from nightly_sync.agent.base import Tool, ToolResult, tool
from nightly_sync.agent.data import Marker
from nightly_sync.agent.facts import AgentRefusal
from nightly_sync.agent.repair import plain
from nightly_sync.model import Model
from nightly_sync.review.acceptance import HunkAnswer, ProblemKind
from nightly_sync.review.harm import Objection

TASK = "resolve"  # its name on the bill
SHOWN = 20  # problems of one answer
MISSHAPEN = "wrong-shape"  # kind of an answer that could not even be read
REASON = 200  # characters of why the model left it

Check = Callable[[HunkAnswer], Sequence[Objection]]


class Leave(Model):
    """Input of `leave`."""

    reason: str = Field(min_length=1, description="Why, and what a person should look at.")


class Question:
    """What came of one conversation: `answer`, or `left`, which says why there is none.

    Answers that are sent back are put on the assistant's account.
    """

    def __init__(self, check: Check, assistant: Assistant, path: str, marker: Marker):
        self.answer: HunkAnswer | None = None
        self.left = ""
        self._check = check
        self._assistant = assistant
        self._path = path
        self._marker = marker
        self._tries = assistant.settings.answers
        self._wrong: Sequence[Objection] = ()  # with the last answer
        told = "Answer the task: a text for every hunk. It ends the task if it is accepted."
        self._resolve = tool("resolve", told, HunkAnswer, self._judged)

    def tools(self) -> tuple[Tool, ...]:
        """`resolve` and `leave`."""
        leave = tool("leave", "End the task without an answer.", Leave, self._leave)
        return replace(self._resolve, run=self._tried), leave

    def _leave(self, given: Leave) -> ToolResult:
        self.left = f"Claude left it: {plain(given.reason, REASON)}"
        return ToolResult("Noted.", done=True)

    def _tried(self, given: Mapping[str, Any]) -> ToolResult:
        """Answers that do not even fit the schema count as tries too."""
        self._wrong = (Objection(MISSHAPEN, MISSHAPEN),)
        result = self._resolve.run(given)
        if self.answer:
            return result
        self._tries -= 1
        self._count()
        if self._tries > 0:
            return ToolResult(f"{result.text}\nTries left: {self._tries}.", is_error=True)
        last = plain(self._wrong[0].sentence, REASON)
        self.left = f"its answers were not accepted; the last one: {last}"
        return ToolResult(result.text, is_error=True, done=True)

    def _judged(self, given: HunkAnswer) -> ToolResult:
        self._wrong = self._check(given)
        if self._wrong:
            return ToolResult(self._told(), is_error=True)
        self.answer = given
        return ToolResult("Accepted.", done=True)

    def _count(self) -> None:
        self._assistant.rejected.update({item.kind for item in self._wrong})
        self._assistant.refusals += [
            AgentRefusal(task=TASK, path=self._path, kind=item.kind, evidence=item.sentence)
            for item in self._wrong
            if item.kind == ProblemKind.FORBIDDEN
        ]

    def _told(self) -> str:
        hunks = ("" if item.hunk is None else f"hunk {item.hunk}: " for item in self._wrong)
        lines = [f"- {at}{item.sentence}" for at, item in zip(hunks, self._wrong, strict=True)]
        more = [f"- and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
        text = self._marker.wrap("what is wrong with it", "\n".join([*lines[:SHOWN], *more]))
        return f"Not accepted; give the whole answer again.\n{text}"
