"""Typed facts read from `git merge-tree -z`: which paths conflict, and how."""

from enum import StrEnum

from nightly_sync.model import Model, PathName, Text


class Entry(Model):
    """What a tree holds at a path."""

    mode: str  # six octal digits: 100644, 100755, 120000 (symlink), 160000 (submodule)
    oid: str


class Kind(StrEnum):
    """The kinds of conflict, by the field's usual names."""

    CONTENTS = "contents"
    ADD_ADD = "add/add"
    MODIFY_DELETE = "modify/delete"
    RENAME_DELETE = "rename/delete"
    MODE = "mode"
    BINARY = "binary"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    DISTINCT_TYPES = "distinct types"
    RENAME_RENAME = "rename/rename"
    RENAME_COLLISION = "rename collision"
    FILE_DIRECTORY = "file/directory"
    FILE_LOCATION = "file location"
    DIRECTORY_RENAME = "directory rename"
    OTHER = "other"


RESOLVABLE = frozenset(
    {
        Kind.CONTENTS,
        Kind.ADD_ADD,
        Kind.MODIFY_DELETE,
        Kind.RENAME_DELETE,
        Kind.MODE,
        Kind.BINARY,
        Kind.SYMLINK,
        Kind.SUBMODULE,
    }
)
"""Kinds a rule may settle path by path; every other kind stops the run for a person."""


class Conflict(Model):
    """One conflicted path. Stages as in git's index: 1 base, 2 target (ours), 3 source."""

    path: PathName
    kinds: tuple[Kind, ...]
    base: Entry | None = None
    target: Entry | None = None
    source: Entry | None = None
    related: tuple[PathName, ...] = ()  # the other paths of the same conflict (renames)
    messages: tuple[Text, ...] = ()

    @property
    def resolvable(self) -> bool:
        """May rules settle this path without a person?"""
        return bool(self.kinds) and RESOLVABLE.issuperset(self.kinds)


class MergeTree(Model):
    """What git itself makes of the merge: a tree, and the paths it could not settle."""

    tree: str
    conflicts: tuple[Conflict, ...]
