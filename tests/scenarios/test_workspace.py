"""Workspace and lock: one run a pair, freed by the kernel; nothing of the user's is touched."""

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nightly_sync import git, workspace
from nightly_sync.config import SyncConfig
from nightly_sync.errors import ConfigError, StopForPerson, SyncError
from nightly_sync.workspace import Busy
from tests.support.repo import TestRepo, diverged

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)


def _config(repo: Path, tmp_path: Path, **fields: str) -> SyncConfig:
    return SyncConfig.model_validate(
        {"repository": str(repo), "workspace": str(tmp_path / "home"), **fields}
    )


def test_a_second_run_on_a_pair_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    with (
        workspace.lock(tmp_path, "run 1", NOW),
        pytest.raises(Busy, match=f"run 1 .process {os.getpid()}"),
        workspace.lock(tmp_path, "run 2", NOW),
    ):
        raise AssertionError("two runs held one lock")


def test_the_lock_of_a_killed_run_is_free_at_once(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom datetime import UTC, datetime\nfrom pathlib import Path\n"
        "from nightly_sync import workspace\n"
        "with workspace.lock(Path(sys.argv[1]), 'victim', datetime.now(UTC)):\n"
        "    print('held', flush=True)\n    time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(Busy, match="victim"), workspace.lock(tmp_path, "next", NOW):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with workspace.lock(tmp_path, "next", NOW):
        assert "next" in (tmp_path / "lock").read_text()


def test_one_repository_has_one_home_however_its_path_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = TestRepo(tmp_path / "origin")
    (tmp_path / "link").symlink_to(repo.path)
    monkeypatch.chdir(tmp_path)
    ways = (str(repo.path), "origin", "./origin/", "link", f"file://{repo.path}")
    homes = {workspace.home_of(_config(Path(), tmp_path, repository=way)) for way in ways}
    assert len(homes) == 1
    other = _config(repo.path, tmp_path, source="release")
    assert workspace.home_of(other) not in homes


def test_a_missing_repository_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SyncError, match="there is no repository at"):
        workspace.home_of(_config(tmp_path / "nope", tmp_path))


def test_fetch_follows_origin_and_keeps_our_own_refs(tmp_path: Path) -> None:
    repo = diverged(tmp_path / "origin", {"a": "1\n"}, {"a": "2\n"}, {"b": "1\n"})
    config = _config(repo.path, tmp_path)
    place = workspace.open_workspace(config, "run-1")
    workspace.fetch(place, git.Remote(place.origin), 60)
    assert workspace.branches(place) == {
        name: repo.git("rev-parse", name) for name in ("main", "dev")
    }
    sha = repo.git("rev-parse", "main")
    git.run(place.repository, "update-ref", "refs/nightly-sync/keep", sha)
    repo.git("branch", "-D", "main")
    workspace.fetch(place, git.Remote(place.origin), 60)
    assert set(workspace.branches(place)) == {"dev"}
    assert git.refs(place.repository, "refs/nightly-sync") == {"refs/nightly-sync/keep": sha}


def test_opening_again_keeps_the_reports_of_earlier_runs(tmp_path: Path) -> None:
    repo = diverged(tmp_path / "origin", {"a": "1\n"}, {"a": "2\n"}, {"b": "1\n"})
    config = _config(repo.path, tmp_path)
    first = workspace.open_workspace(config, "run-1")
    (first.run / "report.md").write_text("kept")
    second = workspace.open_workspace(config, "run-2")
    assert second.repository == first.repository
    assert (first.run / "report.md").read_text() == "kept"


@pytest.mark.parametrize(
    "lock", ["packed-refs.lock", "HEAD.lock", "config.lock", "refs/remotes/origin/main.lock"]
)
def test_locks_of_a_killed_git_are_removed(tmp_path: Path, lock: str) -> None:
    """Reported: a git killed on a timeout left such a file, and every later run failed over it."""
    repo = diverged(tmp_path / "origin", {"a": "1\n"}, {"a": "2\n"}, {"b": "1\n"})
    config = _config(repo.path, tmp_path)
    place = workspace.open_workspace(config, "run-1")
    workspace.fetch(place, git.Remote(place.origin), 60)
    repo.git("branch", "-f", "main", "dev")
    (place.repository / lock).touch()
    again = workspace.open_workspace(config, "run-2")
    workspace.fetch(again, git.Remote(again.origin), 60)
    assert not (place.repository / lock).exists()
    assert workspace.branches(place)["main"] == repo.git("rev-parse", "dev")


def test_a_workspace_that_is_half_made_is_completed(tmp_path: Path) -> None:
    """Reported: a repository with HEAD and no objects was "not a git repository" for ever."""
    repo = diverged(tmp_path / "origin", {"a": "1\n"}, {"a": "2\n"}, {"b": "1\n"})
    config = _config(repo.path, tmp_path)
    half = workspace.home_of(config) / "repository.git"
    half.mkdir(parents=True)
    (half / "HEAD").write_text("ref: refs/heads/main\n")
    place = workspace.open_workspace(config, "run-1")
    workspace.fetch(place, git.Remote(place.origin), 60)
    assert set(workspace.branches(place)) == {"main", "dev"}


def test_a_relative_workspace_lies_where_the_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reported: `workspace: ws` failed in every run."""
    repo = diverged(tmp_path / "origin", {"a": "1\n"}, {"a": "2\n"}, {"b": "1\n"})
    monkeypatch.chdir(tmp_path)
    place = workspace.open_workspace(_config(repo.path, tmp_path, workspace="ws"), "run-1")
    workspace.fetch(place, git.Remote(place.origin), 60)
    assert place.home.parent == tmp_path / "ws"


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("~nosuch/x", "leads nowhere"),
        ("/etc/passwd", "cannot be used: .* name another folder"),
        ("/proc/x", "cannot be used: .* name another folder"),
    ],
)
def test_a_workspace_that_cannot_be_is_one_sentence(
    tmp_path: Path, folder: str, words: str
) -> None:
    """Reported: each ended in a traceback."""
    config = _config(TestRepo(tmp_path / "origin").path, tmp_path, workspace=folder)
    with (
        pytest.raises(ConfigError, match=words),
        workspace.lock(workspace.home_of(config), "run 1", NOW),
    ):
        raise AssertionError("there is no such folder")


def test_a_home_that_is_no_folder_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reported: NIGHTLY_SYNC_HOME=/dev/null ended in a traceback."""
    monkeypatch.setenv("NIGHTLY_SYNC_HOME", os.devnull)
    config = SyncConfig(repository=str(TestRepo(tmp_path / "origin").path))
    with (
        pytest.raises(ConfigError, match="NIGHTLY_SYNC_HOME"),
        workspace.lock(workspace.home_of(config), "run 1", NOW),
    ):
        raise AssertionError("there is no such folder")


@pytest.mark.parametrize("name", ["/", "~nosuch/r", "plain"])
def test_a_repository_that_is_none_is_one_sentence(tmp_path: Path, name: str) -> None:
    """Reported: tracebacks for `/` and `~nosuch/r`; a plain folder was tried for a minute."""
    (tmp_path / "plain").mkdir()
    where = name if name.startswith(("/", "~")) else str(tmp_path / name)
    with pytest.raises(SyncError, match=r"is not a git repository|leads nowhere"):
        workspace.home_of(_config(Path(), tmp_path, repository=where))


def test_an_origin_of_sha256_stops_before_anything_is_fetched(tmp_path: Path) -> None:
    """Reported: "mismatched algorithms" after three tries, 63 seconds."""
    folder = tmp_path / "origin"
    subprocess.run(["git", "init", "-q", "--object-format=sha256", str(folder)], check=True)
    with pytest.raises(StopForPerson, match="SHA-256 repository"):
        workspace.open_workspace(_config(folder, tmp_path), "run-1")


@pytest.mark.parametrize("name", ["new\nline", '"quoted"', "back\\slash", "caf\udce9", "plain"])
def test_a_scratch_reads_objects_of_a_repository_with_an_odd_name(
    tmp_path: Path, name: str
) -> None:
    """Reported: a newline in the clone's path cut the line in objects/info/alternates."""
    repo = TestRepo(tmp_path / name)
    sha = repo.commit("One", {"a": "1\n"})
    with workspace.scratch(repo.path, tmp_path / "s") as scratch:
        assert git.read_file(scratch, sha, "a") == b"1\n"
