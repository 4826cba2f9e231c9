"""Cut the parts that the stand-in serves out of GitHub's own API descriptions.

    python -m tests.github.cut_specs OPENAPI_PACKAGE GRAPHQL_PACKAGE

The arguments are folders of two unpacked npm packages, `@octokit/openapi` and
`@octokit/graphql-schema`. Writes `openapi.json` and `schema.graphql` beside this file. Only
structure is kept: paths, methods, parameters, types, enums, required, nullable. Prose (summaries,
descriptions, titles, examples) goes. Both outputs name the version they were cut from.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.github.cut_graphql import cut_graphql

Json = Any
HERE = Path(__file__).parent
OPENAPI_SOURCE = "generated/api.github.com.json"
GRAPHQL_SOURCE = "schema.graphql"
WIDTH = 100  # characters of a line of openapi.json

_REPO = "/repos/{owner}/{repo}"
_RUN = f"{_REPO}/actions/runs/{{run_id}}"
OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "/app": ("get",),
    "/app/installations/{installation_id}": ("get",),
    "/app/installations/{installation_id}/access_tokens": ("post",),
    "/rate_limit": ("get",),
    "/user": ("get",),
    _REPO: ("get",),
    f"{_REPO}/installation": ("get",),
    f"{_REPO}/actions/jobs/{{job_id}}": ("get",),
    f"{_REPO}/actions/jobs/{{job_id}}/logs": ("get",),
    f"{_REPO}/actions/jobs/{{job_id}}/rerun": ("post",),
    f"{_REPO}/actions/runs": ("get",),
    _RUN: ("get",),
    f"{_RUN}/jobs": ("get",),
    f"{_RUN}/rerun": ("post",),
    f"{_RUN}/rerun-failed-jobs": ("post",),
    f"{_REPO}/actions/workflows": ("get",),
    f"{_REPO}/actions/workflows/{{workflow_id}}": ("get",),
    f"{_REPO}/actions/workflows/{{workflow_id}}/dispatches": ("post",),
    f"{_REPO}/actions/workflows/{{workflow_id}}/runs": ("get",),
    f"{_REPO}/branches/{{branch}}": ("get",),
    f"{_REPO}/branches/{{branch}}/protection": ("get",),
    f"{_REPO}/branches/{{branch}}/protection/required_status_checks": ("get",),
    f"{_REPO}/check-runs/{{check_run_id}}": ("get",),
    f"{_REPO}/check-runs/{{check_run_id}}/annotations": ("get",),
    f"{_REPO}/check-runs/{{check_run_id}}/rerequest": ("post",),
    f"{_REPO}/check-suites/{{check_suite_id}}": ("get",),
    f"{_REPO}/check-suites/{{check_suite_id}}/check-runs": ("get",),
    f"{_REPO}/check-suites/{{check_suite_id}}/rerequest": ("post",),
    f"{_REPO}/commits": ("get",),
    f"{_REPO}/commits/{{commit_sha}}/pulls": ("get",),
    f"{_REPO}/commits/{{ref}}": ("get",),
    f"{_REPO}/commits/{{ref}}/check-runs": ("get",),
    f"{_REPO}/commits/{{ref}}/check-suites": ("get",),
    f"{_REPO}/commits/{{ref}}/status": ("get",),
    f"{_REPO}/commits/{{ref}}/statuses": ("get",),
    f"{_REPO}/git/ref/{{ref}}": ("get",),
    f"{_REPO}/git/refs": ("post",),
    f"{_REPO}/git/refs/{{ref}}": ("delete", "patch"),
    f"{_REPO}/issues/comments/{{comment_id}}": ("get", "patch", "delete"),
    f"{_REPO}/issues/{{issue_number}}/comments": ("get", "post"),
    f"{_REPO}/issues/{{issue_number}}/labels": ("get", "post"),
    f"{_REPO}/issues/{{issue_number}}/labels/{{name}}": ("delete",),
    f"{_REPO}/labels": ("get", "post"),
    f"{_REPO}/labels/{{name}}": ("get",),
    f"{_REPO}/pulls": ("get", "post"),
    f"{_REPO}/pulls/{{pull_number}}": ("get", "patch"),
    f"{_REPO}/pulls/{{pull_number}}/commits": ("get",),
    f"{_REPO}/pulls/{{pull_number}}/requested_reviewers": ("get", "post", "delete"),
    f"{_REPO}/rules/branches/{{branch}}": ("get",),
}

_COUNTS = [f"{end}{what}" for end in ("min", "max") for what in ("imum", "Length", "Items")]
SCHEMA_KEYS = (
    *("$ref", "type", "format", "enum", "nullable", "pattern", "discriminator", "uniqueItems"),
    *("properties", "required", "additionalProperties", "maxProperties", "minProperties"),
    *("items", "allOf", "anyOf", "oneOf", "not", *_COUNTS),
)
"""Of a schema; what is not listed is prose, or a hint for clients."""
PARAMETER_KEYS = ("name", "in", "required", "style", "explode", "x-multi-segment")


def schema(node: Json) -> Json:
    """A schema without prose, down to its leaves."""
    if not isinstance(node, dict):
        return node
    return {key: _keyword(key, value) for key, value in node.items() if key in SCHEMA_KEYS}


def _keyword(key: str, value: Json) -> Json:
    if key == "properties":
        return {name: schema(part) for name, part in value.items()}
    if key in ("allOf", "anyOf", "oneOf"):
        return [schema(part) for part in value]
    if key in ("items", "not", "additionalProperties"):
        return schema(value)
    return value


def parameter(node: Json) -> Json:
    """A parameter, or a reference to one."""
    if "$ref" in node:
        return {"$ref": node["$ref"]}
    kept = {key: node[key] for key in PARAMETER_KEYS if key in node}
    return kept | {"schema": schema(node["schema"])}


def content(node: Json) -> Json:
    """The JSON variant of a body; the stand-in speaks no other."""
    media = node.get("content", {}).get("application/json")
    if media is None:
        return {}
    return {"content": {"application/json": {"schema": schema(media["schema"])}}}


def response(node: Json) -> Json:
    """A response, or a reference to one. OpenAPI demands a description, so it is empty."""
    return {"$ref": node["$ref"]} if "$ref" in node else {"description": "", **content(node)}


def operation(node: Json) -> Json:
    """One method of one path."""
    kept: dict[str, Json] = {"operationId": node["operationId"]}
    kept["parameters"] = [parameter(item) for item in node.get("parameters", [])]
    if "requestBody" in node:
        body = node["requestBody"]
        kept["requestBody"] = {"required": body.get("required", False), **content(body)}
    kept["responses"] = {code: response(item) for code, item in node["responses"].items()}
    return kept


CLEANERS = {"parameters": parameter, "responses": response, "schemas": schema}


def references(node: Json) -> Iterator[tuple[str, str]]:
    """`(section, name)` of each component that a node points at."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            section, _, name = node["$ref"].removeprefix("#/components/").partition("/")
            yield section, name
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def components(source: Json, paths: Json) -> dict[str, dict[str, Json]]:
    """All components that the paths need, and those that these need in turn."""
    kept: dict[str, dict[str, Json]] = {section: {} for section in CLEANERS}
    waiting = [*references(paths), ("schemas", "basic-error")]
    while waiting:
        section, name = waiting.pop()
        if name not in kept[section]:
            part = CLEANERS[section](source["components"][section][name])
            kept[section][name] = part
            waiting.extend(references(part))
    return {section: dict(sorted(parts.items())) for section, parts in kept.items()}


def cut_openapi(source: Json, version: str) -> Json:
    """The slice as a valid OpenAPI document of its own."""
    paths = {
        path: {method: operation(source["paths"][path][method]) for method in methods}
        for path, methods in OPERATIONS.items()
    }
    title = f"A slice of GitHub's REST API, structure only; cut from @octokit/openapi {version}"
    return {
        "openapi": source["openapi"],
        "info": {"title": title, "version": version},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": components(source, paths),
    }


def layout(node: Json, indent: str = "", key: str = "") -> str:
    """Compact JSON in lines: what fits into one stays in one, and short neighbours share one."""
    flat = json.dumps(node, ensure_ascii=False, separators=(",", ":"))
    if len(indent + key + flat) < WIDTH or not isinstance(node, dict | list):
        return key + flat
    deeper = f"{indent} "
    if isinstance(node, list):
        lines = filled([layout(item, deeper) for item in node], deeper)
        return f"{key}[\n{lines}\n{indent}]"
    items = [layout(value, deeper, f"{json.dumps(name)}:") for name, value in node.items()]
    return f"{key}{{\n{filled(items, deeper)}\n{indent}}}"


def filled(items: list[str], indent: str) -> str:
    """Items in as few lines as the width allows; one of several lines has them for itself."""
    lines = [indent + items[0]]
    for item in items[1:]:
        lines[-1] += ","
        if "\n" in item + lines[-1] or len(lines[-1]) + len(item) >= WIDTH:
            lines.append(indent + item)
        else:
            lines[-1] += item
    return "\n".join(lines)


def version_of(package: Path) -> str:
    """The version an unpacked npm package calls itself."""
    return str(json.loads((package / "package.json").read_text())["version"])


def main(openapi: Path, graphql: Path) -> None:
    """Read both packages and write both slices."""
    source = json.loads((openapi / OPENAPI_SOURCE).read_text())
    cut = layout(cut_openapi(source, version_of(openapi)))
    (HERE / "openapi.json").write_text(f"{cut}\n")
    text = cut_graphql((graphql / GRAPHQL_SOURCE).read_text(), version_of(graphql))
    (HERE / "schema.graphql").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
