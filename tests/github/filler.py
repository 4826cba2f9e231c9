"""Answers in their full shape: what no test looks at is filled in from GitHub's description."""

from collections.abc import Mapping
from typing import Any

from tests.github.spec import Route, resolve

Json = Any
NEUTRAL: Mapping[str | None, Json] = {"array": [], "boolean": False, "integer": 0, "number": 0}


def fill_response(route: Route, status: int, data: Json, url: str) -> Json:
    """An answer with every required property that it lacks set to something neutral."""
    response = route.responses.get(str(status))
    content = resolve(response).get("content") if response else None
    return fill(content["application/json"]["schema"], data, url) if content else data


def fill(schema: Json, value: Json, url: str) -> Json:
    """The value in the full shape of a schema. Links lead to `url`/-/…, where nothing is."""
    schema = resolve(schema)
    for part in schema.get("allOf", ()):
        value = fill(part, value, url)
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return fill(_variant(schema[word], value), value, url)
    if isinstance(value, list):
        return [fill(schema.get("items", {}), item, url) for item in value]
    return _filled(schema, value, url) if isinstance(value, dict) else value


def _filled(schema: Json, value: dict[str, Json], url: str) -> dict[str, Json]:
    known = schema.get("properties", {})
    made = {name: fill(known.get(name, {}), part, url) for name, part in value.items()}
    for name in schema.get("required", ()):
        if name not in made:
            made[name] = _neutral(name, resolve(known[name]), url)
    return made


def _variant(variants: list[Json], value: Json) -> Json:
    """The first variant whose fixed words agree with the value."""
    if isinstance(value, dict):
        return next((part for part in variants if _agrees(part, value)), {})
    return {}


def _agrees(schema: Json, value: dict[str, Json]) -> bool:
    schema = resolve(schema)
    if "allOf" in schema:
        return all(_agrees(part, value) for part in schema["allOf"])
    known = schema.get("properties", {})
    words = {name: resolve(part).get("enum") for name, part in known.items()}
    return all(value[name] in enum for name, enum in words.items() if enum and name in value)


def _neutral(name: str, schema: Json, url: str) -> Json:
    if schema.get("nullable"):
        return None
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "string":
        return _text(name, schema, url)
    if schema.get("type") == "object" or "properties" in schema or "oneOf" in schema:
        return fill(schema, {}, url)
    return NEUTRAL.get(schema.get("type"))


def _text(name: str, schema: Json, url: str) -> str:
    if schema.get("format") == "date-time":
        return "2020-01-01T00:00:00Z"
    is_link = schema.get("format") == "uri" or name.endswith(("url", "href"))
    return f"{url}/-/{name}" if is_link else ""
