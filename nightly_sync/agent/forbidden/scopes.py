"""What a Python file checks, scope by scope: the module, each class, each function. Pure."""

import ast
import re
import textwrap
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from nightly_sync import imports
from nightly_sync.agent.forbidden.same import Use, dotted
from nightly_sync.agent.forbidden.statements import (
    Definition,
    Function,
    Guards,
    called,
    definitions,
    forgiving,
    header,
    own,
    sets_plainly,
    statements,
    swallows,
    targets,
)
from nightly_sync.agent.forbidden.values import Values, values
from nightly_sync.paths import from_bytes


class Group(StrEnum):
    """What a fact is about."""

    ASSERT = "assertion"
    CHECK = "check"  # a call: assert_allclose, pytest.raises, a helper that asserts
    CASE = "case"  # of a parametrized test or fixture
    BASE = "base class"
    MARK = "mark"
    HOOK = "hook of the test runner"
    SKIP = "skip"
    EXIT = "early end"
    SWALLOW = "swallowed failure"
    SHAPE = "way to define a test"
    REBIND = "plain value"


def _guarded(guards: Guards) -> str:
    return "".join(map(_condition, guards))


def _condition(guard: tuple[str, ast.AST | None]) -> str:
    return f"\n{guard[0]} {_dump(guard[1])}"


def _dump(node: ast.AST | None) -> str:
    return ast.dump(node) if node else ""


@dataclass(frozen=True)
class Fact:
    """One thing a scope says: by its code, or in words."""

    group: Group
    node: ast.AST | None = None
    guards: Guards = ()
    words: str = ""
    inside: ast.AST | None = None  # the call whose arguments hold the node

    @cached_property
    def key(self) -> str:
        """Equal for equal code that depends on the same."""
        return self.words + _dump(self.node) + _guarded(self.guards)

    def is_stricter(self, other: "Fact") -> bool:
        """Does it say the same as the other, under the same conditions or more?"""
        if (self.group, self.words) != (other.group, other.words):
            return False
        mine, theirs = (set(map(_condition, fact.guards)) for fact in (self, other))
        return theirs <= mine and _dump(self.node) == _dump(other.node)

    def is_under(self, other: "Fact") -> bool:
        """Does it depend on nothing that the other does not depend on?"""
        mine, theirs = (set(map(_condition, fact.guards)) for fact in (self, other))
        return mine <= theirs

    @property
    def shown(self) -> str:
        """For people."""
        return ast.unparse(self.node) if self.node else self.words


@dataclass(frozen=True)
class Scope:
    """One definition, or the module's own code under an empty name. Read only when asked."""

    name: str  # `Class.method`
    node: ast.Module | Definition
    body: str  # its text without its name, and what it depends on: equal for equal definitions
    guards: Guards = ()  # around the definition
    collected: bool = False  # a test, as pytest and unittest find them
    helpers: frozenset[str] = frozenset()  # functions whose calls are checks
    only: frozenset[Group] | None = None  # facts of these groups only, wherever they stand

    @cached_property
    def all_facts(self) -> tuple[Fact, ...]:
        """Every fact."""
        head = header(self.node)
        found = [fact for part in head for fact in _expressions(part, (), self.helpers)]
        found += [f for item in statements(self.node.body) for f in _statement(*item, self.helpers)]
        found += _ends(self.node, found)
        found += _definition(self)
        return tuple(found)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """The facts that count here."""
        if self.only is None:
            return self.all_facts
        return tuple(replace(f, guards=()) for f in self.all_facts if f.group in self.only)

    @cached_property
    def parts(self) -> tuple[ast.AST, ...]:
        """Its expressions; not those of other scopes in it."""
        inner = (part for item, _ in statements(self.node.body) for part in own(item))
        return (*header(self.node), *inner)

    @cached_property
    def values(self) -> Values:
        """Constants outside of facts."""
        facts = (fact for fact in self.all_facts if fact.group is not Group.SHAPE)
        told = {fact.inside or fact.node for fact in facts}
        return Values(value for part in self.parts for value in values(part, without=told))

    @cached_property
    def use(self) -> Use:
        """The names in it, those of nested functions included."""
        whole = isinstance(self.node, Function)
        nodes = [n for part in ((self.node,) if whole else self.parts) for n in ast.walk(part)]
        bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
        bound |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return Use(frozenset(filter(None, map(dotted, nodes))), frozenset(bound))

    @property
    def is_function(self) -> bool:
        """Not a class, nor the module."""
        return isinstance(self.node, Function)

    def of(self, groups: Collection[Group]) -> list[Fact]:
        """The facts of some kinds."""
        return [fact for fact in self.facts if fact.group in groups]

    def count(self, fact: Fact) -> int:
        """How often it says just this."""
        return sum(mine.group is fact.group and mine.key == fact.key for mine in self.facts)


Scopes = Mapping[str, tuple[Scope, ...]]
"""By name; more than one where a name is defined again."""

_SKIPS = frozenset(
    {
        *("skipif", "skipIf", "skipUnless", "skipTest", "SkipTest", "xfail", "importorskip"),
        *("expectedFailure", "pytest.skip", "pytest.exit", "unittest.skip"),
    }
)
_ENDS = frozenset({"skip", "exit", "_exit", "quit", "abort", "filterwarnings", "simplefilter"})
_CHECKS = re.compile(
    r"assert|^_*(?:check(?!point)|verify|expect|ensure|validate|compare)"
    r"|^(?:raises|warns|deprecated_call|fail)$",
    re.IGNORECASE,
)
_ASSERTS = re.compile(r"\bassert\b|\w\.assert\w+\(|\bassert_\w+\(|\bAssertionError\b")
_CASES = frozenset({"parametrize", "expand", "fixture"})
_FREE_MARKS = frozenset({"usefixtures", "asyncio", "anyio"})  # no test is left out by these
_SWITCHES = frozenset({"__test__", "collect_ignore", "collect_ignore_glob", "pytest_plugins"})


def read(
    text: bytes,
    helpers: frozenset[str] = frozenset(),
    only: frozenset[Group] | None = None,
) -> Scopes | None:
    """Every scope of a file; None if it does not parse."""
    tree = imports.parse(text)
    if tree is None:
        return None
    lines = from_bytes(text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    top = Scope("", tree, "\n".join(lines), helpers=helpers, only=only)
    found: dict[str, tuple[Scope, ...]] = {}
    for scope in (top, *_inside(top, lines, among_tests=True)):
        found[scope.name] = (*found.get(scope.name, ()), scope)
    return found


def helpers_of(scopes: Scopes) -> frozenset[str]:
    """Functions that check and are no tests: who calls them, checks."""
    every = (scope for many in scopes.values() for scope in many)
    found = (item for item in every if item.is_function and not item.collected)
    return frozenset(i.name.rpartition(".")[2] for i in found if _ASSERTS.search(i.body))


def _inside(outer: Scope, lines: list[str], among_tests: bool) -> Iterator[Scope]:
    for node, guards in definitions(outer.node.body):
        is_class = isinstance(node, ast.ClassDef)
        around = (*outer.guards, *guards)
        scope = replace(
            outer,
            name=f"{outer.name}.{node.name}" if outer.name else node.name,
            node=node,
            body=_body(node, lines) + _guarded(around),
            guards=around,
            collected=among_tests and not is_class and node.name.startswith("test"),
        )
        yield scope
        yield from _inside(scope, lines, among_tests and _may_hold_tests(node))


def _may_hold_tests(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and bool(node.bases or node.name.startswith("Test"))


def _body(node: Definition, lines: list[str]) -> str:
    """The text of a definition, moved to the margin, without its name."""
    first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
    text = textwrap.dedent("\n".join(lines[first - 1 : node.end_lineno]))
    return re.sub(rf"\b(def|class)\s+{re.escape(node.name)}\b", r"\1", text, count=1)


def _statement(statement: ast.stmt, guards: Guards, helpers: frozenset[str]) -> Iterator[Fact]:
    match statement:
        case ast.Assert(test=test):
            yield Fact(Group.ASSERT, test, guards)
            return
        case ast.Delete():
            yield Fact(Group.EXIT, statement)
        case ast.With() | ast.AsyncWith():
            yield from (
                Fact(Group.SWALLOW, words=f"with {called(item)}") for item in forgiving(statement)
            )
        case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
            yield from (
                Fact(Group.SWALLOW, words=f"except {ast.unparse(item.type) if item.type else ''}")
                for item in handlers
                if swallows(item)
            )
    if sets_plainly(statement):
        yield from (Fact(Group.REBIND, words=name) for name in targets(statement))
    if _SWITCHES.intersection(targets(statement)):
        yield Fact(Group.HOOK, statement)
    for part in own(statement):
        yield from _expressions(part, guards, helpers)


def _expressions(node: ast.AST, guards: Guards, helpers: frozenset[str]) -> Iterator[Fact]:
    group = _group(node, helpers)
    if group is Group.CASE and isinstance(node, ast.Call):
        yield from _cases(node, helpers)
    elif group:
        yield Fact(group, node, guards)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _expressions(child, guards, helpers)


def _group(node: ast.AST, helpers: frozenset[str]) -> Group | None:
    """What an expression is about; None if only its parts can tell."""
    call = isinstance(node, ast.Call)
    name = dotted(node.func if isinstance(node, ast.Call) else node) or ""
    last = called(node)
    marked = ".mark." in f".{name}"
    if last in _SKIPS or name in _SKIPS or (marked and last == "skip"):
        return Group.SKIP
    if call and last in _CASES:
        return Group.CASE
    if marked and last not in _FREE_MARKS:
        return Group.MARK
    if call and last in _ENDS:
        return Group.EXIT
    return Group.CHECK if call and (_CHECKS.search(last) or last in helpers) else None


def _cases(call: ast.Call, helpers: frozenset[str]) -> Iterator[Fact]:
    """Each item of the list of cases; the list as it is, where it is worked out."""
    named = [item.value for item in call.keywords if item.arg in ("argvalues", "params", "input")]
    listed = [*(call.args[-1:] if len(call.args) < 3 else call.args[1:2]), *named][-1:]
    for found in listed:
        items = found.elts if isinstance(found, ast.List | ast.Tuple | ast.Set) else [found]
        for item in items:
            yield Fact(Group.CASE, _case(item), inside=call)
            yield from (
                fact
                for fact in _expressions(item, (), helpers)
                if fact.group in (Group.SKIP, Group.MARK)
            )


def _case(item: ast.expr) -> ast.expr:
    """A case without its id and marks."""
    if isinstance(item, ast.Call) and called(item) == "param":
        return ast.Tuple(elts=item.args, ctx=ast.Load())
    return item


def _ends(node: ast.Module | Definition, found: list[Fact]) -> Iterator[Fact]:
    """Whatever may end the scope, or a round of its loops, before its last check."""
    checks = (fact.node for fact in found if fact.group in (Group.ASSERT, Group.CHECK))
    last = max((getattr(check, "lineno", 0) for check in checks), default=0)
    for statement, _ in statements(node.body):
        if isinstance(statement, ast.Return | ast.Continue | ast.Break) and statement.lineno < last:
            yield Fact(Group.EXIT, words=type(statement).__name__.lower())


def _definition(scope: Scope) -> Iterator[Fact]:
    node = scope.node
    if isinstance(node, ast.ClassDef):
        yield from (Fact(Group.BASE, base) for base in node.bases)
        members = {child.name for child, _ in definitions(node.body)} & {"__init__", "__new__"}
        if node.name.startswith("Test"):
            yield from (Fact(Group.SHAPE, words=f"{name} in a test class") for name in members)
    elif scope.collected:
        yield from (Fact(Group.SHAPE, test, words=f"in `{word}`") for word, test in scope.guards)
        if isinstance(node, ast.AsyncFunctionDef):
            yield Fact(Group.SHAPE, words="async")
        nodes = (inner for part in scope.parts for inner in ast.walk(part))
        if any(isinstance(item, ast.Yield | ast.YieldFrom) for item in nodes):
            yield Fact(Group.SHAPE, words="a generator")
    elif scope.name.rpartition(".")[2].startswith("pytest_"):
        yield Fact(Group.HOOK, node)
