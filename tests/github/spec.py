"""GitHub's own description of its REST API, as far as the slice goes: routes, checks, filler.

A route is found by the slice's paths. Parameters that GitHub marks as spanning several path
segments (refs and branches) may be sent with plain slashes; so may label names, which GitHub
accepts too although its description does not say so.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from openapi_core import Config, OpenAPI
from openapi_core.datatypes import RequestParameters
from openapi_core.exceptions import OpenAPIError
from openapi_core.validation.schemas.exceptions import InvalidSchemaValue
from werkzeug.datastructures import Headers, ImmutableMultiDict

from tests.github.state import FUTURE

Json = Any
Pairs = tuple[tuple[str, str], ...]
FILE = Path(__file__).parent / "openapi.json"
HOST = "http://github.invalid"
_ALSO_LONG = ("name",)  # label names
BEYOND = {
    "conclusion": ("stale", "startup_failure", FUTURE.lower()),
    "status": (FUTURE.lower(),),
}
"""Values that GitHub sends, or may send, although its description of a check run lacks them."""


@dataclass(frozen=True)
class Route:
    """One operation of the slice."""

    method: str
    template: str
    operation: str
    pattern: re.Pattern[str]
    query: frozenset[str]
    responses: Mapping[str, Json] = field(hash=False, compare=False)


@cache
def document() -> Json:
    """The slice."""
    return json.loads(FILE.read_text())


@cache
def api() -> OpenAPI:
    """openapi-core's view of it; the slice itself is validated by a test, which takes a second."""
    return OpenAPI.from_dict(_with_null(document()), config=Config(spec_validator_cls=None))


def _with_null(node: Json) -> Json:
    """GitHub writes `nullable` beside `oneOf` and beside enums that lack null, where OpenAPI 3.0
    gives it no meaning; here null is let in, as GitHub means it."""
    if isinstance(node, list):
        return [_with_null(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {key: _with_null(value) for key, value in node.items()}
    if made.get("nullable") is not True:
        return made
    for word in ("anyOf", "oneOf"):
        if word in made:
            made[word].append({"type": "string", "nullable": True, "enum": [None]})
    if None not in made.get("enum", [None]):
        made["enum"].append(None)
    return made


def resolve(node: Json) -> Json:
    """Follow references."""
    while "$ref" in node:
        section, name = node["$ref"].split("/")[-2:]
        node = document()["components"][section][name]
    return node


def _pattern(template: str, parameters: list[Json]) -> re.Pattern[str]:
    long = {p["name"] for p in parameters if p.get("x-multi-segment")} | set(_ALSO_LONG)
    text = re.escape(template).replace(r"\{", "{").replace(r"\}", "}")
    return re.compile(
        re.sub(r"{(\w+)}", lambda m: f"(?P<{m[1]}>{'.+' if m[1] in long else '[^/]+'})", text)
    )


def _route(template: str, method: str, node: Json) -> Route:
    parameters = [resolve(item) for item in node["parameters"]]
    query = frozenset(item["name"] for item in parameters if item["in"] == "query")
    pattern = _pattern(template, parameters)
    return Route(method, template, node["operationId"], pattern, query, node["responses"])


@cache
def routes() -> tuple[Route, ...]:
    """All operations, the longest paths first."""
    found = [
        _route(template, method, node)
        for template, methods in document()["paths"].items()
        for method, node in methods.items()
    ]
    return tuple(sorted(found, key=lambda route: route.template.count("/"), reverse=True))


def match(method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """The operation that a raw path calls, and its decoded path parameters."""
    for route in routes():
        if route.method == method.lower() and (found := route.pattern.fullmatch(path)):
            return route, {key: unquote(value) for key, value in found.groupdict().items()}
    return None


@dataclass
class _Request:
    """What openapi-core wants to see of a request."""

    method: str
    path: str
    parameters: RequestParameters
    body: bytes | None
    content_type: str = "application/json"
    host_url: str = HOST


@dataclass(frozen=True)
class _Response:
    """What openapi-core wants to see of a response."""

    status_code: int
    data: bytes
    content_type: str = "application/json"
    headers: Headers = field(default_factory=Headers)


def _request(
    route: Route, params: Mapping[str, str], query: Mapping[str, str], body: bytes
) -> _Request:
    path = route.template
    for name, value in params.items():
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    parameters = RequestParameters(query=ImmutableMultiDict(query), header=Headers())
    return _Request(route.method, path, parameters, body or None)


def request_problem(
    route: Route, params: Mapping[str, str], query: Mapping[str, str], body: bytes
) -> str:
    """Why GitHub's description does not allow a request; empty if it does."""
    unknown = set(query) - route.query
    if unknown:
        return f"{route.operation} has no parameter {', '.join(sorted(unknown))}"
    return _request_problem(route, tuple(params.items()), tuple(query.items()), body)


@lru_cache(maxsize=4000)  # a poll asks the same again and again
def _request_problem(route: Route, params: Pairs, query: Pairs, body: bytes) -> str:
    try:
        api().validate_request(_request(route, dict(params), dict(query), body))
    except OpenAPIError as error:
        return _reason(error)
    return ""


def response_problem(route: Route, status: int, data: Json, given: Json = None) -> str:
    """Why GitHub's description does not allow a response; empty if it does.

    `given` is what `data` was filled up from. Answers that are alike there are alike as a whole,
    so only the first of them is looked at.

    Refusals that an operation does not list (401 and 403 hold everywhere) are not checked, nor
    are the redirects of a renamed repository.
    """
    if str(status) not in route.responses:
        allowed = status >= 400 or status in (301, 307)
        return "" if allowed else f"{route.operation} never answers {status}"
    key = (route, status, _alike(json.dumps(data if given is None else given)))
    if key not in _judged:
        _judged[key] = _response_problem(route, status, _alike(json.dumps(_within(data))).encode())
    return _judged[key]


_judged: dict[tuple[Route, int, str], str] = {}


_MOVING = {
    r"127\.0\.0\.1:\d+": "127.0.0.1:80",
    r"\b[0-9a-f]{40}\b": "a" * 40,
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ": "2030-01-01T00:00:00Z",
    r"\b\d{4,}\b": "1000",
}


def _alike(text: str) -> str:
    """The same JSON for answers that differ in ports, SHAs, times and ids alone.

    Whether the description allows one does not depend on these, and looking takes a while.
    """
    for pattern, by in _MOVING.items():
        text = re.sub(pattern, by, text)
    return text


@lru_cache(maxsize=4000)
def _response_problem(route: Route, status: int, body: bytes) -> str:
    parameters = RequestParameters(query=ImmutableMultiDict(), header=Headers())
    path = re.sub(r"{(\w+)}", "1", route.template)
    asked = _Request(route.method, path, parameters, None)
    try:
        api().validate_response(asked, _Response(status, body))
    except OpenAPIError as error:
        return _reason(error)
    return ""


def _within(node: Json) -> Json:
    """The same JSON with values that the description lacks taken as null."""
    if isinstance(node, list):
        return [_within(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {k: _known(k) if v in BEYOND.get(k, ()) else _within(v) for k, v in node.items()}


def _known(key: str) -> str | None:
    return "queued" if key == "status" else None


def _reason(error: BaseException) -> str:
    causes = [c for c in (error, *_causes(error)) if isinstance(c, InvalidSchemaValue)]
    found = [e for c in causes for e in c.schema_errors]
    details = [f"{getattr(e, 'json_path', '$')}: {e}".splitlines()[0] for e in found]
    return "; ".join(text[:300] for text in (str(error), *details[:5]))


def _causes(error: BaseException) -> Iterator[BaseException]:
    while error.__cause__ is not None:
        error = error.__cause__
        yield error
