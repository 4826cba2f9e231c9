"""Paths inside the checkout, from the names the model gives. Pure; files come elsewhere."""

import re

from nightly_sync import paths
from nightly_sync.agent.data import clean
from nightly_sync.errors import SyncError

DEEPEST = 64  # folders; real repositories stay far below
NAME_SHOWN = 200  # characters
_NO_BYTE = re.compile("[\0\ud800-\udc7f\udd00-\udfff]")  # or NUL, which no path holds


class Refused(SyncError):
    """What a tool was asked is not allowed, or cannot be done; the model reads why."""


def shown(name: str) -> str:
    """A path for a message: quoted as git does if it is odd, and not too long."""
    return clean(paths.quote(name))[:NAME_SHOWN]


def normal(name: str) -> str:
    """A path as git knows it, from one as the model writes it; "" is the top.

    Takes names quoted by `paths.quote`. Raises Refused for one that leaves the checkout, or that
    leads into a `.git`.
    """
    parts = [part for part in paths.unquote(name).split("/") if part != "."]
    if parts and parts[-1] == "":  # `folder/`, or nothing at all
        parts.pop()
    reason = problem(parts)
    if any(is_git(part) for part in parts):
        reason = "leads into git's own files, which are out of reach"
    if reason:
        raise Refused(f"The path {shown(name)} {reason}.")
    return "/".join(parts)


def problem(parts: list[str]) -> str:
    """Why these components are no path inside a checkout, as a clause; "" if they are."""
    if parts and parts[0] == "":
        return "is absolute: paths start at the top of the checkout"
    if "" in parts or ".." in parts:
        return "has an empty or a '..' part: name the file from the top of the checkout"
    if _NO_BYTE.search("/".join(parts)):
        return "holds a character that no path can"
    return "is nested too deeply" if len(parts) > DEEPEST else ""


def is_git(part: str) -> bool:
    """Would git, on any file system, take this for its own folder?"""
    return part.lower() in (".git", "git~1")
