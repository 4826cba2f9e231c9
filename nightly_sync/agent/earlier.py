"""What was answered before: on this machine, or in the merge that an earlier run pushed.

Accepted answers are kept in the workspace. A run that is killed or repeated takes them from there,
and so does the next night for the very same conflict; whoever recalls them checks them again.
Deleting the folder forgets them all.

The reasons for a pushed merge are on the machine it was made on, so it is told apart from what the
rules and the fallback make of the same hunks today: no text of it is said to be theirs that is not.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from nightly_sync.config import Fallback
from nightly_sync.forge.local_files import make_folder, write_model
from nightly_sync.merge import hunks
from nightly_sync.merge.hunks import Hunk
from nightly_sync.merge.model import Resolution, Status, Take
from nightly_sync.merge.resolver import FileConflict, Resolved, chosen
from nightly_sync.merge.syntax import same_code
from nightly_sync.review.acceptance import HunkAnswer, HunkTask, cut

FORMAT = "1"  # of what is asked and answered; another one forgets what was kept before
NAME = "earlier-run"
EVIDENCE = (
    "an earlier run wrote this in the merge that is already pushed; its reasons are in the report "
    "of that run, not on this machine"
)


@dataclass(frozen=True)
class Answers:
    """One file an answer, in a folder that is made when it is needed."""

    folder: Path

    def recall(self, task: HunkTask) -> HunkAnswer | None:
        """The answer to a task; None if none was kept, or none that can be read."""
        file = self._file(task)
        try:
            return HunkAnswer.model_validate_json(file.read_bytes()) if file.exists() else None
        except ValidationError:
            return None

    def keep(self, task: HunkTask, answer: HunkAnswer) -> None:
        """Keep an answer, at once and whole: the run may be killed at any moment."""
        make_folder(self.folder)
        write_model(self._file(task), answer)

    def _file(self, task: HunkTask) -> Path:
        """Named by the path and the very texts of the conflict."""
        told = (FORMAT, task.path, task.parts, task.base, task.target, task.source)
        return self.folder / f"{hashlib.sha256(repr(told).encode()).hexdigest()}.json"


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
    today = {at: _text(hunk, known.get(at), fallback) for at, hunk in asked.items()}
    # Without the file, a later rule moved or removed it.
    if pushed is None or _is(task, list(today.values()), pushed):
        return Resolved(known)
    found = cut(task, pushed)
    if found is None:  # a formatter went over it: the texts do no more than to count lines
        return Resolved({at: _whole(hunk) for at, hunk in asked.items()}, pushed)
    told = dict(known)
    for (at, hunk), text in zip(asked.items(), found, strict=True):
        if not _alike(today[at], text):
            told[at] = proposed(NAME, hunk, text, EVIDENCE)
    return Resolved(told)


def _text(hunk: Hunk, answer: Resolution | None, fallback: Fallback) -> bytes | None:
    """What would stand for a hunk today; None where a person would be asked."""
    if answer:
        return chosen(hunk, answer)
    return {"source": hunk.source, "target": hunk.target}.get(fallback)


def _is(task: HunkTask, texts: Sequence[bytes | None], pushed: bytes) -> bool:
    """Is the pushed file made of these texts, but for the work of a formatter?"""
    if None in texts:
        return False
    whole = hunks.assemble(task.parts, lambda index, _: texts[index] or b"")
    return _alike(whole, pushed) or (task.python and same_code(whole, pushed))


def _alike(one: bytes | None, other: bytes) -> bool:
    """Equal, but for a newline at the end of the file."""
    return one is not None and one.rstrip(b"\r\n") == other.rstrip(b"\r\n")


def _whole(hunk: Hunk) -> Resolution:
    made = proposed(NAME, hunk, hunk.source, EVIDENCE)
    return made.model_copy(update={"take": Take.TEXT, "text": hunk.source})


def proposed(rule: str, hunk: Hunk, text: bytes, evidence: str) -> Resolution:
    """A text for a hunk; called a side's if that has this very text.

    At the end of a file git adds a newline to hunks that have none.
    """
    sides = {hunk.base: Take.BASE, hunk.target: Take.TARGET, hunk.source: Take.SOURCE}
    whole = text + b"\n" if text and not text.endswith(b"\n") else text
    take = sides.get(text) or sides.get(whole, Take.TEXT)
    kept = text if take is Take.TEXT else None
    return Resolution(rule=rule, take=take, evidence=evidence, status=Status.PROPOSAL, text=kept)
