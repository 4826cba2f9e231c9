"""The git layer: whose repository it works on, what it returns, and how it stops."""

import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nightly_sync import git
from nightly_sync.conflicts import Entry
from nightly_sync.errors import StopForPerson, SyncError, Unreachable
from tests.support.repo import TestRepo


def _repo(tmp_path: Path) -> TestRepo:
    repo = TestRepo(tmp_path / "repo")
    repo.commit("One", {"a": "1\n"})
    return repo


def _running(pid: int) -> bool:
    """Is it still there? Killed is enough: who reaps an orphan is the machine's business."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        if state.stdout.strip()[:1] in ("", "Z"):
            return False
    return True


def test_a_timeout_kills_git_and_all_it_started(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    pid = tmp_path / "pid"
    alias = f"alias.hang=!echo $$ > {pid}; sleep 600"
    with pytest.raises(git.GitTimeout, match="took over 1 s"):
        git.run(repo.path, "-c", alias, "hang", timeout=1)
    assert not _running(int(pid.read_text()))


def _transport(command: str) -> git.Remote:
    """A remote that is reached by this command."""
    env = {"GIT_SSH_COMMAND": f"sh -c {shlex.quote(command)} ssh", "GIT_SSH_VARIANT": "simple"}
    return git.Remote("ssh://host/repo", access=lambda: git.Access(env=env))


_HTTPS = "fatal: unable to access 'https://github.com/a/404/': "


def _says(tmp_path: Path, words: str) -> git.GitError:
    """What comes of a transport that ends with these words."""
    with pytest.raises(git.GitError) as caught:
        git.remote_branches(
            _repo(tmp_path).path, _transport(f"echo {shlex.quote(words)} >&2; exit 1")
        )
    assert words in caught.value.stderr
    return caught.value


@pytest.mark.parametrize(
    "words",
    [
        f"{_HTTPS}OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to github.com:443",
        f"{_HTTPS}whatever curl says next year",
        f"{_HTTPS}The requested URL returned error: 429",
        "error: SSL_ERROR_SYSCALL",
        "error: GnuTLS recv error (-110): The TLS connection was non-properly terminated.",
        "error: gnutls_handshake() failed: Error in the pull function.",
        "error: HTTP/2 stream 1 was not closed cleanly: INTERNAL_ERROR (err 2)",
        "error: SSL connection timeout",
        "error: Send failure: Broken pipe",
        "error: The requested URL returned error: 429",
    ],
)
def test_a_connection_that_breaks_may_work_later(tmp_path: Path, words: str) -> None:
    """Reported: a hiccup of TLS ended the night like a wrong address."""
    assert isinstance(_says(tmp_path, words), Unreachable)


@pytest.mark.parametrize(
    "words",
    [
        *(f"{_HTTPS}The requested URL returned error: {code}" for code in (401, 403, 404)),
        "fatal: unable to access '/home/ann/.gitconfig': Permission denied",
    ],
)
def test_a_no_is_no_outage(tmp_path: Path, words: str) -> None:
    assert not isinstance(_says(tmp_path, words), Unreachable)


def test_a_remote_that_never_answers_may_do_so_later(tmp_path: Path) -> None:
    """Reported: a silent server ended the night, and some questions had no limit of their own."""
    repo, silent = _repo(tmp_path), _transport("sleep 600")
    with pytest.raises(git.GitUnanswered, match=r"took over 0\.2 s") as caught:
        git.remote_branches(repo.path, silent, timeout=0.2)
    assert isinstance(caught.value, Unreachable)
    with pytest.raises(git.GitUnanswered):
        git.delete_branch(repo.path, silent, "sync/x", repo.git("rev-parse", "HEAD"), timeout=0.2)


def test_an_interrupted_run_kills_its_git(tmp_path: Path) -> None:
    """What Prefect's cancellation does: an exception in the main thread while git runs.

    Reported: hung for ever where the suite was started in the background, which ignores SIGINT.
    """
    repo = _repo(tmp_path)
    pid = tmp_path / "pid"
    code = (
        "import signal\nimport sys\nfrom pathlib import Path\nfrom nightly_sync import git\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "git.run(Path(sys.argv[1]), '-c', 'alias.hang=!echo $$ > ' + sys.argv[2] + "
        "'; echo up >&2; sleep 600', 'hang')\n"
    )
    command = [sys.executable, "-c", code, str(repo.path), str(pid)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as child:
        while not (pid.exists() and pid.read_text().strip()):
            assert child.poll() is None
        child.send_signal(signal.SIGINT)
        try:
            child.wait(30)
        finally:
            child.kill()
    assert not _running(int(pid.read_text()))


def test_git_variables_of_the_caller_do_not_reach_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run started from a hook inherits GIT_DIR and GIT_INDEX_FILE of another repository."""
    repo = _repo(tmp_path)
    other = TestRepo(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert git.commit_of(repo.path, "main") == repo.git("rev-parse", "main")
    assert not (tmp_path / "index").exists()


def test_hooks_of_a_repository_are_not_run(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    hook = repo.path / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    hook.chmod(0o755)
    git.run(repo.path, "update-ref", "refs/x/y", "HEAD")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["-x", "--all", "a..b", "", "nope", "HEAD:a", "main^{tree}"])
def test_names_that_are_no_commit_are_none(tmp_path: Path, name: str) -> None:
    assert git.commit_of(_repo(tmp_path).path, name) is None


def test_a_missing_object_is_an_error_not_a_gap(tmp_path: Path) -> None:
    with pytest.raises(git.GitError, match="missing"):
        git.read_blobs(_repo(tmp_path).path, ["f" * 40])


def test_blobs_come_back_byte_by_byte(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    contents = [b"", b"\n", b"no end", b"\0\xff\r\n", b"100644 blob 5\n", b"x" * 200_000]
    oids = git.write_blobs(repo.path, contents)
    found = git.read_blobs(repo.path, oids)
    assert [found[oid] for oid in oids] == contents


def test_a_tree_is_edited_without_index_or_worktree(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    (oid,) = git.write_blobs(repo.path, [b"2\n"])
    entry = Entry(mode="100755", oid=oid)
    tree = git.edit_tree(repo.path, "HEAD^{tree}", {"a": None, "a/b c\n": entry}, tmp_path)
    assert git.tree_entries(repo.path, tree) == {"a/b c\n": entry}
    assert repo.git("status", "--porcelain") == ""


def test_touched_lists_paths_of_commits_in_one_pass_without_merges(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    start = repo.git("rev-parse", "HEAD")
    repo.commit("Two\n\nbody", {"b \xe9": "1\n", "a": "2\n"})
    repo.commit("Empty")
    found = git.touched(repo.path, f"{start}..HEAD")
    assert [(subject, names) for _, subject, names in found] == [
        ("Empty", ()),
        ("Two", ("a", "b \xe9")),
    ]


def test_log_reads_bodies_with_any_text(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    body = "Fixes #1\n\n\x1b[31mred\x1b[0m\n"
    repo.commit(f"Subject: with, marks\n\n{body}")
    newest = git.log(repo.path, "HEAD", options=("-1",))[0]
    assert newest.subject == "Subject: with, marks"
    assert newest.body.strip() == body.strip()


def test_push_refuses_a_branch_that_moved_and_explains_other_refusals(tmp_path: Path) -> None:
    """Reported: what a hook of origin's said was buried in git's raw text."""
    repo = _repo(tmp_path)
    origin = tmp_path / "origin.git"
    git.init_bare(origin)
    sha = repo.git("rev-parse", "HEAD")
    git.push(repo.path, git.Remote(str(origin)), sha, "x/1", None, 60)
    newer = repo.commit("Two")
    with pytest.raises(StopForPerson, match="moved on"):
        git.push(repo.path, git.Remote(str(origin)), newer, "x/1", "0" * 39 + "1", 60)
    hook = origin / "hooks" / "pre-receive"
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\necho 'GH013: rule says no' >&2\nexit 1\n")
    hook.chmod(0o755)
    words = r"origin refused the push of x/2: GH013: rule says no \(pre-receive hook declined\); "
    with pytest.raises(StopForPerson, match=words):
        git.push(repo.path, git.Remote(str(origin)), sha, "x/2", None, 60)


def test_a_folder_that_is_no_repository_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SyncError, match="is not a git repository"):
        git.run(tmp_path / "nope", "status")


def test_a_folder_inside_a_repository_is_none_itself_but_leads_to_its_top(tmp_path: Path) -> None:
    """A broken workspace below a clone must never make git work on that clone."""
    repo = _repo(tmp_path)
    below = repo.path / "sub" / "deeper"
    below.mkdir(parents=True)
    with pytest.raises(SyncError, match="is not a git repository"):
        git.run(below, "status")
    assert git.repository_at(below) == repo.path
    with pytest.raises(SyncError, match="is not a git repository"):
        git.repository_at(tmp_path)


def test_a_repository_given_by_a_relative_path_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = _repo(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert git.commit_of(Path("repo"), "main") == repo.git("rev-parse", "main")
