"""A stand-in for Claude's API: llmock behind a script, a recorder and the rules of `rules.py`.

    with StandIn() as claude:
        claude.play(calls(("read", {"path": "a"})), fails(529), says("done"))
        ask = claude.connect()
        ...
    assert claude.problems == []

Each request takes one turn of the script; one too many is a problem. `message` and `events` say
what llmock can't: thinking, the cache's numbers, errors inside a stream.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, replace
from typing import Any

from llmock.scenarios import Behavior, Fail, Reply, StreamFault, ToolCall, ToolFault
from llmock.streaming import sse
from llmock.testing import LLMockServer
from starlette.responses import StreamingResponse

from nightly_sync.agent.client import connect
from nightly_sync.agent.settings import AgentSettings
from nightly_sync.agent.stream import Api, Timing
from tests.agent.rules import Binding, problems
from tests.agent.shapes import misshapen

KEY = "sk-test-4c0ffee5ecret"
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Json = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """One answer: by llmock, or the very events."""

    behaviors: tuple[Behavior, ...] = ()
    raw: tuple[bytes, ...] = ()
    content: tuple[Json, ...] = ()  # of a raw message
    headers: tuple[tuple[bytes, bytes], ...] = ()  # further ones of the answer
    pauses: bool = False  # the next request may end with the model's own turn

    def but(self, kind: Any, after: int, seconds: float = 0.0) -> "Turn":
        """The same, but disconnected, truncated, stalled or malformed after so many events."""
        fault = StreamFault(kind, after_chunks=after, stall_seconds=seconds)
        return replace(self, behaviors=(*self.behaviors, fault))


def says(text: str, stop: str = "stop") -> Turn:
    """Text. `stop` is a stop reason."""
    return Turn((Reply(text=text, finish_reason=stop),), pauses=stop == "pause_turn")


def calls(*tools: tuple[str, Json], text: str | None = None, stop: str = "tool_calls") -> Turn:
    """Tool calls, side by side."""
    made = tuple(ToolCall(name, given) for name, given in tools)
    return Turn((Reply(text=text, tool_calls=made, finish_reason=stop),))


def half_call(name: str, given: Json, stop: str) -> Turn:
    """A tool call whose input breaks off in the middle."""
    turn = calls((name, given), stop=stop)
    return replace(turn, behaviors=(*turn.behaviors, ToolFault("malformed_arguments")))


def fails(
    status: int, after: float | None = None, message: str | None = None, **headers: str
) -> Turn:
    """An error instead of an answer; `after` is its Retry-After."""
    extra = ((key.replace("_", "-").encode(), value.encode()) for key, value in headers.items())
    return Turn((Fail(status, retry_after=after, message=message),), headers=tuple(extra))


def events(*items: Json) -> Turn:
    """The very events of a stream."""
    return Turn(raw=tuple(sse(item, event=item["type"]) for item in items))


def start(**usage: int) -> Json:
    """The event that begins a message."""
    used = {"input_tokens": 10, "output_tokens": 1, **usage}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    return {"type": "message_start", "message": {**head, "stop_reason": None, "usage": used}}


def message(
    *content: Json, stop: str = "tool_use", details: Json | None = None, **usage: int
) -> Turn:
    """A whole message of given blocks, with given usage."""
    delta = {"stop_reason": stop, "stop_sequence": None, "stop_details": details}
    end = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}}
    blocks = (event for at, block in enumerate(content) for event in _block(at, block))
    turn = events(start(**usage), *blocks, end, {"type": "message_stop"})
    return replace(turn, content=content, pauses=stop == "pause_turn")


def _block(at: int, block: Json) -> Iterable[Json]:
    begin = {"type": "content_block_start", "index": at, "content_block": block}
    end = {"type": "content_block_stop", "index": at}
    if block["type"] != "tool_use":
        return [begin, end]
    delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    begin["content_block"] = {**block, "input": {}}
    return [begin, {"type": "content_block_delta", "index": at, "delta": delta}, end]


def thinks(signature: str, thinking: str = "") -> Json:
    """A block of thinking."""
    return {"type": "thinking", "thinking": thinking, "signature": signature}


def use(id: str, name: str, **given: Any) -> Json:
    """A block of tool use."""
    return {"type": "tool_use", "id": id, "name": name, "input": given}


class Time:
    """Time that passes only when somebody sleeps, or asks often enough."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self.step = step

    def clock(self) -> float:
        """Seconds; each look takes `step`."""
        self.now += self.step
        return self.now

    def sleep(self, seconds: float) -> None:
        """Passes at once."""
        self.slept.append(seconds)
        self.now += seconds

    @property
    def timing(self) -> Timing:
        """For `connect`, without any jitter."""
        return Timing(sleep=self.sleep, clock=self.clock, jitter=lambda: 1.0)


class StandIn:
    """The server, for one test after the other: `reset` between them."""

    def __init__(self) -> None:
        self._server = LLMockServer()
        self._server.app.add_middleware(_Recorder, standin=self)
        self._clients: dict[str, Api] = {}
        self.reset()

    def __enter__(self) -> "StandIn":
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    def reset(self) -> None:
        """As new."""
        self._server.state.reset()
        self.bodies: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.problems: list[str] = []
        self._script: list[Turn] = []
        self._may_continue = False
        self._binding = Binding()

    @property
    def url(self) -> str:
        """Base URL for the settings."""
        return self._server.base_url("anthropic")

    def settings(self, **changes: Any) -> AgentSettings:
        """Settings that lead here."""
        return AgentSettings(**{"enabled": True, "base_url": self.url, **changes})

    def connect(self, time: Time | None = None, **changes: Any) -> Api:
        """Claude, as the product reaches it; clients are kept, as each loads certificates."""
        settings = self.settings(**changes)
        known = settings.base_url
        if known not in self._clients:
            self._clients[known] = connect(settings, KEY)
        client, timing = self._clients[known].client, (time or Time()).timing
        return Api(client, settings.stall_seconds, timing)

    def play(self, *turns: Turn) -> None:
        """What the next requests get."""
        self._script += turns

    @property
    def left(self) -> int:
        """Turns nobody asked for yet."""
        return len(self._script)

    def take(self, body: Json, headers: dict[str, str], raw: bytes) -> Turn:
        """A request came in: look at it, and say what it gets."""
        self.bodies.append(body)
        self.headers.append(headers)
        self._judge(body, headers, raw)
        turn = self._script.pop(0) if self._script else fails(400, message="the script is over")
        self._may_continue = turn.pauses
        self._binding.tie(body, list(turn.content))
        self._server.state.scenarios.clear()
        self._server.state.scenarios.add(*turn.behaviors)
        return turn

    def _judge(self, body: Json, headers: dict[str, str], raw: bytes) -> None:
        self.problems += [*misshapen(body), *problems(body, self._may_continue)]
        self.problems += self._binding.problems(body)
        if not self._script:
            self.problems.append("one request too many")
        where = [name for name, value in headers.items() if KEY in value]
        if KEY.encode() in raw or where not in ([], ["authorization"]):
            self.problems.append(f"the key is in the body or in {where}")


class _Recorder:
    """ASGI: hands each request to the stand-in, and on to llmock unless it is answered here."""

    def __init__(self, app: Any, standin: StandIn):
        self._app = app
        self._standin = standin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = b""
        while True:
            part = await receive()
            raw += part.get("body", b"")
            if not part.get("more_body"):
                break
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        turn = self._standin.take(json.loads(raw), headers, raw)
        if turn.raw:
            response = StreamingResponse(_sent(turn.raw), media_type="text/event-stream")
            await response(scope, receive, send)
            return
        await self._app(scope, _again(raw, receive), _with(turn.headers, send))


def _with(headers: tuple[tuple[bytes, bytes], ...], send: Send) -> Send:
    async def sender(part: MutableMapping[str, Any]) -> None:
        if part["type"] == "http.response.start":
            part = {**part, "headers": [*part["headers"], *headers]}
        await send(part)

    return sender


async def _sent(raw: tuple[bytes, ...]) -> Any:
    for event in raw:
        yield event


def _again(raw: bytes, receive: Receive) -> Receive:
    parts: list[Json] = [{"type": "http.request", "body": raw, "more_body": False}]

    async def replay() -> MutableMapping[str, Any]:
        return parts.pop() if parts else await receive()

    return replay
