"""Conflicted text, cut into what git merged and the hunks it could not."""

from collections.abc import Callable
from dataclasses import dataclass

from nightly_sync.merge.markers import pattern


@dataclass(frozen=True)
class Hunk:
    """The three versions of one conflicted region, whole lines each."""

    base: bytes
    target: bytes
    source: bytes


Segment = bytes | Hunk


_SIGNS = (b"<<", b"||", b"==", b">>")  # a quick look before the pattern


def split(text: bytes, marker_size: int) -> tuple[Segment, ...]:
    """Segments of a file as merge-tree leaves it; only markers of exactly this length count.

    Markers nested in a base section (criss-cross merges) are longer and stay text. Raises
    ValueError when the markers do not pair up.
    """
    order = tuple(pattern(sign, marker_size) for sign in (b"<", b"|", b"=", b">"))
    segments: list[Segment] = []
    parts: list[list[bytes]] = [[]]
    for line in text.splitlines(keepends=True) if b"\r" not in text else _lines(text):
        expected = len(parts) - 1
        if not line.startswith(_SIGNS) or not order[expected].match(line.rstrip(b"\n")):
            parts[-1].append(line)
        elif expected == 0:
            segments.append(b"".join(parts[0]))
            parts = [[], []]
        elif expected == len(order) - 1:
            segments.append(_hunk(parts))
            parts = [[]]
        else:
            parts.append([])
    if len(parts) != 1:
        raise ValueError("a conflict marker has no end")
    return (*segments, b"".join(parts[0]))


def _lines(text: bytes) -> list[bytes]:
    """Lines end at \\n only: a lone \\r is part of a line."""
    return [line + b"\n" for line in text.split(b"\n")[:-1]] + (
        [last] if (last := text.split(b"\n")[-1]) else []
    )


def _hunk(parts: list[list[bytes]]) -> Hunk:
    _, target, base, source = (b"".join(part) for part in parts)
    return Hunk(base=base, target=target, source=source)


def assemble(segments: tuple[Segment, ...], choose: Callable[[int, Hunk], bytes]) -> bytes:
    """The file with `choose(index, hunk)` in place of each hunk, counted from 0."""
    index, out = 0, []
    for segment in segments:
        if isinstance(segment, Hunk):
            out.append(choose(index, segment))
            index += 1
        else:
            out.append(segment)
    return b"".join(out)


def without_added_newline(text: bytes, side: bytes) -> bytes:
    """Undo the newline git adds after a side that ends without one, at the end of a file."""
    if side.endswith(b"\n") or not text.endswith(b"\n"):
        return text
    return text[:-2] if text.endswith(b"\r\n") and not side.endswith(b"\r") else text[:-1]
