"""git's own merge, away from everybody's settings: `merge-tree` in a git folder of its own.

The folder borrows the repository's object store. Its worktree holds only the target's
`.gitattributes` (in a bare repository git would ignore them), and its `info/attributes` makes
conflict markers so long that no line of a file is taken for one. Merge drivers that a user's own
git configuration defines are not run.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from nightly_sync import conflicts, git, paths
from nightly_sync.conflicts import Conflict, is_file
from nightly_sync.merge import markers

_ATTRIBUTES = ".gitattributes"


@dataclass(frozen=True)
class Aside:
    """Where such a git command runs: its folder and its variables."""

    cwd: Path
    env: Mapping[str, str]


@contextmanager
def aside(repo: Path, target: str, marker_size: int | None = None) -> Iterator[Aside]:
    """A git folder of its own over the repository's objects, with the target's attributes."""
    with TemporaryDirectory(prefix="nightly-sync-merge-") as folder:
        home = Path(folder)
        _git_folder(home / "git", marker_size)
        _attributes(repo, target, home / "tree")
        env = {
            "GIT_DIR": str(home / "git"),
            "GIT_WORK_TREE": str(home / "tree"),
            "GIT_OBJECT_DIRECTORY": str(git.objects_of(repo)),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        yield Aside(home / "tree", env)  # from the worktree: there git looks for .gitattributes


def merge_tree(
    repo: Path,
    target: str,
    source: str,
    timeout: float = git.DEFAULT_TIMEOUT,
    marker_size: int | None = None,
) -> bytes:
    """The raw output of `git merge-tree --write-tree -z TARGET SOURCE`, by SHA.

    Writes objects to the repository's store, nothing else. Without `marker_size` markers have
    git's usual length. Raises GitError when git can't merge at all.
    """
    args = ("merge-tree", "--write-tree", "-z", "--end-of-options", target, source)
    with aside(repo, target, marker_size) as at:
        return git.run(repo, *args, env=at.env, ok=(0, 1), timeout=timeout, cwd=at.cwd).out


@dataclass(frozen=True)
class AutoMerge:
    """git's merged tree, the typed conflicts in it, and how long their markers are."""

    tree: str
    conflicts: tuple[Conflict, ...]
    marker_size: int


def auto_merge(
    repo: Path, target: str, source: str, timeout: float = git.DEFAULT_TIMEOUT
) -> AutoMerge:
    """git's own merge, with markers of a length that no conflicted text has a line of."""
    size = markers.SIZES[0]
    found = conflicts.parse(merge_tree(repo, target, source, timeout, size))
    clear = markers.clear_size(_texts(repo, found.conflicts))
    if clear not in (None, size):
        size = clear or size
        found = conflicts.parse(merge_tree(repo, target, source, timeout, size))
    return AutoMerge(found.tree, found.conflicts, size)


def _texts(repo: Path, found: tuple[Conflict, ...]) -> Iterable[bytes]:
    """Every version of every conflicted file."""
    entries = (entry for item in found for entry in (item.base, item.target, item.source))
    return git.read_blobs(repo, {e.oid for e in entries if e and is_file(e)}).values()


def _git_folder(folder: Path, marker_size: int | None) -> None:
    for name in ("refs", "info"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
    if marker_size is not None:
        (folder / "info" / "attributes").write_text(f"* conflict-marker-size={marker_size}\n")


def _is_tame(name: str) -> bool:
    """No part that leaves the folder: git refuses those on checkout, but a tree can hold them."""
    return not {"", ".", "..", ".git"} & {part.lower() for part in name.split("/")}


def _attributes(repo: Path, target: str, folder: Path) -> None:
    folder.mkdir()
    entries = git.tree_entries(repo, target)
    wanted = {
        name: entry.oid
        for name, entry in entries.items()
        if name.rsplit("/", 1)[-1] == _ATTRIBUTES and is_file(entry) and _is_tame(name)
    }
    blobs = git.read_blobs(repo, wanted.values())
    for name, oid in wanted.items():
        file = folder / paths.fs_name(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(blobs[oid])
