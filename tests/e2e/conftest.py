"""One Prefect server for all whole-flow tests; they share a worker of the parallel run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.conftest import claude as claude  # the fixtures
from tests.agent.conftest import running_claude as running_claude
from tests.github.conftest import github as github  # the fixture
from tests.github.server import GitHub
from tests.support.forking import FLOWS, Forking
from tests.support.github_site import GitHubSite

IDLE = ("SCHEDULER", "LATE_RUNS", "FOREMAN", "TRIGGERS", "EVENT_PERSISTER", "CANCELLATION_CLEANUP",
        "PAUSE_EXPIRATIONS", "REPOSSESSOR", "TASK_RUN_RECORDER")  # fmt: skip
"""Services of the server that no whole-flow test needs, and that cost a fifth of its time."""


@pytest.fixture(scope="session")
def prefect() -> Iterator[None]:
    """A temporary server and database, without heartbeats, which cost a second a run."""
    with pytest.MonkeyPatch.context() as patch:
        for name in IDLE:
            patch.setenv(f"PREFECT_SERVER_SERVICES_{name}_ENABLED", "false")
        patch.setenv("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
        yield from _server()


def _server() -> Iterator[None]:
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
    from prefect.testing.utilities import prefect_test_harness

    with (
        prefect_test_harness(server_startup_timeout=120),
        temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}),
    ):
        yield


@pytest.fixture(scope="session")
def apart(prefect: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forking]:
    """Runs, and Prefect's worker, in processes of their own, which talk to the same server."""
    from prefect.settings import PREFECT_API_URL

    env = {
        "PREFECT_API_URL": str(PREFECT_API_URL.value()),
        "PREFECT_HOME": str(tmp_path_factory.mktemp("prefect")),
        "PREFECT_WORKER_QUERY_SECONDS": "1",
    }
    forking = Forking(*FLOWS, env=env)
    yield forking
    forking.close()


@pytest.fixture
def hub(github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitHubSite:
    """A repository to sync on the GitHub stand-in, and its token in the environment."""
    return GitHubSite(github, tmp_path, monkeypatch)
