"""Tools over history, read-only: log, show, blame and diff, each with arguments fixed here.

Of the model's words only names of commits and paths reach git, and those are checked.
"""

import re

from pydantic import Field

from nightly_sync import git
from nightly_sync.agent.base import Tool, ToolResult, tool
from nightly_sync.agent.bench import Past
from nightly_sync.agent.data import LIMIT, clean
from nightly_sync.agent.inside import Refused, normal, shown
from nightly_sync.model import Model

BYTES = 8 * LIMIT  # of git's output, of which LIMIT characters are shown
# Names, SHAs and steps to parents. Nothing that searches history or reads as an option or a range.
_REVISION = re.compile(r"[A-Za-z0-9_](?:[\w/~^-]|\.(?!\.))*", re.ASCII)

PATH = "Only what touches this file or folder; empty for all."


class Log(Model):
    """Input of `git_log`."""

    revision: str = Field(description="Commit to start from.")
    path: str = Field("", description=PATH)
    count: int = Field(30, ge=1, le=200, description="How many commits, newest first.")


class Show(Model):
    """Input of `git_show`."""

    revision: str = Field(description="The commit.")
    path: str = Field("", description=PATH)


class Diff(Model):
    """Input of `git_diff`."""

    old: str = Field(description="A commit.")
    new: str = Field(description="The commit to compare with it.")
    path: str = Field("", description=PATH)


class Blame(Model):
    """Input of `git_blame`."""

    revision: str = Field(description="Commit to look at the file in.")
    path: str = Field(description="The file.")
    first_line: int = Field(1, ge=1, description="Number of the first line wanted.")
    lines: int = Field(100, ge=1, le=1000, description="How many lines.")


def reading(bench: Past) -> tuple[Tool, ...]:
    """`git_log`, `git_show`, `git_diff` and `git_blame`."""
    named = "".join(f"{name}, " for name in bench.revisions)
    commits = f"Commits are named {named}by SHA, or as origin/BRANCH; ^ and ~2 lead to parents."
    return (
        tool(
            "git_log",
            f"Newest commits: SHA, date, author, subject. {commits}",
            Log,
            lambda given: _log(bench, given),
        ),
        tool(
            "git_show",
            f"A commit's message and patch. {commits}",
            Show,
            lambda given: _show(bench, given),
        ),
        tool(
            "git_diff",
            f"The difference between two commits. {commits}",
            Diff,
            lambda given: _diff(bench, given),
        ),
        tool(
            "git_blame",
            f"Which commit each line of a file comes from. {commits}",
            Blame,
            lambda given: _blame(bench, given),
        ),
    )


def commit_named(bench: Past, name: str) -> str:
    """The SHA of the commit the model named. Raises Refused if there is none."""
    start = re.split(r"[~^]", name, maxsplit=1)[0]
    full = bench.revisions.get(start, start) + name[len(start) :]
    found = git.commit_of(bench.repo, full) if _REVISION.fullmatch(name) else None
    if found is None:
        known = ", ".join(bench.revisions) or "none by a short name"
        raise Refused(f"There is no commit {clean(name)[:100]!r}. Known: {known}.")
    return found


def _log(bench: Past, given: Log) -> ToolResult:
    commit, only = commit_named(bench, given.revision), _only(given.path)
    out = git.log_text(bench.repo, commit, given.count, only, BYTES)
    return _framed(bench, f"commits up to {given.revision}", only, out)


def _show(bench: Past, given: Show) -> ToolResult:
    commit, only = commit_named(bench, given.revision), _only(given.path)
    out = git.show_text(bench.repo, commit, only, BYTES)
    return _framed(bench, f"commit {given.revision}", only, out)


def _diff(bench: Past, given: Diff) -> ToolResult:
    old, new = commit_named(bench, given.old), commit_named(bench, given.new)
    only = _only(given.path)
    out = git.diff_text(bench.repo, old, new, only, BYTES)
    return _framed(bench, f"difference from {given.old} to {given.new}", only, out)


def _blame(bench: Past, given: Blame) -> ToolResult:
    commit, name = commit_named(bench, given.revision), normal(given.path)
    last = given.first_line + given.lines - 1
    out = git.blame_text(bench.repo, commit, name, given.first_line, last, BYTES)
    return _framed(bench, f"lines as of {given.revision}", (name,), out)


def _only(path: str) -> tuple[str, ...]:
    name = normal(path)
    return (name,) if name else ()


def _framed(bench: Past, what: str, only: tuple[str, ...], out: bytes) -> ToolResult:
    label = what + "".join(f", {shown(name)}" for name in only)
    return ToolResult(bench.marker.wrap(label, out or b"(nothing)"))
