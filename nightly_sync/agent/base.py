"""The words of a conversation: tools, the model's replies, and how it is asked."""

import re
import traceback
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from pydantic import ValidationError

from nightly_sync.agent.budget import Spent
from nightly_sync.errors import SyncError
from nightly_sync.model import Model
from nightly_sync.paths import printable

SAID = 300  # characters of an unexpected error
FRAMES = 30  # of its traceback, which has a thousand where recursion went too deep

Input = TypeVar("Input", bound=Model)
Place = TypeVar("Place")
Block = dict[str, Any]
"""A piece of a message, as the API writes it: text, tool_use, tool_result, thinking. Never changed
in place."""
Body = dict[str, Any]
"""A request: the keyword arguments of the SDK's `messages.stream`."""
FAULTS = (ValueError, LookupError, OverflowError, SyntaxError, RecursionError, MemoryError, OSError)
"""What odd input can raise where nobody thought of it: it costs one answer, never the run."""


@dataclass(frozen=True)
class ToolResult:
    """What the model gets to read. `done` ends the conversation: the task is answered.

    `fault` is the traceback of a tool that failed, for the transcript only.
    """

    text: str
    is_error: bool = False
    done: bool = False
    fault: str = ""


@dataclass(frozen=True)
class Tool:
    """One tool. `schema` is the JSON schema of its input; build one with `tool` or an `Action`."""

    name: str
    description: str
    schema: Mapping[str, Any]
    run: Callable[[Mapping[str, Any]], ToolResult]

    def call(self, given: Mapping[str, Any]) -> ToolResult:
        """Run on what the model sent.

        A SyncError is a result that the model reads, and so is one of FAULTS, with its traceback.
        Anything else escapes.
        """
        try:
            return self.run(given)
        except SyncError as error:
            return ToolResult(str(error), is_error=True)
        except FAULTS as error:
            said = f"{self.name} failed on this input by a fault of its own ({fault(error)})."
            return ToolResult(f"{said} Try another way.", is_error=True, fault=traced(error))


def tool(
    name: str, description: str, takes: type[Input], run: Callable[[Input], ToolResult]
) -> Tool:
    """A tool whose input is the model `takes`; input that does not fit is an error result."""

    def checked(given: Mapping[str, Any]) -> ToolResult:
        try:
            read = takes.model_validate(dict(given))
        except ValidationError as error:
            return ToolResult(_misfit(name, error), is_error=True)
        return run(read)

    return Tool(name, description, takes.model_json_schema(), checked)


class Action(Model, Generic[Place]):
    """A tool as one class: its name and text are the tool's, its fields the input."""

    @abstractmethod
    def run(self, place: Place) -> ToolResult:
        """What it does, on what the conversation works on."""

    @classmethod
    def on(cls, place: Place) -> Tool:
        """The tool, over one place: `ReadFile` is `read_file`."""
        name = re.sub("(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()
        return tool(name, str(cls.__doc__), cls, lambda given: given.run(place))


def traced(error: Exception) -> str:
    """The end of its traceback, for the transcript."""
    return "".join(traceback.format_exception(error, limit=-FRAMES))


def fault(error: Exception) -> str:
    """The kind of an error, and what it says, in short."""
    return printable(f"{type(error).__name__}: {error}".removesuffix(": ")[:SAID])


def _misfit(name: str, error: ValidationError) -> str:
    lines = (
        f"- {'.'.join(map(str, item['loc'])) or 'input'}: {item['msg']}" for item in error.errors()
    )
    return f"The input of {name} does not fit its schema; nothing was done.\n" + "\n".join(lines)


@dataclass(frozen=True)
class Reply:
    """One whole message of the model.

    `content` is made of blocks as they are sent back. The calls whose ids are in `cut` did not
    arrive whole: their input is empty here and they must not run.
    """

    content: tuple[Block, ...]
    stop_reason: str
    spent: Spent
    cut: frozenset[str] = frozenset()
    explanation: str = ""  # why the model refused

    @property
    def calls(self) -> tuple[Block, ...]:
        """The tools it wants to use, in order."""
        return tuple(block for block in self.content if block["type"] == "tool_use")


@dataclass(frozen=True)
class Failure:
    """A request that brought no whole message. Nothing was done for it but reading `spent`."""

    why: str
    spent: Spent
    pause: float  # seconds until the next try; 0 after the last


class Ask(Protocol):
    """How a conversation reaches the model."""

    def __call__(self, body: Body, seconds: float, failed: Callable[[Failure], None]) -> Reply:
        """Send a request until it is answered; `failed` hears of each try that was not.

        All tries together end after so many `seconds`. A conversation too long for the model comes
        back as an empty reply with the stop reason model_context_window_exceeded. Raises SyncError
        if asking again is of no use, Unreachable if the model stayed out of reach; what `failed`
        raises passes through.
        """
