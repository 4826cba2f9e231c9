"""Build real git repositories in a few lines; dates and identities are fixed."""

import os
import subprocess
from pathlib import Path

START = 1_750_000_000  # 2025-06-15T15:06:40Z; each commit is one minute later


class TestRepo:
    """A repository with a worktree. `repo.commit("msg", {"a.py": "x = 1\\n", "b.py": None})`."""

    __test__ = False

    def __init__(self, path: Path, branch: str = "main"):
        self.path = path
        self.clock = START
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", branch)
        self.git("config", "gc.auto", "0")

    def git(self, *args: str, stdin: bytes | None = None, check: bool = True) -> str:
        """Run git here as a test identity, away from the machine's own settings."""
        date = f"{self.clock} +0000"
        env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Test",
            "GIT_AUTHOR_EMAIL": "test@example.com",
            "GIT_COMMITTER_NAME": "Test",
            "GIT_COMMITTER_EMAIL": "test@example.com",
            "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_DATE": date,
        }
        result = subprocess.run(
            ["git", *args], cwd=self.path, env=env, input=stdin, capture_output=True, check=False
        )
        if check and result.returncode:
            raise AssertionError(f"git {args}: {result.stderr.decode(errors='replace')}")
        return result.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    def write(self, files: dict[str, str | bytes | None]) -> None:
        """Write files (parents made), remove those that are None; no commit."""
        for name, content in files.items():
            file = Path(os.fsdecode(os.fsencode(self.path) + b"/" + os.fsencode(name)))
            if content is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, message: str, files: dict[str, str | bytes | None] | None = None) -> str:
        """Write `files` and commit everything; returns the SHA."""
        self.write(files or {})
        self.clock += 60
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "--no-verify", "-m", message)
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str, start: str = "HEAD") -> None:
        """Create a branch and check it out."""
        self.git("checkout", "-q", "-b", name, start)

    def checkout(self, name: str) -> None:
        """Check a branch out."""
        self.git("checkout", "-q", name)

    def merge(self, other: str, *args: str) -> str:
        """Merge with a merge commit; returns the SHA."""
        self.clock += 60
        self.git("merge", "-q", "--no-ff", "-m", f"Merge {other}", *args, other)
        return self.git("rev-parse", "HEAD")


def diverged(
    path: Path,
    base: dict[str, str | bytes | None],
    main: dict[str, str | bytes | None],
    dev: dict[str, str | bytes | None],
) -> TestRepo:
    """A repository whose `main` and `dev` each changed `base` in one commit; `dev` checked out."""
    repo = TestRepo(path)
    repo.commit("Base", base)
    repo.branch("dev")
    repo.checkout("main")
    repo.commit("Change on main (#1)", main)
    repo.checkout("dev")
    repo.commit("Change on dev (#2)", dev)
    return repo
