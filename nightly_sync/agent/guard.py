"""Which paths the agent may change, and the account of what it was refused."""

from collections.abc import Collection
from dataclasses import dataclass, field

from nightly_sync.agent.inside import Refused, is_git, shown
from nightly_sync.config import SyncConfig

# What git itself reads in a checkout: it would change how other files are taken in.
GIT_SETTINGS = (".gitattributes", ".gitmodules")


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
        """Keep a refusal."""
        refusal = Refusal(path, reason, by)
        self.refusals.append(refusal)
        return refusal

    def _named(self, path: str) -> bool:
        return self.allowed is not None and path in self.allowed
