"""Blocks and tools held to the SDK's own types of a request."""

from collections.abc import Iterator
from typing import Any

from anthropic.types import ContentBlockParam, ToolParam
from pydantic import TypeAdapter, ValidationError

_BLOCK: TypeAdapter[Any] = TypeAdapter(ContentBlockParam)
_TOOL: TypeAdapter[Any] = TypeAdapter(ToolParam)


def misshapen(body: dict[str, Any]) -> Iterator[str]:
    """Every block and tool of a request that the SDK's types do not know."""
    blocks = [block for message in body["messages"] for block in message["content"]]
    yield from _unfit(_BLOCK, [*body["system"], *blocks])
    yield from _unfit(_TOOL, body.get("tools", []))


def _unfit(adapter: TypeAdapter[Any], items: list[dict[str, Any]]) -> Iterator[str]:
    for item in items:
        try:
            adapter.validate_python(item)
        except ValidationError as error:
            yield f"{item}: {error}"
