"""What a repair would change: from the files of a checkout to a tree, and its difference.

Taken are files that were edited by a tool, and tracked files that a command changed. What else
commands left behind (caches, build products) is not looked at. As a tree is compared with a tree,
it does not matter how a change was made.
"""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from nightly_sync import git
from nightly_sync.agent.files import Files
from nightly_sync.agent.originals import Originals
from nightly_sync.config import SyncConfig
from nightly_sync.conflicts import Entry
from nightly_sync.review.forbidden import FileChange

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
