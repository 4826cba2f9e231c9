"""One conversation about the hunks of a file: what is answered is checked, and may go back."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import Field

from nightly_sync.agent.acceptance import HunkAnswer, Problem, ProblemKind
from nightly_sync.agent.base import Tool, ToolResult, tool
from nightly_sync.agent.data import Marker
from nightly_sync.agent.repair import plain
from nightly_sync.model import Model

SHOWN = 20  # problems of one answer
MISSHAPEN = "wrong-shape"  # kind of an answer that could not even be read
REASON = 200  # characters of why the model left it

Check = Callable[[HunkAnswer], Sequence[Problem]]


class Leave(Model):
    """Input of `leave`."""

    reason: str = Field(min_length=1, description="Why, and what a person should look at.")


class Question:
    """What came of one conversation: `answer`, or `left`, which says why there is none."""

    def __init__(self, check: Check, tries: int, marker: Marker):
        self.answer: HunkAnswer | None = None
        self.left = ""
        self.rejected: Counter[str] = Counter()  # by problem
        self.refused: list[str] = []  # what no task may do, a sentence each
        self._check = check
        self._tries = tries
        self._marker = marker
        self._problems: list[Problem] = []  # of the last answer
        answer = "Answer the task: a text for every hunk. It ends the task if it is accepted."
        self._resolve = tool("resolve", answer, HunkAnswer, self._judged)

    def tools(self) -> tuple[Tool, ...]:
        """`resolve` and `leave`."""
        made = self._resolve
        return (
            Tool(made.name, made.description, made.schema, self._counted),
            tool("leave", "End the task without an answer.", Leave, self._leave),
        )

    def _leave(self, given: Leave) -> ToolResult:
        self.left = f"Claude left it: {plain(given.reason, REASON)}"
        return ToolResult("Noted.", done=True)

    def _counted(self, given: Mapping[str, Any]) -> ToolResult:
        """Answers that do not even fit the schema count as tries too."""
        self._problems.clear()
        result = self._resolve.run(given)
        if not result.is_error:
            return result
        self._tries -= 1
        self.rejected.update(sorted({item.kind.value for item in self._problems} or {MISSHAPEN}))
        forbidden = (item for item in self._problems if item.kind is ProblemKind.FORBIDDEN)
        self.refused += [item.sentence for item in forbidden]
        if self._tries > 0:
            return ToolResult(f"{result.text}\nTries left: {self._tries}.", is_error=True)
        self.left = f"its answers were not accepted; the last one: {self._last()}"
        return ToolResult(result.text, is_error=True, done=True)

    def _judged(self, given: HunkAnswer) -> ToolResult:
        self._problems += self._check(given)
        if self._problems:
            return ToolResult(self._told(), is_error=True)
        self.answer = given
        return ToolResult("Accepted.", done=True)

    def _told(self) -> str:
        lines = [_line(item) for item in self._problems[:SHOWN]]
        more = len(self._problems) - SHOWN
        rest = [f"- and {more} more"] if more > 0 else []
        text = self._marker.wrap("what is wrong with it", "\n".join([*lines, *rest]))
        return f"Not accepted; give the whole answer again.\n{text}"

    def _last(self) -> str:
        return plain(self._problems[0].sentence, REASON) if self._problems else MISSHAPEN


def _line(problem: Problem) -> str:
    where = "" if problem.hunk is None else f"hunk {problem.hunk}: "
    return f"- {where}{problem.sentence}"
