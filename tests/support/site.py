"""A site to sync: a bare origin, a clone to work in, and a config with quick checks."""

import json
import subprocess
from pathlib import Path
from typing import Any

from nightly_sync.config import SyncConfig
from tests.support.repo import TestRepo

OK = {"name": "tests", "run": "python -c pass"}


class Site:
    """`site.repo` is a person's clone with `main` and `dev`; `site.push()` publishes both."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.origin = folder / "origin.git"
        subprocess.run(
            ["git", "init", "-q", "--bare", "-b", "main", str(self.origin)],
            check=True,
        )
        self.repo = TestRepo(folder / "clone")
        self.repo.git("remote", "add", "origin", str(self.origin))

    def diverge(
        self,
        base: dict[str, str | bytes | None],
        main: dict[str, str | bytes | None],
        dev: dict[str, str | bytes | None],
    ) -> "Site":
        """One commit each on `main` and `dev` over a common base, published."""
        self.repo.commit("Base", base)
        self.repo.branch("dev")
        self.repo.checkout("main")
        self.repo.commit("Change on main (#1)", main)
        self.repo.checkout("dev")
        self.repo.commit("Change on dev (#2)", dev)
        self.push()
        return self

    def push(self, *branches: str) -> None:
        """Publish branches, `main` and `dev` by default."""
        self.repo.git("push", "-q", "origin", *(branches or ("main", "dev")))

    def config(self, **fields: Any) -> SyncConfig:
        """A config with one check that passes, unless the fields say otherwise."""
        return SyncConfig.model_validate(self.fields(**fields))

    def fields(self, **fields: Any) -> dict[str, Any]:
        """The same as plain values, for a config file."""
        return {
            "repository": str(self.origin),
            "workspace": str(self.folder / "home"),
            "checks": [OK],
            "sentinel": "tests" if "checks" not in fields else None,
            "poll_seconds": 30,
            **fields,
        }

    def branches(self) -> dict[str, str]:
        """Origin's branches."""
        lines = self.repo.git("ls-remote", "--heads", "origin").splitlines()
        return {line.split("refs/heads/")[1]: line.split("\t")[0] for line in lines}

    def pulls(self) -> list[dict[str, Any]]:
        """The local forge's pull request records, oldest first."""
        folder = self.folder / "origin.git.nightly-sync" / "pulls"
        return [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]

    def synced(self) -> list[str]:
        """Names of the sync branches on origin."""
        return sorted(name for name in self.branches() if name.startswith("main2dev/"))
