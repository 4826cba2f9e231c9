"""Labels by name: GitHub does not tell upper from lower case, so neither do we."""

from collections.abc import Iterable


def has(labels: Iterable[str], name: str) -> bool:
    """Is a label of this name among them?"""
    return name.casefold() in (label.casefold() for label in labels)
