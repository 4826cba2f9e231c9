"""Comments and calls that switch a check off where they stand. Pure.

Counted before and after, in Python by its own tokens, so that a string that speaks of one is none.
"""

import io
import re
import tokenize
from collections.abc import Iterable

from nightly_sync import paths, patterns
from nightly_sync.merge.syntax import is_python
from nightly_sync.review.forbidden.model import FileChange, Refusal, RefusalKind, clip

_PROSE = ("*.md", "*.rst")
_PYTHON = re.compile(
    r"(?:ruff|flake8)\s*:\s*noqa.*|noqa\b(?:\s*:\s*[\w, ]+)?"
    r"|(?:type|ty|pyrefly)\s*:\s*ignore(?:\[[^\]]*\])?"
    r"|mypy\s*:.*"
    r"|pyright\s*:.*|pyre-\w+.*|pytype\s*:.*|pylint\s*:.*|pragma\s*:\s*no\b.*|fmt\s*:\s*(?:off|skip)"
    r"|yapf\s*:\s*disable|isort\s*:\s*(?:off|skip\w*)|autopep8\s*:\s*off|nosec\b.*|nosemgrep\b.*"
    r"|noinspection\b.*|codespell\s*:\s*ignore.*|doctest\s*:.*\+SKIP|PYTEST_CURRENT_TEST"
    r"|@(?:\w+\.)*no_type_check\b",
    re.IGNORECASE,
)
_ANY = re.compile(
    r"eslint-disable[\w-]*|@ts-(?:ignore|nocheck|expect-error)|(?:istanbul|c8|v8) ignore|NOLINT\w*"
    r"|\bnolint\b|shellcheck\s+disable|hadolint\s+ignore|yamllint\s+disable|clang-format\s+off"
    r"|cppcheck-suppress|GCC diagnostic ignored|@SuppressWarnings|#!?\[(?:allow|ignore)\b"
    r"|@(?:Ignore|Disabled)\b|\b(?:it|test|describe)\.(?:skip|only|todo)\b|\bx(?:it|describe)\("
    r"|\bt\.Skip\w*\(|--deselect\b|-[km]\s+[\"']?not\b|--ignore(?:-glob)?=|-p\s+no:|--no-cov\b"
    r"|--exit-zero\b|\|\|\s*true\b|continue-on-error|\bset \+e\b"
    rf"|(?i:{_PYTHON.pattern})"
)
# Code that asks for the running test behaves for tests only.
_SPEAKS = re.compile(r"doctest:|PYTEST_CURRENT_TEST|@(?:\w+\.)*no_type_check\b")
Piece = tuple[str, str]
"""Text that may hold a directive, and the line it stands in."""
Found = dict[str, list[str]]
"""Directive, in bare form, to the lines it stands in."""


def problems(change: FileChange) -> list[Refusal]:
    """One refusal for each directive that there is more of now, in a line that no side has."""
    if change.after is None or change.restored or patterns.matches(change.path, _PROSE):
        return []
    fresh = _fresh(change)
    if not any(map(_ANY.search, fresh.values())):
        return []
    before, after, *sides = _all(change)
    return [
        _refusal(change, new[0])
        for directive, lines in after.items()
        if all(len(lines) > len(other.get(directive, ())) for other in (before, *sides))
        and (new := [line for line in lines if _bare(line) in fresh])
    ]


def _fresh(change: FileChange) -> dict[str, str]:
    """Lines, by their bare form, that neither `before` nor a side has."""
    fresh = {_bare(line): line for line in _lines(change.after or b"")}
    for text in (change.before or b"", *change.texts):
        for line in _lines(text):
            fresh.pop(_bare(line), None)
    return fresh


def _refusal(change: FileChange, line: str) -> Refusal:
    evidence = f"`{clip(line)}` switches a check off; mend what the check complains of"
    return Refusal(path=change.path, kind=RefusalKind.SUPPRESSION, evidence=evidence)


def _all(change: FileChange) -> list[Found]:
    texts = (change.before or b"", change.after or b"", *change.texts)
    comments = [_comments(text) if is_python(change.path) else None for text in texts]
    if None in comments:  # what can't be read as Python is read as lines, like any other file
        return [_found(((line, line) for line in _lines(text)), _ANY) for text in texts]
    return [_found(pieces or (), _PYTHON) for pieces in comments]


def _found(pieces: Iterable[Piece], directives: re.Pattern[str]) -> Found:
    found = Found()
    for piece, line in pieces:
        for match in directives.finditer(piece):
            found.setdefault(_bare(match[0]).lower(), []).append(line)
    return found


def _comments(text: bytes) -> list[Piece] | None:
    """Every comment, and every line that speaks to a test runner; None if it is no Python."""
    lines = _lines(text)
    try:
        tokens = list(tokenize.tokenize(io.BytesIO(text).readline))
    except (tokenize.TokenError, SyntaxError, ValueError, LookupError):
        return None
    found = [(t.string, lines[t.start[0] - 1]) for t in tokens if t.type == tokenize.COMMENT]
    return found + [(line, line) for line in lines if _SPEAKS.search(line)]


def _lines(text: bytes) -> list[str]:
    return paths.from_bytes(text).split("\n")


def _bare(text: str) -> str:
    """Without white space."""
    return "".join(text.split())
