"""Tools to look at commits where there is no checkout: files, text in files, history. Read-only."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from nightly_sync import git, paths
from nightly_sync.agent import git_tools
from nightly_sync.agent.base import Tool, ToolResult, tool
from nightly_sync.agent.bench import Past
from nightly_sync.agent.data import LIMIT, Marker, clean
from nightly_sync.agent.inside import Refused, normal, shown
from nightly_sync.model import Model

SHOWN = 200  # matching lines in all
LINE = 300  # characters of a line


@dataclass(frozen=True)
class Trees:
    """A repository, and commits in it by names that the model is told."""

    repo: Path
    marker: Marker
    revisions: Mapping[str, str]


class ShowFile(Model):
    """Input of `show_file`."""

    revision: str = Field(description="Commit to look at the file in.")
    path: str = Field(description="Path from the top of the repository.")
    first_line: int = Field(1, ge=1, description="Number of the first line wanted.")
    lines: int = Field(200, ge=1, le=1000, description="How many lines.")


class Search(Model):
    """Input of `search`."""

    revision: str = Field(description="Commit to look in.")
    text: str = Field(min_length=1, max_length=1000, description="What to look for, in one line.")
    path: str = Field("", description="Only in this file or folder; empty for everywhere.")


def looking(past: Past) -> tuple[Tool, ...]:
    """`show_file` and `search`, and those over history."""
    return (
        tool(
            "show_file",
            "Show lines of a text file in a commit, numbered (the numbers are not part of it).",
            ShowFile,
            lambda given: _show(past, given),
        ),
        tool(
            "search",
            "Find lines in a commit's text files that hold a text, case counts.",
            Search,
            lambda given: _search(past, given),
        ),
        *git_tools.reading(past),
    )


def _show(past: Past, given: ShowFile) -> ToolResult:
    commit, name = git_tools.commit_named(past, given.revision), normal(given.path)
    content = git.read_file(past.repo, commit, name)
    if content is None or b"\0" in content:
        raise Refused(f"There is no text file {shown(name)} in {clean(given.revision)[:100]}.")
    lines = content.removesuffix(b"\n").split(b"\n")
    first, last = given.first_line, min(given.first_line + given.lines - 1, len(lines))
    if first > len(lines):
        raise Refused(f"{shown(name)} has only {len(lines)} lines.")
    text = "\n".join(f"{at}\t{clean(lines[at - 1])}" for at in range(first, last + 1))
    label = f"{shown(name)} in {given.revision}, lines {first}-{last} of {len(lines)}"
    return ToolResult(past.marker.wrap(label, text))


def _search(past: Past, given: Search) -> ToolResult:
    commit, name = git_tools.commit_named(past, given.revision), normal(given.path)
    if "\n" in given.text or "\0" in given.text:
        raise Refused("Look for one line at a time.")
    out = git.grep_text(past.repo, commit, given.text, (name,) if name else (), 8 * LIMIT)
    found = [line.split(b"\0", 2) for line in out.split(b"\n")]
    matches = [_match(*fields) for fields in found if len(fields) == 3]
    count = f"{len(matches)} lines" if len(matches) <= SHOWN else f"the first {SHOWN} lines"
    label = f"{count} with {given.text!r} in {given.revision} (at most {git.GREP_PER_FILE} a file)"
    return ToolResult(past.marker.wrap(label, "\n".join(matches[:SHOWN]) or "(nothing)"))


def _match(name: bytes, number: bytes, line: bytes) -> str:
    path = paths.from_bytes(name.partition(b":")[2])  # git puts the commit before it
    return f"{shown(path)}:{number.decode()}: {clean(line)[:LINE]}"


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


_PATIENCE = 5  # uses of a tool that no longer works
