"""Who changed a conflicted file on one side, and why: its commits with their messages."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nightly_sync import git
from nightly_sync.agent.acceptance import HunkTask
from nightly_sync.audits.model import Parent
from nightly_sync.merge.hunks import Hunk
from nightly_sync.merge.model import Touch

NAMED = 25  # commits of a side
MESSAGES = 8  # of them with the whole message


@dataclass(frozen=True)
class Work:
    """One side's commits that touched a file: those that wrote lines of its hunks first."""

    touches: tuple[Touch, ...] = ()  # at most NAMED
    more: int = 0
    wrote: frozenset[str] = frozenset()  # SHAs
    bodies: Mapping[str, str] = field(default_factory=dict)  # messages below the subject, by SHA


def work_on(repo: Path, task: HunkTask, base: str, commit: str, side: Parent) -> Work:
    """The work of a side, whose head is `commit`, on the file of a task."""
    touches = task.commits(side)
    if not touches:
        return Work()
    pieces = [_piece(hunk, side) for hunk in task.hunks]
    wrote = git.writers(repo, f"{base}..{commit}", task.path, spans(task.side(side), pieces))
    ordered = sorted(touches, key=lambda touch: touch.sha not in wrote)[:NAMED]
    told = [touch.sha for touch in ordered[:MESSAGES]]
    bodies = {item.sha: item.body for item in git.log(repo, *told, options=("--no-walk=unsorted",))}
    return Work(tuple(ordered), len(touches) - len(ordered), wrote, bodies)


def _piece(hunk: Hunk, side: Parent) -> bytes:
    return hunk.source if side is Parent.SOURCE else hunk.target


def spans(text: bytes, pieces: Iterable[bytes]) -> Iterator[tuple[int, int]]:
    """First and last line, from 1, of pieces that stand in a text one after the other.

    A piece that is empty or not found has none.
    """
    at = 0
    for piece in pieces:
        start = text.find(piece, at) if piece.strip() else -1
        if start >= 0:
            at = start + len(piece)
            first = text.count(b"\n", 0, start) + 1
            yield first, first + piece.rstrip(b"\n").count(b"\n")
