"""A checkout of a small repository, and the tools over it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nightly_sync import tools as checkouts
from nightly_sync.agent import file_tools, look
from nightly_sync.agent.base import Tool, ToolResult
from nightly_sync.agent.data import Marker
from nightly_sync.agent.file_tools import Bench
from nightly_sync.agent.files import Files
from nightly_sync.agent.guard import WriteGuard
from nightly_sync.config import SyncConfig
from tests.support.repo import TestRepo

RULES = [
    {"rule": "protect", "paths": ["CODEOWNERS", "/kept/"]},
    {"rule": "take-source", "paths": ["uv.lock"]},
    {"rule": "take-target", "paths": ["VERSION"]},
]
FILES: dict[str, str | bytes | None] = {
    "CODEOWNERS": "* @owners\n",
    "VERSION": "1\n",
    "uv.lock": "locked\n",
    "kept/own.py": "OWN = 1\n",
    "src/app.py": "def run():\n    return 1\n",
    "src/windows.txt": "one\r\ntwo\r\n",
    "src/odd.txt": b"caf\xe9 one\n",
    "src/image.png": b"\x89PNG\0\1",
    ".github/workflows/ci.yml": "on: push\n",
}


class Workplace:
    """Tools over a checkout of FILES. `call` is what the model does."""

    def __init__(
        self, repo: TestRepo, commit: str, folder: Path, index: Path, logs: Any = None, **guard: Any
    ):
        config = SyncConfig.model_validate({"repository": str(repo.path), "rules": RULES})
        self.repo, self.folder, self.index = repo, folder, index
        self.guard = WriteGuard(config, **guard)
        revisions = {"target": commit}
        at = repo.path, Marker("0" * 16), revisions
        self.bench = Bench(*at, Files(folder), self.guard, logs or {})
        files = (*file_tools.READING, *file_tools.WRITING, file_tools.ReadLog)
        self.tools: tuple[Tool, ...] = (
            *(action.on(self.bench) for action in files),
            *(action.on(self.bench) for action in look.HISTORY),
        )

    def call(self, name: str, **given: Any) -> ToolResult:
        """The result of one tool call."""
        found = {item.name: item for item in self.tools}
        return found[name].call(given)

    def read(self, name: str) -> bytes:
        """A file as it is on disk."""
        return (self.folder / name).read_bytes()


@cache
def _template() -> tuple[TemporaryDirectory[str], str]:
    """The repository, made once, and its commit."""
    folder = TemporaryDirectory(prefix="nightly-sync-bench-")
    return folder, TestRepo(Path(folder.name)).commit("First: add it all", FILES)


@contextmanager
def workplace(tmp_path: Path, **guard: Any) -> Iterator[Workplace]:
    """A new repository with one commit, checked out as the job does it."""
    template, commit = _template()
    shutil.copytree(template.name, tmp_path / "repo", symlinks=True)
    repo = TestRepo(tmp_path / "repo")
    with checkouts.checkout(repo.path, commit) as (folder, index):
        yield Workplace(repo, commit, folder, index, **guard)
