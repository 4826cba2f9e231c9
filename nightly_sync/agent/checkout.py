"""The checkout of a repair: what commands changed in it, and what would be committed of it.

A command can write anything in the checkout. After each one every path that differs is looked at:
a file that was there before the first command, and that the task may not change, is put back; a
new file stays as a by-product, unless nothing at all may be at its path.

Proposed are files that were edited by a tool, and tracked files that a command changed. As a tree
is compared with a tree, it does not matter how a change was made.
"""

import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from nightly_sync import git, paths
from nightly_sync.agent.files import Files, Found
from nightly_sync.agent.guard import Refusal, Refused, WriteGuard
from nightly_sync.commands import run_command
from nightly_sync.config import SyncConfig
from nightly_sync.conflicts import Entry
from nightly_sync.errors import SyncError
from nightly_sync.review.forbidden import FileChange

CLOCK = 0.02  # seconds: over the coarsest tick that file times are taken from (100 Hz)
COPY_TIMEOUT = 600.0  # seconds

Stamp = tuple[int, ...]
"""What changes of a file whenever something is done to it: no command can set its ctime."""
SUBMODULE = "160000"


@dataclass(frozen=True)
class Settled:
    """What a command did: paths it changed, made or removed, and what of it was undone."""

    changed: tuple[str, ...]
    refused: tuple[Refusal, ...]


@contextmanager
def kept(files: Files) -> Iterator["Originals"]:
    """Watches over a checkout without `.git`; the copy it makes vanishes afterwards."""
    with TemporaryDirectory(prefix="nightly-sync-before-") as folder:
        yield Originals(files, Path(folder) / "tree")


@dataclass(frozen=True)
class Originals:
    """The checkout as it was before its first command, as a copy in a folder made for it."""

    files: Files
    copy: Path
    touched: set[str] = field(default_factory=set)  # paths that commands were let change

    def differing(self) -> list[str]:
        """Files that were there, and that commands changed or removed."""
        return [name for name in self.touched if self._is_original(name) and self._differs(name)]

    def before(self) -> Mapping[str, Stamp]:
        """Call right before a command; `settle` takes what this returns.

        Copies the checkout the first time. Raises SyncError if that fails.
        """
        if not self.copy.exists():
            words = ["cp", "-a", "--reflink=auto", "--", str(self.files.top), str(self.copy)]
            result = run_command(words, Path("/"), COPY_TIMEOUT)
            if not result.ok:
                raise SyncError(f"the checkout cannot be copied: {result.output.strip()[-500:]}")
        stamps = {found.name: _stamp(found) for found in self.files.walk()}
        time.sleep(CLOCK)
        return stamps

    def settle(self, before: Mapping[str, Stamp], guard: WriteGuard, by: str) -> Settled:
        """Undo what the guard refuses of a command's changes, and keep each refusal there.

        `by` names the command. Raises SyncError if a change cannot be undone.
        """
        now = {found.name: found for found in self.files.walk()}
        after = {name: _stamp(found) for name, found in now.items()}
        touched = sorted(n for n in before.keys() | after.keys() if before.get(n) != after.get(n))
        reasons = {name: self._reason(name, now.get(name), guard) for name in touched}
        # New files go first: one may lie in a folder that stands in an original's place.
        wrong = sorted((n for n in touched if reasons[n]), key=self._is_original)
        undone = [name for name in wrong if self._undo(name)]
        refused = tuple(guard.refuse(name, reasons[name], by) for name in undone)
        changed = tuple(name for name in touched if not reasons[name])
        self.touched.update(changed)
        return Settled(changed, refused)

    def _reason(self, name: str, found: Found | None, guard: WriteGuard) -> str:
        """Why a change may not stay; "" if it may."""
        if found and found.is_folder:  # only git's own and those without end are listed
            return guard.forbidden(name) or "folders are nested too deeply"
        original = self._original(name)
        if not self._is_original(name):
            return guard.forbidden(name)
        reason = guard.problem(name)
        if found and not found.is_file and not original.is_symlink():
            return reason or "a file may not become anything else"
        return reason

    def _undo(self, name: str) -> bool:
        """Put a path back as it was; False if nothing differs but times."""
        original = self._original(name)
        there = self._is_original(name)
        if there and not self._differs(name):
            return False
        self.files.clear(name)
        if not there:
            return True
        if original.is_symlink():
            self.files.link(name, os.fsencode(original.readlink()))
        else:
            self.files.create(name, original.read_bytes(), stat.S_IMODE(original.stat().st_mode))
        return True

    def _differs(self, name: str) -> bool:
        try:
            self.files.look(name)
        except Refused:  # it is gone, or a link stands for one of its folders
            return True
        return not _same(self.files.top / paths.fs_name(name), self._original(name))

    def _is_original(self, name: str) -> bool:
        original = self._original(name)
        return original.is_symlink() or original.is_file()

    def _original(self, name: str) -> Path:
        return self.copy / paths.fs_name(name)


def _stamp(found: Found) -> Stamp:
    it = found.stat
    return (it.st_mode, it.st_ino, it.st_size, it.st_mtime_ns, it.st_ctime_ns)


def _same(now: Path, then: Path) -> bool:
    """Same kind, content and executable bit? No component above `now` may be a link."""
    left, right = now.lstat().st_mode, then.lstat().st_mode
    if stat.S_IFMT(left) != stat.S_IFMT(right) or (left ^ right) & 0o100:
        return False
    if stat.S_ISLNK(left):
        return now.readlink() == then.readlink()
    # Not by filecmp, which remembers answers by size and mtime, and a command can set both.
    return stat.S_ISREG(left) and bool(left & 0o400) and now.read_bytes() == then.read_bytes()


@dataclass(frozen=True)
class Ground:
    """What a repair starts from: a tree, and the commits it came from, as SHAs."""

    config: SyncConfig
    repo: Path
    tree: str
    base: str
    source: str
    target: str
    merge: str

    @property
    def revisions(self) -> Mapping[str, str]:
        """The commits by the names that Claude is told."""
        names = ("base", "source", "target", "merge")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Proposal:
    """A repair that was handed in: the whole tree, and the files that differ in it."""

    tree: str
    changes: tuple[FileChange, ...]


@dataclass(frozen=True)
class Checkout:
    """A checkout of the ground's tree as `tools.checkout` makes it, and its files as they were."""

    ground: Ground
    folder: Path
    index: Path
    originals: Originals

    def proposal(self, edited: Iterable[str]) -> Proposal:
        """What would be committed of it. Raises GitError for what git cannot take in.

        `edited` are the paths that a tool wrote.
        """
        repo, names = self.ground.repo, {*edited, *self.originals.differing()}
        with TemporaryDirectory(prefix="nightly-sync-index-") as home:
            scratch = Path(home) / "index"
            shutil.copyfile(self.index, scratch)
            git.add_files(repo, self.folder, scratch, sorted(names))
            tree = git.write_index(repo, self.folder, scratch)
        return Proposal(tree, file_changes(self.ground, tree))


def file_changes(ground: Ground, tree: str) -> tuple[FileChange, ...]:
    """Every file in which a tree differs from the ground's, with what both sides have."""
    repo, differing = ground.repo, git.changes(ground.repo, ground.tree, tree)
    if not differing:
        return ()
    others = [git.tree_entries(repo, sha) for sha in (ground.source, ground.target, ground.base)]
    rows = [(item.old, item.new, *(t.get(item.path) for t in others)) for item in differing]
    entries = [entry for row in rows for entry in row if entry and entry.mode != SUBMODULE]
    texts = git.read_blobs(repo, [entry.oid for entry in entries])
    return tuple(_change(item.path, row, texts) for item, row in zip(differing, rows, strict=True))


def _change(path: str, row: tuple[Entry | None, ...], texts: Mapping[str, bytes]) -> FileChange:
    """A file by its entries before and after, and on source, target and base."""
    # A submodule's content is empty, which is not the same as no file.
    contents = (None if entry is None else texts.get(entry.oid, b"") for entry in row)
    before, after, source, target, base = contents
    old, new = (entry.mode if entry else None for entry in row[:2])
    return FileChange(path, before, after, old, new, sides=(source, target), base=base)
