"""Repairs that get green by checking less are refused, whatever their reasons.

The rule for tests in Python. A test file is read as definitions, the module's own code among
them, and each as a list of steps: statements in their place, decorators, cases, parameters.
1. Nothing that was there goes or moves, but for new names of what it uses and new arguments of
   what is defined elsewhere, unless a side took it out of the base, or the merge had doubled it.
2. Nothing comes that no version has there, but for imports that replace nothing, constants under
   names that nobody uses, one more case, parameter or assertion of values, comments and layout.
3. A definition may be as a side has it; a test file may move as it is. In an answer to a conflict
   (`merging`) `before` is each side in turn, and a step that both replaced is either's.
All else is refused: Claude is told why, and a person may do it.

`steps` reads a file, `same` compares two steps, `names` knows which names may change, `change`
judges one definition, `python` a file, and the assertions of code that is no test. `lines` judges
tests that are no Python, or never parsed; `files`, `settings` and `comments` other things.
"""

from nightly_sync.review.forbidden.check import forbidden
from nightly_sync.review.forbidden.model import (
    GOLDEN_PATHS,
    SETTINGS_PATHS,
    TEST_PATHS,
    FileChange,
    Policy,
    Refusal,
    RefusalKind,
)

__all__ = [
    "GOLDEN_PATHS",
    "SETTINGS_PATHS",
    "TEST_PATHS",
    "FileChange",
    "Policy",
    "Refusal",
    "RefusalKind",
    "forbidden",
]
