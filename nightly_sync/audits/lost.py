"""Modules and names that a parent has and the merged tree lacks, as its imports ask for them. Pure.

Importers are read by patterns only; `broken_imports` asks the syntax trees before it says so.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nightly_sync.audits.compare import Comparison, Row
from nightly_sync.audits.model import Parent
from nightly_sync.audits.modules import join, keys, quick_imports, quick_names
from nightly_sync.audits.scan import scan
from nightly_sync.conflicts import Entry
from nightly_sync.imports import Import

Importer = tuple[str, bytes]
"""A file of the merged tree: path and text."""
Missing = tuple[str, str | None]
"""The parent's file, and the merged module that lacks the name; None if the module is missing."""


@dataclass(frozen=True)
class Suspect:
    """An import of the merged tree that `parent` can satisfy and the merged tree seems not to.

    `file` is what the parent has: the module, or the one that binds the name. `merged_file`: the
    module that lacks the name, empty for a folder without one; None if the module is missing.
    """

    importer: str
    item: Import
    parent: Parent
    file: str
    merged_file: str | None


def importers(comparison: Comparison, parent: Parent) -> Iterator[Importer]:
    """Python files that came from this parent alone, or whose content is a mix."""
    for row in comparison.rows:
        shared = _same(row.of(parent.other), row.merged)
        text = None if shared or not row.path.endswith(".py") else comparison.text(row.merged)
        if text is not None:
            yield row.path, text


def _same(left: Entry | None, right: Entry | None) -> bool:
    return (left and left.oid) == (right and right.oid)


def suspects(
    comparison: Comparison, parent: Parent, files: Iterable[Importer]
) -> tuple[Suspect, ...]:
    """Every import in `files` of something that only the parent has."""
    lookup = _Lookup(comparison, parent)
    found = (
        Suspect(path, item, parent, *lost)
        for path, text in files
        for item in quick_imports(path, text)
        if (lost := lookup.missing(path, item))
    )
    return tuple(dict.fromkeys(found))


class _Lookup:
    """Asks a parent's modules and the merged ones; remembers where each folder finds a module."""

    def __init__(self, comparison: Comparison, parent: Parent):
        self.comparison = comparison
        self.parent = parent
        self.theirs = comparison.modules[parent]
        self.merged = comparison.merged_modules
        self.homes: dict[tuple[str, str, str | None], tuple[str | None, str | None]] = {}

    def missing(self, importer: str, item: Import) -> Missing | None:
        """The parent's file and the merged one, if only the parent can satisfy the import."""
        # Most imports are of somebody else's packages: no module here has such a name.
        if item.module and item.module.rpartition(".")[2] not in self.theirs.words:
            return None
        place = importer.rpartition("/")[0], item.module, item.folder
        if place not in self.homes:
            self.homes[place] = self._home(importer, item)
        key, home = self.homes[place]
        if key is None:
            return None
        if home is None:
            return self.theirs.files.get(key, key), None
        return self._missing_name(key, home, item.name) if item.name else None

    def _home(self, importer: str, item: Import) -> tuple[str | None, str | None]:
        """The module, by its key, in the parent and in the merged tree."""
        key = next(filter(self.theirs.has, keys(item, importer, tops=self._tops)), None)
        if key is None:
            return None, None
        return key, next(filter(self.merged.has, keys(item, importer, self.merged.roots)), None)

    def _tops(self, folder: str) -> bool:
        return not self.theirs.holds_no_top(folder)

    def _missing_name(self, key: str, home: str, name: str) -> Missing | None:
        """The same for a name of a module that both have; it may be a module itself."""
        inner = join(key, name)
        is_module = self.theirs.has(inner)
        old, new = self.theirs.files.get(key, ""), self.merged.files.get(home, "")
        before = self.comparison.trees.of(self.parent).get(old)
        after = self.comparison.trees.merged.get(new)
        if (_same(before, after) and not is_module) or self.merged.has(join(home, name)):
            return None
        if binds(self.comparison.text(after), name):
            return None
        if is_module or binds(self.comparison.text(before), name):
            return self.theirs.files.get(inner, old or inner), new
        return None


def binds(text: bytes | None, name: str) -> bool:
    """Does a module bind the name at its top, as far as patterns and symbol tables tell?"""
    return text is not None and (name in quick_names(text) or name in scan(text).bound)


def shared_losses(comparison: Comparison) -> frozenset[str]:
    """Words for modules and names that both parents have and the merged tree lacks.

    Only for these can a file break that is the same everywhere: they are worth a `git grep`.
    """
    source, target = (comparison.modules[parent].files for parent in Parent)
    both = source.keys() & target.keys()
    gone = {key.rpartition("/")[2] for key in both - comparison.merged_modules.files.keys()}
    mixed = (name for row, text in comparison.mixed_python for name in _gone(comparison, row, text))
    return frozenset(word for word in (*gone, *mixed) if word.isidentifier())


def _gone(comparison: Comparison, row: Row, text: bytes) -> frozenset[str]:
    parents = comparison.parents(row)
    if len(parents) < len(Parent) or not row.path.endswith(".py"):
        return frozenset()
    if not comparison.lines_of(row).shared:
        return frozenset()
    shared = quick_names(parents[0]) & quick_names(parents[1])
    return shared - quick_names(text) - scan(text).bound
