"""kill -9 before the push, after the push, while polling: the next run goes on, nothing doubles.

The runs are processes of their own; hooks of the origin and a check kill them at the exact place.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.forking import Ended, Forking
from tests.support.site import Site

pytestmark = pytest.mark.usefixtures("prefect")

# Kills the run that holds the lock, the first time it is called.
KILL = """
import json, os, pathlib, signal, sys
home, marker = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
if not marker.exists():
    marker.touch()
    (lock,) = home.glob("*/lock")
    os.kill(json.loads(lock.read_text())["pid"], signal.SIGKILL)
    sys.exit(int(sys.argv[3]))
"""


class Killer:
    """A site, its config file, and the command that kills the run."""

    def __init__(self, tmp_path: Path, apart: Forking, exit_code: int):
        self.apart = apart
        self.site = Site(tmp_path).diverge(
            {"a.py": "x = 1\n", "b.py": "y = 1\n"}, {"a.py": "x = 2\n"}, {"b.py": "y = 2\n"}
        )
        script = tmp_path / "kill.py"
        script.write_text(KILL)
        words = (script, tmp_path / "home", tmp_path / "killed", exit_code)
        self.command = " ".join(str(word) for word in (sys.executable, *words))
        self.config = tmp_path / "config.yaml"
        self.write_config()

    def write_config(self, **fields: Any) -> None:
        self.config.write_text(json.dumps(self.site.fields(**fields)))  # JSON is YAML

    def hook(self, name: str) -> None:
        """Make the origin kill the run at a point of the push."""
        file = self.site.origin / "hooks" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{self.command}\n")
        file.chmod(0o755)

    def run(self) -> Ended:
        return self.apart.run("nightly_sync", "run", "--config", str(self.config))


def _ends_well(killer: Killer, branches_before: dict[str, str]) -> None:
    """The next run finishes: one branch, one pull request, ready; origin whole and untouched."""
    result = killer.run()
    assert result.returncode == 0, result.stdout + result.stderr
    (pull,) = killer.site.pulls()
    assert (pull["open"], pull["draft"]) == (True, False)
    assert killer.site.synced() == [pull["branch"]]
    after = killer.site.branches()
    assert {name: after[name] for name in branches_before} == branches_before
    subprocess.run(["git", "fsck", "--strict"], cwd=killer.site.origin, check=True)


def test_killed_before_the_push_nothing_is_on_origin_and_the_next_run_does_it(
    tmp_path: Path, apart: Forking
) -> None:
    killer = Killer(tmp_path, apart, exit_code=1)
    before = killer.site.branches()
    killer.hook("pre-receive")
    assert killer.run().returncode == -9
    assert killer.site.branches() == before
    assert killer.site.pulls() == []
    _ends_well(killer, before)


def test_killed_after_the_push_the_next_run_resumes_the_branch(
    tmp_path: Path, apart: Forking
) -> None:
    killer = Killer(tmp_path, apart, exit_code=0)
    before = killer.site.branches()
    killer.hook("post-receive")
    assert killer.run().returncode == -9
    (branch,) = killer.site.synced()
    pushed = killer.site.branches()[branch]
    assert killer.site.pulls() == []
    _ends_well(killer, before)
    assert killer.site.branches()[branch] == pushed


def test_killed_while_polling_the_next_run_takes_up_branch_and_pull_request(
    tmp_path: Path, apart: Forking
) -> None:
    killer = Killer(tmp_path, apart, exit_code=0)
    killer.write_config(checks=[{"name": "tests", "run": killer.command}], sentinel="tests")
    before = killer.site.branches()
    assert killer.run().returncode == -9
    (first,) = killer.site.pulls()
    assert first["draft"]
    _ends_well(killer, before)
    assert killer.site.pulls()[0]["number"] == first["number"]
