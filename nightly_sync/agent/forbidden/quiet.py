"""Ways to silence a test that no assertion shows: what it is wrapped in, bound to, or fed. Pure.

Each is counted in the file before and on the sides; more of it than any of them has is refused.
"""

import ast
from collections import Counter
from collections.abc import Iterator

from nightly_sync import imports
from nightly_sync.agent.forbidden.model import FileChange, RefusalKind, clip
from nightly_sync.agent.forbidden.same import dotted
from nightly_sync.agent.forbidden.statements import Definition, called

Reason = tuple[RefusalKind, str]
Trick = tuple[str, str]
"""What is done, in words, and what tells one from another."""

_RUNNERS = frozenset({"pytest", "unittest", "_pytest", "sys", "builtins", "importlib"})
_REACHING = frozenset({"globals", "locals", "vars", "exec", "eval", "__import__"})
_ATTRIBUTES = frozenset({"getattr", "setattr", "delattr"})
_OUTCOMES = ("Skipped", "SkipTest", "Exit", "skip.Exception", "exit.Exception")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)


def problems(change: FileChange, is_test: bool) -> Iterator[Reason]:
    """Every new trick of a Python file."""
    after = imports.parse(change.after or b"")
    if after is None or change.restored:
        return
    texts = (change.before, *change.sides)
    known = [tree for tree in (imports.parse(text) for text in texts if text is not None) if tree]
    tests = frozenset[str]().union(*map(_tests, (after, *known)))
    names = frozenset[str]().union(*map(_tests, known))
    found = Counter(_all(after, is_test, tests, names))
    before = [Counter(_all(tree, is_test, tests, names)) for tree in known]
    for trick, count in found.items():
        if count > max((tricks[trick] for tricks in before), default=0):
            words, what = trick
            yield RefusalKind.TEST_SKIPPED, f"a new {words} that no side has: `{clip(what)}`"
    yield from _rebound(after, known) if is_test else ()
    if change.path.rpartition("/")[2] == "conftest.py":
        yield from _conftest(after, known)


def _all(
    tree: ast.Module, is_test: bool, tests: frozenset[str], names: frozenset[str]
) -> Iterator[Trick]:
    roots = tests | _runners(tree)
    for node in ast.walk(tree):
        yield from _hooks(node)
        if is_test:
            yield from _calls(node, roots)
            yield from _bindings(node, tests)
            yield from _ends(node)
    if is_test:
        yield from _decorators(tree, names)


def _tests(tree: ast.Module) -> frozenset[str]:
    """Names that hold tests."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, _DEFINITIONS))
    return frozenset(
        node.name
        for node in nodes
        if node.name.startswith("test" if isinstance(node, _FUNCTIONS) else "Test")
        or (isinstance(node, ast.ClassDef) and _holds_tests(node))
    )


def _holds_tests(node: ast.ClassDef) -> bool:
    return any(isinstance(n, _FUNCTIONS) and n.name.startswith("test") for n in node.body)


def _runners(tree: ast.Module) -> frozenset[str]:
    """What the modules of the test runner and of the interpreter are called here."""
    aliases = (a for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names)
    found = (a.asname or a.name.partition(".")[0] for a in aliases if _root(a.name) in _RUNNERS)
    return frozenset(found)


def _root(name: str) -> str:
    return name.partition(".")[0]


def _hooks(node: ast.AST) -> Iterator[Trick]:
    names: list[str] = []
    if isinstance(node, _FUNCTIONS):
        names = [node.name]
    elif isinstance(node, ast.ImportFrom):
        names = [alias.asname or alias.name for alias in node.names]
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        names = [node.id]
    yield from (("hook of the test runner", name) for name in names if name.startswith("pytest_"))


def _calls(node: ast.AST, roots: frozenset[str]) -> Iterator[Trick]:
    name = called(node) if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Call) and name in _ATTRIBUTES and node.args:
        if _root(dotted(node.args[0]) or "") in roots:
            yield f"call of {name}", ast.unparse(node)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and name in _REACHING:
        yield f"call of {name}", name
    elif isinstance(node, ast.Attribute) and dotted(node) == "sys.modules":
        yield "use", "sys.modules"


def _bindings(node: ast.AST, tests: frozenset[str]) -> Iterator[Trick]:
    """A test's name given to something else, and what is set on a test."""
    if isinstance(node, ast.ImportFrom | ast.Import):
        yield from _imported(node, tests)
    for name in _bound(node):
        if name in tests:
            yield "binding of a test's name", name
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        name = dotted(node) or ""
        if node.attr == "__test__" or not tests.isdisjoint(name.split(".")):
            yield "attribute of a test", name


def _imported(node: ast.Import | ast.ImportFrom, tests: frozenset[str]) -> Iterator[Trick]:
    module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        root, text = _root(module or alias.name), f"{module} {alias.name} {alias.asname or ''}"
        other_name = alias.asname not in (None, alias.name)
        if root == "_pytest" or (root in _RUNNERS and module and other_name):
            yield "other name for a part of the test runner", text.strip()
        if (alias.asname or alias.name) in tests:
            yield "binding of a test's name", text.strip()


def _bound(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id] if not isinstance(node.ctx, ast.Load) else []
    named = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
    return [node.name] if isinstance(node, named) and node.name else []


def _ends(node: ast.AST) -> Iterator[Trick]:
    """Exceptions that skip, and contexts that swallow a failure."""
    if isinstance(node, ast.Raise) and node.exc:
        func = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if f".{dotted(func) or ''}".endswith(tuple(f".{name}" for name in _OUTCOMES)):
            yield "skip", ast.unparse(node)
    elif isinstance(node, _FUNCTIONS) and node.name in ("__exit__", "__aexit__"):
        returns = (n.value for n in ast.walk(node) if isinstance(n, ast.Return))
        if any(not isinstance(v, ast.Constant) or v.value for v in returns if v):
            yield "context that swallows failures", ast.dump(node)


def _decorators(node: ast.AST, names: frozenset[str], prefix: str = "") -> Iterator[Trick]:
    """What tests that were there before are wrapped in, by what is called."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _DEFINITIONS) and child.name in names:
            yield from (
                (f"decorator of {prefix}{child.name}", _callee(item))
                for item in child.decorator_list
            )
        if not isinstance(child, _FUNCTIONS):
            inner = f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix
            yield from _decorators(child, names, inner)


def _callee(node: ast.expr) -> str:
    func = node.func if isinstance(node, ast.Call) else node
    return dotted(func) or ast.unparse(func)


Origins = dict[str, set[str]]
"""A name of the module's own code, to where it is from: a package, or `made here`."""
_HERE = "made here"


def _rebound(after: ast.Module, known: list[ast.Module]) -> Iterator[Reason]:
    """What was imported is still imported, and from the same package, unless a side says so."""
    now, before = _origins(after), [_origins(tree) for tree in known]
    for name, places in now.items():
        old = set[str]().union(*(origins.get(name, set()) for origins in before))
        if old - {_HERE} and places - old:
            yield RefusalKind.TEST_LOOSENED, f"`{name}` was imported and is now something else"


def _origins(tree: ast.Module) -> Origins:
    found: Origins = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            place = "." * node.level + _root(node.module or "")
            for alias in node.names:
                found.setdefault(alias.asname or alias.name, set()).add(place)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                found.setdefault(alias.asname or _root(alias.name), set()).add(_root(alias.name))
    for node in _own_code(tree):
        names = [node.name] if isinstance(node, _DEFINITIONS) else _bound(node)
        for name in names:
            found.setdefault(name, set()).add(_HERE)
    return found


def _own_code(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a module, without what is inside its functions and classes."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (*_DEFINITIONS, ast.Lambda)):
            yield from _own_code(child)


def _conftest(after: ast.Module, known: list[ast.Module]) -> Iterator[Reason]:
    """What runs before every test is what a side has."""
    if not known:
        yield RefusalKind.TEST_SKIPPED, "a conftest.py that no side has decides over every test"
        return
    old = {ast.dump(node) for tree in known for node in tree.body}
    packages = {place for tree in known for item in _origins(tree).values() for place in item}
    for node in after.body:
        if isinstance(node, Definition):
            new = _is_automatic(node) and ast.dump(node) not in old
        elif isinstance(node, ast.Import | ast.ImportFrom):
            new = not set().union(*_origins(ast.Module([node], [])).values()) <= packages
        else:
            new = ast.dump(node) not in old
        if new:
            shown = clip(ast.unparse(node))
            yield RefusalKind.TEST_SKIPPED, f"no side's conftest.py has `{shown}`"


def _is_automatic(node: Definition) -> bool:
    """A fixture that every test gets, asked or not."""
    keywords = (k for d in node.decorator_list if isinstance(d, ast.Call) for k in d.keywords)
    return any(keyword.arg == "autouse" for keyword in keywords)
