"""The messages of a conversation: built, marked for the cache, cleared of old results. Pure.

Every tool_use is answered by one tool_result in the message after it, and roles alternate: the API
refuses anything else. All here keeps both.
"""

from collections.abc import Iterable
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
_THINKING = ("thinking", "redacted_thinking")
# An answer that was cut short can end in these, without what makes them valid.
_PROOF = {"text": "text", "thinking": "signature"}


def text_block(text: str) -> Block:
    """Text as the API takes it: not empty, and without undecodable bytes."""
    return {"type": "text", "text": sendable(text)}


def result_block(call: Block, result: ToolResult) -> Block:
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


def marked(messages: Messages) -> list[Message]:
    """With cache marks on the last two user messages.

    The newest is written to the cache. The one before was written by the last request and is
    marked again since the API looks for an older entry only 20 blocks back from a mark ("Prompt
    caching"), and a message may hold more results than that.
    """
    new = list(messages)
    for at in [at for at, message in enumerate(messages) if message["role"] == "user"][-2:]:
        *others, last = new[at]["content"]
        new[at] = {**new[at], "content": [*others, for_cache(last)]}
    return new


def for_cache(block: Block) -> Block:
    """The block, with a mark: the API keeps all up to here in its cache."""
    return {**block, "cache_control": {"type": "ephemeral"}}


@dataclass(frozen=True)
class Cleared:
    """A shorter conversation."""

    messages: Messages
    results: int  # how many were cleared
    freed: int  # characters of them

    def worthwhile(self, limit: int) -> bool:
        """Does it free enough, with a limit of so many tokens, to pay for a cold cache?"""
        return self.freed >= limit * CHARACTERS * WORTH


def cleared(messages: Messages, keep: int = KEEP) -> Cleared:
    """All but the newest `keep` tool results replaced by a mark, if they are longer than it.

    Thinking after the first change goes too: newer models refuse a thinking block if anything
    before it is not as it was ("Preserved thinking").
    """
    results = [block for item in messages for block in item["content"] if "tool_use_id" in block]
    old = {
        block["tool_use_id"]: len(block["content"]) - len(CLEARED)
        for block in results[: max(0, len(results) - keep)]
        if len(block["content"]) > len(CLEARED)
    }
    after, changed = Messages(), False
    for message in messages:
        blocks = [
            {**block, "content": CLEARED} if block.get("tool_use_id") in old else block
            for block in message["content"]
            if not (changed and block["type"] in _THINKING)
        ]
        changed = changed or blocks != message["content"]
        after = added(after, message["role"], blocks)
    return Cleared(after, len(old), sum(old.values()))
