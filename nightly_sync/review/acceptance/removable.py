"""Which lines of one side may go for the other side's: those that both made of the same. Pure."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from nightly_sync.audits.lines import Line, normal_lines
from nightly_sync.audits.model import Parent
from nightly_sync.review.acceptance.model import HunkTask, side_of
from nightly_sync.review.harm import definitions, span

_ALIKE = 0.5  # of two versions of one line, by difflib's ratio; below that they are two lines
_NAME = re.compile(
    rb"\s*(?:(?:async|export|const|let|var)\s+)*(?:(def|class|function)\s+)?"
    rb"[\"']?([\w.-]+)[\"']?\s*(?(1)[(:]|(?:\[[^]]*\]\s*)?[=:](?!=))"
)


@dataclass(frozen=True)
class Missing:
    """Lines that are not in the answer; `owner` has them, both sides if that is None."""

    hunk: int
    owner: Parent | None
    lines: tuple[Line, ...]

    @property
    def words(self) -> str:
        """Which lines they are."""
        return f"lines that {f'only the {self.owner} has' if self.owner else 'both sides have'}"


def removable(task: HunkTask, missing: Missing, gone: set[bytes], merged: bytes) -> set[bytes]:
    """Which of these lines, by their normal form, the other side's version may stand for.

    What only one side added nobody can have removed. `gone` are the other lines that the answer
    leaves out: those stand for nothing.
    """
    owner, hunk = missing.owner, task.hunks[missing.hunk]
    if owner is None:
        return set()
    mine, other = side_of(hunk, owner), side_of(hunk, owner.other)
    keys = [
        [line for line in normal_lines(text, task.python) if line]
        for text in (hunk.base, mine, other)
    ]
    known = gone.union(keys[0])
    stays = [line for line in other.split(b"\n") if normal_lines(line, task.python)[0] not in known]
    return {
        *_versions(keys[0], keys[1], keys[2], gone),
        *_named(missing.lines, stays),
        *_defined_twice(task, owner, merged),
    }


def _versions(
    base: list[bytes], mine: list[bytes], other: list[bytes], gone: set[bytes]
) -> Iterator[bytes]:
    """Lines made of one that the other side removed too, or has another version of that stays."""
    theirs = _paired(base, other)
    for old, new in _paired(base, mine).items():
        if old not in other and (old not in theirs or theirs[old] not in gone):
            yield new


def _paired(base: list[bytes], side: list[bytes]) -> dict[bytes, bytes]:
    """What a side made of a line of the base, each line once, the most alike first."""
    found: dict[bytes, bytes] = {}
    for tag, a, b, c, d in SequenceMatcher(None, base, side, autojunk=False).get_opcodes():
        if tag == "replace":
            found |= _alike(base[a:b], side[c:d])
    return found


def _alike(old: list[bytes], new: list[bytes]) -> dict[bytes, bytes]:
    if len(old) * len(new) > 2500:  # too long to pair; all of it stays
        return {}
    ranked = sorted(((_ratio(a, b), a, b) for a in old for b in new), reverse=True)
    found: dict[bytes, bytes] = {}
    for ratio, a, b in ranked:
        if ratio >= _ALIKE and a not in found and b not in found.values():
            found[a] = b
    return found


def _ratio(one: bytes, two: bytes) -> float:
    """How alike two lines are; of those that set different names, all else has to be equal."""
    names = _name(one), _name(two)
    if names[0] != names[1]:
        return float(one.replace(names[0], b"", 1) == two.replace(names[1], b"", 1))
    return SequenceMatcher(None, one, two, autojunk=False).ratio()


def _named(lines: Iterable[Line], stays: Iterable[bytes]) -> Iterator[bytes]:
    """Lines that set or define a name, where lines of the other side's own do it as often."""
    names = [(_name(line.text), line.key) for line in lines]
    mine, theirs = Counter(name for name, _ in names), Counter(map(_name, stays))
    return (key for name, key in names if name and mine[name] <= theirs[name])


def _name(line: bytes) -> bytes:
    match = _NAME.match(line)
    return match[2] if match else b""


def _defined_twice(task: HunkTask, owner: Parent, merged: bytes) -> Iterator[bytes]:
    """The lines of a definition that both sides added, where the merged file has the other's."""
    if not task.python:
        return
    mine, other = definitions(task.side(owner)), definitions(task.side(owner.other))
    made, old = definitions(merged), definitions(task.base)
    lines = task.side(owner).split(b"\n")
    for name in (mine.keys() & other.keys() & made.keys()) - old.keys():
        if ast.dump(made[name]) == ast.dump(other[name]):
            first, last = span(mine[name])
            yield from normal_lines(b"\n".join(lines[first - 1 : last]), python=True)
