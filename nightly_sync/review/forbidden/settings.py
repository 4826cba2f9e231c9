"""Settings of tests, linters, type checkers and coverage: they are not changed to get green. Pure.

A file that holds such settings beside others is compared by its sections. A section is named by
what reads it, and every section that is not known to be harmless counts.
"""

import configparser
import json
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from nightly_sync.review.forbidden.model import FileChange, Refusal, RefusalKind

Sections = Mapping[str, Any]
_PACKAGING = frozenset(
    {
        *(
            "poetry",
            "setuptools",
            "setuptools_scm",
            "setuptools-scm",
            "uv",
            "pdm",
            "flit",
            "maturin",
        ),
        *("scikit-build", "cibuildwheel", "commitizen", "towncrier", "bumpversion", "versioneer"),
        *("semantic_release", "meson-python", "cython", "hatch"),
    }
)
_SETUP = ("metadata", "options", "bdist", "sdist", "egg_info", "build", "install", "versioneer")
_PACKAGE_KEYS = ("scripts", "jest", "eslintConfig", "prettier", "mocha", "nyc", "c8", "lint-staged")


def problems(change: FileChange) -> list[Refusal]:
    """One refusal for the file, or one for each section that is neither old nor a side's."""
    if change.restored or (change.after is None and change.dropped_by_a_side):
        return []
    reader = _READERS.get(change.path.rpartition("/")[2])
    if reader is None:
        return [_refusal(change, "this file")]
    before, after, *sides = (_read(reader, t) for t in (change.before, change.after, *change.sides))
    if before is None or after is None:
        return [_refusal(change, "a settings file that cannot be read")]
    names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    return [
        _refusal(change, f"the section {name}")
        for name in names
        if name not in after or not any(side and side.get(name) == after[name] for side in sides)
    ]


def _refusal(change: FileChange, what: str) -> Refusal:
    evidence = f"{what} says how strict the checks are and may only be restored from a side"
    return Refusal(path=change.path, kind=RefusalKind.SETTINGS, evidence=evidence)


def _read(reader: Callable[[str], Sections], text: bytes | None) -> Sections | None:
    """The sections; none of an absent file, None if it is malformed."""
    try:
        return reader((text or b"").decode())
    except (ValueError, configparser.Error, AttributeError, TypeError, RecursionError):
        return None


def _pyproject(text: str) -> Sections:
    read = tomllib.loads(text)
    tools = read.get("tool", {})
    found = {f"tool.{name}": table for name, table in tools.items() if name not in _PACKAGING}
    scripts = tools.get("hatch", {}).get("envs")
    plugins = read.get("project", {}).get("entry-points", {}).get("pytest11")
    more = {"tool.hatch.envs": scripts, "project.entry-points.pytest11": plugins}
    return found | {name: table for name, table in more.items() if table}


def _setup(text: str) -> Sections:
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    names = (name for name in parser.sections() if not name.startswith(_SETUP))
    found = {name: dict(parser.items(name)) for name in names}
    plugins = parser.get("options.entry_points", "pytest11", fallback="")
    return {**found, "options.entry_points pytest11": plugins} if plugins else found


def _package(text: str) -> Sections:
    found = json.loads(text or "{}")
    return {name: found[name] for name in _PACKAGE_KEYS if name in found}


_READERS = {"pyproject.toml": _pyproject, "setup.cfg": _setup, "package.json": _package}
