"""Is an answer of the model a resolution? Its text is checked against both sides, never trusted.

`check` asks every question, the other modules know how to answer one: `file` (does the whole still
parse, are its names right), `lines` (what was dropped, and by whose leave; `removable` knows which
lines may), `invented` (what neither side has). `code` tells Python's code from what it says.
"""

from nightly_sync.review.acceptance.check import cut, hunk_texts, problems
from nightly_sync.review.acceptance.model import (
    Dropped,
    HunkAnswer,
    HunkTask,
    HunkText,
    ProblemKind,
)

__all__ = [
    "Dropped",
    "HunkAnswer",
    "HunkTask",
    "HunkText",
    "ProblemKind",
    "cut",
    "hunk_texts",
    "problems",
]
