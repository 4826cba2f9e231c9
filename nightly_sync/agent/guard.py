"""Which paths the model may name and which it may change, and the account of what was refused.

Pure: files come elsewhere.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from nightly_sync import paths
from nightly_sync.agent.data import clean
from nightly_sync.config import SyncConfig
from nightly_sync.errors import SyncError
from nightly_sync.review.forbidden import Policy

DEEPEST = 64  # folders; real repositories stay far below
NAME_SHOWN = 200  # characters
_NO_BYTE = re.compile("[\0\ud800-\udc7f\udd00-\udfff]")  # or NUL, which no path holds
# What git itself reads in a checkout: it would change how other files are taken in.
GIT_SETTINGS = (".gitattributes", ".gitmodules")


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
    reason = malformed(parts)
    if any(is_git(part) for part in parts):
        reason = "leads into git's own files, which are out of reach"
    if reason:
        raise Refused(f"The path {shown(name)} {reason}.")
    return "/".join(parts)


def malformed(parts: list[str]) -> str:
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


@dataclass(frozen=True)
class Refusal:
    """A change that was not allowed. `by` is the tool, or the command that tried it."""

    path: str
    reason: str
    by: str


@dataclass
class WriteGuard:
    """Decides by path, from the config alone, and keeps each refusal for the report.

    `allowed` are the task's own files, as git names them; None allows every path that nothing
    else forbids. `workflows` allows `.github/`.
    """

    config: SyncConfig
    allowed: Collection[str] | None = None
    workflows: bool = False
    refusals: list[Refusal] = field(default_factory=list)

    def forbidden(self, path: str) -> str:
        """Why no task at all may change or make this path, as a clause; "" if one may."""
        parts = path.split("/")
        if any(is_git(part) for part in parts):
            return "git's own files are out of reach"
        if self.config.holds("protect", path):
            return "it is protected: it stays as the target has it"
        if self.config.holds("take-source", path) or self.config.holds("take-target", path):
            return "a path rule takes this file from one side"
        if parts[0].lower() == ".github" and not self.workflows:
            return "files under .github/ may not be changed"
        if parts[-1] in GIT_SETTINGS and not self._named(path):
            return "it decides how git reads other files"
        return ""

    def problem(self, path: str) -> str:
        """Why this task may not change this path, as a clause; "" if it may."""
        foreign = self.allowed is not None and not self._named(path)
        return self.forbidden(path) or ("it is not one of this task's files" if foreign else "")

    def check(self, path: str, by: str) -> None:
        """Raise Refused, and keep that, unless this task may change the path."""
        reason = self.problem(path)
        if reason:
            self.refuse(path, reason, by)
            raise Refused(f"{shown(path)} may not be changed: {reason}. Nothing was written.")

    def refuse(self, path: str, reason: str, by: str) -> Refusal:
        refusal = Refusal(path, reason, by)
        self.refusals.append(refusal)
        return refusal

    def _named(self, path: str) -> bool:
        return self.allowed is not None and path in self.allowed


def policy_of(config: SyncConfig) -> Policy:
    """The hard refusals of a site: files that a path rule gives to one side are protected too."""
    return Policy(
        protected=config.pins,
        allow_workflows=config.agent.workflows,
        allow_golden=config.agent.golden,
    )
