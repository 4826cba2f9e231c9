"""The pull request's body: as much of the report as GitHub takes, the longest parts folded.

GitHub refuses a pull request whose body has over 65,536 characters (422); these are
code points, not bytes (measured in github.com/dead-claudia/github-limits, pull request 13).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nightly_sync.reports import markdown as md
from nightly_sync.reports import marker as markers
from nightly_sync.reports.cutting import cut
from nightly_sync.reports.marker import Marker
from nightly_sync.reports.model import ReportFacts, plural
from nightly_sync.reports.parts import Fitted, Part, Weight, leave_out, short, stub
from nightly_sync.reports.sections import all_parts

LIMIT = 65_536  # characters
_NOTICE_ROOM = 1_000  # characters kept free for the notice


@dataclass(frozen=True)
class Body:
    """Our part of a body, ready for `marker.replace_between`; `moved` names what it lacks."""

    text: str
    moved: tuple[str, ...] = ()


def build(facts: ReportFacts, marker: Marker, limit: int = LIMIT, where: str = "report.md") -> Body:
    """The body within `limit` characters; pass less where people wrote around our part.

    `where` says, in plain text, where the reader finds what was left out. With far too little
    room the marker and one sentence remain, since the next run needs the marker.
    """
    room = max(0, limit - len(markers.wrap(marker, "")))
    fitted = _fit(all_parts(facts, where), room, where)
    note = f"The rest was left out for length, see {md.inline(where)}."
    text = cut(fitted.text, room, note, len)
    moved = [part.title for part in fitted.moved]
    if text != fitted.text:
        moved.append("The end of this text")
    return Body(markers.wrap(marker, text.strip("\n")), tuple(moved))


def _fit(parts: Sequence[Part], room: int, where: str) -> Fitted:
    """Everything; else without some parts; else with no file's entry or patch at all."""
    whole = Fitted(tuple(short(part) for part in parts))
    if whole.length <= room:
        return whole
    inner = room - _NOTICE_ROOM
    fitted = leave_out(parts, whole.pieces, _order(parts, whole.pieces, inner), inner, where)
    if fitted.length > inner:
        fitted = _core(parts, where)
    verdict, *others = fitted.pieces
    return Fitted((verdict, _notice(fitted.moved, where), *others), fitted.moved)


def _order(parts: Sequence[Part], pieces: Sequence[str], room: int) -> list[int]:
    """Which part goes first: patches, then a section that fills a third of the page by itself.

    Then the entries of files, from the end, as the riskiest ones come first; then other sections.
    Of the patches and of the sections the longest go first.
    """

    def key(at: int) -> tuple[int, int, int]:
        size = len(pieces[at])
        if parts[at].weight is Weight.ENTRY:
            return 2, -at, 0
        huge = 1 if size > room // 3 else 3
        return 0 if parts[at].weight is Weight.PATCH else huge, -size, at

    movable = (at for at, part in enumerate(parts) if part.weight is not Weight.CORE)
    return sorted(movable, key=key)


def _core(parts: Sequence[Part], where: str) -> Fitted:
    kept = [part for part in parts if part.weight in (Weight.CORE, Weight.SECTION)]
    pieces = (short(part) if part.weight is Weight.CORE else stub(part, where) for part in kept)
    moved = tuple(part for part in parts if part.weight is not Weight.CORE and part.text)
    return Fitted(tuple(pieces), moved)


def _notice(moved: Sequence[Part], where: str) -> str:
    counts = Counter(part.weight for part in moved)
    words = {Weight.PATCH: "patch", Weight.ENTRY: "file", Weight.SECTION: "section"}
    found = [plural(counts[weight], word) for weight, word in words.items() if counts[weight]]
    return (
        f"*Too long for this page:* {', '.join(found)} left out. "
        f"All of it is in {md.inline(where, 200)}."
    )
