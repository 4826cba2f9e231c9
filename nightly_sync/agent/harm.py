"""What a repair must not do, whatever it mends: bring new errors, or lose a definition. Pure."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nightly_sync import imports, paths
from nightly_sync.agent.forbidden import FileChange
from nightly_sync.audits.model import Finding, FindingKind, Severity
from nightly_sync.audits.statements import Holder, blocks
from nightly_sync.merge.syntax import is_python

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DROPPED = "definition-dropped"  # kind of an objection
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_QUOTED = re.compile(r"`([^`]+)`")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Objection:
    """Why a repair is not taken: a word to count by, and a sentence for Claude."""

    kind: str
    sentence: str


Key = tuple[FindingKind, str, str]
"""Kind, path, and what it is about: a name, else the evidence without its numbers."""


def keys(finding: Finding) -> frozenset[Key]:
    """What an error is about, whatever line it is in: an edit above moves the line."""
    about = _QUOTED.findall(finding.evidence) or [_NUMBER.sub("", finding.evidence)]
    return frozenset((finding.kind, finding.path, item) for item in about)


def errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those that keep a pull request a draft."""
    return tuple(item for item in findings if item.severity is Severity.ERROR)


def new_errors(before: Iterable[Finding], after: Iterable[Finding]) -> list[Objection]:
    """An objection for each error that was not there before the repair."""
    known = {key for item in errors(before) for key in keys(item)}
    return [objection(item) for item in errors(after) if not keys(item) <= known]


def objection(finding: Finding) -> Objection:
    """An error as an objection."""
    where = paths.quote(finding.path) + (f" line {finding.line}" if finding.line else "")
    return Objection(finding.kind, f"{finding.kind} in {where}: {finding.evidence}")


def lost_definitions(changes: Sequence[FileChange]) -> list[Objection]:
    """An objection for each function or class that a side has and the repair took out.

    It may go if one side deleted it itself, or if another changed file has it now.
    """
    return [
        Objection(DROPPED, f"{paths.quote(change.path)}: `{name}` is gone, and a side has it")
        for change in changes
        if is_python(change.path)
        for name in _lost(change, changes)
    ]


def _lost(change: FileChange, changes: Sequence[FileChange]) -> Iterator[str]:
    gone = _names(change.before) - _names(change.after)
    if not gone:
        return
    sides, base = [_names(text) for text in change.sides], _names(change.base)
    moved = set().union(*(_names(c.after) - _names(c.before) for c in changes if c is not change))
    for name in sorted(gone):
        on_a_side = any(name in side for side in sides)
        deleted = name in base and not all(name in side for side in sides)
        if on_a_side and not deleted and name not in moved and not _inside(name, gone):
            yield name


def _inside(name: str, gone: set[str]) -> bool:
    """Is it part of a class that is gone as a whole?"""
    return name.rpartition(".")[0] in gone


def _names(text: bytes | None) -> set[str]:
    return set(definitions(text or b""))


def definitions(text: bytes) -> dict[str, Definition]:
    """Functions and classes of a module by name, methods as `Class.method`; none inside functions.

    Of two with one name the last; nothing of what does not parse.
    """
    tree = imports.parse(text)
    return {} if tree is None else dict(_defined(tree, ""))


def _defined(node: ast.AST, prefix: str) -> Iterator[tuple[str, Definition]]:
    for child in (child for block in blocks(node) for child in block):
        if isinstance(child, Definition):
            yield prefix + child.name, child
        if not isinstance(child, _FUNCTIONS):
            yield from _defined(child, _prefix(child, prefix))


def _prefix(child: Holder, prefix: str) -> str:
    return f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix
