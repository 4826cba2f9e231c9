"""Audit: nothing is defined twice in the merged file only.

git merges cleanly when both sides add the same function at different places of a file; the later
definition then silently wins.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nightly_sync import imports
from nightly_sync.audits.compare import Comparison, Row
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.model import Finding, FindingKind, Severity
from nightly_sync.audits.scan import scan
from nightly_sync.audits.statements import Holder, blocks

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Twice:
    """A definition that an earlier one of the same scope has already made."""

    name: str  # `Class.method`
    line: int
    first: int  # line of the earlier one


def audit(facts: AuditFacts) -> list[Finding]:
    """Report each definition that hides an unused one, more often than in either parent."""
    return [
        _finding(row.path, item)
        for row, text in facts.comparison.mixed_python
        if _suspicious(facts.comparison, row, text)
        for item in _new(facts.comparison, row, text)
    ]


def _suspicious(comparison: Comparison, row: Row, text: bytes) -> bool:
    repeated = scan(text).repeated
    if not repeated:
        return False
    known = _most(scan(parent).repeated for parent in comparison.parents(row))
    return any(count > known[name] for name, count in repeated.items())


def _most(counts: Iterator[Mapping[str, int]]) -> Counter[str]:
    most = Counter[str]()
    for item in counts:
        most |= Counter(item)
    return most


def _new(comparison: Comparison, row: Row, text: bytes) -> Iterator[Twice]:
    known = _most(
        Counter(item.name for item in defined_twice(parent)) for parent in comparison.parents(row)
    )
    for item in defined_twice(text):
        known[item.name] -= 1
        if known[item.name] < 0:
            yield item


def defined_twice(text: bytes) -> list[Twice]:
    """Every def or class that rebinds one of the same block, unused since."""
    tree = imports.parse(text)
    return [] if tree is None else list(_in_scope(tree, ""))


def _in_scope(node: ast.AST, prefix: str) -> Iterator[Twice]:
    """Blocks of one statement are alternatives to each other, so each is looked at alone."""
    for block in blocks(node):
        yield from _in_block(block, prefix)
        for child in block:
            inner = f"{prefix}{child.name}." if isinstance(child, _DEFINITIONS) else prefix
            yield from _in_scope(child, inner)


def _in_block(block: list[Holder], prefix: str) -> Iterator[Twice]:
    names = Counter(item.name for item in block if isinstance(item, _DEFINITIONS))
    if max(names.values(), default=0) < 2:
        return
    last: dict[str, Definition] = {}
    for statement in block:
        for name in _used_now(statement):
            last.pop(name, None)
        if not isinstance(statement, _DEFINITIONS):
            continue
        if earlier := last.get(statement.name):
            yield Twice(prefix + statement.name, statement.lineno, earlier.lineno)
        if not _may_repeat(statement):
            last[statement.name] = statement


def _used_now(statement: ast.AST) -> Iterator[str]:
    """Names a statement reads or rebinds when it runs; a function's body runs later."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            pending += [*node.decorator_list, node.args, *filter(None, [node.returns])]
        elif isinstance(node, ast.Lambda):
            pending.append(node.args)
        else:
            pending += ast.iter_child_nodes(node)


def _may_repeat(definition: Definition) -> bool:
    """An overload, or a name that nobody means to call."""
    decorators = (ast.unparse(item) for item in definition.decorator_list)
    return definition.name == "_" or any(name.endswith("overload") for name in decorators)


def _finding(path: str, item: Twice) -> Finding:
    evidence = f"`{item.name}` was defined in line {item.first} already; in neither parent twice"
    return Finding(
        severity=Severity.ERROR,
        kind=FindingKind.DUPLICATE,
        path=path,
        line=item.line,
        evidence=evidence,
    )
