"""Connections of the GraphQL API: pages of at most 100, with cursors. And errors with a type."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from graphql import GraphQLResolveInfo

Info = GraphQLResolveInfo
Shape = dict[str, Any]
Record = TypeVar("Record")
LARGEST_PAGE = 100


class Refused(Exception):
    """An error with one of GitHub's types; the HTTP status stays 200."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


def connection(items: Sequence[Record], shape: Callable[[Record], Shape]) -> Callable[..., Shape]:
    """A connection that must be asked for by pages of at most 100."""

    def page(info: Info, **args: Any) -> Shape:
        start, end = _span(info.field_name, len(items), args)
        return {
            "nodes": [shape(item) for item in items[start:end]],
            "totalCount": len(items),
            "pageInfo": {
                "startCursor": _cursor(start) if end > start else None,
                "endCursor": _cursor(end - 1) if end > start else None,
                "hasNextPage": end < len(items),
                "hasPreviousPage": start > 0,
            },
        }

    return page


def _span(name: str, total: int, args: dict[str, Any]) -> tuple[int, int]:
    first, last = args.get("first"), args.get("last")
    size = last if first is None else first
    if size is None:
        message = f"You must provide a `first` or `last` value to properly paginate the `{name}`"
        raise Refused("MISSING_PAGINATION_BOUNDARIES", f"{message} connection.")
    if not 0 <= size <= LARGEST_PAGE:
        message = f"Requesting {size} records on the `{name}` connection exceeds the limit"
        raise Refused("EXCESSIVE_PAGINATION", f"{message} of {LARGEST_PAGE} records.")
    start = _place(args.get("after"), -1) + 1
    end = _place(args.get("before"), total)
    return (start, min(start + size, end)) if first is not None else (max(start, end - size), end)


def _cursor(place: int) -> str:
    return f"c{place}"


def _place(cursor: str | None, default: int) -> int:
    if cursor is None:
        return default
    if not cursor.removeprefix("c").isdigit():
        raise Refused(
            "INVALID_CURSOR_ARGUMENTS", f"`{cursor}` does not appear to be a valid cursor."
        )
    return int(cursor.removeprefix("c"))
