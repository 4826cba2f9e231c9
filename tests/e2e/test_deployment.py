"""A real server and a real worker: deploy, run on a local repository, read the artifacts back."""

import json
import os
import shutil
import signal
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from tests.support.forking import Forking
from tests.support.site import Site

pytestmark = pytest.mark.timeout(420)
ROOT = Path(__file__).parents[2]
LIMIT = 240.0  # seconds for a run to end


class Server:
    """The server of all whole-flow tests, and Prefect's own command line that talks to it."""

    def __init__(self, api: str, apart: Forking, home: Path):
        self.api, self.apart, self.home = api, apart, home
        self.children: list[int] = []

    def spawn(self, name: str, *words: str) -> None:
        """Start something that runs until the end of the test; its output goes to a file."""
        log = self.home / f"{name}.log"
        self.children.append(self.apart.start(log, log, os.environ, "prefect", *words))

    def prefect(self, *words: str) -> str:
        """Run one CLI command to its end."""
        result = self.apart.run("prefect", "--no-prompt", *words, NO_COLOR="1")
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """One request to the REST API."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.api + path, data=data, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())

    def stop(self) -> None:
        """End what was started."""
        for child in reversed(self.children):
            os.kill(child, signal.SIGTERM)
            killer = Timer(20, os.kill, (child, signal.SIGKILL))
            killer.start()
            self.apart.wait(child)
            killer.cancel()


def _wait_for(what: str, done: Any) -> None:
    """Wait for another process; the interval only bounds how late we notice."""
    deadline = time.monotonic() + LIMIT
    while not done():
        assert time.monotonic() < deadline, f"{what} took over {LIMIT:g} s"
        time.sleep(0.5)


@pytest.fixture
def server(apart: Forking, tmp_path: Path) -> Iterator[Server]:
    from prefect.settings import PREFECT_API_URL

    running = Server(str(PREFECT_API_URL.value()), apart, tmp_path)
    try:
        yield running
    finally:
        running.stop()


def test_deploy_run_and_read_the_artifacts_back(
    server: Server, apart: Forking, tmp_path: Path
) -> None:
    site = Site(tmp_path / "site").diverge({"a": "1\n"}, {"a": "2\n"}, {"a": "3\n"})
    server.prefect("work-pool", "create", "nightly-sync", "--type", "process")
    server.prefect("deploy", "--all")
    server.spawn("worker", "worker", "start", "--pool", "nightly-sync")
    nightly = server.ask("/deployments/name/nightly-sync/nightly")
    (schedule,) = nightly["schedules"]
    assert (schedule["active"], schedule["schedule"]["timezone"]) == (False, "Europe/Berlin")

    run = server.ask(
        f"/deployments/{nightly['id']}/create_flow_run",
        {"parameters": {"config": site.fields(poll_seconds=1)}, "state": {"type": "SCHEDULED"}},
    )

    def ended() -> bool:
        state = server.ask(f"/flow_runs/{run['id']}")["state"]
        return state["type"] in ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")

    _wait_for("the run", ended)
    state = server.ask(f"/flow_runs/{run['id']}")["state"]
    logs = (tmp_path / "worker.log").read_text()
    assert state["name"] == "ready-needs-look", (state, logs[-4000:])
    assert [pull["draft"] for pull in site.pulls()] == [False]

    ours = {"flow_run_id": {"any_": [run["id"]]}}
    found = server.ask("/artifacts/filter", {"limit": 200, "artifacts": ours})
    by_kind = {item["key"].split("-origin-")[0]: item for item in found}
    assert {"report", "conflicts", "metrics", "ci-progress"} <= by_kind.keys()
    (metrics,) = json.loads(by_kind["metrics"]["data"])
    assert (metrics["outcome"], metrics["run_id"]) == ("ready-needs-look", run["id"])
    assert "Needs" in by_kind["report"]["data"] or "Ready" in by_kind["report"]["data"]

    csv = tmp_path / "runs.csv"
    history = apart.run("nightly_sync", "history", "--csv", str(csv), COLUMNS="250")
    assert "main" in history.stdout
    assert run["id"] in csv.read_text()


def test_the_deployments_parameters_are_a_valid_config() -> None:
    from ruamel.yaml import YAML

    from nightly_sync.config import SyncConfig, check_runnable

    data = YAML(typ="safe").load((ROOT / "prefect.yaml").read_text())
    names = [item["name"] for item in data["deployments"]]
    assert names == ["nightly", "history"]
    check_runnable(SyncConfig.model_validate(data["deployments"][0]["parameters"]["config"]))


def test_prefects_command_is_installed_with_the_project() -> None:
    assert shutil.which("prefect", path=str(Path(sys.executable).parent))
