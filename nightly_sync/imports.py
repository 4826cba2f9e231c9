"""Which files of a repository a Python file imports, read from its syntax tree. Pure.

Where import roots are is not configured anywhere, so a dotted name may start at the top, at any
folder that is no package and in none (`src/`), and beside a file that is in no package itself.
"""

import ast
import re
import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

Exists = Callable[[str], bool]


@dataclass(frozen=True)
class Import:
    """One imported module: `from a.b import c` has module `a.b` and name `c`."""

    module: str  # dotted; empty for `from . import c`
    name: str | None
    line: int
    folder: str | None  # where a relative import starts; None for an absolute one
    guarded: bool  # inside `try: ... except ImportError`, so its absence is expected


def parse(text: bytes) -> ast.Module | None:
    """The syntax tree, or None where there is none."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def imports_of(path: str, tree: ast.Module) -> Iterator[Import]:
    """Every import of a file, also those inside functions and conditions."""
    guarded = _guarded(tree)
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, None, node.lineno, None, node in guarded)
        elif isinstance(node, ast.ImportFrom):
            folder = _folder(path, node.level)
            for alias in node.names:
                name = None if alias.name == "*" else alias.name
                yield Import(node.module or "", name, node.lineno, folder, node in guarded)


_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


def _statements(*top: ast.AST) -> Iterator[ast.AST]:
    """`ast.walk` without the expressions, which hold no statement and are most of a tree."""
    pending = deque(top)
    while pending:
        node = pending.popleft()
        for name in _BLOCKS:
            pending.extend(getattr(node, name, ()))
        yield node


_STATEMENT = re.compile(
    rb"^[ \t]*((?:from[ \t]+[\w.]+[ \t]+)?import[ \t]*"
    rb"(?:\((?:[^()#]|#[^\n]*)*\)|(?:[^\n\\(]|\\\r?\n)+))",
    re.MULTILINE,
)
_WORD = re.compile(rb"[\w\x80-\xff]+")


def likely_imports(path: str, text: bytes, words: Collection[str]) -> Iterator[Import]:
    """The imports of a file that name one of `words`, without parsing it whole: a first look.

    Also finds statements inside strings, and calls none of them guarded; lines count from 1
    within the statement, so ask `imports_of` before believing one.
    """
    wanted = {word.encode() for word in words}
    for statement in _likely_statements(text):
        tree = None if wanted.isdisjoint(_WORD.findall(statement)) else parse(statement)
        if tree is not None:
            yield from imports_of(path, tree)


def _likely_statements(text: bytes) -> Iterator[bytes]:
    """What starts a line and looks like an import. Searching for the word first is what is fast."""
    end, at = 0, text.find(b"import")
    while at >= 0:
        start = text.rfind(b"\n", 0, at) + 1
        match = _STATEMENT.match(text, start) if start >= end else None
        if match:
            end = match.end()
            yield match[1]
        at = text.find(b"import", max(end, at + 1))


def _guarded(tree: ast.Module) -> set[ast.AST]:
    tries = (node for node in _statements(tree) if isinstance(node, ast.Try) and _forgives(node))
    return {inner for node in tries for inner in _statements(*node.body)}


def _forgives(node: ast.Try) -> bool:
    names = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
    caught = [handler.type for handler in node.handlers]
    return any(
        kind is None or names & {n.id for n in ast.walk(kind) if isinstance(n, ast.Name)}
        for kind in caught
    )


def _folder(path: str, level: int) -> str | None:
    if level == 0:
        return None
    parts = path.split("/")[:-level]
    return "/".join(parts) if len(path.split("/")) > level else ""


def module_files(dotted: str) -> tuple[str, str]:
    """The two files that can be a module: `a.b` is a/b.py or a/b/__init__.py."""
    stem = dotted.replace(".", "/")
    return f"{stem}.py", f"{stem}/__init__.py"


def dotted_names(item: Import) -> tuple[str, ...]:
    """The dotted modules an import may need: the module, and its name if that is a module."""
    if item.name is None:
        return (item.module,) if item.module else ()
    inner = f"{item.module}.{item.name}" if item.module else item.name
    return (item.module, inner) if item.module else (inner,)


def roots(path: str, exists: Exists) -> Iterator[str]:
    """Folders an absolute import could start at to reach `path`: no package, and in none."""
    parts = path.split("/")
    for depth in range(len(parts)):
        folder = "/".join(parts[:depth])
        if folder and exists(f"{folder}/__init__.py"):
            return
        yield f"{folder}/" if folder else ""


def needs(importer: str, item: Import, wanted: str, exists: Exists) -> bool:
    """Does this import need the file `wanted`, which is not in the tree?

    No, if another file of the tree is that module already (`utils.py` that became
    `utils/__init__.py`). `exists` tells which files the tree holds.
    """
    starts = _starts(importer, item, wanted, exists)
    for dotted in dotted_names(item):
        files = module_files(dotted)
        for start in starts:
            if wanted in {start + name for name in files}:
                return not any(exists(start + name) for name in files)
    return False


def _starts(importer: str, item: Import, wanted: str, exists: Exists) -> list[str]:
    if item.folder is not None:
        return [f"{item.folder}/" if item.folder else ""]
    beside = importer.rpartition("/")[0]
    own = [f"{beside}/"] if beside and not exists(f"{beside}/__init__.py") else []
    return [*roots(wanted, exists), *own]
