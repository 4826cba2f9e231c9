"""Which branch names git accepts, decided without git.

The rules are those of `git check-ref-format --branch`, from its manual page.
"""

import re

_REFUSED = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]")


def branch_problem(name: str) -> str:
    """Why git would refuse `name` as a branch, to follow the name; empty if it would not."""
    found = _REFUSED.search(name)
    if found:
        return f"holds {found[0]!r}, refused by git in a branch name"
    return next((reason for bad, reason in _rules(name) if bad), "")


def _rules(name: str) -> tuple[tuple[bool, str], ...]:
    parts = name.split("/")
    return (
        (not name, "is empty"),
        (name.startswith("-"), "starts with a dash, which git takes for an option"),
        ("" in parts, "has an empty part: a / at either end or two in a row"),
        (any(part.startswith(".") for part in parts), "has a part that starts with a dot"),
        (any(part.endswith(".lock") for part in parts), "has a part that ends in .lock"),
        (name.endswith("."), "ends in a dot"),
        (".." in name, "holds '..', which git reads as a range"),
        ("@{" in name, "holds '@{', which git reads as a reflog entry"),
        (name in ("@", "HEAD"), "is git's own word for the current commit"),
    )
