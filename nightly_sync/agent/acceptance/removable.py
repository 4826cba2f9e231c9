"""Which lines of one side may go for the other side's: those that both made of the same. Pure."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from nightly_sync.agent.acceptance.model import HunkTask
from nightly_sync.agent.harm import definitions
from nightly_sync.audits.lines import normal_lines
from nightly_sync.audits.model import Parent
from nightly_sync.merge.hunks import Hunk

_ALIKE = 0.5  # of two versions of one line, by difflib's ratio; below that they are two lines
_NAME = re.compile(
    rb"\s*(?:(?:async|export|const|let|var)\s+)*(?:(def|class|function)\s+)?"
    rb"[\"']?([\w.-]+)[\"']?\s*(?(1)[(:]|(?:\[[^]]*\]\s*)?[=:](?!=))"
)
Names = Counter[bytes]


@dataclass(frozen=True)
class Made:
    """What the answer makes of a hunk and of the file; `gone` are the other lines it leaves out."""

    text: bytes
    merged: bytes
    gone: frozenset[bytes]


def removable(task: HunkTask, hunk: Hunk, owner: Parent, made: Made) -> frozenset[bytes]:
    """The lines of a side, by their normal form, that its other side's version may stand for.

    What only one side added nobody can have removed.
    """
    mine, other = _of(hunk, owner), _of(hunk, owner.other)
    norm = _normal(task.python)
    return frozenset(
        (
            *_versions(norm(hunk.base), norm(mine), norm(other), made.gone),
            *_named(task.python, hunk, mine, other, made.text),
            *_defined_twice(task, owner, made.merged),
        )
    )


def _of(hunk: Hunk, parent: Parent) -> bytes:
    return hunk.source if parent is Parent.SOURCE else hunk.target


def _normal(python: bool) -> Callable[[bytes], list[bytes]]:
    return lambda text: [line for line in normal_lines(text, python) if line]


def _versions(
    base: list[bytes], mine: list[bytes], other: list[bytes], gone: frozenset[bytes]
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


def _named(python: bool, hunk: Hunk, mine: bytes, other: bytes, text: bytes) -> Iterator[bytes]:
    """Lines that set or define a name which the text sets as often, as the other side does."""
    theirs, had, has = _names(other), _names(mine), _names(text)
    known = set(normal_lines(other, python))
    taken = {_name(line) for line in text.split(b"\n") if normal_lines(line, python)[0] in known}
    for line in mine.split(b"\n"):
        name = _name(line)
        if name in taken and theirs[name] and has[name] >= had[name]:
            yield normal_lines(line, python)[0]


def _name(line: bytes) -> bytes:
    match = _NAME.match(line)
    return match[2] if match else b""


def _names(text: bytes) -> Names:
    return Names(filter(None, map(_name, text.split(b"\n"))))


def _defined_twice(task: HunkTask, owner: Parent, merged: bytes) -> Iterator[bytes]:
    """The lines of a definition that both sides added, where the merged file has the other's."""
    if not task.python:
        return
    mine, other = definitions(task.side(owner)), definitions(task.side(owner.other))
    made, old = definitions(merged), definitions(task.base)
    lines = task.side(owner).split(b"\n")
    for name in (mine.keys() & other.keys() & made.keys()) - old.keys():
        if ast.dump(made[name]) == ast.dump(other[name]):
            node = mine[name]
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            yield from normal_lines(b"\n".join(lines[first - 1 : node.end_lineno]), python=True)


def lost_definitions(task: HunkTask, merged: bytes) -> list[str]:
    """Functions and classes, by name, that one side added and the merged file lacks."""
    if not task.python:
        return []
    base, made = definitions(task.base), definitions(merged)
    known = {**definitions(task.target), **definitions(task.source)}
    return sorted(known.keys() - base.keys() - made.keys()) if made or not merged.strip() else []
