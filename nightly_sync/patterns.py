"""Sets of paths, written as gitignore patterns: the syntax users already know.

A pattern without a slash matches at any depth; a leading slash anchors it; a folder's name
matches everything below it; `!` takes back.
"""

from collections.abc import Iterable
from functools import lru_cache

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError


def check_pattern(pattern: str) -> None:
    """Raise ValueError, with the reason, for a pattern that could never match or is malformed."""
    if not pattern.strip():
        raise ValueError("a pattern is empty")
    if pattern.startswith("#"):
        raise ValueError(f"the pattern {pattern!r} is a comment in gitignore syntax")
    if ".." in pattern.split("/"):
        raise ValueError(f"the pattern {pattern!r} leaves the repository")
    try:
        GitIgnoreSpec.from_lines([pattern])
    except (GitIgnorePatternError, ValueError) as error:
        raise ValueError(f"the pattern {pattern!r} is malformed: {error}") from error


@lru_cache(maxsize=256)
def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(patterns)


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Does the path belong to the set? Paths are relative to the repository, with `/`."""
    return _spec(tuple(patterns)).match_file(path)
