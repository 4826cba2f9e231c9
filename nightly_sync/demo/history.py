"""Write a whole history at once: commits as a stream for `git fast-import`.

One git process for any number of commits and files, no worktree, and the same input gives the
same SHAs.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nightly_sync import git, paths


@dataclass(frozen=True)
class File:
    """A file that is not plain text: bytes as they are, with a mode (120000 for a symlink)."""

    content: bytes
    mode: str = "100644"


Content = str | bytes | File | None
"""A file's content; None deletes it."""


@dataclass(frozen=True)
class Commit:
    """One commit on top of its branch; a branch's first one starts at `start`, or at nothing."""

    branch: str
    message: str
    author: git.Signature  # its date is not used
    when: datetime  # aware
    files: Mapping[str, Content]
    start: str | None = None


def write(repo: Path, commits: Iterable[Commit]) -> None:
    """Create branches, commit by commit; a branch that the repository has already is refused."""
    git.fast_import(repo, b"".join(piece for commit in commits for piece in _pieces(commit)))


def _pieces(commit: Commit) -> Iterator[bytes]:
    who = f"{commit.author.name} <{commit.author.email}> {int(commit.when.timestamp())} +0000"
    yield f"commit refs/heads/{commit.branch}\nauthor {who}\ncommitter {who}\n".encode()
    yield _data(commit.message.encode("utf-8", "surrogateescape"))
    if commit.start:
        yield f"from refs/heads/{commit.start}\n".encode()
    for name, content in commit.files.items():
        yield from _file(paths.to_bytes(paths.quote(name)), content)


def _file(name: bytes, content: Content) -> Iterator[bytes]:
    if content is None:
        yield b"D " + name + b"\n"
        return
    file = _as_file(content)
    yield b"M " + file.mode.encode() + b" inline " + name + b"\n"
    yield _data(file.content)


def _as_file(content: str | bytes | File) -> File:
    if isinstance(content, File):
        return content
    return File(content.encode() if isinstance(content, str) else content)


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)
