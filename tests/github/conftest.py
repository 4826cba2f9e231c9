"""The stand-in as a fixture; tests elsewhere import it from here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.github.client import Site, history, make_site
from tests.github.server import GitHub


@pytest.fixture
def github(tmp_path: Path) -> Iterator[GitHub]:
    """A GitHub for one test. Fails it in the end if a client broke GitHub's own description.

    A test that means to do so empties `github.problems`.
    """
    with GitHub(tmp_path) as running:
        yield running
    assert running.problems == []


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The history that every site starts with, made once."""
    return history(tmp_path_factory.mktemp("source") / "clone").path


@pytest.fixture
def site(github: GitHub, source: Path) -> Site:
    """A repository with `main`, `dev` and a sync branch, and a client with a token."""
    return make_site(github, source)
