"""A site on the GitHub stand-in: the same clone and branches, with CI and people to script."""

from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from nightly_sync.config import SyncConfig
from tests.github import bare
from tests.github.ci import Act
from tests.github.people import Person
from tests.github.server import GitHub
from tests.support.repo import TestRepo

VARIABLE = "NIGHTLY_SYNC_TEST_TOKEN"
ASK = r"^/ok to test (\w+)$"
GATE = "CI gate"
LINES = "".join(f"x{number} = {number}\n" for number in range(9))
GREEN = [Act("tests"), Act(GATE, after=1)]
RED = [Act("tests", "FAILURE", log="FAILED test_a.py::test_one - assert 1 == 2"), Act(GATE)]


class GitHubSite:
    """`site.repo` is a person's clone; the flow works on `site.repository` over HTTP.

    The repository has `main` and `dev`, which diverged, or all branches of `origin` if that is
    given. Then the clone is made when first asked for, with local `main` and `dev`.
    """

    def __init__(
        self, github: GitHub, folder: Path, patch: pytest.MonkeyPatch, origin: Path | None = None
    ):
        self.github = github
        self.folder = folder
        self.repository = github.repository("acme/widgets")
        self._patch = patch
        self.token = ""
        self.use(github.token())
        if origin:
            bare.take(self.repository.path, origin)
        else:
            self._diverge()

    def use(self, token: str) -> None:
        """Put another token into the environment."""
        self.token = token
        self._patch.setenv(VARIABLE, token)

    @cached_property
    def repo(self) -> TestRepo:
        """The clone."""
        repo = TestRepo(self.folder / "clone")
        repo.git("remote", "add", "origin", str(self.repository.path))
        for branch in ("main", "dev") if self.repository.branches() else ():
            repo.git("fetch", "-q", "origin", branch)
            repo.git("checkout", "-q", "-B", branch, "FETCH_HEAD")
        return repo

    def _diverge(self) -> None:
        self.repo.commit("Base", {"a.py": "x = 1\n", "b.py": "y = 1\n", "both.py": LINES})
        self.repo.branch("dev")
        self.repo.checkout("main")
        self.repo.commit("Change on main (#1)", {"a.py": "x = 2\n"})
        self.repo.checkout("dev")
        self.repo.commit("Change on dev (#2)", {"b.py": "y = 2\n"})
        self.push()

    def push(self, *branches: str) -> None:
        """Publish branches, `main` and `dev` by default."""
        self.repo.git("push", "-q", "origin", *(branches or ("main", "dev")))

    def config(self, **fields: Any) -> SyncConfig:
        """A config whose CI is started by a comment, unless the fields say otherwise."""
        return SyncConfig.model_validate(self.fields(**fields))

    def fields(self, **fields: Any) -> dict[str, Any]:
        """The same as plain values, for a config file."""
        return {
            "repository": self.github.git_url(self.repository),
            "workspace": str(self.folder / "home"),
            "sentinel": GATE,
            "trigger": {"kind": "comment", "text": "/ok to test {sha}"},
            "poll_seconds": 0.01,
            "github": {"token": f"env:{VARIABLE}"},
            **fields,
        }

    @property
    def person(self) -> Person:
        """Somebody with write access."""
        return self.github.person(self.repository)

    def tip(self, branch: str) -> str:
        """Where a branch is; KeyError if it is gone."""
        return self.repository.branches()[branch]

    def synced(self) -> list[str]:
        """Names of the sync branches."""
        return sorted(name for name in self.repository.branches() if name.startswith("main2dev/"))

    def comments(self, number: int) -> list[str]:
        """What was said on a pull request, oldest first."""
        return [item.body for item in self.repository.comments if item.number == number]
