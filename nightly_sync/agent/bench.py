"""What the tools of one conversation work on: a checkout, and the repository behind it.

No tool pushes, comments, fetches or sees the environment, so none can be talked into it. They run
one at a time: a command must not see a file that is half edited.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from nightly_sync.agent.data import Marker
from nightly_sync.agent.files import Files
from nightly_sync.agent.guard import WriteGuard


class Past(Protocol):
    """What tools over history work on; a `Bench` is one."""

    @property
    def repo(self) -> Path:
        """The repository."""

    @property
    def marker(self) -> Marker:
        """Frames what is read."""

    @property
    def revisions(self) -> Mapping[str, str]:
        """Commits by names that the model is told, such as `source`."""


@dataclass(frozen=True)
class Bench:
    """What the tools of one conversation work on.

    `files` is a checkout without `.git`, `repo` the repository behind it. `revisions` are commits
    by names that the model is told, such as `source`.
    """

    files: Files
    repo: Path
    guard: WriteGuard
    marker: Marker
    revisions: Mapping[str, str] = field(default_factory=dict)
