"""Files of one checkout, and never a file outside it, whatever a name or a link says.

Every component of a path is opened by itself, without following links, from the folder opened
before. Links inside the checkout are not followed either; a listing says where they lead.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from nightly_sync import paths
from nightly_sync.agent.guard import DEEPEST, Refused, is_git, malformed, shown
from nightly_sync.commands import run_command
from nightly_sync.errors import SyncError

LARGEST = 16 * 1024 * 1024  # bytes of a file that is read or written
MOST = 500_000  # entries of a checkout that are looked at
REMOVAL_TIMEOUT = 300.0  # seconds

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Found:
    """One entry of a checkout: its path, what `lstat` says, and where it leads if it is a link."""

    name: str
    stat: os.stat_result
    target: str | None = None

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.stat.st_mode)

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.stat.st_mode)


@dataclass(frozen=True)
class Files:
    """The files below `top`. Paths are as from `inside.normal`; every refusal is a `Refused`."""

    top: Path

    def read(self, name: str) -> bytes:
        """The content of a regular file of at most LARGEST bytes."""
        with self._parent(name) as (folder, last):
            _need_file(name, folder, last)  # to open a pipe or a device already has effects
            with os.fdopen(os.open(last, _READ, dir_fd=folder), "rb") as file:
                return file.read()

    def replace(self, name: str, content: bytes) -> None:
        """Give an existing regular file new content; its mode stays.

        By a new file in its place: the old one may have a second name, which must not change.
        """
        with self._parent(name) as (folder, last):
            mode = _need_file(name, folder, last).st_mode
            scratch = b".nightly-sync-" + secrets.token_hex(8).encode()
            _write_new(folder, scratch, content, mode)
            os.rename(scratch, last, src_dir_fd=folder, dst_dir_fd=folder)

    def create(self, name: str, content: bytes, mode: int = 0o644) -> None:
        """Write a file that is not there yet, and the folders it lies in."""
        with self._parent(name, make=True) as (folder, last):
            _write_new(folder, last, content, mode)

    def link(self, name: str, target: bytes) -> None:
        """Make a symbolic link that is not there yet, and the folders it lies in."""
        with self._parent(name, make=True) as (folder, last):
            os.symlink(target, last, dir_fd=folder)

    def remove(self, name: str) -> None:
        with self._parent(name) as (folder, last):
            _need_file(name, folder, last)
            os.unlink(last, dir_fd=folder)

    def clear(self, name: str) -> None:
        """Make room for a path: remove what lies there, and what stands for a folder above it."""
        parts = name.split("/")
        if all(self._clear("/".join(parts[:depth])) for depth in range(1, len(parts) + 1)):
            _remove_folder(self.top / paths.fs_name(name))

    def _clear(self, name: str) -> bool:
        """Is there a folder? Anything else is removed."""
        with self._parent(name) as (folder, part):
            try:
                found = _found(folder, name, part)
            except FileNotFoundError:
                return False
            if not found.is_folder:
                os.unlink(part, dir_fd=folder)
            return found.is_folder

    def look(self, name: str) -> Found:
        """What lies at a path; the top is a folder."""
        if not name:
            return Found(name, self.top.stat())
        with self._parent(name) as (folder, last):
            return _found(folder, name, last)

    def is_empty(self, name: str) -> bool:
        """Is there a file without anything in it?"""
        with suppress(Refused):
            found = self.look(name)
            return found.is_file and not found.stat.st_size
        return False

    def entries(self, name: str) -> list[Found]:
        """What lies in a folder, by name."""
        with _refusals(name), self._folder(_parts(name)) as folder, os.scandir(folder) as listed:
            raw = [os.fsencode(entry.name) for entry in listed]
            above = f"{name}/" if name else ""
            found = [_found(folder, above + paths.from_bytes(part), part) for part in raw]
        return sorted(found, key=lambda item: item.name)

    def walk(self, below: str = "") -> Iterator[Found]:
        """Everything below a folder that is not itself a folder.

        A `.git`, and a folder that is nested too deeply, come as one entry. Raises SyncError
        above MOST entries.
        """
        waiting, count = [below], 0
        while waiting:
            for item in self.entries(waiting.pop()):
                count += 1
                parts = item.name.split("/")
                if item.is_folder and not is_git(parts[-1]) and len(parts) < DEEPEST:
                    waiting.append(item.name)
                else:
                    yield item
            if count > MOST:
                raise SyncError(f"the checkout holds over {MOST} entries, too many to look at")

    @contextmanager
    def _parent(self, name: str, make: bool = False) -> Iterator[tuple[int, bytes]]:
        """The folder a path lies in, opened, and the path's last component."""
        *folders, last = _parts(name) or [b""]
        if not last:
            raise Refused("The top of the checkout is a folder; name a file in it.")
        with _refusals(name), self._folder(folders, make) as folder:
            yield folder, last

    @contextmanager
    def _folder(self, parts: list[bytes], make: bool = False) -> Iterator[int]:
        with ExitStack() as opened:
            folder = os.open(self.top, _FOLDER)
            opened.callback(os.close, folder)
            for part in parts:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o755, dir_fd=folder)
                folder = os.open(part, _FOLDER, dir_fd=folder)
                opened.callback(os.close, folder)
            yield folder


def _parts(name: str) -> list[bytes]:
    """The components of a normal path; checked again, as safety must not hang on the caller."""
    parts = name.split("/") if name else []
    reason = "has a '.' part" if "." in parts else malformed(parts)
    if reason:
        raise Refused(f"The path {shown(name)} {reason}.")
    return [paths.to_bytes(part) for part in parts]


@contextmanager
def _refusals(name: str) -> Iterator[None]:
    """What the system says no to, in words for the model."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            reason = "a part of this path is no folder; links are not followed, name the file"
        raise Refused(f"{shown(name) or 'The top'}: {reason}.") from error


def _need_file(name: str, folder: int, part: bytes) -> os.stat_result:
    found = _found(folder, name, part)
    if found.target is not None:
        raise Refused(
            f"{shown(name)} is a link, which is not followed; list_files shows where it leads."
        )
    if not found.is_file:
        kind = "a folder" if found.is_folder else "a pipe, a socket or a device"
        raise Refused(f"{shown(name)} is {kind}, not a file.")
    size = found.stat.st_size
    if size > LARGEST:
        raise Refused(f"{shown(name)} is too large: {size} bytes; search in it instead.")
    return found.stat


def _found(folder: int, name: str, part: bytes) -> Found:
    found = os.stat(part, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISDIR(found.st_mode) and found.st_mode & 0o700 != 0o700:
        os.chmod(part, 0o755, dir_fd=folder)  # a command may have shut it
    if not stat.S_ISLNK(found.st_mode):
        return Found(name, found)
    return Found(name, found, paths.from_bytes(os.readlink(part, dir_fd=folder)))


def _write_new(folder: int, part: bytes, content: bytes, mode: int) -> None:
    with os.fdopen(os.open(part, _NEW, 0o600, dir_fd=folder), "wb") as file:
        file.write(content)
        os.fchmod(file.fileno(), mode & 0o777)


def _remove_folder(folder: Path) -> None:
    # Not by shutil, which ends in a RecursionError where a command nested a thousand folders.
    result = run_command(["rm", "-rf", "--", str(folder)], Path("/"), REMOVAL_TIMEOUT)
    if not result.ok:
        raise SyncError(f"{folder} cannot be removed: {result.output.strip()[-500:]}")
