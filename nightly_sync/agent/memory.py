"""How much memory a process and all its descendants hold, and what is left. From Linux's /proc."""

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

SHORT = 0.05  # of the machine's memory

_PROC = Path("/proc")
_PARENT = re.compile(rb".*\) \S (\d+) ", re.DOTALL)  # a program's name may hold anything
_MACHINE = re.compile(rb"^(MemTotal|MemAvailable):\s*(\d+) kB$", re.MULTILINE)
_OWN = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s*(\d+) kB$", re.MULTILINE)
_SHARE = re.compile(rb"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s*(\d+) kB$", re.MULTILINE)


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
