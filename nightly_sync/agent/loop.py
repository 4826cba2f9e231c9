"""A conversation with Claude about one task: ask, run the tools it wants, ask again.

How it can end is an `Ended`; only what makes asking pointless is an error. Whether an answer is
any good is not decided here: a tool takes it, and says that the task is done.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from nightly_sync.agent.base import Ask, Block, Body, Failure, Reply, Tool, ToolResult
from nightly_sync.agent.budget import Account, BudgetSpent, Meter, Spent
from nightly_sync.agent.messages import (
    KEEP,
    Cleared,
    Messages,
    added,
    cleared,
    for_cache,
    marked,
    result_block,
    returnable,
    text_block,
)
from nightly_sync.agent.settings import AgentSettings
from nightly_sync.errors import SyncError

CUTS = 3  # answers in a row that may reach the output limit
NOT_RUN = ToolResult(
    "Your message was cut at the output limit, so nothing was run. Send the call again, shorter or "
    "in several steps.",
    is_error=True,
)
NOT_WHOLE = ToolResult("The input was no whole JSON object, so nothing was run.", is_error=True)
GO_ON = "Your message was cut at the output limit. Go on, in shorter steps."
HIDDEN = "***"
_now = partial(datetime.now, UTC)


class End(StrEnum):
    """Why a conversation is over."""

    DONE = "done"  # a tool said so
    TURN_OVER = "turn-over"  # the model had nothing more to say
    CUT = "cut"  # its answers were longer than the output limit, again and again
    CONTEXT = "context"  # too long for the model, also without old results
    REFUSED = "refused"
    BUDGET = "budget-spent"
    UNKNOWN = "unknown"  # the API said something this version does not know


@dataclass(frozen=True)
class Ended:
    """How a conversation ended. What its tools did stays done in any case."""

    reason: End
    detail: str  # why, for the report; "" if done
    spent: Spent


@dataclass(frozen=True)
class Transcript:
    """Appends events to a file. Without a path, nothing is kept.

    Pure ASCII, so that bytes no encoding knows survive as escapes. A `secret` is replaced wherever
    it turns up.
    """

    path: Path | None = None
    secret: str = field(default="", repr=False)
    now: Callable[[], datetime] = _now

    def write(self, event: str, task: str, file: str, **facts: Any) -> None:
        """One line: when, what, for which task and file, and the facts."""
        if self.path is None:
            return
        head = {"at": self.now().isoformat(), "event": event, "task": task, "file": file}
        line = json.dumps({**head, **facts})
        if self.secret:
            line = line.replace(json.dumps(self.secret)[1:-1], HIDDEN)
        with self.path.open("a", encoding="ascii") as out:
            out.write(f"{line}\n")


@dataclass(frozen=True)
class Agent:
    """What the conversations of a run share."""

    ask: Ask
    meter: Meter
    transcript: Transcript = field(default_factory=Transcript)


@dataclass(frozen=True)
class Task:
    """What one conversation is about.

    `system` and the tools' names, texts and schemas are the long prefix that is cached: keep them
    the same, byte for byte, in all tasks of a run, and say what is special in `opening`.
    """

    name: str  # the kind, for the bill: "resolve"
    file: str  # "" for a task about no single file
    system: str
    tools: tuple[Tool, ...]
    opening: str
    reminder: str = ""  # said once if the model ends its turn although no tool said done


def converse(agent: Agent, task: Task) -> Ended:
    """Talk until a tool says done, the model ends its turn, or something stops it.

    Raises SyncError if Claude refuses all requests, Unreachable if it stayed out of reach.
    """
    talk = _Conversation(agent, task)
    names = [tool.name for tool in task.tools]
    talk.log("started", system=task.system, tools=names, opening=task.opening)
    try:
        ended = talk.to_the_end()
    except SyncError as error:
        talk.log("ended", reason="error", detail=str(error))
        raise
    talk.log("ended", reason=ended.reason, detail=ended.detail, spent=ended.spent.model_dump())
    return ended


def request(settings: AgentSettings, task: Task, messages: Messages) -> Body:
    """The body of a request; what stays the same in a run comes first for the API's cache."""
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
        for tool in task.tools
    ]
    thinking, effort = settings.thinking, settings.effort
    return {
        "model": settings.model_id,
        "max_tokens": settings.max_output_tokens,
        "system": [for_cache(text_block(task.system))],  # marks the tools before it too
        "messages": marked(messages),
        **({"tools": tools} if tools else {}),
        **({"thinking": {"type": thinking}} if thinking else {}),
        **({"output_config": {"effort": effort}} if effort else {}),
    }


class _Conversation:
    """Messages so far, and what was tried."""

    def __init__(self, agent: Agent, task: Task):
        self._agent = agent
        self._task = task
        self._account = Account(agent.meter, task.name, task.file)
        self._messages = added((), "user", [text_block(task.opening)])
        self._read = 0  # tokens of the last request
        self._cuts = 0  # in a row
        self._reminder = task.reminder  # "" once it was said

    def log(self, event: str, **facts: Any) -> None:
        self._agent.transcript.write(event, self._task.name, self._task.file, **facts)

    def to_the_end(self) -> Ended:
        try:
            while True:
                self._agent.meter.check()
                self._make_room()
                reply = self._ask()
                after = _AFTER.get(reply.stop_reason, _Conversation._unknown)
                if ended := after(self, reply):
                    return ended
        except BudgetSpent as error:
            return self._ended(End.BUDGET, str(error))

    def _ask(self) -> Reply:
        meter = self._agent.meter
        body = request(meter.settings, self._task, self._messages)
        self.log("request", model=body["model"], messages=len(self._messages))
        reply = self._agent.ask(body, meter.seconds_left, self._failed)
        self._account.add(reply.spent + Spent(turns=1))
        self._read = reply.spent.read
        facts = {"stop_reason": reply.stop_reason, "spent": reply.spent.model_dump()}
        self.log("message", content=list(reply.content), cut=sorted(reply.cut), **facts)
        return reply

    def _failed(self, failure: Failure) -> None:
        self._account.add(failure.spent + Spent(retries=1))
        event = "retry" if failure.pause else "failed"
        self.log(event, why=failure.why, pause=failure.pause)
        self._agent.meter.check(failure.pause)

    # What each stop reason leads to

    def _use(self, reply: Reply) -> Ended | None:
        if not reply.calls:
            return self._ended(End.UNKNOWN, "the model announced a tool call and made none")
        self._cuts = 0
        results = []
        for call in reply.calls:
            result = NOT_WHOLE if call["id"] in reply.cut else self._run(call)
            self._account.add(Spent())
            self.log("tool_result", tool=call["name"], id=call["id"], **_told(result))
            if result.done:
                return self._ended(End.DONE, "")
            results.append(result_block(call, result))
        self._keep(reply, results)
        return None

    def _run(self, call: Block) -> ToolResult:
        tools = {tool.name: tool for tool in self._task.tools}
        if call["name"] in tools:
            return tools[call["name"]].call(call["input"])
        known = f"There is no tool {call['name']}, only {', '.join(tools)}."
        return ToolResult(known, is_error=True)

    def _cut_short(self, reply: Reply) -> Ended | None:
        self._cuts += 1
        if self._cuts > CUTS:
            return self._ended(End.CUT, f"{self._cuts} answers in a row reached the output limit")
        # Which of the calls are whole is not worth guessing: none is run.
        answers = [result_block(call, NOT_RUN) for call in reply.calls]
        self._keep(reply, answers or [text_block(GO_ON)])
        return None

    def _paused(self, reply: Reply) -> Ended | None:
        if reply.calls:
            return self._use(reply)
        self._keep(reply, [])
        return None

    def _too_long(self, reply: Reply) -> Ended | None:
        smaller = cleared(self._messages, keep=1)
        if not smaller.results:  # so it ends when it was cleared just before
            return self._ended(End.CONTEXT, "the conversation is too long for the model")
        self._adopt(smaller)  # the reply is dropped: it broke off, and none of it was run
        return None

    def _turn_over(self, reply: Reply) -> Ended | None:
        if reply.calls:
            return self._ended(End.UNKNOWN, "the model ended its turn with a tool call")
        if not self._reminder:
            return self._ended(End.TURN_OVER, "the model ended its turn without an answer")
        self._keep(reply, [text_block(self._reminder)])
        self._reminder = ""
        return None

    def _refused(self, reply: Reply) -> Ended:
        why = f": {reply.explanation}" if reply.explanation else ""
        return self._ended(End.REFUSED, f"the model refused{why}")

    def _unknown(self, reply: Reply) -> Ended:
        return self._ended(End.UNKNOWN, f"the model stopped with {reply.stop_reason!r}")

    # Inside

    def _keep(self, reply: Reply, answers: list[Block]) -> None:
        kept = added(self._messages, "assistant", returnable(reply.content))
        self._messages = added(kept, "user", answers)

    def _make_room(self) -> None:
        limit = self._agent.meter.settings.context_tokens
        if self._read > limit and (smaller := cleared(self._messages, KEEP)).worthwhile(limit):
            self._adopt(smaller)

    def _adopt(self, smaller: Cleared) -> None:
        self._messages = smaller.messages
        self.log("cleared", results=smaller.results, freed=smaller.freed)

    def _ended(self, reason: End, detail: str) -> Ended:
        self._account.add(Spent())
        return Ended(reason, detail, self._account.spent)


def _told(result: ToolResult) -> dict[str, Any]:
    """A tool's result for the transcript."""
    fault = {"fault": result.fault} if result.fault else {}
    return {"text": result.text, "is_error": result.is_error, "done": result.done, **fault}


_AFTER: dict[str, Callable[[_Conversation, Reply], Ended | None]] = {
    "tool_use": _Conversation._use,
    "end_turn": _Conversation._turn_over,
    "stop_sequence": _Conversation._turn_over,
    "max_tokens": _Conversation._cut_short,
    "pause_turn": _Conversation._paused,
    "refusal": _Conversation._refused,
    "model_context_window_exceeded": _Conversation._too_long,
}
