"""One request to Claude, sent until a whole message has arrived.

Importing this takes seconds: do it late. Tools run only after `Api` returned, so a request that
is sent again repeats no side effect.
"""

import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import anthropic
import httpx2
from anthropic import Anthropic, AnthropicBedrock, AnthropicVertex

from nightly_sync.agent.base import Block, Body, Failure, Reply
from nightly_sync.agent.budget import Spent
from nightly_sync.agent.messages import sendable
from nightly_sync.errors import SyncError, Unreachable

Client = Anthropic | AnthropicBedrock | AnthropicVertex

CONNECT = 10.0  # seconds
FIRST, LONGEST = 1.0, 60.0  # seconds between tries, doubled each time
LONGEST_ASKED = 300.0  # seconds; the most of a Retry-After that is obeyed
PATIENCE = 1800.0  # seconds after the first try of a request
BEGUN = 5  # answers that may break off: each costs money
SHOWN = 300  # characters of an error; a proxy may answer with a whole page
TOO_LONG = "model_context_window_exceeded"
_RETRYABLE = (408, 409, 429)  # and 500 up, as the SDK has it
_OVERRULED = {"true": True, "false": False}
# An error inside a stream comes with status 200; its type says what the status would have been.
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}


@dataclass(frozen=True)
class Timing:
    """Time and chance, for tests to replace."""

    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = random.random


class _Trouble(Exception):
    """A try without a whole message.

    `final`: asking again changes nothing. `after`: seconds the server asks us to wait.
    """

    def __init__(self, why: str, final: bool = False, after: float | None = None):
        super().__init__(why)
        self.final = final
        self.after = after


@dataclass(eq=False)
class _Until(httpx2.SyncByteStream):
    """The bytes of an answer, until a moment, and while they bring something new.

    Here and not by event, as the SDK keeps pings to itself, which would keep it open for ever.
    """

    stream: Any
    clock: Callable[[], float]
    stall: float
    end: float
    news: float  # when the last event came

    def __iter__(self) -> Iterator[bytes]:
        for part in self.stream:
            now = self.clock()
            if now >= self.end:
                raise _Trouble("the time that was left is over")
            if now - self.news >= self.stall:
                raise _Trouble(f"nothing but pings came for {self.stall:g} s")
            yield part

    def close(self) -> None:
        self.stream.close()


@dataclass
class _Arriving:
    """What of a message came in so far: what it cost, and the raw input of each call."""

    spent: Spent = field(default_factory=Spent)
    inputs: dict[int, str] = field(default_factory=dict)  # by the block's place
    whole: Any = None

    def take(self, event: Any) -> None:
        if event.type == "message_start":
            self.spent = _spent(event.message.usage)
        elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            so_far = self.inputs.get(event.index, "")
            self.inputs[event.index] = so_far + event.delta.partial_json
        elif event.type == "message_stop":
            self.whole = event.message


@dataclass(frozen=True)
class Api:
    """Asks Claude: the `Ask` of `base.py`. `outages` are further errors that may pass.

    A try is given up after `stall` seconds without a byte, or with pings only.
    """

    client: Client
    stall: float
    timing: Timing = field(default_factory=Timing)
    outages: tuple[type[Exception], ...] = ()

    def __call__(self, body: Body, seconds: float, failed: Callable[[Failure], None]) -> Reply:
        """Send it until it is answered; see `Ask`."""
        clock, tried, begun = self.timing.clock, 0, 0
        started = clock()
        end = started + seconds
        while True:
            arriving = _Arriving()
            try:
                return self._try(body, end, arriving)
            except _Trouble as error:
                trouble = error
            begun += bool(arriving.spent.tokens)
            pause = _pause(trouble, tried, self.timing.jitter())
            tried += 1
            last = trouble.final or begun >= BEGUN or clock() - started + pause > PATIENCE
            failed(Failure(str(trouble), arriving.spent, 0.0 if last else pause))
            if trouble.final:
                raise SyncError(str(trouble))
            if last:
                times = "once" if tried == 1 else f"{tried} times"
                raise Unreachable(f"Claude's API was asked {times} without an answer: {trouble}.")
            self.timing.sleep(pause)

    def _try(self, body: Body, end: float, arriving: _Arriving) -> Reply:
        clock, stall = self.timing.clock, self.stall
        timeout = anthropic.Timeout(min(stall, max(1.0, end - clock())), connect=CONNECT)
        try:
            with self.client.messages.stream(**body, timeout=timeout) as stream:
                until = _Until(stream.response.stream, clock, stall, end, clock())
                stream.response.stream = until
                self._read(stream, until, arriving)
        except anthropic.APIStatusError as error:
            return _refused(error, body)
        except (anthropic.APIConnectionError, httpx2.RequestError) as error:
            raise _Trouble(f"the connection broke ({_cause(error)})") from error
        except self.outages as error:
            raise _Trouble(f"the cloud's credentials do not work ({error})") from error
        if arriving.whole is None or arriving.whole.stop_reason is None:
            raise _Trouble("the answer ended early")
        return _reply(arriving)

    def _read(self, stream: Iterator[Any], until: _Until, arriving: _Arriving) -> None:
        try:
            for event in stream:
                until.news = self.timing.clock()
                arriving.take(event)
        except ValueError as error:  # all that the SDK's JSON parsers raise
            raise _Trouble(f"the answer could not be read ({str(error)[:SHOWN]})") from error


def _cause(error: Exception) -> str:
    """The HTTP library's own words: the SDK's only say that there was an error."""
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {cause}".removesuffix(": ")


# A whole message


def _reply(arriving: _Arriving) -> Reply:
    message = arriving.whole
    # Without the SDK's warnings: the input of a tool need not be an object.
    blocks = [block.to_dict(warnings=False) for block in message.content]
    read = [_whole(block, arriving.inputs.get(at, "{}")) for at, block in enumerate(blocks)]
    details = message.stop_details
    return Reply(
        content=tuple(block for block, _ in read),
        stop_reason=message.stop_reason,
        spent=_spent(message.usage),
        cut=frozenset(block["id"] for block, whole in read if not whole),
        explanation=(details and details.explanation) or "",
    )


def _whole(block: Block, raw: str) -> tuple[Block, bool]:
    """A block fit to be sent back, and whether it arrived whole.

    The SDK reads the input of a tool as far as it goes: half of it looks like a whole one.
    """
    if block["type"] == "text":
        return {**block, "text": sendable(block["text"]) if block["text"] else ""}, True
    if block["type"] != "tool_use":
        return block, True
    given = _object(raw)
    return {**block, "input": given or {}}, given is not None


def _object(raw: str) -> dict[str, Any] | None:
    """The JSON object in a text; None if it isn't one, or one that JSON can't carry back."""
    try:
        value = json.loads(raw)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _spent(usage: Any) -> Spent:
    return Spent(
        input=usage.input_tokens,
        output=usage.output_tokens,
        cache_read=usage.cache_read_input_tokens or 0,
        cache_write=usage.cache_creation_input_tokens or 0,
    )


# None


def _refused(error: anthropic.APIStatusError, body: Body) -> Reply:
    headers, sent = error.response.headers, error.status_code
    said = " ".join((error.api_message or error.message).split())[:SHOWN]
    status = sent if sent >= 400 else _STATUS.get(str(error.type), 500)
    if status == 413 or (status == 400 and "prompt is too long" in said):
        return Reply((), TOO_LONG, Spent())
    passing = status in _RETRYABLE or status >= 500
    # The API may overrule what the status says, as the SDK has it.
    if _OVERRULED.get(headers.get("x-should-retry", ""), passing):
        wait = headers.get("retry-after", "")  # in seconds; a date is left to our own pauses
        raise _Trouble(f"{status}: {said}", after=float(wait) if wait.isdecimal() else None)
    raise _Trouble(_sentence(status, said, str(body["model"])), final=True)


def _sentence(status: int, said: str, model: str) -> str:
    if status == 401:
        return "Claude's API does not accept the key: check what the agent's setting key names."
    if status == 404:
        return (
            f"Claude's API knows no model {model} here: check the agent's settings model and "
            f"base_url ({said})."
        )
    return f"Claude's API refused the request ({status}): {said}"


def _pause(trouble: _Trouble, tried: int, jitter: float) -> float:
    """Seconds before the next try; `tried` counts from 0, `jitter` is from 0 to 1."""
    if trouble.after is not None:
        return min(trouble.after, LONGEST_ASKED) + jitter
    return min(FIRST * float(2 ** min(tried, 10)), LONGEST) * (0.5 + jitter / 2)
