"""What the model is asked for one file, what it answers, and the kinds of what may be wrong."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from pydantic import Field

from nightly_sync.audits.model import Parent
from nightly_sync.merge.hunks import Hunk, Segment
from nightly_sync.merge.model import Touch
from nightly_sync.merge.syntax import is_python
from nightly_sync.model import Model

Texts = tuple[bytes, ...]
"""The answer's text for each hunk, in order."""


def side_of(hunk: Hunk, side: str) -> bytes:
    """A hunk as base, target or source have it."""
    return {"base": hunk.base, "target": hunk.target, "source": hunk.source}[side]


@dataclass(frozen=True)
class HunkTask:
    """One conflicted file: its text in order, with the hunks that need an answer.

    A hunk that something else has settled is text in `parts`. `base`, `target` and `source` are
    the whole files. The commits are those of each side that touched the file since the base.
    """

    path: str
    parts: tuple[Segment, ...]
    base: bytes
    target: bytes
    source: bytes
    target_commits: tuple[Touch, ...] = ()
    source_commits: tuple[Touch, ...] = ()

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        """The hunks, numbered from 0 in their order."""
        return tuple(part for part in self.parts if isinstance(part, Hunk))

    @property
    def python(self) -> bool:
        """Is it Python, by its name?"""
        return is_python(self.path)

    def side(self, parent: Parent) -> bytes:
        """The whole file on a side."""
        return self.source if parent is Parent.SOURCE else self.target

    def commits(self, parent: Parent) -> tuple[Touch, ...]:
        """The commits of a side."""
        return self.source_commits if parent is Parent.SOURCE else self.target_commits


class HunkText(Model):
    """The answer for one hunk."""

    hunk: int = Field(description="Number of the hunk, from 0.")
    text: str = Field(description="Whole lines that replace the hunk; empty to remove it.")


class Dropped(Model):
    """Lines of one side that the answer leaves out."""

    lines: str = Field(description="The lines, as they stand on the side that has them.")
    reason: str = Field(min_length=1, description="Why they go.")
    commit: str = Field(
        description="Commit of the other side that removed or replaced them, at least 7 digits."
    )


class HunkAnswer(Model):
    """A resolution as the model proposes it: either texts for the hunks, or the whole file."""

    texts: tuple[HunkText, ...] = Field((), description="One for each hunk.")
    file: str | None = Field(None, description="The whole file, instead of texts.")
    rationale: str = Field(description="Why this is what both sides meant, in a few sentences.")
    confidence: Literal["low", "medium", "high"] = Field(description="How sure you are.")
    dropped: tuple[Dropped, ...] = Field(
        (), description="Every line of either side that the answer leaves out."
    )
    invented: dict[str, str] = Field(
        {}, description="Names and numbers that neither side has, each with the reason for it."
    )


class ProblemKind(StrEnum):
    """One name for each thing that is wrong with an answer."""

    HUNKS = "wrong-hunks"
    OUTSIDE = "outside-of-the-hunks"
    RATIONALE = "no-rationale"
    SIZE = "too-long"
    LINE_ENDS = "line-ends"
    MARKER = "conflict-marker"
    PLACEHOLDER = "placeholder"
    SYNTAX = "syntax-error"
    UNDEFINED = "undefined-name"
    DUPLICATE = "duplicate-definition"
    DROPPED = "dropped-lines"
    COMMIT = "unknown-commit"
    INVENTED = "invented"
    FORBIDDEN = "forbidden"
    FAULT = "not-judged"  # the check itself failed on it
