"""Who, in a merged tree, imports a file that is not in it?"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from nightly_sync import git, imports
from nightly_sync.conflicts import is_file

ByWord = Mapping[str, list[str]]


def find(
    repo: Path,
    tree: str,
    lacking: Iterable[str],
    deleter: str,
    among: Collection[str] | None = None,
) -> dict[str, tuple[str, ...]]:
    """For each lacking Python file, the `file.py:line` of every import that needs it.

    `deleter` is the commit that lacks the files. A file just as it stands there is no evidence:
    what it lacks now, it lacked before. The others are few, so that reading them takes a quarter
    of the time of a `git grep` through the whole tree. `among`: look at these files only.
    """
    by_word = _by_word(lacking)
    if not by_word:
        return {}
    suspects = _suspects(repo, tree, deleter)
    if among is not None:
        suspects = {path: oid for path, oid in suspects.items() if path in among}
    blobs = git.read_blobs(repo, suspects.values())
    exists = _exists(repo, tree)
    found: dict[str, list[str]] = {}
    for path, oid in suspects.items():
        for needed, line in _needed(path, blobs[oid], by_word, exists):
            found.setdefault(needed, []).append(f"{path}:{line}")
    return {path: tuple(places) for path, places in found.items()}


def _exists(repo: Path, tree: str) -> imports.Exists:
    """Is there such a file in the tree? It is listed when somebody asks: mostly nobody does."""
    entries = cache(lambda: git.tree_entries(repo, tree))
    return lambda path: path in entries()


def _by_word(lacking: Iterable[str]) -> dict[str, list[str]]:
    """The lacking files by what an import calls them."""
    found: dict[str, list[str]] = {}
    for path in sorted(lacking):
        word = _word(path)
        if word.isidentifier():
            found.setdefault(word, []).append(path)
    return found


def _suspects(repo: Path, tree: str, deleter: str) -> dict[str, str]:
    """The tree's Python files that are not as in the deleting commit, and their content's id."""
    written = (item for item in git.changes(repo, deleter, tree) if item.new is not None)
    return {
        item.path: item.new.oid
        for item in written
        if item.new and is_file(item.new) and item.path.endswith(".py")
    }


def _word(path: str) -> str:
    """What an import calls the module, e.g. `b` for a/b.py and a/b/__init__.py."""
    parts = path.removesuffix(".py").split("/")
    return parts[-2] if parts[-1] == "__init__" and len(parts) > 1 else parts[-1]


def _needed(
    path: str, text: bytes, by_word: ByWord, exists: imports.Exists
) -> list[tuple[str, int]]:
    """`(lacking file, line)` of each import; the whole file is parsed only if one is likely."""
    likely = imports.likely_imports(path, text, by_word)
    if not any(True for _ in _matches(path, likely, by_word, exists)):
        return []
    tree = imports.parse(text)
    found = imports.imports_of(path, tree) if tree else ()
    return sorted(set(_matches(path, found, by_word, exists)))


def _matches(
    path: str, items: Iterable[imports.Import], by_word: ByWord, exists: imports.Exists
) -> Iterator[tuple[str, int]]:
    for item in items:
        words = {dotted.rpartition(".")[2] for dotted in imports.dotted_names(item)}
        for name in (name for word in words for name in by_word.get(word, ())):
            if not item.guarded and imports.needs(path, item, name, exists):
                yield name, item.line
