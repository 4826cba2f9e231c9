"""Typed facts read from `git merge-tree -z`: which paths conflict, and how."""

from dataclasses import dataclass
from enum import StrEnum

from nightly_sync import paths
from nightly_sync.model import Model, PathName, Text


class Entry(Model):
    """What a tree holds at a path."""

    mode: str  # six octal digits: 100644, 100755, 120000 (symlink), 160000 (submodule)
    oid: str


def is_file(entry: Entry) -> bool:
    """A regular file, executable or not."""
    return entry.mode.startswith("100")


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


_KINDS = {
    "CONFLICT (contents)": Kind.CONTENTS,
    "CONFLICT (binary)": Kind.BINARY,
    "CONFLICT (file/directory)": Kind.FILE_DIRECTORY,
    "CONFLICT (distinct modes)": Kind.DISTINCT_TYPES,
    "CONFLICT (modify/delete)": Kind.MODIFY_DELETE,
    "CONFLICT (rename/rename)": Kind.RENAME_RENAME,
    "CONFLICT (rename involved in collision)": Kind.RENAME_COLLISION,
    "CONFLICT (rename/delete)": Kind.RENAME_DELETE,
    "CONFLICT (directory rename suggested)": Kind.FILE_LOCATION,
    "CONFLICT (file in way of directory rename)": Kind.DIRECTORY_RENAME,
    "CONFLICT(directory rename collision)": Kind.DIRECTORY_RENAME,
    "CONFLICT(directory rename unclear split)": Kind.DIRECTORY_RENAME,
}
_SYMLINK, _SUBMODULE = "120000", "160000"


@dataclass(frozen=True)
class _Message:
    paths: tuple[str, ...]
    kind: Kind
    text: str


def parse(out: bytes) -> MergeTree:
    """Read the output of `git merge-tree --write-tree -z`, whatever its exit code (0 or 1).

    Every path with stages and every path a conflict message names is kept, so that a kind this
    module has never heard of stops the run instead of passing for a clean merge.
    """
    head, _, tail = out.partition(b"\0\0")
    tree, *lines = head.split(b"\0")
    stages = _stages(lines)
    messages = _messages(tail.split(b"\0"))
    named = {name for message in messages for name in message.paths}
    owners = [*stages, *sorted(_without_stages(named, messages, stages))]
    found = tuple(_conflict(name, stages.get(name, {}), messages) for name in owners)
    return MergeTree(tree=tree.decode(), conflicts=found)


def _stages(lines: list[bytes]) -> dict[str, dict[int, Entry]]:
    stages: dict[str, dict[int, Entry]] = {}
    for line in filter(None, lines):
        head, _, name = line.partition(b"\t")
        mode, oid, stage = head.decode().split()
        entry = Entry(mode=mode, oid=oid)
        stages.setdefault(paths.from_bytes(name), {})[int(stage)] = entry
    return stages


def _messages(fields: list[bytes]) -> list[_Message]:
    """Only the messages of conflicts; git also reports what it merged by itself."""
    found, position = [], 0
    while position < len(fields) and fields[position].isdigit():
        end = position + 1 + int(fields[position])
        names = tuple(paths.from_bytes(name) for name in fields[position + 1 : end])
        kind, text = fields[end].decode(), paths.from_bytes(fields[end + 1])
        if kind.startswith("CONFLICT"):
            found.append(_Message(names, _kind(kind), text.strip()))
        position = end + 2
    return found


def _kind(name: str) -> Kind:
    if name.startswith("CONFLICT (submodule"):
        return Kind.SUBMODULE
    return _KINDS.get(name, Kind.OTHER)


def _without_stages(
    named: set[str], messages: list[_Message], stages: dict[str, dict[int, Entry]]
) -> set[str]:
    """A path no stage speaks for, when no other path of its message has stages either."""
    spoken = {name for m in messages if stages.keys() & set(m.paths) for name in m.paths}
    return named - spoken


def _conflict(name: str, stages: dict[int, Entry], messages: list[_Message]) -> Conflict:
    own = [message for message in messages if name in message.paths]
    related = {other for message in own for other in message.paths} - {name}
    base, target, source = (stages.get(number) for number in (1, 2, 3))
    kinds = _refined({message.kind for message in own}, base, target, source)
    return Conflict(
        path=name,
        kinds=tuple(sorted(kinds)),
        base=base,
        target=target,
        source=source,
        related=tuple(sorted(related)),
        messages=tuple(message.text for message in own),
    )


def _refined(
    kinds: set[Kind], base: Entry | None, target: Entry | None, source: Entry | None
) -> set[Kind]:
    """git says `contents` for several kinds; the stages tell them apart."""
    if kinds - {Kind.CONTENTS, Kind.BINARY, Kind.SUBMODULE} or not (target and source):
        return kinds or {Kind.OTHER}
    modes = {target.mode, source.mode}
    if modes == {_SYMLINK}:
        return {Kind.SYMLINK}
    if modes == {_SUBMODULE}:
        return {Kind.SUBMODULE}
    if modes & {_SYMLINK, _SUBMODULE}:
        return {Kind.DISTINCT_TYPES}
    return _content_kinds(kinds, base, target, source)


def _content_kinds(kinds: set[Kind], base: Entry | None, target: Entry, source: Entry) -> set[Kind]:
    mode = {Kind.MODE} if target.mode != source.mode else set()
    known = {target.oid, source.oid} | ({base.oid} if base else set())
    one_side = target.oid == source.oid or (base is not None and len(known) < 3)
    if mode and one_side:
        return mode
    if Kind.BINARY in kinds:
        return {Kind.BINARY} | mode
    return {Kind.CONTENTS if base else Kind.ADD_ADD} | mode
