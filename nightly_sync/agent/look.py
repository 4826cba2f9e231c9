"""Tools over commits, read-only: files, text in files, history; each with arguments fixed here.

Of the model's words only names of commits, paths and a text to look for reach git, and those are
checked.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from nightly_sync import git, paths
from nightly_sync.agent.base import Action, Tool, ToolResult
from nightly_sync.agent.data import LIMIT, Marker, clean
from nightly_sync.agent.guard import Refused, normal, shown

BYTES = 8 * LIMIT  # of git's output, of which LIMIT characters are shown
SHOWN = 300  # matching lines in all
LINE = 300  # characters of a line
COMMIT = "base, source, target, a SHA, or origin/BRANCH; ^ and ~2 lead to parents."
PATH = "Only what touches this file or folder; empty for all."
Inside = Annotated[str, AfterValidator(normal)]
"""A path as git knows it, from one as the model writes it; "" is the top."""
FirstLine = Annotated[int, Field(ge=1, description="Number of the first line wanted.")]
Lines = Annotated[int, Field(ge=1, le=2000, description="How many lines.")]
Needle = Annotated[
    str,
    Field(min_length=1, max_length=1000, pattern=r"^[^\n\x00]*$"),
    Field(description="What to look for, in one line."),
]

# Names, SHAs and steps to parents. Nothing that searches history or reads as an option or a range.
_REVISION = re.compile(r"[A-Za-z0-9_](?:[\w/~^-]|\.(?!\.))*", re.ASCII)
_MATCH = re.compile(rb"(?:\./|[0-9a-f]+:)([^\0]*)\0(\d+)[:\0]([^\n]*)\n")  # of grep, and of git's
_PATIENCE = 5  # uses of a tool that no longer works


@dataclass(frozen=True)
class Trees:
    """A repository, and commits in it by names that the model is told, such as `source`.

    `marker` frames what is read.
    """

    repo: Path
    marker: Marker
    revisions: Mapping[str, str]

    def commit(self, name: str) -> str:
        """The SHA of the commit the model named. Raises Refused if there is none."""
        start = re.split(r"[~^]", name, maxsplit=1)[0]
        full = self.revisions.get(start, start) + name[len(start) :]
        found = git.commit_of(self.repo, full) if _REVISION.fullmatch(name) else None
        if found is None:
            known = ", ".join(self.revisions) or "none by a short name"
            raise Refused(f"There is no commit {clean(name)[:100]!r}. Known: {known}.")
        return found

    def framed(self, what: str, path: str, out: bytes) -> ToolResult:
        """What git said of a path, or of all."""
        label = f"{what}, {shown(path)}" if path else what
        return ToolResult(self.marker.wrap(label, out or b"(nothing)"))


class ShowFile(Action[Trees]):
    """Show lines of a text file in a commit, numbered (the numbers are not part of it)."""

    revision: str = Field(description=COMMIT)
    path: Inside = Field(description="Path from the top of the repository.")
    first_line: FirstLine = 1
    lines: Lines = 200

    def run(self, place: Trees) -> ToolResult:
        content = git.read_file(place.repo, place.commit(self.revision), self.path)
        what = f"{shown(self.path)} in {self.revision}"
        if content is None:
            raise Refused(f"There is no file {what}.")
        return numbered(place.marker, what, content, self.first_line, self.lines)


class Search(Action[Trees]):
    """Find lines in a commit's text files that hold a text, case counts."""

    revision: str = Field(description=COMMIT)
    text: Needle
    path: Inside = Field("", description="Only in this file or folder; empty for everywhere.")

    def run(self, place: Trees) -> ToolResult:
        commit, only = place.commit(self.revision), _only(self.path)
        out = git.grep_text(place.repo, commit, self.text, only, BYTES)
        what = f"{self.text!r} in {self.revision} (at most {git.GREP_PER_FILE} a file)"
        return matching(place.marker, what, matches(out))


class GitLog(Action[Trees]):
    """List the newest commits: SHA, date, author, subject."""

    revision: str = Field(description=f"Commit to start from: {COMMIT}")
    path: Inside = Field("", description=PATH)
    count: int = Field(30, ge=1, le=200, description="How many commits, newest first.")

    def run(self, place: Trees) -> ToolResult:
        commit, only = place.commit(self.revision), _only(self.path)
        out = git.log_text(place.repo, commit, self.count, only, BYTES)
        return place.framed(f"commits up to {self.revision}", self.path, out)


class GitShow(Action[Trees]):
    """Show a commit's message and patch."""

    revision: str = Field(description=f"The commit: {COMMIT}")
    path: Inside = Field("", description=PATH)

    def run(self, place: Trees) -> ToolResult:
        commit = place.commit(self.revision)
        out = git.show_text(place.repo, commit, _only(self.path), BYTES)
        return place.framed(f"commit {self.revision}", self.path, out)


class GitDiff(Action[Trees]):
    """Show the difference between two commits."""

    old: str = Field(description=f"A commit: {COMMIT}")
    new: str = Field(description="The commit to compare with it.")
    path: Inside = Field("", description=PATH)

    def run(self, place: Trees) -> ToolResult:
        old, new = place.commit(self.old), place.commit(self.new)
        out = git.diff_text(place.repo, old, new, _only(self.path), BYTES)
        return place.framed(f"difference from {self.old} to {self.new}", self.path, out)


class GitBlame(Action[Trees]):
    """Show which commit each line of a file comes from."""

    revision: str = Field(description=f"Commit to look at the file in: {COMMIT}")
    path: Inside = Field(description="The file.")
    first_line: FirstLine = 1
    lines: Lines = 100

    def run(self, place: Trees) -> ToolResult:
        commit, last = place.commit(self.revision), self.first_line + self.lines - 1
        out = git.blame_text(place.repo, commit, self.path, self.first_line, last, BYTES)
        return place.framed(f"lines as of {self.revision}", self.path, out)


HISTORY: tuple[type[Action[Trees]], ...] = (ShowFile, GitLog, GitShow, GitDiff, GitBlame)


def looking(trees: Trees) -> tuple[Tool, ...]:
    """All there is to look at where there is no checkout."""
    return Search.on(trees), *(action.on(trees) for action in HISTORY)


def _only(name: str) -> tuple[str, ...]:
    return (name,) if name else ()


# What is shown of files


def numbered(marker: Marker, what: str, content: bytes, first: int, count: int) -> ToolResult:
    """Some lines of a text, from number `first`. Raises Refused where there are none."""
    if b"\0" in content:
        raise Refused(f"{what} is binary.")
    lines = content.removesuffix(b"\n").split(b"\n") if content else []
    if first > max(1, len(lines)):
        raise Refused(f"{what} has only {len(lines)} lines.")
    some = [clean(line.removesuffix(b"\r")) for line in lines[first - 1 : first - 1 + count]]
    text = "\n".join(f"{at}\t{line}" for at, line in enumerate(some, first))
    label = f"{what}, lines {first}-{first + len(some) - 1} of {len(lines)}{_ends(content)}"
    return ToolResult(marker.wrap(label, text))


def _ends(content: bytes) -> str:
    """How lines end, for the label, where they do not all end in LF."""
    if b"\r\n" not in content:
        return ""
    return ", lines end in CRLF" if ends_in_crlf(content) else ", mixed line ends"


def ends_in_crlf(content: bytes) -> bool:
    """Do all lines end in CRLF, if there is any?"""
    return content.count(b"\r\n") == content.count(b"\n")


def matches(out: bytes) -> list[tuple[bytes, bytes, bytes]]:
    """Path, number and line, from what a search printed; a line that was cut is left out."""
    return sorted(_MATCH.findall(out), key=lambda match: (match[0], int(match[1])))


def matching(marker: Marker, what: str, found: list[tuple[bytes, bytes, bytes]]) -> ToolResult:
    """The first lines that a search found."""
    many = f"the first {SHOWN} lines" if len(found) > SHOWN else f"{len(found)} lines"
    label = f"{'1 line' if len(found) == 1 else many} with {what}"
    text = "\n".join(
        f"{shown(paths.from_bytes(name))}:{number.decode()}: {clean(line)[:LINE]}"
        for name, number, line in found[:SHOWN]
    )
    return ToolResult(marker.wrap(label, text or "(nothing)"))


@dataclass
class Looks:
    """How often the tools of one conversation may still be used, before it has to answer."""

    left: int
    ignored: int = field(default=0)

    def limited(self, made: Tool) -> Tool:
        """The same tool, which stops working; a model that goes on regardless is stopped too."""

        def run(given: Mapping[str, Any]) -> ToolResult:
            if self.left:
                self.left -= 1
                return made.run(given)
            self.ignored += 1
            text = "You have looked at enough: answer now, or leave it."
            return ToolResult(text, is_error=True, done=self.ignored > _PATIENCE)

        return replace(made, run=run)
