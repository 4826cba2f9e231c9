"""A fixer repairs what the merge broke, in a checkout; what it changed is judged by others."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from nightly_sync.checks.triage import FailureGroup
from nightly_sync.model import Model, PathName


class Change(Model):
    """A repair. Only `files` are taken from the checkout, whatever else differs there."""

    summary: str  # one line, for the fix commit and the report
    files: tuple[PathName, ...]


class GaveUp(Model):
    """No repair; the checkout's files are as they were."""

    reason: str  # one clause


class Fixer(Protocol):
    """Something that can repair some kinds of failures."""

    def fix(self, failures: Sequence[FailureGroup], worktree: Path) -> Change | GaveUp:
        """Try to repair the failures in a checkout of the head commit."""
