"""Answers that were accepted, kept in the workspace: what is asked again is not paid again.

A run that is killed or repeated takes them from here, and so does the next night for the very same
conflict. They are checked again by whoever recalls them. Deleting the folder forgets them all.
"""

import hashlib
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from nightly_sync.model import Model

FORMAT = "1"  # of what is asked and answered; another one forgets what was kept before
Answer = TypeVar("Answer", bound=Model)


def key(*parts: bytes) -> str:
    """The name of an answer: a digest of all that it depends on, in order."""
    digest = hashlib.sha256(FORMAT.encode())
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()


class Answers:
    """One file an answer, in a folder that is made when it is needed."""

    def __init__(self, folder: Path):
        self._folder = folder

    def recall(self, name: str, kind: type[Answer]) -> Answer | None:
        """The answer kept under a key; None if there is none, or none that can be read."""
        file = self._file(name)
        try:
            return kind.model_validate_json(file.read_bytes()) if file.exists() else None
        except ValidationError:
            return None

    def keep(self, name: str, answer: Model) -> None:
        """Keep an answer, at once and whole: the run may be killed at any moment."""
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = self._folder / f"{name}.new"
        draft.write_text(answer.model_dump_json(), "utf-8")
        draft.replace(self._file(name))

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.json"
