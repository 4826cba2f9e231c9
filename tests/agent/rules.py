"""What the API demands of every request, and llmock does not check.

Sources, all in Anthropic's documentation: "Tool use" (pairing, order), "Messages" (roles, no empty
text), "Prompt caching" (four marks), "Preserved thinking" (nothing before a thinking block may
change).
"""

import json
from collections.abc import Iterator
from typing import Any

Message = dict[str, Any]
MARKS = 4


def problems(body: dict[str, Any], may_continue: bool) -> Iterator[str]:
    """Everything wrong with a request; only after a pause may it end with the model's turn."""
    messages = body["messages"]
    roles = [message["role"] for message in messages]
    if roles != ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2):
        yield f"roles do not alternate: {roles}"
    if roles[-1] == "assistant" and not may_continue:
        yield "the last message is the model's own"
    if not all(_said(message) for message in messages):
        yield "a message or a text is empty"
    for before, after in zip(messages, [*messages[1:], {"content": []}], strict=True):
        yield from _pairs(before, after)
    if json.dumps(body).count('"cache_control"') > MARKS:
        yield "too many cache marks"


def _said(message: Message) -> bool:
    content = message["content"]
    return bool(content) and all(block.get("text") != "" for block in content)


def _pairs(message: Message, following: Message) -> Iterator[str]:
    asked = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
    kinds = [block["type"] for block in following["content"]]
    answered = [
        block["tool_use_id"] for block in following["content"] if block["type"] == "tool_result"
    ]
    if asked != answered:
        yield f"calls {asked} are answered by {answered}"
    if kinds != sorted(kinds, key=lambda kind: kind != "tool_result"):
        yield "something stands before a tool result"


def unmarked(messages: list[Message]) -> list[Message]:
    """Without cache marks, which may move."""
    return [
        {**message, "content": [_without_mark(block) for block in message["content"]]}
        for message in messages
    ]


def _without_mark(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}


class Binding:
    """Ties each thinking block to all that stood before it, as newer models do."""

    def __init__(self) -> None:
        self._prefix: dict[str, str] = {}

    def tie(self, body: dict[str, Any], content: list[dict[str, Any]]) -> None:
        """A reply with this content goes out."""
        for at, block in enumerate(content):
            if block["type"] == "thinking":
                so_far = [*body["messages"], {"role": "assistant", "content": content[:at]}]
                self._prefix[block["signature"]] = _digest(body, so_far)

    def problems(self, body: dict[str, Any]) -> Iterator[str]:
        """Thinking that came back behind a changed prefix, or never was."""
        for at, message in enumerate(body["messages"]):
            for i, block in enumerate(message["content"]):
                if block["type"] == "thinking":
                    head = {**message, "content": message["content"][:i]}
                    before = _digest(body, [*body["messages"][:at], head])
                    if self._prefix.get(block["signature"]) != before:
                        yield f"{block['signature']} is bound to a different conversation"


def _digest(body: dict[str, Any], messages: list[Message]) -> str:
    return json.dumps([body["system"], body.get("tools"), unmarked(messages)], sort_keys=True)
