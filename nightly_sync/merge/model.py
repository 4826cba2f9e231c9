"""What the merge plan says: plan.json, version 1. No timestamps: same inputs, same bytes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from nightly_sync.config import PathRule
from nightly_sync.conflicts import Conflict, Entry, Kind
from nightly_sync.model import Model, PathName, Text

SCHEMA = 1


class Status(StrEnum):
    """How sure a resolution is."""

    SETTLED = "settled"  # evidence decides
    PROPOSAL = "proposal"  # someone should look
    UNRESOLVED = "unresolved"  # a person has to decide


class Take(StrEnum):
    """What a resolution puts at the path or hunk."""

    BASE = "base"
    SOURCE = "source"
    TARGET = "target"
    DELETE = "delete"
    TEXT = "text"  # its own text


class Resolution(Model):
    """A rule's answer: what to take, and the evidence that says so."""

    rule: str
    take: Take
    evidence: Text
    status: Status
    text: bytes | None = None  # with Take.TEXT only


class Abstain(Model):
    """A rule without evidence says nothing; the next one is asked."""

    reason: str = ""


@dataclass(frozen=True)
class Side:
    """One side of a hunk: its text, its lines in the whole file, and that file.

    The file has every hunk on this side that differs by layout only, and the others on the
    source, so that three texts serve all hunks of a file.
    """

    text: bytes
    span: tuple[int, int]  # first and last line in `file`, from 1; last < first: no lines
    file: bytes


@dataclass(frozen=True)
class HunkFacts:
    """One conflicted hunk of a text file."""

    path: str
    index: int
    base: Side
    target: Side
    source: Side

    def side(self, take: Take) -> Side:
        """The side a resolution may take whole."""
        return {Take.BASE: self.base, Take.TARGET: self.target, Take.SOURCE: self.source}[take]


@dataclass(frozen=True)
class PathFacts:
    """All that a rule may know about one path."""

    path: str
    base: Entry | None
    target: Entry | None
    source: Entry | None
    merged: Entry | None  # in git's own merged tree
    conflict: Conflict | None = None
    path_rule: PathRule | None = None
    pattern: str = ""  # the pattern of path_rule that matched
    texts: Mapping[str, bytes] = field(default_factory=dict)  # by oid
    marker_size: int = 7  # of the conflict markers in the merged text
    importers: tuple[str, ...] = ()  # "file.py:12" of merged files that import this one


class Rule(Protocol):
    """A rule of the ladder, for a path or for one hunk."""

    def __call__(self, facts: PathFacts, /) -> Resolution | Abstain: ...


class HunkRule(Protocol):
    """The same for one hunk."""

    def __call__(self, facts: HunkFacts, /) -> Resolution | Abstain: ...


class HunkPlan(Model):
    """One hunk's fate. `line` is its first line in the resolved file, from 1."""

    line: int
    base_lines: int
    target_lines: int
    source_lines: int
    take: Take | None
    rule: str
    evidence: Text
    status: Status


class Touch(Model):
    """A commit that touched a path, with the pull request its subject names."""

    sha: str
    subject: Text
    pull_request: int | None = None


class PathPlan(Model):
    """One path's fate: a conflict, or a path a rule changed where git merged cleanly."""

    path: PathName
    kinds: tuple[Kind, ...]  # empty: git saw no conflict here
    base: Entry | None
    target: Entry | None
    source: Entry | None
    rule: str
    take: Take | None  # None where hunks differ, or while unresolved
    evidence: Text
    status: Status
    hunks: tuple[HunkPlan, ...] = ()
    resolved: Entry | None = None  # None: not in the resolved tree
    file: PathName | None = None  # its text under files/
    source_commits: tuple[Touch, ...] = ()
    target_commits: tuple[Touch, ...] = ()
    messages: tuple[Text, ...] = ()  # git's own words


class MergePlan(Model):
    """What the merge would do, by SHA; `resolved_tree` is null while a path is unresolved."""

    schema_version: int = SCHEMA
    source: str
    target: str
    bases: tuple[str, ...]  # more than one after criss-cross merges
    auto_merge_tree: str
    resolved_tree: str | None
    paths: tuple[PathPlan, ...]

    @property
    def base(self) -> str:
        """The merge base, the first of several."""
        return self.bases[0]

    @property
    def conflicts(self) -> tuple[PathPlan, ...]:
        """Only the paths git could not settle."""
        return tuple(item for item in self.paths if item.kinds)

    @property
    def unresolved(self) -> tuple[PathPlan, ...]:
        """Paths a person has to decide."""
        return tuple(item for item in self.paths if item.status is Status.UNRESOLVED)

    @property
    def proposals(self) -> tuple[PathPlan, ...]:
        """Paths someone should look at."""
        return tuple(item for item in self.paths if item.status is Status.PROPOSAL)
