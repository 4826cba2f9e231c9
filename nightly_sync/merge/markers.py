"""How long conflict markers are while planning, and which lines could pass for one."""

import re
from collections.abc import Iterable
from functools import lru_cache

SIZES = (47, 57, 67, 77, 87)
"""The first that no line of the conflicted texts has; git's own are 7 long, so none of these is."""

_SIGNS = (b"<", b"|", b"=", b">")


@lru_cache(maxsize=32)
def pattern(sign: bytes, size: int) -> re.Pattern[bytes]:
    """A marker line of exactly this length, without its line end."""
    return re.compile(rb"^" + re.escape(sign) + b"{%d}(?: [^\n]*)?\r?$" % size, re.MULTILINE)


def clear_size(texts: Iterable[bytes], sizes: Iterable[int] = SIZES) -> int | None:
    """The first length of which no line of the texts is a marker; None if there is none left."""
    known = list(texts)
    return next((size for size in sizes if not any(_has(text, size) for text in known)), None)


def _has(text: bytes, size: int) -> bool:
    return any(sign * size in text and pattern(sign, size).search(text) for sign in _SIGNS)
