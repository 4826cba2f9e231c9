"""Names of checks: how they are told, and which never count, by the exempt patterns."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

UNREADABLE = "(a check that could not be read)"
"""Stands for a result that the forge counts and does not show. No pattern was meant for it."""


SHOWN = 5  # names in one sentence; the lists have them all


def listed(names: Iterable[str]) -> str:
    """The first names, without doubles, and how many more there are."""
    each = list(dict.fromkeys(names))
    more = f" and {len(each) - SHOWN} more" if len(each) > SHOWN else ""
    return ", ".join(each[:SHOWN]) + more


def is_exempt(name: str, patterns: Iterable[str]) -> bool:
    """Is the whole name, case ignored, one of the patterns (`*`, `?`, `[...]` as in the shell)?

    A pattern that equals the name always matches, so that `test [3.12]` can be named as it stands.
    What could not be read is never exempt, as nobody knows its name.
    """
    if name == UNREADABLE:
        return False
    wanted = name.casefold()
    return any(_fits(wanted, pattern.casefold()) for pattern in patterns)


def _fits(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)
