"""Python text without what nobody runs: comments, and strings that stand alone. Pure."""

import io
import tokenize
from collections.abc import Iterator
from tokenize import TokenInfo

from nightly_sync.paths import from_bytes, to_bytes

_LAYOUT = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
_STRINGS = frozenset(
    number for name, number in vars(tokenize).items() if name.startswith(("STRING", "FSTRING_"))
)


def spoken(text: bytes) -> bytes:
    """The text with comments and lone strings blanked, line by line as long as it was.

    As it is if it is no Python.
    """
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(from_bytes(text), newline="").readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return text
    lines = [list(line) for line in from_bytes(text).split("\n")]
    for token in (*(t for t in tokens if t.type == tokenize.COMMENT), *_lone_strings(tokens)):
        _blank(lines, token)
    return to_bytes("\n".join(map("".join, lines)))


def _blank(lines: list[list[str]], token: TokenInfo) -> None:
    (first, start), (last, end) = token.start, token.end
    for number in range(first, last + 1):
        line = lines[number - 1]
        left, right = start if number == first else 0, end if number == last else len(line)
        line[left:right] = " " * (right - left)


def _lone_strings(tokens: list[TokenInfo]) -> Iterator[TokenInfo]:
    for statement in _statements(tokens):
        said = [token for token in statement if token.string not in "()"]
        if said and all(token.type in _STRINGS for token in said):
            yield from said


def _statements(tokens: list[TokenInfo]) -> Iterator[list[TokenInfo]]:
    """The tokens between line ends and semicolons."""
    found: list[TokenInfo] = []
    for token in tokens:
        if token.type == tokenize.NEWLINE or token.string == ";":
            yield found
            found = []
        elif token.type not in _LAYOUT and token.type != tokenize.COMMENT:
            found.append(token)
    yield found
