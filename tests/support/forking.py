"""Processes that start at once: children of one process that has imported everything already.

Starting Python with Prefect takes 5 to 15 s on a small machine, and whole-flow tests need a dozen
such processes: to kill, to cancel, to serve. The parent has no threads and does nothing but fork,
so a child is as good as a fresh one.
"""

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
IMPORTS = ("prefect.main", "prefect.cli", "flows.sync", "nightly_sync.forge.github.connect")


@dataclass(frozen=True)
class Ended:
    """How a process ended; a negative code is the signal that ended it."""

    returncode: int
    output: str  # both streams


class Forking:
    """Starts `python -m MODULE ARGS` in children of its parent process."""

    def __init__(self, env: Mapping[str, str]):
        command = [sys.executable, "-m", "tests.support.forking"]
        self._parent = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **env}, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def start(self, output: Path, env: Mapping[str, str], module: str, *args: str) -> int:
        """Start a module with more variables in its environment; returns its process id."""
        asked = {"start": module, "args": args, "env": dict(env), "output": str(output)}
        return int(self._ask(asked))

    def wait(self, pid: int) -> int:
        """Wait for the end of such a process; returns its code."""
        return int(self._ask({"wait": pid}))

    def run(self, output: Path, env: Mapping[str, str], module: str, *args: str) -> Ended:
        """Start a module and wait for its end."""
        code = self.wait(self.start(output, env, module, *args))
        return Ended(code, output.read_text(errors="replace"))

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


def _serve() -> Mapping[str, Any] | None:
    """The parent: one line of JSON a request, one line an answer. Returns in a child only."""
    for name in IMPORTS:
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
    log = os.open(asked["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    null = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, null), (1, log), (2, log)):
        os.dup2(source, target)
    os.closerange(3, 64)
    os.setsid()
    os.environ.update(asked["env"])
    sys.argv = [asked["start"], *asked["args"]]
    runpy.run_module(asked["start"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    wanted = _serve()
    if wanted is not None:
        _become(wanted)
