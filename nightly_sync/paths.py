"""Path names of any bytes, made safe for JSON, Markdown and terminals.

git allows every byte but NUL and `/` in a name. In memory a name is a `str` with undecodable
bytes as lone surrogates (Python's `surrogateescape`), the way `os.fsdecode` gives it.
"""

import os
import re
from pathlib import Path

from nightly_sync.errors import ConfigError

_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_NAMES = {value: f"\\{key}" for key, value in _ESCAPES.items()}
_ODD = re.compile('[\x00-\x1f"\\\\\x7f\udc80-\udcff]')
_ESCAPED = re.compile(rb'\\([abtnvfr"\\]|[0-3][0-7]{2})')  # above 377 it is no byte


def from_bytes(name: bytes) -> str:
    """A name as git printed it with `-z`."""
    return name.decode("utf-8", "surrogateescape")


def to_bytes(name: str) -> bytes:
    """The bytes git knows the name by."""
    return name.encode("utf-8", "surrogateescape")


def fs_name(name: str) -> str:
    """The name for the file system's functions, which may use another encoding."""
    return os.fsdecode(to_bytes(name))


def quote(name: str) -> str:
    """A name as git quotes it with `core.quotePath=false`: plain unless it holds odd bytes."""
    if not _ODD.search(name):
        return name
    return '"' + _ODD.sub(_escape, name) + '"'


def _escape(match: re.Match[str]) -> str:
    byte = to_bytes(match[0])[0]
    return _NAMES.get(byte, f"\\{byte:03o}")


def unquote(text: str) -> str:
    """The inverse of `quote`."""
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return text
    return from_bytes(_ESCAPED.sub(_unescape, to_bytes(text[1:-1])))


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1].decode()
    return bytes([_ESCAPES[code] if code in _ESCAPES else int(code, 8)])


def printable(text: str) -> str:
    """Text with undecodable bytes shown as `\\xNN`, so that JSON and terminals take it."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def expanded(name: str) -> Path:
    """A path that a person wrote, absolute, `~` resolved. Raises ConfigError for no such user."""
    try:
        return Path(name).expanduser().resolve()
    except (RuntimeError, OSError) as error:
        raise ConfigError(f"the path {printable(name)} leads nowhere: {error}") from error
