"""Audit: no name that is undefined in the merged file only.

Symbol tables find the names worth a closer look; pyflakes, which knows all of Python's scoping
rules, has the last word.
"""

import ast
import re
from collections.abc import Collection, Mapping

from pyflakes import checker, messages

from nightly_sync import imports
from nightly_sync.audits.compare import Comparison, Row
from nightly_sync.audits.evidence import numbered
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.model import Finding, FindingKind, Severity
from nightly_sync.audits.modules import quick_names
from nightly_sync.audits.scan import scan
from nightly_sync.audits.statements import blocks

_KINDS = (messages.UndefinedName, messages.UndefinedLocal, messages.UndefinedExport)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def audit(facts: AuditFacts) -> list[Finding]:
    """Report each file with names that are undefined in it and in neither parent's."""
    return [
        _finding(row.path, found)
        for row, text in facts.comparison.mixed_python
        if (found := _new(facts.comparison, row, text))
    ]


def _new(comparison: Comparison, row: Row, text: bytes) -> Mapping[str, int]:
    """Name to the line of its first use."""
    parents = comparison.parents(row)
    suspects = _suspects(text, parents)
    return {
        name: line
        for name, line in undefined(row.path, text, suspects).items()
        if not any(_was_undefined(row.path, parent, name) for parent in parents)
    }


def _suspects(text: bytes, parents: Collection[bytes]) -> set[str]:
    found = scan(text)
    if found.fault:
        return set()
    unbound = {
        name for name in found.unbound if not any(_was_unbound(parent, name) for parent in parents)
    }
    lost = frozenset().union(*map(quick_names, parents)) - found.bound
    return unbound | {name for name in lost if _is_quoted(name, text)}


def _was_unbound(parent: bytes, name: str) -> bool:
    # Most names are imported at the margin, or not used here at all: no need for a scan.
    if name in quick_names(parent) or name.encode() not in parent:
        return False
    return name in scan(parent).unbound


def _is_quoted(name: str, text: bytes) -> bool:
    """Is the name in a quoted annotation or in `__all__`, which symbol tables do not see?"""
    word = name.encode()
    return word in text and re.search(rb"[\"'][^\"'\n]*\b%b\b" % word, text) is not None


def _was_undefined(path: str, parent: bytes, name: str) -> bool:
    if _was_unbound(parent, name):
        return True
    if name in quick_names(parent) or not _is_quoted(name, parent):
        return False
    return name in undefined(path, parent, {name})


def undefined(path: str, text: bytes, names: Collection[str]) -> Mapping[str, int]:
    """Which of `names` pyflakes finds undefined, and where first; none if it does not parse."""
    tree = imports.parse(text) if names else None
    if tree is None:
        return {}
    lines = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    _empty_functions(tree, lines, [name.encode() for name in names])
    found: dict[str, int] = {}
    for line, name in sorted(_complaints(tree, path)):
        if name in names:
            found.setdefault(name, line)
    return found


def _empty_functions(node: ast.AST, lines: list[bytes], words: list[bytes]) -> None:
    """Take the body out of every function that names none of the words; pyflakes is slow."""
    for block in blocks(node):
        for child in block:
            if isinstance(child, _FUNCTIONS):
                own = b"\n".join(lines[child.lineno - 1 : child.end_lineno])
                if not any(word in own for word in words):
                    child.body = [ast.copy_location(ast.Pass(), child.body[0])]
                    continue
            _empty_functions(child, lines, words)


def _complaints(tree: ast.Module, path: str) -> list[tuple[int, str]]:
    found = checker.Checker(tree, path).messages
    return [(int(m.lineno), str(m.message_args[0])) for m in found if isinstance(m, _KINDS)]


def _finding(path: str, found: Mapping[str, int]) -> Finding:
    ordered = sorted((line, f"`{name}`") for name, line in found.items())
    return Finding(
        severity=Severity.ERROR,
        kind=FindingKind.UNDEFINED,
        path=path,
        line=ordered[0][0],
        evidence=_evidence(ordered),
    )


def _evidence(found: list[tuple[int, str]]) -> str:
    if len(found) == 1:
        return f"{found[0][1]} is undefined here, but in neither parent's file"
    head = f"{len(found)} names are undefined here, but in neither parent's file:"
    return f"{head}\n{numbered(found, len(found))}"
