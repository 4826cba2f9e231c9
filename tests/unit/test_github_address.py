"""From a clone URL to the API."""

import pytest

from nightly_sync.errors import ConfigError
from nightly_sync.forge.github.address import parse


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/widgets",
        "https://github.com/acme/widgets.git",
        "https://github.com/acme/widgets/",
        "git@github.com:acme/widgets.git",
        "ssh://git@github.com:22/acme/widgets.git",
    ],
)
def test_every_spelling_of_a_github_repository_is_understood(url: str) -> None:
    found = parse(url)
    assert (found.web, found.full_name) == ("https://github.com", "acme/widgets")
    assert (found.api, found.graphql) == (
        "https://api.github.com",
        "https://api.github.com/graphql",
    )


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
    ],
)
def test_anything_else_is_a_config_error(url: str) -> None:
    with pytest.raises(ConfigError, match="OWNER/NAME"):
        parse(url)


def test_a_token_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigError, match="take it out") as caught:
        parse("https://x:ghp_secret@github.com/acme/widgets")
    assert "ghp_secret" not in str(caught.value)
