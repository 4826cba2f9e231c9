"""Is an answer of the model a resolution? Its text is checked against both sides, never trusted.

`check` asks every question, the other modules know how to answer one: `file` (does the whole still
parse, are its names right), `lines` (what was dropped, and by whose leave), `invented` (what
neither side has), `restore` (one definition that was lost).
"""

from nightly_sync.agent.acceptance.check import assemble, cut, hunk_texts, problems
from nightly_sync.agent.acceptance.model import (
    Dropped,
    HunkAnswer,
    HunkTask,
    HunkText,
    Problem,
    ProblemKind,
)
from nightly_sync.agent.acceptance.restore import restore_problems

__all__ = [
    "Dropped",
    "HunkAnswer",
    "HunkTask",
    "HunkText",
    "Problem",
    "ProblemKind",
    "assemble",
    "cut",
    "hunk_texts",
    "problems",
    "restore_problems",
]
