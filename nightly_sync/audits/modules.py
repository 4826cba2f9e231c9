"""Modules and names of a repository, as imports see them. Pure.

`quick_imports` and `quick_names` read by patterns, for every changed file; `names` reads the syntax
tree, for the few modules where the patterns find something.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from nightly_sync import imports
from nightly_sync.imports import Import

_SOURCE_FOLDERS = ("src", "lib", "python")
# No pattern below starts with ^ or \b: those are tried at every byte, a letter is searched for.
_IMPORT = re.compile(rb"import(?=[ \t(])")
_HEAD = re.compile(rb"(?:.*[:;])?[ \t]*(?:from[ \t]*(\.*)[ \t]*([\w.]*)[ \t]+)?")
_NAMES = re.compile(rb"[ \t]*(\((?:[^)#]|#[^\n]*)*\)|(?:[^\n#;\\]|\\\r?\n)+)")
_ITEM = re.compile(rb"[A-Za-z_][\w.]*(?:\s+as\s+\w+)?|\*")
_COMMENT = re.compile(rb"#[^\n]*")
_AT_MARGIN = re.compile(rb"\n([A-Za-z_].*)")
_TOP = re.compile(rb"(?:async[ \t]+def|def|class)[ \t]+(\w+)|(\w+)[ \t]*(?::[^=]*)?=")


@dataclass(frozen=True)
class Modules:
    """The Python modules of a tree by their path without suffix: `a/b` is a/b.py or a package."""

    files: Mapping[str, str]
    folders: frozenset[str]  # every folder with a module somewhere below: a package of some kind
    roots: tuple[str, ...]  # folders that hold a package and are none
    words: frozenset[str]  # the last part of every module and folder

    def has(self, key: str) -> bool:
        """Is there such a module or package?"""
        return key in self.files or key in self.folders

    def holds_no_top(self, folder: str) -> bool:
        """Is it a package or inside one? No absolute import starts there."""
        names = (folder, *ancestors(folder))
        return any(self.files.get(name, "").endswith("/__init__.py") for name in names)


def modules(paths: Iterable[str]) -> Modules:
    """Index the modules among a tree's paths; a package hides a module of the same name."""
    python = [path for path in paths if path.endswith(".py")]
    files = {path.removesuffix(".py"): path for path in python}
    packages = {path.rpartition("/")[0]: path for path in python if path.endswith("/__init__.py")}
    parents = {name.rpartition("/")[0] for name in packages}
    folders = {path.rpartition("/")[0] for path in python}
    above = frozenset(name for folder in folders for name in (folder, *ancestors(folder)))
    words = frozenset(name.rpartition("/")[2] for name in (*files, *above))
    roots = (name for name in parents if not {name, *ancestors(name)} & packages.keys())
    return Modules({**files, **packages}, above, tuple(sorted(roots)), words)


def ancestors(path: str) -> Iterator[str]:
    """The folders a path stands in, innermost first, the top (empty) last."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def quick_imports(path: str, text: bytes) -> Iterator[Import]:
    """What import statements ask for, by patterns; prose may add some, lines are not known."""
    for head, words in _statements(text):
        if head[1] is None:
            yield from (Import(word[0], None, 0, None, False) for word in words)
            continue
        module, folder = head[2].decode("utf-8", "replace"), _folder(path, len(head[1]))
        for word in words:
            yield Import(module, None if word[0] == "*" else word[0], 0, folder, False)


def _statements(text: bytes) -> Iterator[tuple[re.Match[bytes], list[list[str]]]]:
    """What stands before `import`, and the words of each item after it: `a as b` is three."""
    for head, listed in _listed(text):
        yield head, _words(listed[1])


def _listed(text: bytes) -> Iterator[tuple[re.Match[bytes], re.Match[bytes]]]:
    for match in _IMPORT.finditer(text):
        head = _HEAD.fullmatch(text, text.rfind(b"\n", 0, match.start()) + 1, match.start())
        listed = _NAMES.match(text, match.end()) if head else None
        if head and listed:
            yield head, listed


def _words(listed: bytes) -> list[list[str]]:
    plain = _COMMENT.sub(b"", listed).translate(None, b"()\\").decode("utf-8", "replace")
    return [part.split() for part in plain.split(",") if part.strip()]


def imported_by_line(text: bytes) -> dict[int, set[bytes]]:
    """Line, from 1, to what it imports, as `module name alias`, for each line of an import.

    One that imports nothing itself (`from a import (`) has an empty set.
    """
    found: dict[int, set[bytes]] = {}
    for head, listed in _listed(text):
        plain = _COMMENT.sub(lambda match: b" " * len(match[0]), listed[1])
        first = text.count(b"\n", 0, head.start()) + 1
        for line in range(first, first + listed[1].rstrip().count(b"\n") + 1):
            found.setdefault(line, set())
        for match in _ITEM.finditer(plain):
            line = first + plain.count(b"\n", 0, match.start())
            found[line].add(b" ".join([(head[1] or b"") + (head[2] or b""), *match[0].split()]))
    return found


def _folder(path: str, level: int) -> str | None:
    return "/".join(path.split("/")[:-level]) if level else None


def _anywhere(folder: str) -> bool:
    return True


def keys(
    item: Import,
    importer: str,
    extra: Iterable[str] = (),
    tops: Callable[[str], bool] = _anywhere,
) -> Iterator[str]:
    """Where the module may be found: at the top, beside the importer and above, in `extra`.

    Beside and above only in folders that `tops` allows. `src` and its like count as tops too.
    Nowhere for a module of the standard library, whose name a local file may share.
    """
    inner = item.module.replace(".", "/")
    if item.folder is not None:
        yield join(item.folder, inner)
    elif inner.partition("/")[0] not in sys.stdlib_module_names:
        # The top comes first because nearly every import is found there.
        for folder in ("", *filter(tops, ancestors(importer))):
            yield join(folder, inner)
            yield from (join(folder, f"{source}/{inner}") for source in _SOURCE_FOLDERS)
        yield from (join(root, inner) for root in extra)


def join(folder: str, inner: str) -> str:
    """A path from two parts, either of which may be empty."""
    return f"{folder}/{inner}" if folder and inner else folder or inner


@lru_cache(maxsize=512)
def quick_names(text: bytes) -> frozenset[str]:
    """Names that a module surely binds at its top, by patterns; it may bind more."""
    matches = map(_TOP.match, _AT_MARGIN.findall(b"\n" + text))
    found = {(match[1] or match[2]).decode("utf-8", "replace") for match in matches if match}
    at_margin = (words for head, words in _statements(text) if head[0][:1] in (b"", b"f"))
    found.update(word[-1].partition(".")[0] for words in at_margin for word in words)
    return frozenset(found)


@dataclass(frozen=True)
class Names:
    """What a module binds at its top; `open`: it may bind any name (`*`, `__getattr__`)."""

    bound: frozenset[str]
    open: bool


@lru_cache(maxsize=64)
def names(text: bytes) -> Names:
    """Read the syntax tree; a module that does not parse is open, as nobody can tell."""
    tree = imports.parse(text)
    if tree is None:
        return Names(frozenset(), open=True)
    bound = {name for node in _top(tree) for name in _bound(node)}
    nodes = list(ast.walk(tree))
    bound |= {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    is_open = bound & {"*", "__getattr__"} or any(map(_writes_anywhere, nodes))
    return Names(frozenset(bound), open=bool(is_open))


def _top(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that runs as the module's own code: not inside functions and classes."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
        ):
            yield from _top(child)


def _bound(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.alias(name=name, asname=None):
            yield name.partition(".")[0]
        case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name


def _writes_anywhere(node: ast.AST) -> bool:
    """Does code reach for a module's own dictionary: `globals()`, `sys.modules`, `exec`?"""
    if isinstance(node, ast.Attribute):
        return (
            node.attr == "modules" and isinstance(node.value, ast.Name) and node.value.id == "sys"
        )
    return isinstance(node, ast.Name) and node.id in ("globals", "exec")
