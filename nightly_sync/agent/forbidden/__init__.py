"""Repairs that get green by checking less are refused, whatever their reasons.

Each module knows one kind: `files` (protected, workflows, golden values, file types), `settings`
(of tests, linters, coverage), `comments` (`# noqa` and its like), `python` (tests and assertions,
by syntax tree), `lines` (tests that can't be parsed). `scopes`, `statements`, `values` and `same`
read Python for them. Two things excuse a change: only names differ, as after a rename or with a
new signature; or it restores what source or target has.
"""

from nightly_sync.agent.forbidden.check import forbidden
from nightly_sync.agent.forbidden.model import (
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
