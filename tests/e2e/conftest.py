"""One Prefect server for all whole-flow tests; they share a worker of the parallel run."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def prefect() -> Iterator[None]:
    """A temporary server and database, without heartbeats, which cost a second a run."""
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
    from prefect.testing.utilities import prefect_test_harness

    with (
        prefect_test_harness(server_startup_timeout=120),
        temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}),
    ):
        yield
