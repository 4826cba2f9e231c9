"""Requests: retries, limits, paging, ETags, cost, tokens."""

import logging
import traceback
from collections.abc import Callable
from datetime import timedelta

import pytest

from nightly_sync.errors import ConfigError, SyncError, Unreachable
from nightly_sync.forge.github.address import parse
from nightly_sync.forge.github.auth import AppTokens, ReadTokens
from nightly_sync.forge.github.client import _generated, build_api
from nightly_sync.forge.github.refusals import GitHubError
from tests.github.client import BRANCH, Site
from tests.github.forge_support import Rig, make_rig
from tests.github.server import AppKey


@pytest.fixture
def rig(site: Site) -> Rig:
    return make_rig(site)


def _app(rig: Rig, key: AppKey) -> AppTokens:
    return AppTokens(rig.client.address, str(key.id), key.private_key)


@pytest.mark.parametrize("enterprise", [True, False])
def test_both_kinds_of_host_are_spoken_to(site: Site, enterprise: bool) -> None:
    rig = make_rig(site, enterprise=enterprise)
    assert rig.forge.open_pull_requests("main2dev/") == []
    assert rig.forge.rollup(site.head).checks == ()


def test_a_server_in_trouble_for_a_while_is_waited_for(rig: Rig) -> None:
    rig.site.open_pull()
    rig.site.github.faults.fail("/pulls", times=6)
    assert rig.forge.get(1).number == 1
    assert len(rig.sleeps) == 6
    assert rig.sleeps == sorted(rig.sleeps)
    assert max(rig.sleeps) <= 60


@pytest.mark.parametrize("fault", ["reset", "cut"])
def test_a_connection_that_breaks_is_made_anew(rig: Rig, fault: str) -> None:
    rig.site.open_pull()
    getattr(rig.site.github.faults, fault)("/pulls", times=2)
    assert rig.forge.get(1).number == 1
    assert len(rig.sleeps) == 2


def test_a_request_that_is_not_answered_in_time_is_repeated(site: Site) -> None:
    rig = make_rig(site, timeout=0.3)
    site.open_pull()
    site.github.faults.slow(60, "/pulls")
    assert rig.forge.get(1).number == 1
    assert len(rig.sleeps) == 1


def test_graphql_is_as_patient_as_rest(rig: Rig) -> None:
    rig.site.github.faults.fail("/graphql", times=2)
    rig.site.github.faults.reset("/graphql", skip=2)
    assert rig.forge.rollup(rig.site.head).checks == ()
    assert len(rig.sleeps) == 3


def test_patience_ends_with_a_sentence(site: Site) -> None:
    rig = make_rig(site, patience=100)
    site.github.faults.fail("/pulls", times=1000)
    with pytest.raises(GitHubError, match=r"did not recover in time.*HTTP 502"):
        rig.forge.open_pull_requests("x/")
    assert sum(rig.sleeps) <= 100


def test_a_secondary_limit_is_waited_out_and_never_extended(rig: Rig) -> None:
    rig.site.open_pull()
    rig.site.github.limits.slow_down(retry_after=30)
    assert rig.forge.get(1).number == 1
    assert rig.sleeps == [31]
    assert rig.site.github.limits.early == 1


@pytest.mark.parametrize("resource", ["core", "graphql"])
def test_a_used_up_quota_is_waited_for_until_its_reset(rig: Rig, resource: str) -> None:
    token = rig.site.github.world.tokens[rig.site.token]
    rig.site.github.limits.exhaust(token, resource, seconds=1800)
    rig.site.open_pull() if resource == "graphql" else None
    if resource == "core":
        rig.forge.open_pull_requests("x/")
    else:
        rig.forge.rollup(rig.site.head)
    assert len(rig.sleeps) == 1
    assert 1795 <= rig.sleeps[0] <= 1802


def test_a_limit_without_a_time_is_waited_for_longer_each_time_and_then_given_up(
    site: Site,
) -> None:
    """Reported: up to four hours went by in one request."""
    rig = make_rig(site)
    site.github.limits.slow_down(retry_after=10**6)
    site.github.limits.telling = False
    with pytest.raises(Unreachable, match="did not recover in time: You have exceeded a secondary"):
        rig.forge.open_pull_requests("x/")
    assert rig.sleeps == [60, 120, 240, 480]


def test_a_limit_that_is_named_again_and_again_is_given_up_after_an_hour(rig: Rig) -> None:
    rig.site.github.limits.slow_down(retry_after=1200)
    rig.site.github.limits.endless = True
    with pytest.raises(Unreachable):
        rig.forge.open_pull_requests("x/")
    assert rig.sleeps == [1201] * 3


def test_no_limit_is_waited_for_beyond_the_runs_own_time(site: Site) -> None:
    """Reported: a run of an hour slept for another one."""
    end = site.github.world.clock.now() + timedelta(minutes=50)

    def left() -> float:
        return (end - site.github.world.clock.now()).total_seconds()

    rig = make_rig(site, left=left)
    site.github.exhaust(site.token, seconds=1800)
    assert rig.forge.open_pull_requests("x/") == []
    site.github.exhaust(site.token, seconds=1800)
    with pytest.raises(Unreachable):
        rig.forge.open_pull_requests("x/")
    assert len(rig.sleeps) == 1


def test_a_refusal_is_not_repeated(rig: Rig) -> None:
    with pytest.raises(GitHubError, match="could not read pull request 7: it is not there"):
        rig.forge.get(7)
    assert rig.sleeps == []


def test_an_answer_that_did_not_change_costs_nothing(rig: Rig) -> None:
    rig.site.open_pull()
    first = rig.forge.get(1)
    before = rig.forge.cost
    assert rig.forge.get(1) == first
    spent = rig.forge.cost - before
    assert (spent.rest, spent.unchanged) == (0, 1)
    rig.site.client.patch("pulls/1", {"body": "changed"})
    assert rig.forge.get(1).body == "changed"


def test_every_page_of_a_list_is_read(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nightly_sync.forge.github.client.PAGE", 2)
    person = rig.site.github.person(rig.site.repository)
    for number in range(5):
        person.branch(f"main2dev/{number:03}", BRANCH)
        person.open_pull(f"main2dev/{number:03}", "dev")
    found = rig.forge.open_pull_requests("main2dev/")
    assert [pull.number for pull in found] == list(range(1, 6))


@pytest.mark.parametrize("new", ["acme/gadgets", "megacorp/widgets"])
def test_a_renamed_or_transferred_repository_is_refused_with_its_new_name(
    rig: Rig, new: str
) -> None:
    """Reported: some requests followed, others did not, and the night ended somewhere between."""
    rig.site.open_pull()
    rig.site.github.rename(rig.site.repository, new)
    acts: list[Callable[[], object]] = [
        lambda: rig.forge.open_pull_requests("x/"),
        lambda: rig.forge.create_draft(BRANCH, "dev", "t", "b"),
        lambda: rig.forge.comment(1, "text"),
        lambda: rig.forge.revise_body(1, lambda _: "text2"),
    ]
    for act in acts:
        with pytest.raises(GitHubError, match=f"It is {new} now: put its new address"):
            act()
    assert rig.sleeps == []
    assert rig.site.repository.comments == []


@pytest.mark.parametrize(("status", "passes"), [(301, False), (302, True), (303, True)])
def test_a_redirect_that_no_renaming_explains_is_not_called_one(
    rig: Rig, status: int, passes: bool
) -> None:
    """Reported: behind a proxy every request was told that the repository was renamed."""
    rig.site.github.faults.fail("GET .*/pulls", status=status)
    with pytest.raises(GitHubError, match=r"leads to another path .* which proxy") as told:
        rig.forge.open_pull_requests("x/")
    assert isinstance(told.value, Unreachable) is passes
    assert rig.sleeps == []


def test_an_app_is_told_that_the_repository_has_another_name(rig: Rig) -> None:
    tokens = _app(rig, rig.site.github.app())
    rig.site.github.rename(rig.site.repository, "acme/gadgets")
    with pytest.raises(GitHubError, match=r"/acme/widgets leads a browser there"):
        make_rig(rig.site, tokens).forge.get(1)


def test_a_token_that_was_replaced_is_taken_up(site: Site) -> None:
    current = [site.github.token()]
    rig = make_rig(site, ReadTokens(lambda: current[0]))
    rig.forge.open_pull_requests("x/")
    site.github.expire(current[0])
    with pytest.raises(GitHubError, match="not valid, or has expired"):
        rig.forge.open_pull_requests("x/")
    fresh = site.github.token()
    seen = iter([current[0], fresh, fresh])
    rig = make_rig(site, ReadTokens(lambda: next(seen)))
    assert rig.forge.open_pull_requests("x/") == []


def test_an_app_gets_one_token_and_a_new_one_when_it_ends(rig: Rig) -> None:
    app = rig.site.github.app()
    tokens = _app(rig, app)
    mine = make_rig(rig.site, tokens)
    mine.forge.open_pull_requests("x/")
    first = tokens.token()
    mine.forge.open_pull_requests("x/")
    assert tokens.token() == first
    rig.site.github.expire()
    assert mine.forge.open_pull_requests("x/") == []
    assert tokens.token() != first
    assert mine.sleeps == []


def test_fetching_an_apps_token_is_patient_too(rig: Rig) -> None:
    mine = make_rig(rig.site, _app(rig, rig.site.github.app()))
    rig.site.github.faults.fail("access_tokens", times=2)
    rig.site.github.faults.reset("installation", times=1)
    assert mine.forge.rollup(rig.site.head).checks == ()
    assert len(mine.sleeps) == 3


def test_an_app_with_a_wrong_key_is_told_so(rig: Rig) -> None:
    key, other = rig.site.github.app(), rig.site.github.app("other")
    wrong = AppKey(key.id, key.installation, other.private_key)
    with pytest.raises(ConfigError, match="does not know this App"):
        make_rig(rig.site, _app(rig, wrong)).forge.get(1)
    with pytest.raises(ConfigError, match="no RSA key"):
        make_rig(rig.site, _app(rig, AppKey(1, 1, "not a key"))).forge.get(1)


@pytest.mark.parametrize("minutes", [-30, -7, 3, 30])
def test_an_app_whose_machine_has_the_wrong_time_goes_by_githubs_clock(
    rig: Rig, minutes: int
) -> None:
    """Reported: a clock that is some minutes wrong ended the night with a wrong reason."""
    key, github = rig.site.github.app(), rig.site.github
    wrong = timedelta(minutes=minutes)
    tokens = AppTokens(
        rig.client.address, str(key.id), key.private_key, lambda: github.world.clock.now() + wrong
    )
    forge = make_rig(rig.site, tokens).forge
    assert forge.open_pull_requests("x/") == []
    first = tokens.token()
    assert tokens.token() == first
    github.world.clock.advance(3600)
    assert forge.open_pull_requests("x/") == []
    assert len(github.requests.of("access_tokens")) <= 3
    assert tokens.token() != first


def test_the_environments_own_token_is_not_picked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_somebody_elses")
    monkeypatch.setenv("GITHUB_JWT_TOKEN", "jwt_somebody_elses")
    _generated.cache_clear()
    api = build_api(parse("https://github.com/acme/widgets"))
    assert set(api.transport.base_headers) == {"Accept"}


def test_a_host_that_is_down_is_waited_for_by_our_own_clock_only(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = make_rig(site, patience=5)
    site.github.close()
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    with pytest.raises(GitHubError, match="the connection failed"):
        rig.forge.open_pull_requests("x/")
    assert len(rig.sleeps) == 2
    assert slept == []


def test_no_token_shows_in_errors_logs_or_representations(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    rig = make_rig(site, patience=1)
    site.open_pull()
    site.github.faults.fail("/graphql", times=5)
    site.github.faults.reset("/branches", times=5)
    shown = []
    for act in (
        lambda: rig.forge.get(9),
        lambda: rig.forge.rollup(site.head),
        lambda: rig.forge.required_checks("dev"),
        lambda: rig.forge.create_draft("nowhere", "dev", "t", "b"),
    ):
        with pytest.raises(SyncError) as caught:
            act()
        shown += traceback.format_exception(caught.value)
    things = (rig.forge, rig.client, rig.client.http, rig.client.api, rig.forge.origin().access())
    shown += [repr(thing) for thing in things] + [caplog.text]
    assert "1" in caplog.text
    assert not [text for text in shown if site.token in text]
