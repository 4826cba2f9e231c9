"""Files that no syntax tree can be compared of: by lines and words, and nothing may go. Pure."""

import re
from collections import Counter
from collections.abc import Iterator

from nightly_sync.agent.forbidden.model import FileChange, RefusalKind, clip
from nightly_sync.agent.forbidden.python import Reason
from nightly_sync.paths import from_bytes

Words = Counter[str]

# What a test's meaning hangs on: strings, numbers, comparisons, what is called, what decides.
_DECIDES = r"and|or|not|in|is|if|try|except|return|continue|break|pass"
_WORD = re.compile(
    r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\b\d[\w.]*|[=!<>]=|(?<![<=>-])[<>](?![<=>])"
    rf"|\b(?:{_DECIDES})\b|\bmark\.\w+|\b\w+(?=\()|\bassert\b|\b(?:def|class)\s+\w+"
)
_MARKER = re.compile(r"^([<>|=])\1{6,}( .*)?\r?$", re.MULTILINE)


def in_broken_python(change: FileChange) -> Iterator[Reason]:
    """A test file that did not parse: every word that matters is still there, none decides anew.

    As often as the side has it that has it most, as a merge may have written it twice.
    """
    before, after, *sides = (_words(text or b"") for text in _texts(change))
    for word in _lost(before, after, sides, _words(change.base or b"")):
        yield RefusalKind.TEST_LOOSENED, f"`{clip(word)}` was in the broken file and is gone"
    for word, count in after.items():
        known = max(words[word] for words in (before, *sides))
        if count > known and re.fullmatch(_DECIDES, word):
            yield RefusalKind.TEST_LOOSENED, f"a new `{word}` in a file that was broken"


def in_other_tests(change: FileChange) -> Iterator[Reason]:
    """Tests in other languages, and their data: lines may only be put back as a side has them."""
    before, after, *sides = (_lines(text or b"") for text in _texts(change))
    base = _lines(change.base or b"")
    for line in after - before:
        added = sum(side[line] - base[line] for side in sides)  # both sides may have added one
        if after[line] > max(base[line] + added, *(side[line] for side in sides), 0):
            yield RefusalKind.TEST_LOOSENED, f"neither side has this line of a test: `{clip(line)}`"
    for line in _lost(before, after, sides, base):
        yield RefusalKind.TEST_LOOSENED, f"this line of a test is gone: `{clip(line)}`"


def _texts(change: FileChange) -> tuple[bytes | None, ...]:
    return change.before, change.after, *change.sides


def _words(text: bytes) -> Words:
    plain = _MARKER.sub("", from_bytes(text))
    return Counter(" ".join(word.split()) for word in _WORD.findall(plain))


def _lines(text: bytes) -> Words:
    lines = (" ".join(line.split()) for line in from_bytes(text).split("\n"))
    return Counter(line for line in lines if line)


def _lost(before: Words, after: Words, sides: list[Words], base: Words) -> list[str]:
    """What is rarer now, unless the merge had doubled it or a side took it out of the base."""
    gained = after - before
    return [item for item in before - after if not _excused(item, after, sides, base, gained)]


def _excused(item: str, after: Words, sides: list[Words], base: Words, gained: Words) -> bool:
    left, most = after[item], max((side[item] for side in sides), default=0)
    return (most > 0 and left >= most) or any(
        side[item] <= left and (base[item] > side[item] or any(side[new] for new in gained))
        for side in sides
    )
