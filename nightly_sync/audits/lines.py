"""What became of each side's lines in a merged file. Pure.

Lines are compared in a normal form, so that a formatter's work is no loss: without white space and
a last comma, in Python also with one kind of quote. A formatter also joins, splits and sorts.
Before a Python line counts as missing, the whole merged text, without white space, commas,
parentheses, quotes and backslashes, is searched for it and for the run of lines it stands in; a
line of an import is not missing if all it imports is imported.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from nightly_sync.audits.model import Parent
from nightly_sync.audits.modules import imported_by_line

_SPACE = b" \t\r\f\v"
_NOISE = _SPACE + b"\n,()\\\"'"
_TRIVIAL = re.compile(rb"[\x00-/:-@\[-`{-\x7f]*|else:|try:|finally:|pass")


@dataclass(frozen=True)
class Line:
    """A line as it stands in its file; `number` from 1, `key` its normal form."""

    number: int
    text: bytes
    key: bytes


@dataclass(frozen=True)
class LineFacts:
    """Lines that are amiss in one merged file."""

    target: tuple[Line, ...] = ()  # the target has them over the base, the merged file not
    source: tuple[Line, ...] = ()  # the same for the source
    shared: tuple[Line, ...] = ()  # both parents have them, the merged file not
    invented: tuple[Line, ...] = ()  # in the merged file, and on neither side nor in the base

    def of(self, parent: Parent) -> tuple[Line, ...]:
        """Lines of this parent that are missing."""
        return self.source if parent is Parent.SOURCE else self.target

    @property
    def some(self) -> bool:
        """Is there anything to say?"""
        return bool(self.target or self.source or self.shared or self.invented)


@dataclass(frozen=True)
class _Version:
    text: bytes
    python: bool

    @cached_property
    def raw(self) -> list[bytes]:
        return self.text.split(b"\n")

    @cached_property
    def lines(self) -> list[bytes]:
        return normal_lines(self.text, self.python)

    @cached_property
    def counts(self) -> Counter[bytes]:
        return Counter(self.lines)

    @cached_property
    def flat(self) -> bytes:
        return self.text.translate(None, _NOISE)

    @cached_property
    def imports(self) -> dict[int, set[bytes]]:
        return imported_by_line(self.text)

    @cached_property
    def imported(self) -> set[bytes]:
        return set().union(*self.imports.values())


def normal_lines(text: bytes, python: bool) -> list[bytes]:
    """The normal form of each line, in order."""
    plain = text.translate(None, _SPACE).replace(b",\n", b"\n").removesuffix(b",")
    return (plain.replace(b"'", b'"') if python else plain).split(b"\n")


def is_trivial(key: bytes) -> bool:
    """Is a line too common to miss: blank, punctuation, or a keyword whose block tells more?"""
    return _TRIVIAL.fullmatch(key) is not None


def line_facts(base: bytes, source: bytes, target: bytes, merged: bytes, python: bool) -> LineFacts:
    """Compare one file's four versions; an absent one is empty."""
    b, s, t, m = (_Version(text, python) for text in (base, source, target, merged))
    return LineFacts(
        target=_dropped(t, s, b, m),
        source=_dropped(s, t, b, m),
        shared=_shared(t, s, b, m),
        invented=_invented(m, (b, s, t)),
    )


def _dropped(mine: _Version, other: _Version, base: _Version, merged: _Version) -> tuple[Line, ...]:
    """Lines of `mine` over the base that the merged text lacks.

    Counted, as a second copy of a line can be lost too; copies the other side took out of the
    base are not missed.
    """
    if mine.text in (base.text, merged.text):
        return ()
    known, kept, theirs = base.counts.get, merged.counts.get, other.counts.get
    lost = {}
    for key, count in mine.counts.items():
        old = known(key, 0)
        if count > old and count > kept(key, 0):
            removed = max(0, old - theirs(key, 0))
            lost[key] = min(count - old, count - removed - kept(key, 0))
    lines = _pick(mine, lost)
    return tuple(_unless_kept(lines, mine, (merged,)) if mine.python else lines)


def _shared(mine: _Version, other: _Version, base: _Version, merged: _Version) -> tuple[Line, ...]:
    """Lines of `mine` that the other parent has too, and the merged text more rarely.

    Where both parents took copies out of the base, both may be right.
    """
    if merged.text in (mine.text, other.text):
        return ()
    known, kept, theirs = base.counts.get, merged.counts.get, other.counts
    lost = {}
    for key in mine.counts.keys() & theirs.keys():
        one, two, old = mine.counts[key], theirs[key], known(key, 0)
        expected = one + two - old if one < old and two < old else min(one, two)
        lost[key] = expected - kept(key, 0)
    lines = _pick(mine, lost)
    return tuple(_unless_kept(lines, mine, (merged,)) if mine.python else lines)


def _invented(merged: _Version, others: tuple[_Version, ...]) -> tuple[Line, ...]:
    if any(merged.text == other.text for other in others):
        return ()
    new = merged.counts.keys() - set().union(*(other.counts for other in others))
    lines = _pick(merged, {key: merged.counts[key] for key in new})
    return tuple(_unless_kept(lines, merged, others) if merged.python else lines)


def pick(
    theirs: bytes, merged: bytes, wanted: Mapping[bytes, int], python: bool
) -> tuple[Line, ...]:
    """Of the lines `wanted`, by normal form, those that `theirs` has and `merged` lacks."""
    mine, other = _Version(theirs, python), _Version(merged, python)
    missing = {key: mine.counts[key] - other.counts[key] for key in wanted}
    lost = {key: min(missing[key], count) for key, count in wanted.items()}
    lines = _pick(mine, lost)
    return tuple(_unless_kept(lines, mine, (other,)) if python else lines)


def _pick(version: _Version, wanted: Mapping[bytes, int]) -> list[Line]:
    """Lines of a version by their normal form; of equal ones the last, trivial ones never."""
    left = {key: n for key, n in wanted.items() if n > 0 and not is_trivial(key)}
    if not left:
        return []
    places = [at for at, key in enumerate(version.lines) if key in left]
    found = []
    for at in reversed(places):
        key = version.lines[at]
        if left[key] > 0:
            left[key] -= 1
            found.append(Line(at + 1, version.raw[at].removesuffix(b"\r"), key))
    return found[::-1]


def _unless_kept(lines: list[Line], mine: _Version, others: tuple[_Version, ...]) -> Iterator[Line]:
    """Drop what another text holds in other line breaks, at least as often as its own does."""
    if not lines:
        return
    imported = set().union(*(other.imported for other in others))
    own = [line for line in lines if not _is_imported(line.number, mine, imported)]
    for run in _runs(own, mine):
        whole = b"\n".join(mine.raw[run[0].number - 1 : run[-1].number])
        if not _kept(whole, mine, others):
            yield from (line for line in run if not _kept(line.text, mine, others))


def _is_imported(number: int, mine: _Version, imported: set[bytes]) -> bool:
    """Is this a line of an import, and is all that it imports imported there too?

    Import sorters regroup names at will.
    """
    return number in mine.imports and mine.imports[number] <= imported


def _kept(text: bytes, mine: _Version, others: tuple[_Version, ...]) -> bool:
    needle = text.translate(None, _NOISE)
    own = mine.flat.count(needle)
    return any(other.flat.count(needle) >= max(own, 1) for other in others)


def _runs(lines: list[Line], mine: _Version) -> Iterator[list[Line]]:
    """Group lines that follow each other, over trivial lines between them."""
    run: list[Line] = []
    for line in lines:
        between = mine.lines[run[-1].number : line.number - 1] if run else []
        if not all(is_trivial(key) for key in between):
            yield run
            run = []
        run.append(line)
    if run:
        yield run
