"""Sets of paths, written as gitignore patterns: the syntax users already know.

A pattern without a slash matches at any depth; a leading slash anchors it; a folder's name
matches everything below it; `!` takes back.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from pathspec import GitIgnoreSpec


def check_pattern(pattern: str) -> None:
    """Raise ValueError, with the reason, for a pattern that could never match or is malformed."""
    reason = _problem(pattern)
    if reason:
        raise ValueError(f"the pattern {pattern!r} {reason}" if pattern else f"a pattern {reason}")


def _problem(pattern: str) -> str:
    """What is wrong with a pattern, to follow its name; empty if nothing is."""
    parts = pattern.removeprefix("!").strip("/").split("/")
    if not pattern.strip():
        return "is empty"
    if pattern.startswith("#"):
        return "is a comment in gitignore syntax"
    if ".." in parts:
        return "leaves the repository"
    # git compares text: no path holds an empty or a "." part.
    if not set(parts).isdisjoint(("", ".")):
        return "matches nothing: no path has an empty or '.' part"
    return _compile_problem(pattern)


def _compile_problem(pattern: str) -> str:
    try:
        compiled = _spec((pattern,)).patterns[0]
    except (ValueError, re.error) as error:
        return f"is malformed: {getattr(error, 'msg', error)}"
    return "is malformed: it matches nothing" if compiled.include is None else ""


@lru_cache(maxsize=256)
def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines([_one_line(pattern) for pattern in patterns])


def _one_line(text: str) -> str:
    """Newlines as NUL, which no path holds: pathspec's regexes treat a newline as the end."""
    return text.replace("\n", "\0")


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Does the path belong to the set? Paths are relative to the repository, with `/`."""
    return _spec(tuple(patterns)).match_file(_one_line(path))
