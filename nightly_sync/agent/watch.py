"""Watch a sandbox from outside: its memory and the disk, and that nothing of it stays behind."""

import json
import os
import re
import select
import signal
import threading
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from nightly_sync.agent.settings import MB, SandboxSettings
from nightly_sync.errors import SyncError

TICK = 0.2  # seconds between two looks
PATIENCE = 30.0  # seconds a killed sandbox may take to vanish
SHORT = 0.05  # of the machine's memory

_PROC = Path("/proc")
_PARENT = re.compile(rb".*\) \S (\d+) ", re.DOTALL)  # a program's name may hold anything
_MACHINE = re.compile(rb"^(MemTotal|MemAvailable):\s*(\d+) kB$", re.MULTILINE)
_OWN = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s*(\d+) kB$", re.MULTILINE)
_SHARE = re.compile(rb"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s*(\d+) kB$", re.MULTILINE)


@dataclass
class Watch:
    """One sandbox that is being watched."""

    limits: SandboxSettings
    folder: Path  # on the disk that the sandbox writes to
    status: int  # the open file that bwrap is to report on
    over: threading.Event = field(default_factory=threading.Event)
    reason: str = ""  # why it had to be killed, as a clause, once it is gone

    def follow(self, report: IO[bytes]) -> None:
        """Return once every process of the sandbox is gone: its first one's end is that of all."""
        line = report.readline()
        if not line.endswith(b"\n"):  # bwrap lets no command run before the line is whole
            return
        facts = json.loads(line)
        process = facts["child-pid"]
        try:
            handle = os.pidfd_open(process)
        except ProcessLookupError:
            return
        try:  # if it is gone already, the id may be another process's by now
            if _namespace(process) == facts["pid-namespace"]:
                self._until_gone(process, handle)
        finally:
            os.close(handle)

    def _until_gone(self, process: int, handle: int) -> None:
        before = _free(self.folder)
        while not _gone(handle, TICK):
            self.reason = self._excess(process, before - _free(self.folder))
            if self.reason or self.over.is_set():
                return _kill(handle)
        return None

    def _excess(self, process: int, used: int) -> str:
        limits = self.limits
        if used > limits.disk_mb * MB:
            return f"it used up over {limits.disk_mb} MB of disk space"
        if exceeds(process, limits.memory_mb * MB):
            return f"its processes held over {limits.memory_mb} MB of memory"
        return "the machine ran short of memory" if is_short() else ""


@contextmanager
def watching(limits: SandboxSettings, folder: Path) -> Iterator[Watch]:
    """Start bwrap inside this, with `status` to report on; left once the sandbox is gone.

    Raises SyncError or OSError if a part of it cannot be killed or watched.
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


def _namespace(process: int) -> int:
    with suppress(FileNotFoundError, ProcessLookupError):  # it ended just now
        return Path(f"/proc/{process}/ns/pid").stat().st_ino
    return 0


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


def is_short() -> bool:
    """Is hardly any memory of the machine left, whoever holds it?

    It may be held where no process shows it: in a memfd, or in a file system of a namespace that
    a command made for itself.
    """
    facts = dict(_MACHINE.findall(_text(_PROC / "meminfo")))
    return int(facts[b"MemAvailable"]) < SHORT * int(facts[b"MemTotal"])


def exceeds(root: int, limit: int) -> bool:
    """Do a process and its descendants hold over `limit` bytes, swap included?

    Pages that forked processes share count once, which costs more to find out, so only where the
    plain sum is over the limit.
    """
    family = list(_family(root))
    if sum(_bytes(_OWN, folder / "status") for folder in family) <= limit:
        return False
    shares = (_bytes(_SHARE, folder / "smaps_rollup") for folder in family)
    both = zip(shares, family, strict=True)
    return sum(share or _bytes(_OWN, folder / "status") for share, folder in both) > limit


def _family(root: int) -> Iterator[Path]:
    """The folders of a process and its descendants. One that ends meanwhile is left out."""
    children: dict[int, list[int]] = defaultdict(list)
    for folder in _PROC.iterdir():
        if folder.name.isdecimal() and (parent := _PARENT.match(_text(folder / "stat"))):
            children[int(parent[1])].append(int(folder.name))
    found = [root]
    for process in found:  # grows while it is walked
        found += children[process]
        yield _PROC / str(process)


def _text(file: Path) -> bytes:
    """What a file under /proc says; nothing once its process is gone or if it may not be read."""
    with suppress(OSError):
        return file.read_bytes()
    return b""


def _bytes(pattern: re.Pattern[bytes], file: Path) -> int:
    return 1024 * sum(map(int, pattern.findall(_text(file))))
