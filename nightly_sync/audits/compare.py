"""The four trees of a merge, aligned path by path, so that an audit looks only at what differs.

A file that one parent renamed is one row: its content is compared, not its name.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from nightly_sync.audits.lines import LineFacts, line_facts
from nightly_sync.audits.model import Parent
from nightly_sync.audits.modules import Modules, modules
from nightly_sync.conflicts import Entry, is_file
from nightly_sync.merge.syntax import is_python

Tree = Mapping[str, Entry]
_BINARY_PROBE = 8000  # bytes; git's own limit when it looks for a NUL


@dataclass(frozen=True)
class Row:
    """One file in the four trees. `names`: every name it has had in them."""

    path: str
    base: Entry | None
    source: Entry | None
    target: Entry | None
    merged: Entry | None
    names: tuple[str, ...] = ()

    def of(self, parent: Parent) -> Entry | None:
        """What a parent has."""
        return self.source if parent is Parent.SOURCE else self.target

    @property
    def mixed(self) -> bool:
        """Is the merged content neither parent's?"""
        return self.merged is not None and not (
            _same(self.merged, self.source) or _same(self.merged, self.target)
        )

    @property
    def contested(self) -> bool:
        """Did git have more to do here than to take the one side that changed?"""
        return not (
            (_same(self.merged, self.source) and _same(self.target, self.base))
            or (_same(self.merged, self.target) and _same(self.source, self.base))
            or (_same(self.merged, self.source) and _same(self.merged, self.target))
        )

    def lost(self, parent: Parent) -> bool:
        """Does this parent have the file, the merge not, although the other never deleted it?"""
        deleted = self.base is not None and self.of(parent.other) is None
        return self.merged is None and self.of(parent) is not None and not deleted

    def deleted_by(self, parent: Parent) -> bool:
        """Did this parent delete the file?"""
        return self.base is not None and self.of(parent) is None


def _same(left: Entry | None, right: Entry | None) -> bool:
    """Equal content; a file's mode has no part in it."""
    return (left and left.oid) == (right and right.oid)


@dataclass(frozen=True)
class Trees:
    """The four trees, path to entry."""

    base: Tree
    source: Tree
    target: Tree
    merged: Tree

    def of(self, parent: Parent) -> Tree:
        """A parent's tree."""
        return self.source if parent is Parent.SOURCE else self.target

    def changed(self) -> list[str]:
        """Paths that are not the same in all four."""
        others = (self.base, self.source, self.target)
        names = set(self.merged).union(*others)
        return sorted(name for name in names if self._changed(name, others))

    def _changed(self, name: str, others: tuple[Tree, ...]) -> bool:
        mine = self.merged.get(name)
        found = (tree.get(name) for tree in others)
        return any(entry is not mine and entry != mine for entry in found)


Renames = Mapping[Parent, Mapping[str, str]]
"""Old name to new name since the base, for each parent."""


def align(trees: Trees, renames: Renames) -> tuple[Row, ...]:
    """One row for each file that differs somewhere, in the order of names."""
    back = {new: old for names in renames.values() for old, new in names.items()}
    origins = {back.get(path, path) for path in trees.changed()}
    rows = [row for origin in origins for row in _rows(origin, trees, renames)]
    return tuple(sorted(_with_origins(rows), key=lambda row: row.path))


def _with_origins(rows: list[Row]) -> list[Row]:
    """Join a file that only the merged tree has with the one a parent holds under another name.

    Such pairs come from a directory that one side renamed while the other added to it.
    """
    gone = {
        entry.oid: row
        for row in rows
        if row.merged is None
        for entry in (row.source, row.target)
        if entry is not None
    }
    moved = {row.path: gone[oid] for row in rows if (oid := _own_oid(row)) in gone}
    left = {row.path for row in moved.values()}
    return [_joined(row, moved.get(row.path)) for row in rows if row.path not in left]


def _own_oid(row: Row) -> str:
    """The content of a file that no other tree has under its name; empty for any other file."""
    return row.merged.oid if row.merged and not (row.base or row.source or row.target) else ""


def _joined(row: Row, old: Row | None) -> Row:
    if old is None:
        return row
    names = (*row.names, *old.names)
    return replace(row, base=old.base, source=old.source, target=old.target, names=names)


def _rows(origin: str, trees: Trees, renames: Renames) -> list[Row]:
    """The file called `origin` in the base; a name the merge kept twice is two files."""
    known = (origin, *(names[origin] for names in renames.values() if origin in names))
    names = tuple(dict.fromkeys(known))
    kept = [name for name in names if name in trees.merged]
    if len(kept) > 1:
        return [_row((name,), trees) for name in names]
    return [_row((*kept, *(name for name in names if name not in kept)), trees)]


def _row(names: tuple[str, ...], trees: Trees) -> Row:
    """`names`: the one the merged tree has comes first; the newest stands for a lost file."""

    def find(tree: Tree) -> Entry | None:
        return next((tree[name] for name in names if name in tree), None)

    alive = [name for name in names if name in trees.source or name in trees.target]
    path = names[0] if names[0] in trees.merged else next(iter(alive), names[0])
    entries = (find(trees.base), find(trees.source), find(trees.target), find(trees.merged))
    return Row(path, *entries, names=names)


@dataclass(frozen=True)
class Comparison:
    """Trees, rows, and the content the audits read; `texts` by object id."""

    trees: Trees
    rows: tuple[Row, ...]
    texts: Mapping[str, bytes] = field(default_factory=dict)

    def text(self, entry: Entry | None) -> bytes | None:
        """The content of a text file; None for what is no file, binary, or was not read."""
        if entry is None or not is_file(entry):
            return None
        content = self.texts.get(entry.oid)
        return None if content is None or b"\0" in content[:_BINARY_PROBE] else content

    @cached_property
    def mixed_python(self) -> tuple[tuple[Row, bytes], ...]:
        """Python files whose merged content is neither parent's, with that content."""
        mixed = ((row, self.text(row.merged)) for row in self.rows if row.mixed)
        return tuple((row, text) for row, text in mixed if is_python(row.path) and text is not None)

    def parents(self, row: Row) -> tuple[bytes, ...]:
        """The text of each parent that has the file."""
        texts = (self.text(row.of(parent)) for parent in Parent)
        return tuple(text for text in texts if text is not None)

    @cached_property
    def lines(self) -> Mapping[str, LineFacts]:
        """What became of each side's lines, for every file where some are amiss."""
        found = ((row.path, self._lines(row)) for row in self.rows if row.contested)
        return {path: facts for path, facts in found if facts.some}

    def lines_of(self, row: Row) -> LineFacts:
        """What is amiss with the lines of one file."""
        return self.lines.get(row.path, LineFacts())

    def _lines(self, row: Row) -> LineFacts:
        entries = (row.base, row.source, row.target, row.merged)
        if any(entry is not None and self.text(entry) is None for entry in entries):
            return LineFacts()
        base, source, target, merged = (self.text(entry) or b"" for entry in entries)
        return line_facts(base, source, target, merged, is_python(row.path))

    @cached_property
    def modules(self) -> Mapping[Parent, Modules]:
        """The Python modules of each parent."""
        return {parent: modules(self.trees.of(parent)) for parent in Parent}

    @cached_property
    def merged_modules(self) -> Modules:
        """The Python modules of the merged tree."""
        return modules(self.trees.merged)

    @cached_property
    def by_name(self) -> Mapping[str, Row]:
        """Row by any of its names."""
        return {name: row for row in self.rows for name in row.names}


def wanted_texts(trees: Trees, rows: Iterable[Row]) -> set[str]:
    """Object ids of the content the audits read.

    Contested files, Python files that differ somewhere, and the packages' own modules: they say
    whether a lost module's name lives on.
    """
    packages = (item for path, item in trees.merged.items() if path.endswith("__init__.py"))
    wanted = _oids(*packages)
    for row in rows:
        if row.contested:
            wanted |= all_texts((row,))
        elif is_python(row.path):
            wanted |= _oids(row.source, row.target, row.merged)
    return wanted


def all_texts(rows: Iterable[Row]) -> set[str]:
    """Object ids of files in all four trees."""
    return {oid for row in rows for oid in _oids(row.base, row.source, row.target, row.merged)}


def _oids(*entries: Entry | None) -> set[str]:
    return {entry.oid for entry in entries if entry and is_file(entry)}
