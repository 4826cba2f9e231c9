"""What a command changed in a checkout, by content; and the way back."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from nightly_sync import paths


def take(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Content of the regular files among the names, as they are on disk."""
    files = {name: folder / paths.fs_name(name) for name in names}
    regular = {n: file for n, file in files.items() if file.is_file() and not file.is_symlink()}
    return {name: file.read_bytes() for name, file in regular.items()}


def changed(folder: Path, before: Mapping[str, bytes]) -> tuple[str, ...]:
    """Files that still are regular ones and have other content now."""
    after = take(folder, before)
    return tuple(sorted(name for name in after if after[name] != before[name]))


def restore(folder: Path, before: Mapping[str, bytes]) -> None:
    """Put the content back."""
    for name, content in before.items():
        (folder / paths.fs_name(name)).write_bytes(content)
