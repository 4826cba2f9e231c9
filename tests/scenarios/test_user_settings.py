"""What a person's own git settings and environment must not change."""

import subprocess
import sys
from pathlib import Path

import pytest

from nightly_sync import git, workspace
from nightly_sync.config import SyncConfig
from nightly_sync.conflicts import Kind
from nightly_sync.errors import SyncError
from nightly_sync.workspace import Workspace
from tests.support.repo import TestRepo, diverged
from tests.support.sync import path, planned


def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """A home folder with one file of git's in it."""
    file = tmp_path / "person" / name
    file.parent.mkdir(parents=True)
    file.write_text(text)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def _opened(repo: TestRepo, tmp_path: Path) -> Workspace:
    fields = {"repository": str(repo.path), "workspace": str(tmp_path / "home")}
    return workspace.open_workspace(SyncConfig.model_validate(fields), "run-1")


def test_a_merge_driver_in_the_users_attributes_decides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reported: `*.py merge=union` in ~/.config/git/attributes made a conflict clean."""
    _home(tmp_path, monkeypatch, ".config/git/attributes", "*.py merge=union\n")
    repo = diverged(tmp_path / "r", {"a.py": "1\n"}, {"a.py": "2\n"}, {"a.py": "3\n"})
    assert path(planned(repo), "a.py").kinds == (Kind.CONTENTS,)


def test_bare_repositories_work_where_the_user_must_name_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reported: safe.bareRepository=explicit ended every command with "cannot use bare"."""
    _home(tmp_path, monkeypatch, ".gitconfig", "[safe]\n\tbareRepository = explicit\n")
    repo = diverged(tmp_path / "r", {"a": "1\n"}, {"a": "2\n"}, {"b": "1\n"})
    place = _opened(repo, tmp_path)
    origin = git.Remote(place.origin)
    workspace.fetch(place, origin, 60)
    sha = repo.git("rev-parse", "main")
    assert git.commit_of(place.repository, "origin/main") == sha
    git.push(place.repository, origin, sha, "main2dev/1", None, 60)
    assert repo.git("rev-parse", "main2dev/1") == sha


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GIT_WORK_TREE", "elsewhere"),
        ("GIT_DEFAULT_HASH", "sha256"),
        ("GIT_DEFAULT_HASH", "nonsense"),
        ("GIT_OBJECT_DIRECTORY", "missing"),
        ("GIT_CONFIG_COUNT", "x"),
    ],
)
def test_git_variables_of_the_caller_do_not_reach_a_new_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """Reported: tracebacks, a SHA-256 scratch, "not a git repository" for a missing folder."""
    monkeypatch.setenv(name, value)
    git.init_bare(tmp_path / "new")
    assert git.object_format(tmp_path / "new") == "sha1"
    assert len(git.write_blobs(tmp_path / "new", [b"x"])[0]) == 40


def test_a_repository_of_another_user_is_told_in_gits_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reported: a clone of another user's ended in "no branch or commit called main"."""
    repo = TestRepo(tmp_path / "r")
    env = {
        "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    with pytest.raises(SyncError, match=r"dubious ownership .* safe\.directory"):
        git.run(repo.path, "rev-parse", "HEAD", env=env, ok=range(256))


def test_a_partial_clone_is_told_how_to_become_a_whole_one(tmp_path: Path) -> None:
    """Reported: the preview of a `--filter=blob:none` clone ended in "object ... is missing"."""
    repo = diverged(tmp_path / "r", {"a": "1\n"}, {"a": "2\n"}, {"a": "3\n"})
    repo.git("config", "uploadpack.allowFilter", "true")
    options = ("-q", "--filter=blob:none", "--no-checkout")
    repo.git("clone", *options, f"file://{repo.path}", str(tmp_path / "clone"))
    command = [sys.executable, "-m", "nightly_sync", "preview"]
    args = ["--repo", str(tmp_path / "clone"), "--out", str(tmp_path / "out")]
    result = subprocess.run([*command, *args], capture_output=True, text=True, check=False)
    assert result.returncode == 4
    assert "git fetch --refetch --no-filter" in result.stderr
