"""What nothing Claude writes may do: bring new errors, or lose a definition. Pure."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nightly_sync import imports, paths
from nightly_sync.audits.model import Finding, FindingKind, Severity
from nightly_sync.audits.statements import blocks
from nightly_sync.merge.syntax import is_python
from nightly_sync.review.forbidden import FileChange

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DROPPED = "definition-dropped"  # kind of an objection
_QUOTED = re.compile(r"`([^`]+)`")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Objection:
    """Why an answer or a repair is not taken: a word to count by, and a sentence for Claude."""

    kind: str
    sentence: str
    hunk: int | None = None  # of a conflicted file, from 0


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
    """An objection for each function or class that a side has and a change took out.

    It may go if one side deleted it itself, or if it moved to another changed file as it was.
    """
    return [
        Objection(DROPPED, f"{paths.quote(change.path)}: `{name}` is gone, and a side has it")
        for change in changes
        if is_python(change.path)
        for name in _lost(change, changes)
    ]


def _lost(change: FileChange, changes: Sequence[FileChange]) -> Iterator[str]:
    before, after = definitions(change.before), definitions(change.after)
    gone = before.keys() - after.keys()
    if not gone:
        return
    sides, base = [definitions(text) for text in change.sides], definitions(change.base)
    others = [item for item in changes if item is not change]
    for name in sorted(gone):
        versions = [side[name] for side in sides if name in side]
        deleted = name in base and len(versions) < len(sides)
        whole = name.rpartition(".")[0] in gone  # a part of a class that is gone
        if versions and not (deleted or whole or _moved(name, [before[name], *versions], others)):
            yield name


def _moved(name: str, versions: list[Definition], others: Iterable[FileChange]) -> bool:
    """Has a file that did not define it the very same definition now?"""
    known = {ast.dump(node) for node in versions}
    found = (definitions(c.after).get(name) for c in others if name not in definitions(c.before))
    return any(node is not None and ast.dump(node) in known for node in found)


@lru_cache(maxsize=8)
def definitions(text: bytes | None) -> Mapping[str, Definition]:
    """Functions and classes of a module by name, methods as `Class.method`; none inside functions.

    Of two with one name the last; nothing of what does not parse.
    """
    tree = imports.parse(text or b"")
    return {} if tree is None else dict(defined(tree))


def defined(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """The same with every definition, in the order of the text."""
    # No recursion: a chain of `elif` is as deep as it is long.
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending:
        prefix, node = pending.pop()
        if isinstance(node, Definition):
            yield prefix + node.name, node
            prefix = f"{prefix}{node.name}."
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = [child for block in blocks(node) for child in block]
            pending += [(prefix, child) for child in reversed(inner)]


def span(node: ast.stmt) -> tuple[int, int]:
    """First and last line of a statement, from 1, decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(i.lineno for i in decorators)]), node.end_lineno or node.lineno
