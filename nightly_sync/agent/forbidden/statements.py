"""Walk the statements of one scope, and what each depends on. Pure."""

import ast
from collections.abc import Iterator

from nightly_sync.agent.forbidden.same import dotted

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef
Guards = tuple[tuple[str, ast.AST | None], ...]
"""What has to happen for a statement to run, outermost first."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_NESTED = (ast.stmt, ast.ExceptHandler, ast.match_case)
_LITERAL = (
    *(ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp),
    *(ast.expr_context, ast.operator, ast.unaryop),
)
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError"})


def statements(body: list[ast.stmt], guards: Guards = ()) -> Iterator[tuple[ast.stmt, Guards]]:
    """Every statement of a scope but definitions, which are scopes of their own."""
    for statement in body:
        if not isinstance(statement, _DEFINITIONS):
            yield statement, guards
            for guard, block in _blocks(statement):
                yield from statements(block, (*guards, *guard))


def definitions(body: list[ast.stmt], guards: Guards = ()) -> Iterator[tuple[Definition, Guards]]:
    """Every definition in a scope, not those inside another."""
    for statement in body:
        if isinstance(statement, _DEFINITIONS):
            yield statement, guards
        else:
            for guard, block in _blocks(statement):
                yield from definitions(block, (*guards, *guard))


def _blocks(statement: ast.stmt) -> Iterator[tuple[Guards, list[ast.stmt]]]:
    match statement:
        case ast.If(test=test) | ast.While(test=test):
            yield (("if", test),), statement.body
            yield (("else", test),), statement.orelse
        case ast.For(iter=items) | ast.AsyncFor(iter=items):
            yield (("for", items),), statement.body
            yield (("for-else", items),), statement.orelse
        case ast.With() | ast.AsyncWith():
            yield tuple(("with", call) for call in forgiving(statement)), statement.body
        case ast.Try() | ast.TryStar():
            yield from _tried(statement)
        case ast.Match(subject=subject, cases=cases):
            for case in cases:
                yield (("match", subject), ("case", case.pattern)), case.body


def forgiving(statement: ast.With | ast.AsyncWith) -> list[ast.expr]:
    """Contexts that may end their block early and say nothing: `raises`, `suppress`."""
    calls = (item.context_expr for item in statement.items)
    return [call for call in calls if called(call) in ("raises", "suppress")]


def called(node: ast.AST) -> str:
    """The last part of the name that is called, or that stands there."""
    func = node.func if isinstance(node, ast.Call) else node
    return func.attr if isinstance(func, ast.Attribute) else str(getattr(func, "id", ""))


def _tried(statement: ast.Try | ast.TryStar) -> Iterator[tuple[Guards, list[ast.stmt]]]:
    guard: Guards = (("try", None),) if any(map(swallows, statement.handlers)) else ()
    yield guard, statement.body
    yield guard, statement.orelse
    yield (), statement.finalbody
    for handler in statement.handlers:
        yield (("except", handler.type),), handler.body


def swallows(handler: ast.ExceptHandler) -> bool:
    """May a handler end without raising? That an import is missing may be forgiven."""
    inner = list(ast.walk(handler))
    if any(isinstance(node, ast.Raise) or called(node) == "fail" for node in inner):
        return False
    caught = ast.walk(handler.type) if handler.type else ()
    names = {node.id for node in caught if isinstance(node, ast.Name)}
    return not names or not names <= _IMPORT_ERRORS


def own(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement without the statements inside.

    A docstring and the message of an assertion have none: they check nothing.
    """
    if isinstance(statement, ast.Assert):
        yield statement.test
    elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
        children = ast.iter_child_nodes(statement)
        yield from (child for child in children if not isinstance(child, _NESTED))


def header(node: ast.Module | Definition) -> Iterator[ast.AST]:
    """The expressions of a definition outside its body; a default is its parameter's keyword."""
    if isinstance(node, ast.Module):
        return
    yield from node.decorator_list
    if isinstance(node, ast.ClassDef):
        yield from node.keywords
        return
    plain = [*node.args.posonlyargs, *node.args.args]
    yield from map(_default, plain[len(plain) - len(node.args.defaults) :], node.args.defaults)
    named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    yield from (_default(arg, value) for arg, value in named if value)


def _default(arg: ast.arg, value: ast.expr) -> ast.keyword:
    return ast.keyword(arg=arg.arg, value=value)


def targets(statement: ast.stmt) -> list[str]:
    """The names and chains that an assignment binds."""
    match statement:
        case ast.Assign(targets=found):
            nodes = [node for item in found for node in _unpacked(item)]
        case ast.AnnAssign(target=item) | ast.AugAssign(target=item):
            nodes = [item]
        case _:
            nodes = []
    return [name for name in map(dotted, nodes) if name]


def _unpacked(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple | ast.List) else [node]


def sets_plainly(statement: ast.stmt) -> bool:
    """Is the value it assigns a literal or another name: nothing that is worked out?"""
    if isinstance(statement, ast.AugAssign):
        return True
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.expr):
        return False
    return dotted(value) is not None or all(isinstance(n, _LITERAL) for n in ast.walk(value))
