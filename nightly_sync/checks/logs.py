"""The text of a log, made readable, and made equal where only the machine differs. Pure."""

import re
import zlib
from collections.abc import Iterable

CUT = "##[warning]nightly-sync left out a part of this log: it is too long."
"""The line that stands where a forge shortened a log; a set of failures read from it has holes."""
LONGEST = 2000  # characters of a line

ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]")
_JOB_AND_STEP = re.compile(
    r"^[^\t]+\t[^\t]*\t(?=\d{4}-\d\d-\d\dT)"
)  # as `gh run view --log` prints
_MOMENT = (
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\[\d{4}-\d\d-\d\d[T ][^\]]*\]|\[\d\d:\d\d:\d\d(?:[.,]\d+)?\]"
)
_TIMESTAMP = re.compile(rf"^(?:(?:{_MOMENT})(?: |$))+")

_WORD = r"[^\s'\"():,;\[\]<>]"  # a character of a path in running text
_PART = r"[^\s'\"():,;\[\]<>/]"  # the same inside one component
_ROOT = r"(?<![\w./~-])"  # before the slash an absolute path starts with
_Rules = tuple[tuple[re.Pattern[str], str], ...]


def _rules(*pairs: tuple[str, str]) -> _Rules:
    return tuple((re.compile(pattern), by) for pattern, by in pairs)


_PLACES = _rules(
    # Checkouts: the local forge's own, throw-away ones, then those of hosted runners.
    (rf"{_ROOT}(?:/{_WORD}*)?/nightly-sync-ci-[0-9a-f]+/\d+/?", ""),
    (rf"{_ROOT}(?:/{_WORD}*)?/nightly-sync-tree-\w+/tree/?", ""),
    (rf"{_ROOT}/(?:home/runner/work|__w|Users/runner/work)/{_PART}+/{_PART}+/", ""),
    (rf"{_ROOT}/github/workspace/", ""),
    (r"\b[A-Z]:\\a\\[^\\\s]+\\[^\\\s]+\\", ""),
    # Installed packages, the standard library, temp folders, homes.
    (rf"{_ROOT}/{_WORD}*?/(?:site|dist)-packages/", "<packages>/"),
    (rf"{_ROOT}/{_WORD}*?/lib/python3(?:\.\d+)?/", "<python>/"),
    (rf"{_ROOT}(?:/private)?(?:/var)?/tmp/{_PART}+", "<tmp>"),
    (rf"{_ROOT}(?:/private)?/var/folders/{_PART}+/{_PART}+/T/{_PART}+", "<tmp>"),
    (r"<tmp>/pytest-\d+", "<tmp>"),
    (rf"{_ROOT}(?:/(?:home|Users)/{_PART}+/|/root/)", "~/"),
)
_IDENTITIES = _rules(
    (r"\b0x(?:[0-9a-fA-F]{4,}|[0-9a-fA-F]*(?=\.\.\.))", "0x?"),  # also where pytest cuts a line
    (r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", "<uuid>"),
    (r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b", "<sha>"),
)
_MOVING = _rules(
    (r"(?i)(\b(?:commit|revision|sha|HEAD is now at)\b\W{1,3})[0-9a-f]{7,39}\b", r"\1<sha>"),
    (_MOMENT, "<time>"),
    (r"\b\d+:\d\d:\d\d(?:\.\d+)?\b", "<time>"),
    (r"\b\d+(?:\.\d+)?\s?(?:ns|us|ms|s|secs?|seconds?|mins?|minutes?|hours?)\b", "<time>"),
    (r"(?i)\blines? \d+(?:[-,]\d+)?", "line ?"),
    (r"(\.[A-Za-z]\w{0,4}):\d+(?::\d+)?\b", r"\1"),
    (r"(?i)\b(pid|process|thread)([ =:#]+)\d+\b", r"\1\2?"),
    (r"(\blocalhost|\b127\.0\.0\.1|\[::1\]):\d+", r"\1:?"),
    (r"\bgw\d+\b", "gw?"),
)


def lines_of(log: str) -> list[str]:
    """The lines of a log without byte order marks, colours, progress rewrites and timestamps."""
    return [_clean(line) for line in log.split("\n")]


def _clean(line: str) -> str:
    # A carriage return starts the line over: only what was written last stays visible.
    shown = line.rstrip("\r").rpartition("\r")[2]
    plain = _CONTROL.sub("", ANSI.sub("", shown))
    return _shortened(_TIMESTAMP.sub("", _JOB_AND_STEP.sub("", plain)).rstrip())


def _shortened(line: str) -> str:
    """At most LONGEST characters, and the rest as a number, so that other lines stay other."""
    rest = line[LONGEST:].encode("utf-8", "replace")
    return f"{line[:LONGEST]}<{zlib.crc32(rest):08x}>" if rest else line


def stable_name(text: str) -> str:
    """A test's or file's name without what the machine adds: checkout, temp folder, addresses.

    Nothing else is touched, so two tests of different names stay different.
    """
    return _apply(_IDENTITIES, _apply(_PLACES, text)).strip()


def stable(text: str) -> str:
    """A message without what moves between two runs: also line numbers, times, SHAs, ports."""
    return _apply(_MOVING, stable_name(text))


def without_root(lines: Iterable[str]) -> list[str]:
    """The lines with the folder that pytest calls its rootdir taken off the paths."""
    lines = list(lines)
    found = {match[1] for line in lines if (match := _ROOTDIR.match(line))} - {"/"}
    for root in sorted(found, key=len, reverse=True):
        lines = [line.replace(f"{root}/", "") for line in lines]
    return lines


_ROOTDIR = re.compile(r"^rootdir: (/.*?)/?(?:, (?:configfile|testpaths|inifile)\b.*)?$")


def _apply(rules: _Rules, text: str) -> str:
    for pattern, by in rules:
        text = pattern.sub(by, text)
    return text
