"""Processes that start at once: children of one process that has imported everything already.

Starting Python with Prefect takes 5 to 15 s on a small machine, our command line alone half a
second, and the tests need a hundred such processes: to kill, to cancel, to serve. The parent has no
threads and does nothing but fork, so a child is as good as a fresh one.
"""

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
FLOWS = ("prefect.main", "prefect.cli", "flows.sync", "nightly_sync.forge.github.connect")
PREVIEW = ("nightly_sync.cli", "nightly_sync.preview", "nightly_sync.config_file")


@dataclass(frozen=True)
class Ended:
    """How a process ended; a negative code is the signal that ended it."""

    returncode: int
    stdout: str
    stderr: str


class Forking:
    """Starts `python -m MODULE ARGS` in children of a process that has imported `imports`."""

    def __init__(self, *imports: str, env: Mapping[str, str] | None = None):
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forking", *imports],
            cwd=ROOT,
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, out: Path, err: Path, env: Mapping[str, str], module: str, *args: str) -> int:
        """Start a module with this environment and no other; returns its process id.

        What a module reads from the environment while it is imported is the parent's.
        """
        files = {"out": str(out), "err": str(err)}
        return int(self._ask({"start": module, "args": args, "env": dict(env), **files}))

    def wait(self, pid: int) -> int:
        """Wait for the end of such a process; returns its code."""
        return int(self._ask({"wait": pid}))

    def run(self, module: str, *args: str, **env: str) -> Ended:
        """Start a module with more variables in our environment, and wait for its end."""
        with TemporaryDirectory() as folder:
            out, err = Path(folder) / "out", Path(folder) / "err"
            code = self.wait(self.start(out, err, {**os.environ, **env}, module, *args))
            return Ended(code, out.read_text(errors="replace"), err.read_text(errors="replace"))

    def close(self) -> None:
        """End the parent; its children must have ended."""
        assert self._parent.stdin is not None
        self._parent.stdin.close()
        self._parent.wait(30)

    def _ask(self, what: Mapping[str, Any]) -> str:
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write(json.dumps(what) + "\n")
        self._parent.stdin.flush()
        return self._parent.stdout.readline()


@cache
def _command_line() -> Forking:
    return Forking(*PREVIEW)


def nightly_sync(*args: str) -> Ended:
    """Run our command line as a user would; for commands that need no Prefect."""
    return _command_line().run("nightly_sync", *args)


def _serve(imports: list[str]) -> Mapping[str, Any] | None:
    """The parent: one line of JSON a request, one line an answer. Returns in a child only."""
    for name in imports:
        __import__(name)
    answers, requests = os.dup(1), os.fdopen(os.dup(0))
    for line in requests:
        asked: Mapping[str, Any] = json.loads(line)
        result = _wait(asked["wait"]) if "wait" in asked else os.fork()
        if result == 0 and "start" in asked:
            return asked
        os.write(answers, f"{result}\n".encode())
    return None


def _wait(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _become(asked: Mapping[str, Any]) -> None:
    """The child: the module runs as if it had been started from a shell."""
    files = (os.devnull, asked["out"], asked["err"])
    modes = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for target, (file, mode) in enumerate(zip(files, modes, strict=True)):
        os.dup2(os.open(file, mode), target)
    os.closerange(3, 64)
    os.setsid()
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.argv = [asked["start"], *asked["args"]]
    runpy.run_module(asked["start"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    wanted = _serve(sys.argv[1:])
    if wanted is not None:
        _become(wanted)
