"""What a log says went wrong, item by item: one failing test, one lint message, one error.

The patterns follow what the tools print: pytest's short test summary, unittest's headers, ruff
(concise and full), flake8, pylint, mypy, black, isort, pre-commit, gcc and clang, nvcc, rustc, tsc,
go, javac, apt, pip, docker and the runners of GitHub Actions.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from nightly_sync.checks.logs import stable, stable_name


class FailureKind(StrEnum):
    """What sort of failure it is; decides who may try to fix it."""

    TEST = "test"
    IMPORT = "import"
    LINT = "lint"  # formatters too
    COMPILE = "compile"  # syntax errors too
    INFRASTRUCTURE = "infrastructure"
    TIMEOUT = "timeout"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Item:
    """One thing that went wrong. `text` is the same on every machine, `line` is the log's own."""

    kind: FailureKind
    text: str
    line: str
    root: str = ""  # the missing module or name, e.g. `pkg.util` or `pkg.util:helper`
    bare: bool = False  # it names a test without a reason: other items have to explain it


_MISSING = (
    (re.compile(r"No module named '?([\w.]+)'?"), "{}"),
    (re.compile(r"cannot import name '?(\w+)'? from (?:partially initialized module )?'([\w.]+)'"),
     "{1}:{0}"),
    (re.compile(r"[Mm]odule \"([\w.]+)\" has no attribute \"(\w+)\""), "{0}:{1}"),
    (re.compile(r"No name '(\w+)' in module '([\w.]+)'"), "{1}:{0}"),
    (re.compile(r"Unable to import '([\w.]+)'"), "{}"),
    (re.compile(r"Cannot find implementation or library stub for module named \"([\w.]+)\""), "{}"),
)  # fmt: skip
_IMPORT_ERROR = re.compile(r"^(?:E\s+)?(?:\w+\.)*(ModuleNotFoundError|ImportError)\b(?:: (.*))?$")
_IMPORT_WORDS = re.compile(r"\b(?:ModuleNotFoundError|ImportError)\b")
_SYNTAX_ERROR = re.compile(r"^(?:E\s+)?(?:SyntaxError|IndentationError|TabError): (.*)$")
_SYNTAX_WORDS = re.compile(r"\b(?:SyntaxError|IndentationError|TabError)\b")
_PYTHON_FILE = re.compile(r'^(?:E\s+)?\s*File "([^"]+)", line \d+')

_PYTEST = re.compile(
    r"^(?P<word>FAILED|ERROR) (?P<id>\S[^:]*?(?:::.*?|\.py))(?: - (?P<why>.*))?$"
    r"|^(?P<sub>SUBFAILED)(?P<given>[\[( ].*?)? ?(?P<subid>\S+::.*?)(?: - (?P<subwhy>.*))?$"
)
_UNITTEST = re.compile(r"^(FAIL|ERROR): (\S+ \([\w.]+\)(?: .*)?)$")


def root_of(message: str) -> str:
    """The module or name an import error misses; empty if the message names none."""
    for pattern, form in _MISSING:
        if match := pattern.search(message):
            return form.format(*match.groups())
    return ""


def items_of(lines: list[str]) -> list[Item]:
    """Everything the log says went wrong, in its order, doubles kept."""
    found = [*_from_lines(lines), *_from_pairs(lines), *_syntax_errors(lines)]
    return found or list(_infrastructure(lines))


def annotations(lines: Iterable[str]) -> Iterator[str]:
    """Errors that a step of GitHub Actions reports for itself, as they are on every machine."""
    return (stable(line) for line in lines if line.startswith("##[error]"))


def test_lines(lines: Iterable[str]) -> int:
    """How many failing tests and errors pytest's short summary lists."""
    return sum(1 for line in lines if _PYTEST.match(line))


def _from_lines(lines: Iterable[str]) -> Iterator[Item]:
    for line in lines:
        item = _test(line) or _import(line) or _by_pattern(line)
        if item:
            yield item


def _test(line: str) -> Item | None:
    if match := _PYTEST.match(line):
        name = match["id"] or f"{match['given'] or ''} {match['subid']}"
        return _pytest(match["word"] or match["sub"], name, match["why"] or match["subwhy"], line)
    if match := _UNITTEST.match(line):
        return Item(FailureKind.TEST, f"{match[1]} {stable_name(match[2])}", line)
    return None


def _pytest(word: str, name: str, why: str | None, line: str) -> Item:
    text = f"{word} {stable_name(name)}" + (f" - {stable(why)}" if why else "")
    if why and _IMPORT_WORDS.search(why):
        return Item(FailureKind.IMPORT, text, line, root=root_of(why))
    if why and _SYNTAX_WORDS.search(why):
        return Item(FailureKind.COMPILE, text, line)
    return Item(FailureKind.TEST, text, line, bare=not why and word == "ERROR")


def _import(line: str) -> Item | None:
    match = _IMPORT_ERROR.match(line)
    if not match:
        return None
    message = match[2] or ""
    return Item(FailureKind.IMPORT, f"{match[1]}: {stable(message)}", line, root=root_of(message))


_CODE = r"[A-Z]{1,5}\d{1,5}"
_C_FILE = r"[^\s:(][^:(]*\.(?:c|cc|cpp|cxx|cu|cuh|h|hh|hpp|m|mm|f90|java|go|rs)"
_LINE_PATTERNS: tuple[tuple[FailureKind, re.Pattern[str]], ...] = (
    # ruff (concise), flake8, pycodestyle, pylint
    (FailureKind.LINT, re.compile(
        rf"^(?P<path>[^\s:][^:]*):\d+:\d+:? (?P<what>{_CODE}:? .*)$")),
    (FailureKind.COMPILE, re.compile(
        r"^(?P<path>[^\s:][^:]*):\d+:\d+: (?P<what>(?:invalid-syntax|SyntaxError|E999):? .*)$")),
    (FailureKind.LINT, re.compile(  # mypy
        r"^(?P<path>[^\s:][^:]*\.pyi?):\d+:(?:\d+:)? (?P<what>error: .*)$")),
    (FailureKind.LINT, re.compile(  # black, ruff format
        r"^(?P<what>[Ww]ould reformat):? (?P<path>.+)$")),
    (FailureKind.LINT, re.compile(
        r"^error: (?P<what>cannot format|Failed to (?:format|parse)) (?P<path>[^:]+):")),
    (FailureKind.LINT, re.compile(  # isort
        r"^ERROR: (?P<path>.+?) (?P<what>Imports are incorrectly sorted)")),
    (FailureKind.LINT, re.compile(r"^(?P<what>\S.*?)(?P<path>)\.{3,}Failed$")),  # pre-commit
    (FailureKind.COMPILE, re.compile(  # gcc, clang, javac
        rf"^(?P<path>{_C_FILE}):\d+:(?:\d+:)? (?P<what>(?:fatal )?error: .*)$")),
    (FailureKind.COMPILE, re.compile(  # nvcc, msvc, tsc
        r"^(?P<path>[^\s(][^(]*)\(\d+(?:,\d+)?\): (?P<what>(?:fatal )?error\b.*)$")),
    (FailureKind.COMPILE, re.compile(  # go
        r"^(?P<path>[^\s:][^:]*\.go):\d+:\d+: (?P<what>.*)$")),
    (FailureKind.COMPILE, re.compile(  # linkers
        r"^(?P<path>.*?)(?P<what>undefined (?:reference to|symbol:?) .*)$")),
    (FailureKind.TEST, re.compile(  # pytest-cov, coverage
        r"^(?:ERROR: )?(?P<path>)(?P<what>(?:FAIL Required test coverage of|Coverage failure:) .*)$"
    )),
    (FailureKind.COMPILE, re.compile(r"^(?P<what>CMake Error) at (?P<path>[^:]+):\d+")),
)  # fmt: skip


def _by_pattern(line: str) -> Item | None:
    for kind, pattern in _LINE_PATTERNS:
        if match := pattern.match(line):
            text = f"{stable_name(match['path'])} {stable(match['what'])}".strip()
            return _located(kind, text, line)
    return None


def _located(kind: FailureKind, text: str, line: str) -> Item:
    root = root_of(text)
    return Item(FailureKind.IMPORT if root else kind, text, line, root=root)


_ARROW = re.compile(r"^\s*--> (?P<path>.+?):\d+:\d+$")
_HEADER = re.compile(
    rf"^(?:(?P<lint>{_CODE}|invalid-syntax:?|unformatted:)(?: \[[*-]\])?|error(?:\[E\d+\])?:) .+$"
)


def _from_pairs(lines: list[str]) -> Iterator[Item]:
    """ruff (full) and rustc: the message on one line, the place on the next."""
    for above, line in pairwise(lines):
        arrow, header = _ARROW.match(line), _HEADER.match(above)
        if arrow and header:
            kind = FailureKind.LINT if header["lint"] else FailureKind.COMPILE
            yield _located(kind, f"{stable_name(arrow['path'])} {stable(header[0])}", above)


def _syntax_errors(lines: Iterable[str]) -> Iterator[Item]:
    """Python's own: the file is on the last `File` line above the error."""
    path = ""
    for line in lines:
        if match := _PYTHON_FILE.match(line):
            path = match[1]
        elif match := _SYNTAX_ERROR.match(line):
            text = f"{stable_name(path)} SyntaxError: {stable(match[1])}".strip()
            yield Item(FailureKind.COMPILE, text, line)


_INFRASTRUCTURE = re.compile(
    r"^E: (?:Failed to fetch|Unable to (?:fetch|locate package|connect)|Could not connect)"
    r"|^(?:Err|W|E): .*(?:Temporary failure resolving|Could not resolve)"
    r"|Temporary failure in name resolution|Could not resolve host"
    r"|WARNING: Retrying \(Retry\(|ReadTimeoutError|NewConnectionError|ConnectTimeoutError"
    r"|Connection (?:reset by peer|refused|timed out)|ECONNRESET|ETIMEDOUT|EAI_AGAIN"
    r"|TLS handshake timeout|SSL: UNEXPECTED_EOF|Remote end closed connection"
    r"|No space left on device|Cannot allocate memory"
    r"|\b50[234] (?:Bad Gateway|Service Unavailable|Gateway Time-?out)|429 Too Many Requests"
    r"|toomanyrequests:|Error response from daemon|Cannot connect to the Docker daemon"
    r"|runner has received a shutdown signal|lost communication with the server"
    r"|could not be started: |fatal: unable to access '"
)


def _infrastructure(lines: Iterable[str]) -> Iterator[Item]:
    for line in lines:
        if _INFRASTRUCTURE.search(line):
            yield Item(FailureKind.INFRASTRUCTURE, stable(line), line)
