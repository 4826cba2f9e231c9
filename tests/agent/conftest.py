"""The stand-in as a fixture; tests elsewhere import it from here."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.agent.standin import StandIn


@pytest.fixture(scope="session")
def running_claude() -> "Iterator[StandIn]":
    """One server for all tests of a process."""
    from tests.agent.standin import StandIn  # brings the SDK along, which takes seconds

    with StandIn() as running:
        yield running


@pytest.fixture
def claude(running_claude: "StandIn", monkeypatch: pytest.MonkeyPatch) -> "Iterator[StandIn]":
    """Claude's API for one test.

    Fails it in the end if a request broke the API's rules or a scripted turn was never asked for.
    A test that means to do so empties `claude.problems`.
    """
    for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
        monkeypatch.delenv(name)
    running_claude.reset()
    yield running_claude
    assert running_claude.problems == []
    assert running_claude.left == 0
