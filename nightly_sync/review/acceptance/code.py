"""What is code in a Python text, and what is said in its comments and strings. Pure."""

import io
import re
import tokenize
from functools import lru_cache
from tokenize import TokenInfo

from nightly_sync.paths import from_bytes, to_bytes

_SAID = frozenset(
    number
    for name, number in vars(tokenize).items()
    if name.startswith(("COMMENT", "STRING", "FSTRING_"))
)
# Private characters, which no text holds, stand for those of words.
_VEILED = {code: 0xE000 + code for code in range(128) if re.match(r"\w", chr(code))}
_COMMENT = re.compile(r"(?:^|(?<=\s))(?:#|//).*")
_PLAIN = {there: here for here, there in _VEILED.items()}


@lru_cache(maxsize=8)
def tokens(text: bytes) -> tuple[TokenInfo, ...]:
    """The tokens of UTF-8 text, whatever encoding it names; none if it is no Python."""
    lines = io.StringIO(from_bytes(text).removeprefix("\ufeff"), newline="\n")
    try:
        return tuple(tokenize.generate_tokens(lines.readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return ()


@lru_cache(maxsize=32)
def veiled(text: bytes) -> bytes:
    """The text with other letters in comments and strings: nothing said there equals code.

    As it is if it is no Python; `unveiled` takes it back.
    """
    lines = from_bytes(text).split("\n")
    for token in tokens(text):
        if token.type in _SAID:
            _veil(lines, token)
    return to_bytes("\n".join(lines))


def veiled_comments(text: bytes) -> bytes:
    """The same for what is no Python: other letters behind `#` and `//`."""
    lines = from_bytes(text).split("\n")
    hidden = (_COMMENT.sub(lambda match: match[0].translate(_VEILED), line) for line in lines)
    return to_bytes("\n".join(hidden))


def _veil(lines: list[str], token: TokenInfo) -> None:
    (first, start), (last, end) = token.start, token.end
    for row in range(first, min(last, len(lines)) + 1):
        line = lines[row - 1]
        left, right = start if row == first else 0, end if row == last else len(line)
        lines[row - 1] = line[:left] + line[left:right].translate(_VEILED) + line[right:]


def unveiled(text: bytes) -> bytes:
    """The text that was veiled."""
    return to_bytes(from_bytes(text).translate(_PLAIN))
