"""The seam for what decides a file's hunks after the rules and before the fallback.

A rule sees one hunk; a resolver sees the file with all hunks that no rule could decide, and may be
slow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from nightly_sync.merge.hunks import Hunk, Segment
from nightly_sync.merge.model import PathFacts, Resolution, Take


@dataclass(frozen=True)
class FileConflict:
    """One conflicted text file: its text in order, and the hunks by number, from 0."""

    facts: PathFacts
    segments: tuple[Segment, ...]
    decided: Mapping[int, Resolution]  # by the rules
    open: tuple[int, ...]  # the others, in order


@dataclass(frozen=True)
class Resolved:
    """What a resolver says of a file: a resolution for each hunk that it decides.

    `text` is the whole file, where that is known and not what each hunk made of it.
    """

    hunks: Mapping[int, Resolution] = field(default_factory=dict)
    text: bytes | None = None


class Resolver(Protocol):
    """Decides open hunks; those it says nothing of go to the fallback."""

    def __call__(self, conflict: FileConflict, /) -> Resolved: ...


class Memory(Protocol):
    """What became of such hunks before."""

    def recall(self, path: str, hunk: Hunk, /) -> Resolution | None: ...


class NoMemory:
    """A memory that nobody has written to."""

    def recall(self, path: str, hunk: Hunk, /) -> Resolution | None:
        """Nothing."""
        return None


def chosen(hunk: Hunk, answer: Resolution) -> bytes:
    """What a resolution puts in the place of a hunk."""
    if answer.take is Take.TEXT and answer.text is not None:
        return answer.text
    sides = {Take.SOURCE: hunk.source, Take.TARGET: hunk.target, Take.BASE: hunk.base}
    return sides.get(answer.take, b"")
