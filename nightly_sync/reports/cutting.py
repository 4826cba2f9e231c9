"""Long Markdown cut into pieces that each still render: fences and details are closed again."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

LINE_LIMIT = 10_000  # characters; a longer line is cut, as it could not be split any further
_FENCE = re.compile(r"^ {0,3}(`{3,})([^`]*)$")
Measure = Callable[[str], int]


def utf8_size(text: str) -> int:
    """Bytes of the text in UTF-8."""
    return len(text.encode("utf-8", "backslashreplace"))


@dataclass(frozen=True)
class _State:
    """What is open after a line."""

    fence: str = ""  # the opening line
    details: int = 0

    def after(self, line: str) -> "_State":
        if self.fence:
            return replace(self, fence="") if _closes(line, self.fence) else self
        if _FENCE.match(line):
            return replace(self, fence=line)
        step = {"<details>": 1, "</details>": -1}.get(line, 0)
        return replace(self, details=max(0, self.details + step))

    @property
    def closing(self) -> str:
        fence = f"{_indent(self.fence)}{_ticks(self.fence)}\n" if self.fence else ""
        return fence + "\n</details>\n" * self.details

    @property
    def opening(self) -> str:
        details = "<details>\n<summary>continued</summary>\n\n" * self.details
        return details + (f"{self.fence}\n" if self.fence else "")


def _ticks(line: str) -> str:
    match = _FENCE.match(line)
    return match[1] if match else ""


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _closes(line: str, fence: str) -> bool:
    match = _FENCE.match(line)
    return bool(match and not match[2].strip() and len(match[1]) >= len(_ticks(fence)))


def cut(text: str, limit: int, note: str, measure: Measure = utf8_size) -> str:
    """The text, or as much of its beginning as fits together with the note about the rest.

    `limit` is in units of `measure`; at least the note is returned.
    """
    if measure(text) <= limit:
        return text
    tail = f"\n{note}\n"
    room = limit - measure(tail)
    first = next(_pieces(text, room, measure))
    return (first if measure(first) <= room else "") + tail


def split(text: str, limit: int) -> tuple[str, ...]:
    """Pieces of at most `limit` bytes, each saying which of how many it is.

    Nothing is lost but the ends of lines over LINE_LIMIT characters, where it says so. `limit`
    must leave room for one such line.
    """
    if utf8_size(text) <= limit:
        return (text,)
    pieces = list(_pieces(text, limit - 200, utf8_size))
    count = len(pieces)
    return tuple(
        f"Part {number} of {count}; the other parts are artifacts of the same run.\n\n{piece}"
        for number, piece in enumerate(pieces, 1)
    )


def _pieces(text: str, room: int, measure: Measure) -> Iterator[str]:
    lines = [_short(line) for line in text.split("\n")]
    state, start = _State(), 0
    while start < len(lines):
        opening = state.opening
        end, state = _reach(lines, start, state, room - measure(opening), measure)
        body = "\n".join(lines[start:end])
        yield f"{opening}{body}\n{state.closing}"
        start = end


def _short(line: str) -> str:
    more = len(line) - LINE_LIMIT
    return f"{line[:LINE_LIMIT]}... {more} more characters cut here" if more > 0 else line


def _reach(
    lines: list[str], start: int, state: _State, room: int, measure: Measure
) -> tuple[int, _State]:
    """How far a piece goes (at least one line), and what is open there.

    It ends at a blank line outside fences and details if one lies in its second half.
    """
    used, good = 0, (start + 1, state.after(lines[start]))
    calm = good
    for index in range(start, len(lines)):
        used += measure(lines[index]) + 1
        state = state.after(lines[index])
        if used + measure(state.closing) > room and index > start:
            return calm if calm[0] - start > (good[0] - start) // 2 else good
        good = (index + 1, state)
        calm = good if not lines[index] and state == _State() else calm
    return good
