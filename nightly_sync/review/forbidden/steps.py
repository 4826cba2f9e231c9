"""A Python file as definitions, and each definition as a list of steps. Pure.

The module's own code is a definition too, under an empty name. A step is a statement, the header
of a compound one, or a piece of a definition's head: a decorator, a case, a base, a parameter.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from nightly_sync import imports
from nightly_sync.paths import from_bytes

Function = ast.FunctionDef | ast.AsyncFunctionDef
Defined = Function | ast.ClassDef
Import = ast.Import | ast.ImportFrom
Place = tuple["Step", ...]
"""The headers a step stands in, outermost first."""

STATEMENT, CASE, ELEMENT, PARAMETER = "", "case", "element", "parameter"
DECORATOR, BASE = "decorator", "base class"
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_RUN_FOR_EACH = ("parametrize", "expand", "fixture")
_NAMED = ("parametrize 0", "parametrize argnames", "parametrize indirect")
_LOAD = ast.Load()
_EMPTY: dict[type[ast.AST], ast.expr] = {
    ast.Dict: ast.Dict([], []),
    ast.Set: ast.Set([]),
    ast.List: ast.List([], _LOAD),
    ast.Tuple: ast.Tuple([], _LOAD),
}
# A message of these runs nothing.
_SAID = (ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.Name, ast.Attribute, ast.expr_context)


@dataclass(frozen=True)
class Step:
    """One thing that a definition says, and where: equal keys for equal code in equal places."""

    word: str  # what it is; empty for a statement
    node: ast.AST | None = None
    place: Place = ()

    @cached_property
    def key(self) -> str:
        """Everything that counts, as text."""
        own = ast.dump(self.node) if self.node else ""
        return "\n".join([*(item.key for item in self.place), f"{self.word} {own}"])

    @property
    def parts(self) -> tuple[object, ...]:
        """The same to be compared piece by piece."""
        return (*(item.parts for item in self.place), self.word, self.node)

    @property
    def shown(self) -> str:
        """For people."""
        return f"{self.word} {ast.unparse(self.node) if self.node else ''}".strip()


@dataclass(frozen=True)
class Definition:
    """One definition, without what is defined inside it."""

    name: str  # `Class.method`
    node: ast.Module | Defined
    place: Place = ()
    collected: bool = False  # a test, as pytest and unittest find them
    text: str = ""  # its lines, with all that is inside; empty if they can't be told
    only_assertions: bool = False  # wherever they stand; nothing else counts

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """What it says, in its order."""
        if self.only_assertions:
            found = (step.node for step in _block(self.node.body, ()))
            return tuple(Step(STATEMENT, node) for node in found if isinstance(node, ast.Assert))
        block = self.node.body
        if not self.name:  # what the module imports for all is judged by its names
            block = [node for node in block if not isinstance(node, Import)]
        return (*_head(self.node, self.place), *_block(block, ()))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Equal for equal definitions, whatever is defined inside."""
        return tuple(step.key for step in self.steps)

    @cached_property
    def body(self) -> str:
        """All of it but its name: what stays when it is renamed or moved."""
        own = ast.dump(self.node).replace(f"name='{self.last}'", "", 1)
        return own + "".join(item.key for item in self.place)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Where each key stands among them."""
        found: dict[str, list[int]] = {}
        for at, key in enumerate(self.keys):
            found.setdefault(key, []).append(at)
        return found

    @property
    def last(self) -> str:
        """Its own name."""
        return self.name.rpartition(".")[2]


Definitions = dict[str, tuple[Definition, ...]]
"""By name; more than one where a name is defined again."""


@lru_cache(maxsize=16)  # the versions of one file and of its neighbours
def read(text: bytes | None) -> Definitions | None:
    """The definitions of a file, none of an absent one; None if it does not parse."""
    tree = imports.parse(text or b"")
    if tree is None:
        return None
    top, lines = Definition("", tree), _lines(text or b"")
    found: Definitions = {}
    for item in (top, *_inside(top, lines, among_tests=True)):
        found[item.name] = (*found.get(item.name, ()), item)
    return found


def _lines(text: bytes) -> list[str]:
    """The lines as Python counts them; none if the file may have an encoding of its own."""
    own = b"coding" in b"".join(text.splitlines()[:2])
    return [] if own else re.split("\r\n|\r|\n", from_bytes(text))


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """The statements below a node, without their expressions, which are most of a tree."""
    for word in _BLOCKS:
        for child in getattr(node, word, None) or ():
            yield child
            yield from walk(child)


def dotted(node: ast.AST | None) -> str | None:
    """`a.b.c` for such a chain of names, None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def called(node: ast.AST | None) -> str:
    """The last part of the name that is called, or that stands there."""
    func = node.func if isinstance(node, ast.Call) else node
    return func.attr if isinstance(func, ast.Attribute) else str(getattr(func, "id", ""))


def _inside(outer: Definition, lines: list[str], among_tests: bool) -> Iterator[Definition]:
    for node, place in _defined(outer.node.body, ()):
        is_class = isinstance(node, ast.ClassDef)
        name = f"{outer.name}.{node.name}".lstrip(".")
        test = among_tests and not is_class and node.name.startswith("test")
        first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
        text = "\n".join(lines[first - 1 : node.end_lineno])
        item = Definition(name, node, (*outer.place, *place), test, text)
        yield item
        held = isinstance(node, ast.ClassDef) and (node.bases or node.name.startswith("Test"))
        yield from _inside(item, lines, among_tests and bool(held))


def _defined(block: list[ast.stmt], place: Place) -> Iterator[tuple[Defined, Place]]:
    for node in block:
        if isinstance(node, Defined):
            yield node, place
        else:
            for inner, where in _blocks(node, place):
                yield from _defined(inner, where)


def _block(block: list[ast.stmt], place: Place) -> Iterator[Step]:
    """The steps of a block, those of the blocks inside included."""
    for node in block:
        if not isinstance(node, Defined | ast.Pass) and not _says_nothing(node):
            yield from _statement(node, place)
            for inner, where in _blocks(node, place):
                yield from _block(inner, where)


def _says_nothing(node: ast.AST) -> bool:
    """A docstring that is no doctest, or any other constant by itself."""
    constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return constant and ">>>" not in ast.unparse(node)


def _blocks(node: ast.AST, place: Place) -> Iterator[tuple[list[ast.stmt], Place]]:
    bare = None
    for word in _BLOCKS:
        block = getattr(node, word, None)
        if isinstance(block, list) and block:
            bare = bare or _bare(node)
            yield block, (*place, Step(word, bare))


def _bare(node: ast.AST) -> ast.AST:
    """A statement without the statements inside; an assertion without its message."""
    fields = {name: getattr(node, name, None) for name in node._fields}
    for word in _BLOCKS:
        if isinstance(fields.get(word), list):
            fields[word] = []
    message = fields.get("msg")
    if message is not None and all(isinstance(item, _SAID) for item in ast.walk(message)):
        fields["msg"] = None
    return ast.copy_location(type(node)(**fields), node)


def _statement(node: ast.AST, place: Place) -> Iterator[Step]:
    """One step, or one for each name it imports; where a list is assigned, its elements too."""
    if isinstance(node, Import):
        fields = dict(ast.iter_fields(node))
        for alias in node.names:
            yield Step(STATEMENT, type(node)(**fields | {"names": [alias]}), place)
        return
    bare = _bare(node)
    value = bare.value if isinstance(bare, ast.Assign | ast.AnnAssign) else None
    if isinstance(bare, ast.Assign | ast.AnnAssign) and value and type(value) in _EMPTY:
        bare.value = _EMPTY[type(value)]
        where = (*place, Step("of", bare))
        yield Step(STATEMENT, bare, place)
        yield from (Step(ELEMENT, item, where) for item in _elements(value))
    else:
        yield Step(STATEMENT, bare, place)


def _elements(node: ast.AST | None) -> list[ast.AST]:
    if isinstance(node, ast.Dict):
        return [ast.Dict([k], [v]) for k, v in zip(node.keys, node.values, strict=True)]
    return list(getattr(node, "elts", ()))


def _head(node: ast.Module | Defined, place: Place) -> Iterator[Step]:
    if isinstance(node, ast.Module):
        return
    yield from (Step(f"in {item.word}", item.node) for item in place)
    yield Step(type(node).__name__)
    for item in node.decorator_list:
        yield from _decorator(item)
    yield from (Step("type parameter", item) for item in getattr(node, "type_params", ()))
    if isinstance(node, ast.ClassDef):
        yield from (Step(BASE, item) for item in (*node.bases, *node.keywords))
    else:
        yield from _parameters(node.args)
        yield from [Step("annotation", node.returns)] if node.returns else []


def _decorator(node: ast.expr) -> Iterator[Step]:
    """One step, and one for each element of a list it is given, such as a case."""
    if not isinstance(node, ast.Call):
        yield Step(DECORATOR, node)
        return
    args = [_EMPTY.get(type(item), item) for item in node.args]
    named = [ast.keyword(k.arg, _EMPTY.get(type(k.value), k.value)) for k in node.keywords]
    yield Step(DECORATOR, ast.Call(node.func, args, named))
    name = called(node)
    for where, given in (*enumerate(node.args), *((k.arg, k.value) for k in node.keywords)):
        word = CASE if name in _RUN_FOR_EACH and f"{name} {where}" not in _NAMED else ELEMENT
        yield from (Step(word, _case(item)) for item in _elements(given))


def _case(node: ast.AST) -> ast.AST:
    """A case without its id, if that is plain text."""
    if isinstance(node, ast.Call) and dotted(node.func) in ("param", "pytest.param"):
        marks = [k for k in node.keywords if k.arg != "id" or not isinstance(k.value, ast.Constant)]
        return ast.Call(node.func, node.args, marks) if marks else ast.Tuple(node.args, _LOAD)
    return node


def _parameters(args: ast.arguments) -> Iterator[Step]:
    plain = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
    named = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    for arg, default in [*zip(plain, defaults, strict=True), *named]:
        name = ast.Name(arg.arg, _LOAD)
        yield Step(PARAMETER, ast.NamedExpr(name, default) if default else name)
    yield from (Step("rest", ast.Name(a.arg, _LOAD)) for a in (args.vararg, args.kwarg) if a)
    every = [*plain, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
    yield from (Step("annotation", item.annotation) for item in every if item.annotation)
