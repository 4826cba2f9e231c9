"""Was the one lost definition put back, and nothing else done? Python only. Pure."""

import ast
from collections.abc import Iterable, Iterator

from nightly_sync import imports
from nightly_sync.agent.acceptance.model import Problem, ProblemKind
from nightly_sync.paths import from_bytes

Bound = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign
Imported = tuple[str, str | None, int, str | None]
"""Module, name, level of a relative import, alias."""
Found = tuple[ProblemKind, str]


def restore_problems(
    before: bytes, after: bytes, wanted: str, sides: Iterable[bytes]
) -> tuple[Problem, ...]:
    """What is wrong with a repair that had to put back `wanted`; nothing if it is accepted.

    `wanted` is `name`, or `Class.method`: a function, class or variable that a side has, or the
    name an import binds. The repair may insert that definition, as a side has it, and imports that
    a side has; every other line stays as it was.
    """
    trees = imports.parse(before), imports.parse(after)
    texts = list(sides)
    known = [tree for tree in map(imports.parse, texts) if tree]
    if trees[0] is None or trees[1] is None:
        return (Problem(kind=ProblemKind.SYNTAX, sentence="the file has to parse"),)
    found = [
        *_definition_problems(trees[0], trees[1], wanted, known),
        *_import_problems(trees[0], trees[1], known),
        *_other_problems((trees[0], before), (trees[1], after), wanted, texts),
    ]
    return tuple(Problem(kind=kind, sentence=sentence) for kind, sentence in found)


def _definition_problems(
    before: ast.Module, after: ast.Module, wanted: str, sides: list[ast.Module]
) -> Iterator[Found]:
    mine = list(_bindings(after, wanted))
    imported = {_bound(item) for item in _imported(after) - _imported(before)}
    if list(_bindings(before, wanted)):
        yield ProblemKind.OUTSIDE, f"`{wanted}` was there already"
    elif not mine and wanted not in imported:
        yield ProblemKind.UNDEFINED, f"`{wanted}` is still neither defined nor imported"
    elif len(mine) > 1:
        yield ProblemKind.DUPLICATE, f"`{wanted}` is defined {len(mine)} times"
    known = {ast.dump(node) for side in sides for node in _bindings(side, wanted)}
    if any(ast.dump(node) not in known for node in mine):
        yield ProblemKind.INVENTED, f"`{wanted}` is not as either side has it; restore it unchanged"


def _bindings(tree: ast.Module, wanted: str) -> Iterator[Bound]:
    """Every definition of a name, in its scope."""
    *outer, name = wanted.split(".")
    body: list[ast.stmt] = tree.body
    for step in outer:
        classes = (node for node in body if isinstance(node, ast.ClassDef) and node.name == step)
        body = [inner for node in classes for inner in node.body]
    for node in body:
        if isinstance(node, Bound) and name in _names(node):
            yield node


def _names(node: Bound) -> set[str]:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {item.id for item in targets if isinstance(item, ast.Name)}
    return {node.name}


def _import_problems(
    before: ast.Module, after: ast.Module, sides: list[ast.Module]
) -> Iterator[Found]:
    old, new = _imported(before), _imported(after)
    known = set[Imported]().union(*map(_imported, sides))
    for item in sorted(old - new, key=str):
        yield ProblemKind.DROPPED, f"`{_bound(item)}` was imported and is no longer"
    for item in sorted(new - old - known, key=str):
        yield ProblemKind.INVENTED, f"neither side imports `{_bound(item)}` like this"


def _imported(tree: ast.Module) -> set[Imported]:
    found: set[Imported] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {(alias.name, None, 0, alias.asname) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found |= {(module, alias.name, node.level, alias.asname) for alias in node.names}
    return found


def _bound(item: Imported) -> str:
    module, name, _, alias = item
    return alias or name or module.partition(".")[0]


Version = tuple[ast.Module, bytes]


def _other_problems(
    before: Version, after: Version, wanted: str, sides: list[bytes]
) -> Iterator[Found]:
    """All but imports and the definition: the same code, in the same lines."""
    added = list(_bindings(after[0], wanted))
    old, new = _rest(before, []), _rest(after, added)
    comments = {line for text in sides for line in _lines(text) if line.lstrip().startswith("#")}
    known = set(old)
    new = [line for line in new if line in known or line not in comments]
    if old != new:
        strange = next((line.strip() for line in new if line not in known), "")
        what = f", not `{strange[:200]}`" if strange else ""
        yield ProblemKind.OUTSIDE, f"only `{wanted}` and its imports may be added{what}"
    elif _without(before[0], []) != _without(after[0], added):
        yield ProblemKind.OUTSIDE, f"something else than `{wanted}` changed its meaning"


def _lines(text: bytes) -> list[str]:
    return from_bytes(text).split("\n")


def _rest(version: Version, added: list[Bound]) -> list[str]:
    """The lines that are not blank, without those of imports and of the definition."""
    tree, text = version
    gone = {
        number
        for node in (*_import_statements(tree), *added)
        for number in range(_first(node), (node.end_lineno or node.lineno) + 1)
    }
    return [line for at, line in enumerate(_lines(text), 1) if line.strip() and at not in gone]


def _import_statements(tree: ast.Module) -> Iterator[ast.stmt]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(item.lineno for item in decorators)])


def _without(tree: ast.Module, added: list[Bound]) -> str:
    """The code without imports and the definition; the tree is spent afterwards."""
    _Remover(added).generic_visit(tree)
    return ast.dump(tree)


class _Remover(ast.NodeTransformer):
    def __init__(self, added: list[Bound]):
        self.added = added

    def visit(self, node: ast.AST) -> ast.AST | None:
        if node in self.added or isinstance(node, ast.Import | ast.ImportFrom):
            return None
        return self.generic_visit(node)
