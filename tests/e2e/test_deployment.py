"""A real server and a real worker: deploy, run on a local repository, read the artifacts back."""

import json
import os
import shutil
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from tests.support.forking import FLOWS, Forking
from tests.support.site import Site

pytestmark = pytest.mark.timeout(420)
ROOT = Path(__file__).parents[2]
LIMIT = 240.0  # seconds for a server to answer, and for a run to end


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


class Server:
    """`prefect server start` with a database of its own, and the CLI that talks to it."""

    def __init__(self, home: Path):
        self.api = f"http://127.0.0.1:{_free_port()}/api"
        self.home = home
        self.env = {
            **os.environ,
            "PREFECT_HOME": str(home),
            "PREFECT_API_URL": self.api,
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "DO_NOT_TRACK": "1",
            "PREFECT_WORKER_QUERY_SECONDS": "1",
            "NO_COLOR": "1",
        }
        self.forking = Forking(*FLOWS, env=self.env)
        self.children: list[int] = []

    def spawn(self, name: str, *words: str) -> None:
        """Start something that runs until the end of the test; its output goes to a file."""
        log = self.home / f"{name}.log"
        self.children.append(self.forking.start(log, log, self.env, "prefect", *words))

    def prefect(self, *words: str) -> str:
        """Run one CLI command to its end."""
        result = self.forking.run("prefect", "--no-prompt", *words, **self.env)
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

    def healthy(self) -> bool:
        """Does the server answer yet?"""
        try:
            return self.ask("/health") is True
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def stop(self) -> None:
        """End worker and server."""
        for child in reversed(self.children):
            os.kill(child, signal.SIGTERM)
            killer = Timer(20, os.kill, (child, signal.SIGKILL))
            killer.start()
            self.forking.wait(child)
            killer.cancel()
        self.forking.close()


def _wait_for(what: str, done: Any) -> None:
    """Wait for another process; the interval only bounds how late we notice."""
    deadline = time.monotonic() + LIMIT
    while not done():
        assert time.monotonic() < deadline, f"{what} took over {LIMIT:g} s"
        time.sleep(0.5)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    started = Server(tmp_path)
    try:
        port = started.api.split(":")[2].split("/")[0]
        started.spawn("server", "server", "start", "--host", "127.0.0.1", "--port", port)
        _wait_for("the server", started.healthy)
        yield started
    finally:
        started.stop()


def test_deploy_run_and_read_the_artifacts_back(server: Server, tmp_path: Path) -> None:
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

    found = server.ask("/artifacts/filter", {"limit": 200})
    by_kind = {
        item["key"].split("-origin-")[0]: item for item in found if "-origin-" in item["key"]
    }
    assert {"report", "conflicts", "metrics", "ci-progress"} <= by_kind.keys()
    (metrics,) = json.loads(by_kind["metrics"]["data"])
    assert (metrics["outcome"], metrics["run_id"]) == ("ready-needs-look", run["id"])
    assert "Needs" in by_kind["report"]["data"] or "Ready" in by_kind["report"]["data"]

    csv = tmp_path / "runs.csv"
    env = {**server.env, "COLUMNS": "250"}
    history = server.forking.run("nightly_sync", "history", "--csv", str(csv), **env)
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
