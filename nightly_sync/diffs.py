"""Patches and line counts of a finished merge, read from git and taken apart by file."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from nightly_sync import conflicts, git, paths
from nightly_sync.merge.auto import aside, merge_tree
from nightly_sync.model import Model, PathName, Text
from nightly_sync.patterns import matches

# The reader's own git settings must not change a patch: prefixes, order, context, converters.
_PLAIN = (
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--unified=3",
    "--inter-hunk-context=0",
    "--submodule=short",
    "--ignore-submodules=none",
    "-O/dev/null",
)
_BLANK_CONTEXT = ("-c", "diff.suppressBlankEmpty=false")
_SECTION = re.compile(rb"^(?=diff --git )", re.MULTILINE)
_HUNK = re.compile(rb"^@@ ", re.MULTILINE)
_RENAME = re.compile(rb"^(?:rename|copy) (from|to) (.*)$", re.MULTILINE)
_BINARY = re.compile(rb"^(?:Binary files .* differ|GIT binary patch)$", re.MULTILINE)
_ADDED = re.compile(rb"^\+", re.MULTILINE)
_DELETED = re.compile(rb"^-", re.MULTILINE)


class FileDiff(Model):
    """One file's part of a patch. `text` begins at its `diff --git` line."""

    path: PathName  # the new name; the old one of a deleted file
    old_path: PathName | None = None  # of a rename
    text: Text
    added: int
    deleted: int
    binary: bool = False


class FileLines(Model):
    """Lines added and deleted in one file; None in a binary file, which has none."""

    path: PathName
    added: int | None
    deleted: int | None


class LineStats(Model):
    """Line counts over a set of files; binary files count as files only."""

    files: int
    added: int
    deleted: int
    per_file: tuple[FileLines, ...] = ()


def remerge_diff(repo: Path, target: str, merge_commit: str) -> bytes:
    """What the merge commit has that git's own merge of its parents would not: the resolutions.

    git hides some conflicts here: a directory rename taken as suggested leaves no trace, for
    example. So it is a cross-check and something to read, never the list of conflicts. The
    target's `.gitattributes` apply, as in the plan. Raises GitError if there is no such commit.
    """
    args = ("show", "--remerge-diff", "--format=", "--no-show-signature", *_PLAIN)
    command = (*_BLANK_CONTEXT, *args, "--end-of-options", merge_commit)
    with aside(repo, target) as at:
        return git.run(repo, *command, env=at.env, cwd=at.cwd).out


def final_diff(repo: Path, target: str, source: str, final_commit: str) -> bytes:
    """git's own auto-merge against the final tree, for when fix commits lie on top of the merge.

    `remerge_diff` of the merge alone would leave the fixes out, and a diff of the fixes alone
    would show them without the conflicts they repair. The merge is made anew, with conflict
    markers of the usual length. Raises GitError if an object is missing.
    """
    auto = conflicts.parse(merge_tree(repo, target, source)).tree
    return tree_diff(repo, auto, final_commit)


def tree_diff(repo: Path, old: str, new: str) -> bytes:
    """The patch between two trees or commits, the same under every user's settings."""
    args = ("diff", *_PLAIN, "--end-of-options", old, new)
    return git.run(repo, *_BLANK_CONTEXT, *args).out


def line_stats(repo: Path, target_sha: str, head: str, globs: Iterable[str]) -> LineStats:
    """Lines that `head` changes relative to the target, in the files that match the patterns.

    `target...head` counts from the merge base. Once head holds a merge of the target that base is
    the target itself, so that the figures are what the pull request brings. A renamed file counts
    under its new name, with the lines that changed. Raises GitError for unrelated histories.
    """
    args = ("diff", "--numstat", "-z", "--no-color", "--no-ext-diff", "--no-textconv")
    span = f"{target_sha}...{head}"
    rows = _numstat(git.run(repo, *args, "--ignore-submodules=none", "--end-of-options", span).out)
    wanted = tuple(globs)
    return total(row for row in rows if matches(row.path, wanted))


def total(rows: Iterable[FileLines]) -> LineStats:
    """Add up the counts of single files."""
    per_file = tuple(rows)
    return LineStats(
        files=len(per_file),
        added=sum(row.added or 0 for row in per_file),
        deleted=sum(row.deleted or 0 for row in per_file),
        per_file=per_file,
    )


def python_line(stats: LineStats) -> str:
    """The one line of figures that people and scripts look for in the report."""
    return f"Python lines: +{stats.added} / -{stats.deleted} across {stats.files} files"


def _numstat(out: bytes) -> Iterator[FileLines]:
    fields = iter(out.split(b"\0"))
    for field in fields:
        if not field:
            continue  # after the last NUL
        added, deleted, name = field.split(b"\t", 2)
        if not name:  # a rename: the old and the new name follow
            _, name = next(fields), next(fields)
        yield FileLines(path=paths.from_bytes(name), added=_count(added), deleted=_count(deleted))


def _count(field: bytes) -> int | None:
    return None if field == b"-" else int(field)


def split_by_path(diff: bytes) -> list[FileDiff]:
    """Take a patch apart by file, in its own order. A line of content never starts a section."""
    return [_file_diff(part) for part in _SECTION.split(diff) if part.startswith(b"diff --git ")]


def _file_diff(section: bytes) -> FileDiff:
    hunk = _HUNK.search(section)
    header = section[: hunk.start()] if hunk else section
    content = section[hunk.start() :] if hunk else b""
    old, new = _names(header)
    return FileDiff(
        path=new,
        old_path=old if old != new else None,
        text=paths.from_bytes(section),
        added=len(_ADDED.findall(content)),
        deleted=len(_DELETED.findall(content)),
        binary=bool(_BINARY.search(header)),
    )


def _names(header: bytes) -> tuple[str, str]:
    """The old and the new name.

    A rename names both. Otherwise both names of the first line are the same, so that it splits in
    the middle, whatever spaces they hold.
    """
    renamed = dict(_RENAME.findall(header))
    if renamed:
        return _name(renamed[b"from"]), _name(renamed[b"to"])
    pair = header.partition(b"\n")[0].removeprefix(b"diff --git ")
    both = _name(pair[: len(pair) // 2]).removeprefix("a/")
    return both, both


def _name(field: bytes) -> str:
    return paths.unquote(paths.from_bytes(field))
