"""Answers that were accepted, kept in the workspace: what is asked again is not paid again.

A run that is killed or repeated takes them from here, and so does the next night for the very same
conflict. They are checked again by whoever recalls them. Deleting the folder forgets them all.
"""

import hashlib
from pathlib import Path

from pydantic import ValidationError

from nightly_sync.review.acceptance import HunkAnswer, HunkTask

FORMAT = "1"  # of what is asked and answered; another one forgets what was kept before


class Answers:
    """One file an answer, in a folder that is made when it is needed."""

    def __init__(self, folder: Path):
        self._folder = folder

    def recall(self, task: HunkTask) -> HunkAnswer | None:
        """The answer to a task; None if none was kept, or none that can be read."""
        file = self._file(task)
        try:
            return HunkAnswer.model_validate_json(file.read_bytes()) if file.exists() else None
        except ValidationError:
            return None

    def keep(self, task: HunkTask, answer: HunkAnswer) -> None:
        """Keep an answer, at once and whole: the run may be killed at any moment."""
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._file(task)
        draft = file.with_suffix(".new")
        draft.write_text(answer.model_dump_json(), "utf-8")
        draft.replace(file)

    def _file(self, task: HunkTask) -> Path:
        """Named by the path and the very texts of the conflict."""
        told = (FORMAT, task.path, task.parts, task.base, task.target, task.source)
        return self._folder / f"{hashlib.sha256(repr(told).encode()).hexdigest()}.json"
