"""The messages of a conversation: built, marked for the cache, cleared of old results. Pure.

Every tool_use is answered by one tool_result in the message after it, and roles alternate: the API
refuses anything else. All here keeps both.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nightly_sync.agent.base import Block, ToolResult

Message = dict[str, Any]
"""`role` and `content`, a list of blocks. Never changed in place."""
Messages = tuple[Message, ...]

CLEARED = "[cleared to make room; use the tool again if it still matters]"
KEEP = 4  # newest tool results that stay
CHARACTERS = 4  # to a token, roughly; only to tell whether clearing is worth a cold cache
WORTH = 0.1  # of the limit that clearing must free
_EPHEMERAL = {"cache_control": {"type": "ephemeral"}}
_THINKING = ("thinking", "redacted_thinking")


def text_block(text: str) -> Block:
    """Text as the API takes it: not empty, and without undecodable bytes."""
    return {"type": "text", "text": sendable(text)}


def result_block(call: Block, result: ToolResult) -> Block:
    """The answer to a tool call."""
    block = {"type": "tool_result", "tool_use_id": call["id"], "content": sendable(result.text)}
    return {**block, "is_error": True} if result.is_error else block


def sendable(text: str) -> str:
    """UTF-8 can't hold lone surrogates, and the API takes no empty text."""
    return text.encode("utf-8", "backslashreplace").decode() or "(nothing)"


def added(messages: Messages, role: str, blocks: Iterable[Block]) -> Messages:
    """With blocks at the end: in a message of their own, or in the last one if it has that role."""
    new = list(blocks)
    if not new:
        return messages
    if messages and messages[-1]["role"] == role:
        last = messages[-1]
        return (*messages[:-1], {**last, "content": [*last["content"], *new]})
    return (*messages, {"role": role, "content": new})


def returnable(content: Iterable[Block]) -> list[Block]:
    """What of a reply may be sent back: no empty text, no thinking that was cut short."""
    return [block for block in content if block.get(_PROOF.get(block["type"], "type"))]


# An answer that was cut short can end in these, without what makes them valid.
_PROOF = {"text": "text", "thinking": "signature"}


def marked(messages: Messages) -> list[Message]:
    """With cache marks on the last two user messages.

    The newest is written to the cache. The one before was written by the last request and is
    marked again since the API looks for an older entry only 20 blocks back from a mark ("Prompt
    caching"), and a message may hold more results than that.
    """
    users = [at for at, message in enumerate(messages) if message["role"] == "user"][-2:]
    return [_mark(message) if at in users else message for at, message in enumerate(messages)]


def _mark(message: Message) -> Message:
    *others, last = message["content"]
    return {**message, "content": [*others, {**last, **_EPHEMERAL}]}


def system_blocks(text: str) -> list[Block]:
    """The system prompt; its mark caches the tools, which come before it, too."""
    return [{**text_block(text), **_EPHEMERAL}]


@dataclass(frozen=True)
class Cleared:
    """A shorter conversation."""

    messages: Messages
    results: int  # how many were cleared
    freed: int  # characters

    def worthwhile(self, limit: int) -> bool:
        """Does it free enough, with a limit of so many tokens, to pay for a cold cache?"""
        return self.freed >= limit * CHARACTERS * WORTH


def cleared(messages: Messages, keep: int = KEEP) -> Cleared:
    """All but the newest `keep` tool results replaced by a mark, if they are longer than it.

    Thinking after the first change goes too: newer models refuse a thinking block if anything
    before it is not as it was ("Preserved thinking").
    """
    old = _clearable(messages, keep)
    if not old:
        return Cleared(messages, 0, 0)
    first, after = min(old)[0], Messages()
    for at, message in enumerate(messages):
        blocks = (_replaced(block, (at, i) in old) for i, block in enumerate(message["content"]))
        kept = [block for block in blocks if at <= first or block["type"] not in _THINKING]
        after = added(after, message["role"], kept)
    return Cleared(after, len(old), _length(messages) - _length(after))


def _clearable(messages: Messages, keep: int) -> set[tuple[int, int]]:
    """Message and block of each old result that is worth clearing."""
    results = [
        (at, i)
        for at, message in enumerate(messages)
        for i, block in enumerate(message["content"])
        if block["type"] == "tool_result"
    ]
    old = results[: max(0, len(results) - keep)]
    return {(at, i) for at, i in old if len(messages[at]["content"][i]["content"]) > len(CLEARED)}


def _replaced(block: Block, old: bool) -> Block:
    return {**block, "content": CLEARED} if old else block


def _length(messages: Sequence[Message]) -> int:
    """Characters of results and thinking: what clearing can free."""
    blocks = (block for message in messages for block in message["content"])
    return sum(len(block.get("content") or block.get("thinking") or "") for block in blocks)
