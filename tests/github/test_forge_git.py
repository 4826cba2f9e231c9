"""git over HTTPS with a token from the environment, and refused pushes in words."""

import os
import subprocess
from pathlib import Path

import pytest

from nightly_sync import git
from nightly_sync.errors import StopForPerson
from nightly_sync.forge.github.address import parse
from nightly_sync.forge.github.credentials import VARIABLE, git_credentials
from nightly_sync.forge.github.refusals import explain_push
from tests.github.client import BRANCH, Site
from tests.github.forge_support import make_rig
from tests.github.state import Protection
from tests.support.repo import TestRepo

NEW = "main2dev/02_02_2030"


@pytest.fixture
def clone(site: Site, tmp_path: Path) -> TestRepo:
    repo = TestRepo(tmp_path / "mine")
    repo.git("fetch", "-q", str(site.repository.path), "+refs/heads/*:refs/remotes/origin/*")
    repo.git("checkout", "-q", "-B", "work", f"origin/{BRANCH}")
    repo.commit("work", {"x": "1\n"})
    return repo


def _credentials(site: Site, token: str = "") -> git.Access:
    address = parse(site.github.git_url(site.repository))
    return git_credentials(address, token or site.token)


def _push(site: Site, clone: TestRepo, branch: str = NEW, token: str = "") -> git.Result:
    given, url = _credentials(site, token), site.github.git_url(site.repository)
    args = ("push", "--porcelain", url, f"HEAD:refs/heads/{branch}")
    return git.run(clone.path, *given.config, *args, env=given.env, ok=range(256))


def _why(result: git.Result, branch: str = NEW) -> str:
    assert result.code
    return explain_push(f"{result.err}\n{result.text}", branch)


def test_a_push_uses_the_token_of_the_environment(site: Site, clone: TestRepo) -> None:
    assert _push(site, clone).code == 0
    assert site.tip(NEW) == clone.git("rev-parse", "HEAD")


def test_the_token_is_in_no_argument_and_no_representation(site: Site) -> None:
    given = make_rig(site).forge.origin().access()
    assert site.token not in " ".join(given.config)
    assert site.token not in repr(given)
    assert given.env == {VARIABLE: site.token}


def test_the_token_is_left_in_no_file_of_the_repository(site: Site, clone: TestRepo) -> None:
    _push(site, clone)
    files = [file for file in clone.path.rglob("*") if file.is_file()]
    assert files
    assert not [file for file in files if site.token.encode() in file.read_bytes()]


def test_helpers_of_the_machine_neither_see_nor_offer_a_password(
    site: Site, clone: TestRepo, tmp_path: Path
) -> None:
    log = tmp_path / "seen"
    spy = f'!f() {{ cat >> "{log}"; echo username=x; echo password=y; }}; f'
    clone.git("config", "credential.helper", spy)
    assert _push(site, clone).code == 0
    assert not log.exists()


def _fill(credentials: git.Access, url: str) -> str:
    """What git would use for an address."""
    command = ["git", *credentials.config, "credential", "fill"]
    env = {**os.environ, **credentials.env, "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "/bin/true"}
    done = subprocess.run(
        command, input=f"url={url}\n\n", env=env, capture_output=True, text=True, check=False
    )
    return done.stdout


def test_the_token_goes_to_no_other_host() -> None:
    given = git_credentials(parse("https://ghe.example.com/acme/widgets"), "s3cret")
    assert "password=s3cret" in _fill(given, "https://ghe.example.com/acme/widgets.git")
    for other in ("https://example.com/a/b", "https://evil.ghe.example.com/a/b"):
        assert "s3cret" not in _fill(given, other)


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (Protection("main2dev/*", pull_request=True), "a rule demands a pull request"),
        (Protection("main2dev/*", ruleset=True, signatures=True), "signed commits"),
        (Protection("main2dev/*", signatures=True), "signed commits"),
    ],
)
def test_protected_branches_say_what_to_do(
    site: Site, clone: TestRepo, rule: Protection, told: str
) -> None:
    site.github.protect(site.repository, rule)
    assert told in _why(_push(site, clone))


@pytest.mark.parametrize(("ruleset", "told"), [(False, "GH006"), (True, "GH013")])
def test_required_checks_on_the_branch_itself_are_named_as_protection(
    site: Site, clone: TestRepo, ruleset: bool, told: str
) -> None:
    rule = Protection("main2dev/*", required_checks=("gate",), ruleset=ruleset)
    site.github.protect(site.repository, rule)
    assert told in _why(_push(site, clone, BRANCH), BRANCH)


def test_a_rewrite_that_a_rule_forbids_is_named(site: Site, clone: TestRepo) -> None:
    site.github.protect(site.repository, Protection("main2dev/*", force_push=False))
    given, url = _credentials(site), site.github.git_url(site.repository)
    args = ("push", "--force", url, f"origin/main:refs/heads/{BRANCH}")
    result = git.run(clone.path, *given.config, *args, env=given.env, ok=range(256))
    assert "forbids to rewrite" in _why(result, BRANCH)


def test_a_token_without_the_workflow_scope_is_told_so(site: Site, clone: TestRepo) -> None:
    clone.commit("ci", {".github/workflows/ci.yml": "on: push\n"})
    told = _why(_push(site, clone, token=site.github.token(scopes=("repo",))))
    assert "changes .github/workflows/ci.yml" in told
    assert "workflow scope" in told


def test_a_token_that_may_not_push_is_told_so(site: Site, clone: TestRepo) -> None:
    token = site.github.fine_grained({"contents": "read"})
    assert "Contents: write" in _why(_push(site, clone, token=token))


def test_a_token_that_has_expired_is_told_so(site: Site, clone: TestRepo) -> None:
    token = site.github.token()
    site.github.expire(token)
    assert "has expired" in _why(_push(site, clone, token=token))


def test_an_archived_repository_is_told_so(site: Site, clone: TestRepo) -> None:
    site.repository.archived = True
    assert "archived" in _why(_push(site, clone))


@pytest.mark.parametrize("name", ["main2dev", f"{BRANCH}/x"])
def test_a_name_clash_names_the_branch_in_the_way(site: Site, clone: TestRepo, name: str) -> None:
    told = _why(_push(site, clone, name), name)
    assert "git cannot hold both" in told
    assert BRANCH in told


def test_the_words_survive_what_git_push_makes_of_them(site: Site, clone: TestRepo) -> None:
    site.github.protect(site.repository, Protection("main2dev/*", ruleset=True, signatures=True))
    sha = clone.git("rev-parse", "HEAD")
    with pytest.raises(StopForPerson, match=r"signed commits.* Its words: .*verified signatures"):
        git.push(clone.path, make_rig(site).forge.origin(), sha, NEW, None, 60)
