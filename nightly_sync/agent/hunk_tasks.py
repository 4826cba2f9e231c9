"""What Claude is asked about a conflicted file: which hunks, in how many tasks, in what words.

The instructions are the same for all files of a run, so that they are cached; what is special
about a file is in its opening. What comes from the repository is framed, names and messages too.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from nightly_sync import git
from nightly_sync.agent.data import Marker, clean
from nightly_sync.agent.guard import shown
from nightly_sync.audits.model import Parent
from nightly_sync.merge.facts import Touches
from nightly_sync.merge.hunks import Hunk, Segment
from nightly_sync.merge.model import PathFacts, Resolution, Touch
from nightly_sync.merge.resolver import FileConflict, chosen
from nightly_sync.review.acceptance import HunkTask
from nightly_sync.review.acceptance.model import side_of
from nightly_sync.review.forbidden import FileChange, Policy, RefusalKind, forbidden

MOST_HUNKS = 12  # in one task
MOST_BYTES = 40_000  # of hunks, all three versions, in one task that has several
LARGEST = 90_000  # bytes of one hunk: its answer must fit into one message of the model
WHOLE = 40_000  # bytes of text around the hunks that are shown whole
AROUND = 60  # lines at either end of a text between hunks that are shown of more
NAMED = 25  # commits of a side
MESSAGES = 8  # of them with the whole message
BODY = 800  # characters of a commit's message
_SUBJECT = 200
_SIGNED = re.compile(r"^(?:signed-off|co-authored|reviewed|acked)-by:.*\n?", re.M | re.I)
_CLOSED = (
    RefusalKind.PROTECTED,
    RefusalKind.WORKFLOW,
    RefusalKind.FILE_TYPE,
    RefusalKind.GOLDEN,
)

SYSTEM = """\
You resolve conflicts of git merges. The branch `{source}` (the source) is merged into the \
long-lived branch `{target}` (the target), which has work of its own. git and a set of rules have \
settled what they could. You get one file, with the hunks that are left. Programs check your \
answer before it counts, and people read it.

A good resolution
- Find out what each side meant: what it changed from the base, and why. The commits are listed; \
look further with the tools where that leaves a doubt, for example at a commit that removed lines, \
or at the definition of what is called.
- Write the text that has both changes in effect. What only one side added stays. What one side \
removed or replaced goes, unless the other side's change needs it.
- Where both sides did the same thing in two ways, keep one of them, not both. Prefer the one \
that the rest of the merged file fits.
- Change nothing else: no clean-up, no new formatting, no comment about the merge.
- Names and numbers come from one of the sides.

How to answer
- Call `resolve` once, with the text for every hunk: whole lines, exactly as they are to stand in \
the file, with their indentation. The lines around a hunk are not part of it.
- In `dropped` name every line that a side added or that both sides have, and that your text \
leaves out or rewrites: as it stands there, with the commit of the other side that removed or \
replaced it. Lines of the base that one side removed need no entry.
- In `invented` name each identifier or number that is on no side, with the reason; so too \
each word of Python's control flow (`if`, `return`, `try`, `not` ...) that no side has as often.
- `rationale` is for the reviewer: what each side did, and what became of it, in a few plain \
sentences. `confidence` is low wherever you would want a person to look first.
- If the answer is not accepted you read why, and answer again; you have {answers} tries. If no \
answer would be more than a guess, call `leave`: a person decides then.

What the programs check: all hunks are answered; no conflict marker and no placeholder; the file \
still parses; no new undefined name and no definition twice; no line lost without a word in \
`dropped`; no invented name; in tests, nothing is skipped or loosened.
"""
REMINDER = "The file is still open: call `resolve` with a text for every hunk, or `leave`."


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


# What is said of it


def opening(
    task: HunkTask,
    history: Iterable[str],
    before: Sequence[Resolution | None],
    partly: bool,
    marker: Marker,
) -> str:
    """What is special about one file.

    `history` is framed already, `before` is what became of each hunk at another time, and `partly`:
    other hunks of the file are asked about elsewhere.
    """
    many = len(task.hunks)
    return "\n".join(
        (
            marker.wrap("name of the file", shown(task.path)),
            *history,
            *_remarks(task, partly),
            *_file(task, before, marker),
            f"Resolve hunks 0 to {many - 1}." if many > 1 else "Resolve hunk 0.",
        )
    )


def _remarks(task: HunkTask, partly: bool) -> Iterator[str]:
    if not task.base:
        yield "Both sides added this file; there is no base."
    if b"\r\n" in task.target + task.source:
        yield "Lines of this file end in CRLF; write plain line ends, they are converted."
    if partly:
        yield "Other hunks of the file are asked about elsewhere; here one side stands for them."


def _file(task: HunkTask, before: Sequence[Resolution | None], marker: Marker) -> Iterator[str]:
    """The file from top to bottom: what is merged, and each hunk as base and sides have it."""
    total = sum(len(part) for part in task.parts if isinstance(part, bytes))
    index = 0
    for part in task.parts:
        if isinstance(part, Hunk):
            for side in ("base", "target", "source"):
                text = side_of(part, side)
                yield marker.wrap(f"hunk {index}, {side}", text, max(1, len(text)))
            if known := before[index]:
                label = f"hunk {index}, as it was resolved before"
                yield marker.wrap(label, chosen(part, known))
            index += 1
        elif part:
            yield from _merged(part, total > WHOLE, marker)


def _merged(text: bytes, cut: bool, marker: Marker) -> Iterator[str]:
    """A text between hunks, whole or only its beginning and end."""
    lines = text.splitlines(keepends=True)
    if not cut or len(lines) <= 2 * AROUND:
        yield marker.wrap("merged text", text, len(text))
        return
    yield marker.wrap("merged text", b"".join(lines[:AROUND]), WHOLE)
    yield f"({len(lines) - 2 * AROUND} lines of merged text are left out here.)"
    yield marker.wrap("merged text", b"".join(lines[-AROUND:]), WHOLE, keep="end")


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
