"""From a clone URL to the API."""

import pytest

from nightly_sync import workspace
from nightly_sync.config import SyncConfig
from nightly_sync.errors import ConfigError
from nightly_sync.forge.github.address import parse

SPELLINGS = (
    "https://github.com/acme/widgets",
    "https://github.com/acme/widgets.git",
    "https://github.com/acme/widgets/",
    "https://github.com/acme/widgets.git/",
    "HTTPS://GitHub.com:443/Acme/WIDGETS.GIT",
    "https://www.github.com/acme/widgets",
    "git@github.com:acme/widgets.git",
    "git@GitHub.com:acme/widgets",
    "ssh://git@github.com:22/acme/widgets.git",
    "ssh://git@ssh.github.com:443/Acme/widgets.git",
)


@pytest.mark.parametrize("url", SPELLINGS)
def test_every_spelling_of_a_github_repository_is_understood(url: str) -> None:
    found = parse(url)
    assert (found.web, found.full_name) == ("https://github.com", "acme/widgets")
    assert found.url == "https://github.com/acme/widgets"
    assert (found.api, found.graphql) == (
        "https://api.github.com",
        "https://api.github.com/graphql",
    )


def test_however_it_is_spelled_a_repository_has_one_workspace_and_one_lock() -> None:
    """Reported: two runs of one pair, one by HTTPS and one by SSH, did not see each other."""
    configs = [SyncConfig(repository=url) for url in SPELLINGS]
    assert len({workspace.home_of(config) for config in configs}) == 1
    assert {workspace.origin_of(config) for config in configs} == {SPELLINGS[0]}
    other = SyncConfig(repository="https://github.com:8443/acme/widgets")
    assert workspace.home_of(other) != workspace.home_of(configs[0])


def test_a_server_of_ones_own_has_its_api_below_a_path() -> None:
    found = parse("https://ghe.example.com:8443/acme/widgets")
    assert found.api == "https://ghe.example.com:8443/api/v3"
    assert found.graphql == "https://ghe.example.com:8443/api/graphql"


def test_enterprise_cloud_with_data_residency_has_a_host_for_the_api() -> None:
    found = parse("https://acme.ghe.com/acme/widgets")
    assert found.graphql == "https://api.acme.ghe.com/graphql"


def test_the_api_can_be_named() -> None:
    found = parse("https://git.example.com/acme/widgets", "https://api.example.com/")
    assert (found.api, found.graphql) == (
        "https://api.example.com",
        "https://api.example.com/graphql",
    )


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://github.com/acme",
        "https://github.com/acme/widgets/tree/main",
        "ftp://github.com/acme/widgets",
        "/srv/acme/widgets",
        "https:///acme/widgets",
        "https://github.com:port/acme/widgets",
    ],
)
def test_anything_else_is_a_config_error(url: str) -> None:
    with pytest.raises(ConfigError, match="write it as https://HOST"):
        parse(url)


def test_a_token_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigError, match="take it out") as caught:
        parse("https://x:ghp_secret@github.com/acme/widgets")
    assert "ghp_secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "api"),
    [
        ("http://ghe.example.com/acme/widgets", ""),
        ("http://192.0.2.7:8080/acme/widgets", ""),
        ("http://localhost.example.com/acme/widgets", ""),
        ("https://ghe.example.com/acme/widgets", "http://ghe.example.com/api/v3"),
    ],
)
def test_plain_http_to_another_machine_is_refused(url: str, api: str) -> None:
    """Reported: the token went over the net in clear."""
    with pytest.raises(ConfigError, match=r"could read the token: write https://"):
        parse(url, api)


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1:1", "[::1]:1"])
def test_plain_http_to_this_machine_is_taken(host: str) -> None:
    assert parse(f"http://{host}/acme/widgets").api == f"http://{host}/api/v3"


@pytest.mark.parametrize("api", ["api.example.com", "ftp://api.example.com", "https://t@x.example"])
def test_an_api_that_is_no_address_is_refused(api: str) -> None:
    with pytest.raises(ConfigError, match=r"^github\.api "):
        parse("https://ghe.example.com/acme/widgets", api)
