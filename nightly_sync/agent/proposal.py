"""What a repair would change: from the files of a checkout to a tree, and its difference.

Taken are files that were edited by a tool, and tracked files that a command changed. What else
commands left behind (caches, build products) is not looked at. As a tree is compared with a tree,
it does not matter how a change was made.
"""

import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from nightly_sync import git, paths
from nightly_sync.agent.files import Files, Found
from nightly_sync.agent.forbidden import FileChange
from nightly_sync.agent.inside import Refused
from nightly_sync.agent.originals import Originals
from nightly_sync.config import SyncConfig
from nightly_sync.conflicts import Entry

SUBMODULE = "160000"


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

    @property
    def files(self) -> Files:
        """The files as they are now."""
        return self.originals.files

    def proposal(self, edited: Iterable[str]) -> Proposal:
        """What would be committed of it. Raises GitError for what git cannot take in.

        `edited` are the paths that a tool wrote.
        """
        repo, names = self.ground.repo, {*edited, *self._by_commands()}
        with TemporaryDirectory(prefix="nightly-sync-index-") as home:
            scratch = Path(home) / "index"
            shutil.copyfile(self.index, scratch)
            git.add_files(repo, self.folder, scratch, sorted(names))
            tree = git.write_index(repo, self.folder, scratch)
        return Proposal(tree, file_changes(self.ground, tree))

    def _by_commands(self) -> Iterable[str]:
        """Tracked files that a command changed or removed."""
        if not self.originals.copy.exists():  # no command ran
            return ()
        tracked = git.tree_entries(self.ground.repo, self.ground.tree)
        names = (name for name, entry in tracked.items() if entry.mode != SUBMODULE)
        return [name for name in names if self._differs(name)]

    def _differs(self, name: str) -> bool:
        """By time and size first: to read all files takes seconds.

        A command that sets the time back hides its change, and so keeps it out of the repair.
        """
        then, now = self.originals.copy / paths.fs_name(name), self._found(name)
        if now is None:
            return True
        before = then.lstat()
        if _stamp(before) == _stamp(now.stat):
            return False
        regular = now.is_file and stat.S_ISREG(before.st_mode)
        return not regular or self.files.read(name) != then.read_bytes()

    def _found(self, name: str) -> Found | None:
        try:
            return self.files.look(name)
        except Refused:  # it is gone, or a link stands for one of its folders
            return None


def _stamp(found: os.stat_result) -> tuple[int, int, int]:
    return stat.S_IFMT(found.st_mode), found.st_size, found.st_mtime_ns


def file_changes(ground: Ground, tree: str) -> tuple[FileChange, ...]:
    """Every file in which a tree differs from the ground's, with what both sides have."""
    repo, differing = ground.repo, git.changes(ground.repo, ground.tree, tree)
    if not differing:
        return ()
    others = [git.tree_entries(repo, sha) for sha in (ground.source, ground.target, ground.base)]
    found = [[tree.get(item.path) for tree in others] for item in differing]
    both = [entry for item in differing for entry in (item.old, item.new)]
    texts = _Texts(repo, [*both, *(entry for row in found for entry in row)])
    return tuple(_change(item, row, texts) for item, row in zip(differing, found, strict=True))


class _Texts:
    """Contents by entry, read at once. A submodule's is empty, which is not the same as no file."""

    def __init__(self, repo: Path, entries: Iterable[Entry | None]):
        wanted = [entry.oid for entry in entries if entry and entry.mode != SUBMODULE]
        self._texts = git.read_blobs(repo, wanted)

    def of(self, entry: Entry | None) -> bytes | None:
        return None if entry is None else self._texts.get(entry.oid, b"")


def _change(item: git.Change, others: list[Entry | None], texts: _Texts) -> FileChange:
    source, target, base = map(texts.of, others)
    return FileChange(
        item.path,
        texts.of(item.old),
        texts.of(item.new),
        item.old.mode if item.old else None,
        item.new.mode if item.new else None,
        sides=(source, target),
        base=base,
    )
