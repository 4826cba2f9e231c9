"""Which hunks of a file are asked about, and in how many tasks. Pure."""

from collections.abc import Collection, Iterator, Mapping

from nightly_sync.agent.acceptance import HunkTask
from nightly_sync.agent.data import clean
from nightly_sync.agent.forbidden import FileChange, Policy, RefusalKind, forbidden
from nightly_sync.conflicts import Entry
from nightly_sync.merge.facts import Touches
from nightly_sync.merge.hunks import Hunk, Segment
from nightly_sync.merge.model import PathFacts, Touch
from nightly_sync.merge.resolver import FileConflict, chosen

MOST_HUNKS = 12  # in one task
MOST_BYTES = 40_000  # of hunks, all three versions, in one task that has several
LARGEST = 90_000  # bytes of one hunk: its answer must fit into one message of the model

_CLOSED = (
    RefusalKind.PROTECTED,
    RefusalKind.WORKFLOW,
    RefusalKind.FILE_TYPE,
    RefusalKind.GOLDEN,
)


def unfit(conflict: FileConflict, policy: Policy) -> str:
    """Why no answer about this file could be accepted; "" if one could."""
    return _closed(conflict.facts.path, policy) or _unreadable(conflict)


def _closed(path: str, policy: Policy) -> str:
    written = FileChange(path, None, b"", mode_before=None)
    refusals = (item for item in forbidden((written,), policy) if item.kind in _CLOSED)
    return next((item.evidence for item in refusals), "")


def _unreadable(conflict: FileConflict) -> str:
    if not all(map(_is_utf8, _versions(conflict.facts))):
        return "the file is not UTF-8"
    asked = [hunk for index, hunk in _hunks(conflict.segments) if index in conflict.open]
    if any(_size(hunk) > LARGEST for hunk in asked):
        return f"a hunk is over {LARGEST:,} bytes long"
    if not all(_is_plain(text) for hunk in asked for text in (hunk.target, hunk.source)):
        return "a hunk holds characters that cannot be shown"
    return ""


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_plain(text: bytes) -> bool:
    """Does the model see every character? It could not give back what it does not see."""
    return clean(text) == text.decode().replace("\r\n", "\n")


def groups(conflict: FileConflict) -> tuple[tuple[int, ...], ...]:
    """The open hunks, in tasks of neighbours: all in one unless they are many or long."""
    sizes = {index: _size(hunk) for index, hunk in _hunks(conflict.segments)}
    found: list[list[int]] = [[]]
    for index in conflict.open:
        size = sizes[index] + sum(sizes[other] for other in found[-1])
        if found[-1] and (len(found[-1]) == MOST_HUNKS or size > MOST_BYTES):
            found.append([])
        found[-1].append(index)
    return tuple(tuple(group) for group in found)


def task_of(
    conflict: FileConflict,
    asked: Collection[int],
    texts: Mapping[int, bytes],
    touches: Touches,
) -> HunkTask:
    """The task about the hunks `asked`; what stands for the other open ones is in `texts`."""
    facts = conflict.facts
    base, target, source = _versions(facts)
    return HunkTask(
        path=facts.path,
        parts=tuple(_parts(conflict, asked, texts)),
        base=base,
        target=target,
        source=source,
        target_commits=_touched(facts, touches.target),
        source_commits=_touched(facts, touches.source),
    )


def open_hunks(conflict: FileConflict) -> dict[int, Hunk]:
    """The open hunks by their number."""
    return {index: hunk for index, hunk in _hunks(conflict.segments) if index in conflict.open}


def _versions(facts: PathFacts) -> tuple[bytes, bytes, bytes]:
    """Base, target and source, the whole files; empty where there is none."""

    def text(entry: Entry | None) -> bytes:
        return facts.texts.get(entry.oid, b"") if entry else b""

    found = facts.conflict
    return (text(found.base), text(found.target), text(found.source)) if found else (b"", b"", b"")


def _hunks(segments: tuple[Segment, ...]) -> Iterator[tuple[int, Hunk]]:
    return enumerate(segment for segment in segments if isinstance(segment, Hunk))


def _size(hunk: Hunk) -> int:
    return len(hunk.base) + len(hunk.target) + len(hunk.source)


def _parts(
    conflict: FileConflict, asked: Collection[int], texts: Mapping[int, bytes]
) -> Iterator[Segment]:
    """The segments, with text for what is not asked, and neighbouring texts joined."""
    between, index = b"", -1
    for segment in conflict.segments:
        index += isinstance(segment, Hunk)
        if isinstance(segment, bytes):
            between += segment
        elif index in asked:
            yield between
            yield segment
            between = b""
        else:
            between += _text(conflict, index, segment, texts)
    yield between


def _text(conflict: FileConflict, index: int, hunk: Hunk, texts: Mapping[int, bytes]) -> bytes:
    if index in conflict.decided:
        return chosen(hunk, conflict.decided[index])
    return texts[index]


def _touched(facts: PathFacts, by_path: Mapping[str, tuple[Touch, ...]]) -> tuple[Touch, ...]:
    """The commits of one side that touched the file, under any of its names."""
    names = (facts.path, *(facts.conflict.related if facts.conflict else ()))
    return tuple(dict.fromkeys(touch for name in names for touch in by_path.get(name, ())))
