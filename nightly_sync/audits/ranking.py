"""What a reviewer should see first, and how much of it. Pure."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TypeVar

from nightly_sync.config import DATA, LOCKFILES, SyncConfig
from nightly_sync.patterns import matches

FOCUS, CODE = 0, 1
SHOWN_OF_CODE = 30  # files of the focus paths, or of other code, that get their own finding
SHOWN_OF_REST = 5  # files of any other category: tests, docs, data
Item = TypeVar("Item")


def rank(path: str, config: SyncConfig) -> int:
    """0 focus paths, 1 other code, then the configured categories, then data and lockfiles.

    The order of categories says which one a path belongs to first of all, so that the default
    has data before tests; a reviewer has not.
    """
    if matches(path, config.focus):
        return FOCUS
    last = CODE + 1 + len(config.categories)
    if matches(path, (*DATA, *LOCKFILES)):
        return last
    found = (at for at, item in enumerate(config.categories, CODE + 1) if matches(path, item.paths))
    return next(found, CODE)


def split(
    items: Iterable[Item], rank_of: Callable[[Item], int]
) -> Iterator[tuple[list[Item], list[Item]]]:
    """For each rank, the items that get their own finding and those that share one.

    `items` are sorted by rank, and inside it by what matters most.
    """
    for group, members in groupby(items, key=rank_of):
        ranked = list(members)
        shown = SHOWN_OF_CODE if group <= CODE else SHOWN_OF_REST
        yield ranked[:shown], ranked[shown:]
