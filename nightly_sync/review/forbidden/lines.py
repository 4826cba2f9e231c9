"""Tests that are no Python, or can't be read as such: by lines, and nothing may go. Pure."""

from collections import Counter
from collections.abc import Iterator

from nightly_sync.paths import from_bytes
from nightly_sync.review.forbidden.model import FileChange, RefusalKind, clip

Lines = Counter[str]


def problems(change: FileChange) -> Iterator[tuple[RefusalKind, str]]:
    """Lines may only be put back as a side has them, and go as a side took them out."""
    every = [_lines(text) for text in (change.base, change.before, change.after, *change.sides)]
    base, before, after, *sides = map(Counter, every)
    for line in after - before:
        added = sum(side[line] - base[line] for side in sides)  # both sides may have added one
        if after[line] > max(base[line] + added, *(side[line] for side in sides), 0):
            yield RefusalKind.TEST_LOOSENED, f"neither side has this line of a test: `{clip(line)}`"
    for line in before - after:
        if not _may_go(line, after, sides, base):
            yield RefusalKind.TEST_LOOSENED, f"this line of a test is gone: `{clip(line)}`"
    same = {line for line in before if before[line] == after[line]}
    orders = ([line for line in lines if line in same] for lines in every[1:3])
    moved = (other for line, other in zip(*orders, strict=True) if line != other)
    for line in [*moved][:1]:
        yield RefusalKind.TEST_LOOSENED, f"this line of a test has moved: `{clip(line)}`"


def _lines(text: bytes | None) -> list[str]:
    lines = (" ".join(line.split()) for line in from_bytes(text or b"").split("\n"))
    return [line for line in lines if line]


def _may_go(line: str, after: Lines, sides: list[Lines], base: Lines) -> bool:
    """Had the merge doubled it, or did a side take it out of the base?"""
    left, most = after[line], max((side[line] for side in sides), default=0)
    return 0 < most <= left or any(side[line] <= left < base[line] for side in sides)
