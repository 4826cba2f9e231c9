"""How the parallel run shares out the tests."""

import os

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

os.environ.setdefault("PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW", "ignore")


class OneServer(LoadScopeScheduling):
    """Whole-flow tests share a Prefect server, so one worker runs them all; others go anywhere.

    By folder, as `--dist loadgroup` sees no marks with pytest 9.2 and pytest-xdist 3.8.
    """

    def _split_scope(self, nodeid: str) -> str:
        return "e2e" if nodeid.startswith("tests/e2e/") else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Big groups first, so that the long one does not start last."""
    return OneServer(config, log)
