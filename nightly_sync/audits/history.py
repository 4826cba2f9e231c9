"""Lines that commits removed, read from `git log -p -U0`. Pure."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from nightly_sync import paths
from nightly_sync.audits.lines import normal_lines
from nightly_sync.merge.syntax import is_python

REVERTS = '^This reverts commit|^Revert "'
"""Extended regex: what `git revert` writes into a message, and GitHub into a squashed title."""

_COMMIT = re.compile(rb"\0([0-9a-f]{40,64})\0([^\0]*)\0")
_FILE = re.compile(rb"^diff --git ", re.MULTILINE)
_OLD = re.compile(rb"^--- (.*)$", re.MULTILINE)
_HUNK = re.compile(rb"^@@ ", re.MULTILINE)
_GONE = re.compile(rb"^-(.*)$", re.MULTILINE)
_COME = re.compile(rb"^\+(.*)$", re.MULTILINE)
_DELETED = re.compile(rb"^deleted file mode ", re.MULTILINE)


@dataclass(frozen=True)
class Removal:
    """What one commit removed from one file: normal forms of lines, less those it put back."""

    sha: str
    subject: str
    path: str
    lines: Mapping[bytes, int]
    whole: bool  # it deleted the file

    @property
    def name(self) -> str:
        """How evidence names the commit."""
        return f"{self.sha[:10]} {self.subject}"


def removals(patches: bytes) -> tuple[Removal, ...]:
    """Read `git.patches`: one removal for each commit and file that lost lines, newest first."""
    parts = _COMMIT.split(patches)
    commits = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    return tuple(
        found
        for sha, subject, patch in commits
        for section in _FILE.split(patch)[1:]
        if (found := _removal(sha.decode(), paths.from_bytes(subject), section))
    )


def _removal(sha: str, subject: str, section: bytes) -> Removal | None:
    hunk = _HUNK.search(section)
    header = section[: hunk.start()] if hunk else section
    whole = _DELETED.search(header) is not None
    path = _path(header)
    if path is None or not (hunk or whole):
        return None
    lines = _net(section[len(header) :], is_python(path))
    return Removal(sha, subject, path, lines, whole) if lines or whole else None


def _path(header: bytes) -> str | None:
    """The old name; None for a new file. A binary or empty file has only the first line."""
    old = _OLD.search(header)
    if old is None:
        first = header.partition(b"\n")[0]
        return _name(first[: len(first) // 2])
    return None if old[1] == b"/dev/null" else _name(old[1])


def _name(field: bytes) -> str:
    # git ends a name that holds a space with a tab.
    return paths.unquote(paths.from_bytes(field.removesuffix(b"\t"))).removeprefix("a/")


def _net(hunks: bytes, python: bool) -> Counter[bytes]:
    # Past the header, every line of a patch says by its first byte what it is.
    gone, come = (b"\n".join(mark.findall(hunks)) for mark in (_GONE, _COME))
    return Counter(normal_lines(gone, python)) - Counter(normal_lines(come, python))
