"""Which hunks of a file are asked about, and in how many tasks. Pure."""

from collections.abc import Collection, Iterator, Mapping

from nightly_sync.agent.data import clean
from nightly_sync.merge.facts import Touches
from nightly_sync.merge.hunks import Hunk, Segment
from nightly_sync.merge.model import PathFacts, Touch
from nightly_sync.merge.resolver import FileConflict, chosen
from nightly_sync.review.acceptance import HunkTask
from nightly_sync.review.forbidden import FileChange, Policy, RefusalKind, forbidden

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
    asked = open_hunks(conflict).values()
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


def open_hunks(conflict: FileConflict) -> dict[int, Hunk]:
    """The open hunks by their number."""
    hunks = enumerate(part for part in conflict.segments if isinstance(part, Hunk))
    return {index: hunk for index, hunk in hunks if index in conflict.open}


def groups(conflict: FileConflict) -> tuple[tuple[int, ...], ...]:
    """The open hunks, in tasks of neighbours: all in one unless they are many or long."""
    found: list[tuple[int, ...]] = [()]
    total = 0
    for index, hunk in open_hunks(conflict).items():
        total += _size(hunk)
        if found[-1] and (len(found[-1]) == MOST_HUNKS or total > MOST_BYTES):
            found.append(())
            total = _size(hunk)
        found[-1] += (index,)
    return tuple(found)


def _size(hunk: Hunk) -> int:
    return len(hunk.base) + len(hunk.target) + len(hunk.source)


def task_of(
    conflict: FileConflict, asked: Collection[int], texts: Mapping[int, bytes], touches: Touches
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


def _versions(facts: PathFacts) -> tuple[bytes, ...]:
    """Base, target and source, the whole files; empty where there is none."""
    found = facts.conflict
    entries = (found.base, found.target, found.source) if found else (None, None, None)
    return tuple(facts.texts.get(entry.oid, b"") if entry else b"" for entry in entries)


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
        elif index in conflict.decided:
            between += chosen(segment, conflict.decided[index])
        else:
            between += texts[index]
    yield between


def _touched(facts: PathFacts, by_path: Mapping[str, tuple[Touch, ...]]) -> tuple[Touch, ...]:
    """The commits of one side that touched the file, under any of its names."""
    names = (facts.path, *(facts.conflict.related if facts.conflict else ()))
    return tuple(dict.fromkeys(touch for name in names for touch in by_path.get(name, ())))
