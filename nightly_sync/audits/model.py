"""What an audit says."""

from enum import StrEnum

from nightly_sync.model import Model, PathName, Text


class Parent(StrEnum):
    """The two parents of the merge."""

    SOURCE = "source"
    TARGET = "target"

    @property
    def other(self) -> "Parent":
        """The parent on the other side."""
        return Parent.TARGET if self is Parent.SOURCE else Parent.SOURCE


class Severity(StrEnum):
    """An error keeps the pull request a draft."""

    ERROR = "error"
    WARNING = "warning"


class FindingKind(StrEnum):
    """One name for each thing an audit can see."""

    PROTECTED = "protected-path"
    MARKER = "conflict-marker"
    SYNTAX = "syntax-error"
    UNDEFINED = "undefined-name"
    DUPLICATE = "duplicate-definition"
    BROKEN_IMPORT = "broken-import"
    TARGET_DROPPED = "target-lines-dropped"
    SOURCE_DROPPED = "source-lines-dropped"
    NEITHER_SIDE = "lines-on-neither-side"
    LOST = "file-lost"
    RESTORED = "file-restored"
    BROUGHT_BACK = "file-brought-back"
    REVERT_DELETION = "deleted-by-revert"
    FORMATTER = "formatter"
    LINTER = "linter"


class Finding(Model):
    """One observation: where, what, and the evidence. `outcome`: what became of it."""

    severity: Severity
    kind: FindingKind
    path: PathName
    line: int | None = None  # in the merged file, from 1; of the side named in evidence if lost
    evidence: Text
    outcome: str = ""
