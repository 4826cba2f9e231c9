"""The repository's own guidance: what its files say to those who work on it, framed for Claude."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from posixpath import dirname, join, normpath

from nightly_sync import git, paths
from nightly_sync.agent.data import Marker
from nightly_sync.agent.inside import shown
from nightly_sync.conflicts import Entry, is_file

EACH = 12_000  # characters of one file
ALL = 30_000  # characters of all of them
_LINK = "120000"


def guidance(repo: Path, commit: str, names: Iterable[str], marker: Marker) -> str:
    """What the files `names` of a commit say, in this order, each framed; "" if it has none.

    Links are followed to files of the same commit. What is the same text under two names is shown
    once, and what is no text not at all. The files are data like any other: the prompt around them
    says how far they count.
    """
    frames: list[str] = []
    left = ALL
    for name, text in _texts(repo, commit, names):
        if left:
            frames.append(marker.wrap(f"guidance from {shown(name)}", text, min(EACH, left)))
            left -= min(EACH, left, len(text))
    return "\n".join(frames)


def _texts(repo: Path, commit: str, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    found = {name: entry for name in names if (entry := _entry(repo, commit, name))}
    texts = git.read_blobs(repo, (entry.oid for entry in found.values()))
    told: set[str] = set()
    for name, entry in found.items():
        if entry.oid not in told and b"\0" not in texts[entry.oid]:
            yield name, texts[entry.oid]
        told.add(entry.oid)


def _entry(repo: Path, commit: str, name: str) -> Entry | None:
    """The regular file at a path, behind one link if need be."""
    entry = git.tree_entries(repo, commit, name).get(name)
    if entry and entry.mode == _LINK:
        to = paths.from_bytes(git.read_blobs(repo, [entry.oid])[entry.oid])
        aim = normpath(join(dirname(name), to))
        outside = aim.startswith(("/", "../"))
        entry = None if outside else git.tree_entries(repo, commit, aim).get(aim)
    return entry if entry and is_file(entry) else None
