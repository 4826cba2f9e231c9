"""What the tools of one conversation work on: a checkout, and the repository behind it.

No tool pushes, comments, fetches or sees the environment, so none can be talked into it. They run
one at a time: a command must not see a file that is half edited.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nightly_sync.agent.files import Files
from nightly_sync.agent.guard import WriteGuard
from nightly_sync.agent.look import Trees


@dataclass(frozen=True)
class Bench(Trees):
    """A checkout without `.git`, and what was done in it.

    `logs` are those of failed checks, by the check's name; nothing else of the machine is read.
    """

    files: Files
    guard: WriteGuard
    logs: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    edited: set[str] = field(default_factory=set)  # paths that tools wrote or deleted
