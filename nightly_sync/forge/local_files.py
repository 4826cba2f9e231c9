"""Files that several processes share: written whole or not at all, guarded by kernel locks."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from nightly_sync.errors import SyncError

LOCK_WAIT = 60.0  # seconds; whoever holds a record's lock is done in milliseconds
LOCK_TICK = 0.02
M = TypeVar("M", bound=BaseModel)


def write_atomic(path: Path, content: str) -> None:
    """Replace a file in one step: a reader, or a crash, sees the old content or the new.

    Raises SyncError, naming the file, if the disk says no.
    """
    try:
        _replace(path, content.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise SyncError(f"{path} could not be written: {error.strerror}.") from error


def _replace(path: Path, content: bytes) -> None:
    # The dot keeps half-written files out of the listings.
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        temporary = Path(file.name)
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_model(path: Path, model: BaseModel) -> None:
    """Write a fact as JSON, atomically."""
    write_atomic(path, model.model_dump_json(indent=2) + "\n")


def read_model(path: Path, kind: type[M]) -> M:
    """Read a fact back; raises SyncError, naming the file, if it is damaged or not there."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except OSError as error:
        raise SyncError(f"{path} could not be read: {error.strerror}.") from error
    except ValidationError as error:
        raise SyncError(
            f"{path} is damaged ({error.errors()[0]['msg']}): restore it, or move it away by hand."
        ) from error


def make_folder(path: Path) -> Path:
    """Create a folder with its parents; raises SyncError if that is not allowed."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SyncError(f"The folder {path} could not be made: {error.strerror}.") from error
    return path


def take_lock(path: Path) -> int | None:
    """Lock a file (made if missing) for as long as the returned handle, or a child that
    inherited it, stays open. None if someone else holds it. The kernel frees it with the last
    of its holders, however they end."""
    handle = _open_lock(path)
    if _locked(handle, fcntl.LOCK_EX):
        return handle
    os.close(handle)
    return None


def is_held(path: Path) -> bool:
    """Does anyone hold this lock? Those who ask do not get in each other's way."""
    handle = _open_lock(path)
    try:
        return not _locked(handle, fcntl.LOCK_SH)
    finally:
        os.close(handle)


def _open_lock(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise SyncError(f"The lock {path} could not be opened: {error.strerror}.") from error


def stamp(path: Path) -> tuple[int, int]:
    """Something that changes whenever the file is replaced; SyncError if it is not there."""
    try:
        found = path.stat()
    except OSError as error:
        raise SyncError(f"{path} could not be read: {error.strerror}.") from error
    return found.st_ino, found.st_mtime_ns


def _locked(handle: int, how: int) -> bool:
    try:
        fcntl.flock(handle, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock for a moment, after those who hold it now; SyncError if they never let go."""
    deadline = time.monotonic() + LOCK_WAIT
    while (handle := take_lock(path)) is None:
        if time.monotonic() > deadline:
            raise SyncError(f"Another process has held {path} for {LOCK_WAIT:g} s: stop it first.")
        time.sleep(LOCK_TICK)
    try:
        yield
    finally:
        os.close(handle)
