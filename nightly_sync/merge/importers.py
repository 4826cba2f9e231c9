"""Who, in a merged tree, imports a file that is not in it?"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nightly_sync import git, imports
from nightly_sync.conflicts import Entry


def find(repo: Path, tree: str, lacking: Iterable[str], deleter: str) -> dict[str, tuple[str, ...]]:
    """For each lacking Python file, the `file.py:line` of every import that needs it.

    `deleter` is the commit that lacks the files. A file just as it stands there is no evidence:
    what it lacks now, it lacked before. One `git grep` finds the files worth parsing.
    """
    wanted = sorted(lacking)
    if not wanted:
        return {}
    entries = git.tree_entries(repo, tree)
    before = git.tree_entries(repo, deleter)
    hits = git.grep_files(repo, tree, _pattern(wanted), ("*.py",))
    suspects = {path: entries[path].oid for path in hits if entries[path] != before.get(path)}
    blobs = git.read_blobs(repo, suspects.values())
    found: dict[str, list[str]] = {}
    for path, oid in suspects.items():
        for needed, line in _needed(path, blobs[oid], wanted, entries):
            found.setdefault(needed, []).append(f"{path}:{line}")
    return {path: tuple(places) for path, places in found.items()}


def _pattern(wanted: Iterable[str]) -> str:
    """Lines that can name one of these modules in an import, continued ones included."""
    words = "|".join(sorted({word for word in map(_word, wanted) if word.isidentifier()}))
    return rf"^\s*(from|import)\s.*\b({words})\b|^\s*({words})\s*(,|\)|$|as\s)"


def _word(path: str) -> str:
    """What an import calls the module, e.g. `b` for a/b.py and a/b/__init__.py."""
    parts = path.removesuffix(".py").split("/")
    return parts[-2] if parts[-1] == "__init__" and len(parts) > 1 else parts[-1]


def _needed(
    path: str, text: bytes, wanted: list[str], entries: Mapping[str, Entry]
) -> list[tuple[str, int]]:
    """`(wanted file, line)` of each import; the whole file is parsed only if one is likely."""
    if not any(True for _ in _matches(path, imports.likely_imports(path, text), wanted, entries)):
        return []
    tree = imports.parse(text)
    found = imports.imports_of(path, tree) if tree else ()
    return sorted(set(_matches(path, found, wanted, entries)))


def _matches(
    path: str, items: Iterable[imports.Import], wanted: list[str], entries: Mapping[str, Entry]
) -> Iterator[tuple[str, int]]:
    by_word: dict[str, list[str]] = {}
    for name in wanted:
        by_word.setdefault(_word(name), []).append(name)
    for item in items:
        words = {dotted.rpartition(".")[2] for dotted in imports.dotted_names(item)}
        for name in (name for word in words for name in by_word.get(word, ())):
            if not item.guarded and imports.needs(path, item, name, entries.__contains__):
                yield name, item.line
