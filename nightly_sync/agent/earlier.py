"""What an earlier run made of a file, read from the merge that it pushed.

Its reasons are on the machine it ran on, so this is told apart from what the rules and the
fallback make of the same hunks today: no text of the merge is said to be theirs unless it is. Pure.
"""

from collections.abc import Mapping

from nightly_sync.agent.acceptance import HunkTask, cut
from nightly_sync.config import Fallback
from nightly_sync.merge import hunks
from nightly_sync.merge.hunks import Hunk
from nightly_sync.merge.model import Resolution, Status, Take
from nightly_sync.merge.resolver import FileConflict, Resolved, chosen
from nightly_sync.merge.syntax import same_code

NAME = "earlier-run"
EVIDENCE = (
    "an earlier run wrote this in the merge that is already pushed; its reasons are in the report "
    "of that run, not on this machine"
)


def described(
    conflict: FileConflict,
    task: HunkTask,
    known: Mapping[int, Resolution],
    pushed: bytes | None,
    fallback: Fallback,
) -> Resolved:
    """How the open hunks stand in the pushed file; None where the merge has no such file.

    `task` asks all of them, and `known` is what this machine remembers. What the fallback makes of
    a hunk is left to it.
    """
    asked = dict(zip(conflict.open, task.hunks, strict=True))
    texts = {at: _text(hunk, known.get(at), fallback) for at, hunk in asked.items()}
    complete = [text for text in texts.values() if text is not None]
    if pushed is not None and len(complete) == len(texts) and _is(task, complete, pushed):
        return Resolved(known)
    if pushed is None:  # a later rule moved or removed it
        return Resolved(known)
    found = cut(task, pushed)
    if found is None:  # a formatter went over it
        return Resolved({at: _somehow(hunk) for at, hunk in asked.items()}, pushed)
    standing = dict(zip(conflict.open, found, strict=True))
    return Resolved(
        {
            at: _told(hunk, standing[at], known.get(at))
            for at, hunk in asked.items()
            if at in known or not _alike(texts[at], standing[at])
        }
    )


def _text(hunk: Hunk, answer: Resolution | None, fallback: Fallback) -> bytes | None:
    """What would stand for a hunk today; None where a person would be asked."""
    if answer:
        return chosen(hunk, answer)
    return {"source": hunk.source, "target": hunk.target}.get(fallback)


def _is(task: HunkTask, texts: list[bytes], pushed: bytes) -> bool:
    """Is the pushed file made of these texts, but for the work of a formatter?"""
    whole = hunks.assemble(task.parts, lambda index, _: texts[index])
    return _alike(whole, pushed) or (task.python and same_code(whole, pushed))


def _alike(one: bytes | None, other: bytes) -> bool:
    """Equal, but for a newline at the end of the file."""
    return one is not None and one.rstrip(b"\r\n") == other.rstrip(b"\r\n")


def _told(hunk: Hunk, text: bytes, known: Resolution | None) -> Resolution:
    same = known is not None and _alike(chosen(hunk, known), text)
    return known if known and same else _earlier(hunk, text)


def _earlier(hunk: Hunk, text: bytes) -> Resolution:
    take = side_of(hunk, text)
    kept = text if take is Take.TEXT else None
    return Resolution(rule=NAME, take=take, evidence=EVIDENCE, status=Status.PROPOSAL, text=kept)


def _somehow(hunk: Hunk) -> Resolution:
    """The file is known as a whole only; the text here does no more than to count lines."""
    proposal = Status.PROPOSAL
    return Resolution(
        rule=NAME, take=Take.TEXT, evidence=EVIDENCE, status=proposal, text=hunk.source
    )


def side_of(hunk: Hunk, text: bytes) -> Take:
    """The side that has this very text for a hunk; TEXT if none has.

    At the end of a file git adds a newline to hunks that have none.
    """
    sides = {hunk.base: Take.BASE, hunk.target: Take.TARGET, hunk.source: Take.SOURCE}
    whole = text + b"\n" if text and not text.endswith(b"\n") else text
    return sides.get(text) or sides.get(whole, Take.TEXT)
