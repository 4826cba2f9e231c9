"""Watch a sandbox from outside: its memory and the disk, and that nothing of it stays behind."""

import json
import os
import select
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from nightly_sync.agent import memory
from nightly_sync.agent.sandbox_settings import MB, SandboxSettings
from nightly_sync.errors import SyncError

TICK = 0.2  # seconds between two looks
PATIENCE = 30.0  # seconds a killed sandbox may take to vanish


@dataclass
class Watch:
    """One sandbox that is being watched."""

    limits: SandboxSettings
    folder: Path  # on the disk that the sandbox writes to
    status: int  # the open file that bwrap is to report on
    over: threading.Event = field(default_factory=threading.Event)
    reason: str = ""  # why it had to be killed, as a clause, once it is gone

    def follow(self, report: IO[bytes]) -> None:
        """Return once every process of the sandbox is gone."""
        line = report.readline()
        # bwrap lets no command run before the line is whole.
        first = _first_process(json.loads(line)) if line.endswith(b"\n") else None
        if first is None:
            return
        process, handle = first
        try:
            self._until_gone(process, handle)
        finally:
            os.close(handle)

    def _until_gone(self, process: int, handle: int) -> None:
        before = _free(self.folder)
        while not _gone(handle, TICK):
            self.reason = _excess(process, self.limits, before - _free(self.folder))
            if self.reason or self.over.is_set():
                return _kill(handle)
        return None


@contextmanager
def watching(limits: SandboxSettings, folder: Path) -> Iterator[Watch]:
    """Start bwrap inside this, with `status` to report on; left once the sandbox is gone.

    Raises SyncError if a part of it cannot be killed or watched.
    """
    report, status = os.pipe()
    with os.fdopen(report, "rb", buffering=0) as reader, ThreadPoolExecutor(1) as pool:
        watch = Watch(limits, folder, status)
        following = pool.submit(watch.follow, reader)
        try:
            yield watch
        finally:
            watch.over.set()
            os.close(status)
            following.result()


def _first_process(facts: dict[str, int]) -> tuple[int, int] | None:
    """Id and handle of the sandbox's first process, whose end is the end of all.

    None if it is gone, and its id perhaps another process's.
    """
    process = facts["child-pid"]
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return None
    try:
        same = _namespace(process) == facts["pid-namespace"]
    except OSError as error:
        os.close(handle)
        raise SyncError(f"the sandbox cannot be watched: {error}") from error
    if same:
        return process, handle
    os.close(handle)
    return None


def _namespace(process: int) -> int:
    with suppress(FileNotFoundError, ProcessLookupError):  # it ended just now
        return Path(f"/proc/{process}/ns/pid").stat().st_ino
    return 0


def _excess(process: int, limits: SandboxSettings, used: int) -> str:
    if used > limits.disk_mb * MB:
        return f"it used up over {limits.disk_mb} MB of disk space"
    if memory.exceeds(process, limits.memory_mb * MB):
        return f"its processes held over {limits.memory_mb} MB of memory"
    return "the machine ran short of memory" if memory.is_short() else ""


def _free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def _gone(handle: int, seconds: float) -> bool:
    """Has it ended, with all processes of its namespace? Waits that long for it."""
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _kill(handle: int) -> None:
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    if not _gone(handle, PATIENCE):
        raise SyncError(f"a command in the sandbox was killed and still runs after {PATIENCE:g} s")
