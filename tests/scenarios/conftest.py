"""The GitHub stand-in for scenarios that need one, and nights that are played on it."""

from pathlib import Path

import pytest

from tests.github.conftest import github as github
from tests.github.conftest import site as site
from tests.github.conftest import source as source
from tests.github.server import GitHub
from tests.support.github_night import Night, Synced, synced
from tests.support.github_site import GitHubSite


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Synced:
    """A night up to its draft pull request, played once."""
    return synced(tmp_path_factory.mktemp("start"))


@pytest.fixture
def night(github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: Synced) -> Night:
    """A night whose draft pull request is open."""
    return Night(github, tmp_path, monkeypatch, start)


@pytest.fixture
def hub(
    github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: Synced
) -> GitHubSite:
    """A repository to sync on the GitHub stand-in, and its token in the environment."""
    hub = GitHubSite(github, tmp_path, monkeypatch, start.origin)
    hub.person.delete(start.head.branch)
    return hub
