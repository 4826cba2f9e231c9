"""The stand-in's git: who may push what, and how a refusal reads."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.github.client import BRANCH, Site
from tests.github.git_http import reworded
from tests.github.state import Protection
from tests.support.repo import TestRepo


@pytest.fixture
def clone(site: Site, tmp_path: Path) -> TestRepo:
    """A person's clone by file path, on BRANCH; `origin` is the HTTP address without a token."""
    repo = TestRepo(tmp_path / "clone", "scratch")
    repo.git("fetch", "-q", str(site.repository.path), "+refs/heads/*:refs/heads/*")
    repo.git("remote", "add", "origin", site.github.git_url(site.repository))
    repo.checkout(BRANCH)
    return repo


def _push(repo: TestRepo, url: str, *args: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_GLOBAL": os.devnull}
    env |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_ASKPASS": "true"}
    command = ["git", "push", "--porcelain", url, *args]
    return subprocess.run(
        command, cwd=repo.path, env=env, capture_output=True, text=True, check=False
    )


def _refused(site: Site, repo: TestRepo, *args: str, token: str = "") -> str:
    done = _push(repo, site.github.git_url(site.repository, token or site.token), *args)
    assert done.returncode != 0
    return done.stdout + done.stderr


def test_a_token_as_password_pushes_and_moves_the_pull_request(site: Site, clone: TestRepo) -> None:
    site.open_pull()
    sha = clone.commit("more", {"big": os.urandom(3_000_000)})  # sent in chunks
    done = _push(clone, site.github.git_url(site.repository, site.token), BRANCH)
    assert done.returncode == 0, done.stderr
    assert site.client.get("pulls/1").json()["head"]["sha"] == site.tip(BRANCH) == sha
    assert {entry.kind for entry in site.github.requests.of("receive-pack")} == {"git"}


def test_everybody_may_fetch_a_public_repository_and_nobody_a_private_one(
    site: Site, clone: TestRepo
) -> None:
    assert "refs/heads/dev" in clone.git("ls-remote", "origin")
    site.repository.private = True
    with pytest.raises(AssertionError, match=r"could not read Username|terminal prompts disabled"):
        clone.git("-c", "core.askPass=", "ls-remote", "origin")
    site.repository.private = False


def test_pushes_without_a_good_token_are_refused(site: Site, clone: TestRepo) -> None:
    clone.commit("more", {"x": "1"})
    nobody = _push(clone, site.github.git_url(site.repository), BRANCH)
    assert "Authentication failed" in nobody.stderr
    wrong = _refused(site, clone, BRANCH, token="ghp_wrong")
    assert "Authentication failed" in wrong
    weak = _refused(site, clone, BRANCH, token=site.github.fine_grained({"contents": "read"}))
    assert "Permission to acme/widgets.git denied to sync-bot." in weak
    site.repository.archived = True
    assert "archived so it is read-only" in _refused(site, clone, BRANCH)


def test_branch_protection_answers_gh006(site: Site, clone: TestRepo) -> None:
    rule = Protection("main2dev/*", required_checks=("tests",), pull_request=True)
    site.github.protect(site.repository, rule)
    clone.commit("more", {"x": "1"})
    told = _refused(site, clone, BRANCH)
    assert f"remote: error: GH006: Protected branch update failed for refs/heads/{BRANCH}." in told
    assert 'Required status check "tests" is expected.' in told
    assert "[remote rejected] (protected branch hook declined)" in told
    assert site.tip(BRANCH) == site.head


def test_rulesets_answer_gh013(site: Site, clone: TestRepo) -> None:
    site.github.protect(site.repository, Protection("*", ruleset=True, signatures=True))
    sha = clone.commit("more", {"x": "1"})
    told = _refused(site, clone, BRANCH)
    assert "remote: error: GH013: Repository rule violations found for" in told
    assert "- Commits must have verified signatures." in told
    assert sha in told
    assert "[remote rejected] (push declined due to repository rule violations)" in told


def test_history_of_a_protected_branch_is_not_rewritten(site: Site, clone: TestRepo) -> None:
    site.github.protect(site.repository, Protection(BRANCH))
    clone.git("reset", "-q", "--hard", "HEAD^")
    assert "Cannot force-push to this branch" in _refused(site, clone, "--force", BRANCH)
    assert "Cannot delete this branch" in _refused(site, clone, f":{BRANCH}")


@pytest.mark.parametrize(
    ("kind", "words"), [("classic", "`workflow` scope"), ("app", "GitHub App")]
)
def test_new_workflow_files_need_a_permission(
    site: Site, clone: TestRepo, kind: str, words: str
) -> None:
    token = site.github.token(scopes=("repo",))
    if kind == "app":
        site.github.world.tokens[token].kind = "installation"
    clone.commit("ci", {".github/workflows/ci.yml": "on: push\n"})
    told = _refused(site, clone, BRANCH, token=token)
    assert "to create or update workflow `.github/workflows/ci.yml`" in told
    assert words in told


def test_workflow_files_that_another_branch_has_may_be_pushed(site: Site, clone: TestRepo) -> None:
    file = {".github/workflows/ci.yml": "on: push\n"}
    site.github.person(site.repository).push("main", file)
    clone.commit("ci", dict(file))
    url = site.github.git_url(site.repository, site.github.token(scopes=("repo",)))
    assert _push(clone, url, BRANCH).returncode == 0


def test_a_lease_on_a_branch_that_moved_is_refused_by_git_itself(
    site: Site, clone: TestRepo
) -> None:
    site.github.person(site.repository).push(BRANCH, {"x": "theirs"})
    clone.commit("more", {"x": "ours"})
    lease = f"--force-with-lease=refs/heads/{BRANCH}:{site.head}"
    assert "stale info" in _refused(site, clone, lease, BRANCH)


def test_a_branch_named_like_a_folder_is_in_the_way(site: Site, clone: TestRepo) -> None:
    told = _refused(site, clone, f"{BRANCH}:refs/heads/dev/x")
    assert "[remote rejected]" in told
    assert "dev" in told


def test_only_the_reason_of_a_refused_ref_is_reworded() -> None:
    def packet(text: bytes) -> bytes:
        return b"%04x%s" % (len(text) + 4, text)

    report = packet(b"unpack ok\n") + packet(b"ng refs/heads/a pre-receive hook declined\n")
    report += packet(b"ng refs/heads/b non-fast-forward\n") + b"0000"
    body = packet(b"\x02hello\n") + packet(b"\x01" + report) + b"0000"
    changed = reworded(body, {"refs/heads/a": "because"})
    assert packet(b"ng refs/heads/a because\n") in changed
    assert packet(b"ng refs/heads/b non-fast-forward\n") in changed
    assert changed.startswith(packet(b"\x02hello\n"))
    assert changed.endswith(b"00000000")
