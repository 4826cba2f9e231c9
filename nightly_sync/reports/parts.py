"""A report as a list of parts, so that a short page can fold or leave out some of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from nightly_sync.reports import markdown as md
from nightly_sync.reports.model import plural

FOLD_ABOVE = 1500  # characters; longer parts of a pull request's body are collapsed


class Weight(StrEnum):
    """What may happen to a part where room is short."""

    CORE = "core"  # always shown
    SECTION = "section"
    ENTRY = "entry"  # one file
    PATCH = "patch"  # one file's patch; collapsed in every report


@dataclass(frozen=True)
class Part:
    """`heading` and `text` are Markdown; `title` is plain text that names the part.

    `stub` is the Markdown that stays where the part is left out, None for the usual sentence.
    """

    title: str
    heading: str
    text: str
    weight: Weight = Weight.SECTION
    stub: str | None = None


@dataclass(frozen=True)
class Fitted:
    """The Markdown of every part, and the parts left out."""

    pieces: tuple[str, ...]
    moved: tuple[Part, ...] = ()

    @property
    def length(self) -> int:
        """Characters, with the blank lines between the pieces."""
        return sum(len(piece) + 2 for piece in self.pieces if piece)

    @property
    def text(self) -> str:
        """The pieces as one text."""
        return "\n\n".join(piece for piece in self.pieces if piece)


def shown(part: Part) -> str:
    """The part as the full report has it."""
    folded = part.weight is Weight.PATCH
    return _under(part.heading, md.details(part.title, part.text) if folded else part.text)


def short(part: Part) -> str:
    """The part as the body has it: collapsed if it is long."""
    if part.weight in (Weight.CORE, Weight.PATCH) or len(part.text) <= FOLD_ABOVE:
        return shown(part)
    lines = part.text.count("\n") + 1
    return _under(part.heading, md.details(f"{part.title}: {plural(lines, 'line')}", part.text))


def stub(part: Part, where: str) -> str:
    """What stays where the part was."""
    if part.stub is not None:
        return part.stub
    sentence = f"{md.inline(part.title)}: left out for length, see {md.inline(where)}."
    return _under(part.heading, sentence)


def _under(heading: str, text: str) -> str:
    return "\n\n".join(piece for piece in (heading, text) if piece)


def leave_out(
    parts: Sequence[Part], pieces: Sequence[str], order: Iterable[int], room: int, where: str
) -> Fitted:
    """Put stubs in place of parts, in the order given, until the text fits into `room`."""
    result = list(pieces)
    excess = Fitted(tuple(pieces)).length - room
    moved: set[int] = set()
    for index in order:
        left = stub(parts[index], where)
        saved = len(pieces[index]) - len(left)
        if excess > 0 and saved > 0:
            result[index], excess = left, excess - saved
            moved.add(index)
    return Fitted(tuple(result), tuple(parts[index] for index in sorted(moved)))
