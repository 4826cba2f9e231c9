"""What the forge says when the token or the repository does not allow something."""

from collections.abc import Callable

import pytest

from nightly_sync.forge.github.auth import AppTokens, ReadTokens
from nightly_sync.forge.github.refusals import GitHubError
from tests.github.client import BRANCH, Site
from tests.github.forge_support import Rig, make_rig


def _with(site: Site, token: str) -> Rig:
    return make_rig(site, ReadTokens(lambda: token))


def test_a_classic_token_without_the_repo_scope_is_named(site: Site) -> None:
    rig = _with(site, site.github.token(scopes=("read:org",)))
    with pytest.raises(GitHubError, match="classic token without the repo scope"):
        rig.forge.create_draft(BRANCH, "dev", "t", "b")


def test_a_fine_grained_token_without_the_permission_is_named(site: Site) -> None:
    site.open_pull()
    rig = _with(site, site.github.fine_grained({"pull_requests": "read"}))
    acts: list[Callable[[], None]] = [
        lambda: rig.forge.comment(1, "x"),
        lambda: rig.forge.mark_draft(1),
        lambda: rig.forge.revise_body(1, lambda _: "x"),
    ]
    for act in acts:
        with pytest.raises(GitHubError, match="lacks a permission"):
            act()


def test_a_token_nobody_knows_is_named(site: Site) -> None:
    with pytest.raises(GitHubError, match="not valid, or has expired"):
        _with(site, "ghp_unknown").forge.rollup(site.head)


def test_an_archived_repository_is_named(site: Site) -> None:
    number = make_rig(site).forge.create_draft(BRANCH, "dev", "t", "b").number
    site.repository.archived = True
    forge = make_rig(site).forge
    assert forge.get(number).open
    acts: list[Callable[[], None]] = [
        lambda: forge.comment(number, "x"),
        lambda: forge.mark_ready(number, site.head),
    ]
    for act in acts:
        with pytest.raises(GitHubError, match="archived"):
            act()


def test_an_installation_works_through_a_whole_pull_request(site: Site) -> None:
    app = site.github.app()
    base = make_rig(site)
    rig = make_rig(site, AppTokens(base.client.address, str(app.id), app.private_key))
    pull = rig.forge.create_draft(BRANCH, "dev", "t", "b")
    rig.forge.add_labels(pull.number, ("nightly-sync",))
    rig.forge.comment(pull.number, "x")
    rig.forge.mark_ready(pull.number, site.head)
    assert pull.author == "sync-app[bot]"
    assert not rig.forge.get(pull.number).draft
    assert rig.forge.required_checks("dev") == ()
