"""A request and a response, as all parts of the stand-in pass them around."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl


@dataclass(frozen=True)
class Request:
    """One HTTP request. Header names are lower case; `path` is raw, without the query."""

    method: str
    path: str
    query_string: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def query(self) -> dict[str, str]:
        """The query's parameters; the last one of a name counts."""
        return dict(parse_qsl(self.query_string, keep_blank_values=True))

    def at(self, path: str) -> "Request":
        """The same request for another path."""
        return Request(self.method, path, self.query_string, self.headers, self.body)


@dataclass
class Response:
    """One HTTP response. `cost` is what it took of the caller's quota `resource`."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    resource: str = ""
    cost: int = 0
    operation: str = ""


def as_json(status: int, data: Any, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON response; None is an empty body."""
    kind = {"Content-Type": "application/json; charset=utf-8"}
    body = b"" if data is None else json.dumps(data).encode()
    return Response(status, body, {**(kind if body else {}), **(headers or {})})
