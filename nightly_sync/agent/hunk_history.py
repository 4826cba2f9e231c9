"""Who changed a conflicted file on one side, and why: its commits with their messages."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nightly_sync import git
from nightly_sync.agent.data import Marker
from nightly_sync.audits.model import Parent
from nightly_sync.merge.model import Touch
from nightly_sync.review.acceptance import HunkTask
from nightly_sync.review.acceptance.model import side_of

NAMED = 25  # commits of a side
MESSAGES = 8  # of them with the whole message
BODY = 800  # characters of a commit's message
_SUBJECT = 200
_SIGNED = re.compile(r"^(?:signed-off|co-authored|reviewed|acked)-by:.*\n?", re.M | re.I)


def history(
    repo: Path, task: HunkTask, commits: tuple[str, str], side: Parent, marker: Marker
) -> str:
    """The commits of a side that touched the file, framed: those that wrote its hunks first.

    `commits`: the base, and the side's head.
    """
    touches = task.commits(side)
    if not touches:
        return f"No commit of the {side} is known to have touched this file since the base."
    pieces = [side_of(hunk, side) for hunk in task.hunks]
    wrote = git.writers(repo, "..".join(commits), task.path, spans(task.side(side), pieces))
    ordered = sorted(touches, key=lambda touch: touch.sha not in wrote)[:NAMED]
    told = [touch.sha for touch in ordered[:MESSAGES]]
    bodies = {item.sha: item.body for item in git.log(repo, *told, options=("--no-walk=unsorted",))}
    lines = (_commit(touch, touch.sha in wrote, bodies) for touch in ordered)
    more = f", and {len(touches) - NAMED} more" if len(touches) > NAMED else ""
    return marker.wrap(f"commits of the {side} that touched the file{more}", "\n".join(lines))


def _commit(touch: Touch, wrote: bool, bodies: Mapping[str, str]) -> str:
    pull = f" pull request {touch.pull_request}" if touch.pull_request else ""
    part = " (wrote lines of the hunks)" if wrote else ""
    body = _SIGNED.sub("", bodies.get(touch.sha, "")).strip()
    short = body if len(body) <= BODY else f"{body[:BODY]} [...]"
    below = "".join(f"\n    {line}" for line in short.splitlines())
    return f"{touch.sha[:12]}{pull}{part}: {touch.subject[:_SUBJECT]}{below}"


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
