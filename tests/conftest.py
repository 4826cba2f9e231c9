"""How the parallel run shares out the tests, and what makes all of them cheaper."""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests.support import forking

os.environ.setdefault("PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW", "ignore")
# The checks' `python` is ours: what a shell finds may be a version manager's script, which takes
# longer to start than Python.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
gc.disable()  # while tests are collected; nearly all that is made then stays


WITH_PREFECT = ("tests/e2e/", "tests/unit/test_policy.py", "tests/unit/test_secrets.py")


class OneServer(LoadScopeScheduling):
    """Whole-flow tests share a Prefect server, so one worker runs them all; others go anywhere.

    With them go those that import Prefect, which takes seconds. By path, as `--dist loadgroup`
    sees no marks with pytest 9.2 and pytest-xdist 3.8.
    """

    def _split_scope(self, nodeid: str) -> str:
        return "with Prefect" if nodeid.startswith(WITH_PREFECT) else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Big groups first, so that the long one does not start last."""
    return OneServer(config, log)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was collected is never garbage, and need not be looked at again and again."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def forked_runners() -> Iterator[None]:
    """The local forge's runners start within milliseconds in this process.

    Those of flows in other processes (`apart`) start as they do at a user's.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nightly_sync.forge.local_attempts._spawn", forking.run_checks)
        yield
