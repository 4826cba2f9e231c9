"""Processes that start at once: children of one process that has imported everything already.

Starting Python with Prefect takes 5 to 15 s on a small machine, our command line alone half a
second, as does the local forge's runner of checks. The tests need two hundred such processes: to
kill, to cancel, to serve, to run checks. The parent has no threads and does nothing but fork, so a
child is as good as a fresh one.
"""

import json
import os
import runpy
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
FLOWS = ("prefect.main", "prefect.cli", "flows.sync", "nightly_sync.forge.github.connect")
PREVIEW = ("nightly_sync.cli", "nightly_sync.preview", "nightly_sync.config_file")
RUNNER = "nightly_sync.forge.local_ci"
HANDLE = 3  # what a child calls the file that was handed to it


@dataclass(frozen=True)
class Ended:
    """How a process ended; a negative code is the signal that ended it."""

    returncode: int
    stdout: str
    stderr: str


class Forking:
    """Starts `python -m MODULE ARGS` in children of a process that has imported `imports`."""

    def __init__(self, *imports: str, env: Mapping[str, str] | None = None):
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._parent = subprocess.Popen(
                [sys.executable, "-m", "tests.support.forking", *imports],
                cwd=ROOT,
                env={**os.environ, **(env or {})},
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
            )

    def start(
        self,
        out: Path,
        err: Path,
        env: Mapping[str, str],
        module: str,
        *args: str,
        handles: Sequence[int] = (),
    ) -> int:
        """Start a module with this environment and no other; returns its process id.

        What a module reads from the environment while it is imported is the parent's. One open
        file may be handed on: the module has it as HANDLE.
        """
        files = {"out": str(out), "err": str(err)}
        asked = {"start": module, "args": args, "env": dict(env), **files}
        return self._ask(asked, handles)

    def wait(self, pid: int) -> int:
        """Wait for the end of such a process; returns its code."""
        return self._ask({"wait": pid})

    def run(self, module: str, *args: str, **env: str) -> Ended:
        """Start a module with more variables in our environment, and wait for its end."""
        with TemporaryDirectory() as folder:
            out, err = Path(folder) / "out", Path(folder) / "err"
            code = self.wait(self.start(out, err, {**os.environ, **env}, module, *args))
            return Ended(code, out.read_text(errors="replace"), err.read_text(errors="replace"))

    def close(self) -> None:
        """End the parent; its children must have ended."""
        self._socket.close()
        self._parent.wait(30)

    def _ask(self, what: Mapping[str, Any], handles: Sequence[int] = ()) -> int:
        message = json.dumps(what).encode() + b"\n"
        sent = socket.send_fds(self._socket, [message], handles)
        self._socket.sendall(message[sent:])
        return int(_line(self._socket)[0])


@cache
def _command_line() -> Forking:
    return Forking(*PREVIEW)


def nightly_sync(*args: str) -> Ended:
    """Run our command line as a user would; for commands that need no Prefect."""
    return _command_line().run("nightly_sync", *args)


@cache
def _runners() -> Forking:
    return Forking(RUNNER)


def run_checks(folder: Path, lock: int) -> None:
    """Start the local forge's runner as `local_attempts` does, with the lock it is to hold."""
    out, job = folder / "runner.out", str(folder / "job.json")
    _runners().start(out, out, os.environ, RUNNER, job, str(HANDLE), handles=[lock])


def _line(link: socket.socket) -> tuple[bytes, list[int]]:
    """One line, and the open files that came with it; empty when the other side is gone."""
    line, handles = b"", list[int]()
    while not line.endswith(b"\n"):
        part, more, _, _ = socket.recv_fds(link, 1 << 16, 1)
        if not part:
            return b"", handles
        line, handles = line + part, handles + more
    return line, handles


def _serve(imports: list[str]) -> tuple[Mapping[str, Any], list[int]] | None:
    """The parent: one line of JSON a request, one line an answer. Returns in a child only."""
    for name in imports:
        __import__(name)
    link = socket.socket(fileno=os.dup(0))
    while (got := _line(link))[0]:
        asked: Mapping[str, Any] = json.loads(got[0])
        result = _wait(asked["wait"]) if "wait" in asked else os.fork()
        if result == 0 and "start" in asked:
            link.detach()
            return asked, got[1]
        for handle in got[1]:
            os.close(handle)
        link.sendall(f"{result}\n".encode())
    return None


def _wait(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _become(asked: Mapping[str, Any], handles: list[int]) -> None:
    """The child: the module runs as if it had been started from a shell."""
    files = (os.devnull, asked["out"], asked["err"])
    modes = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for target, (file, mode) in enumerate(zip(files, modes, strict=True)):
        os.dup2(os.open(file, mode), target)
    for handle in handles:
        os.dup2(handle, HANDLE)
    os.closerange(HANDLE + len(handles), 64)
    os.setsid()
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.argv = [asked["start"], *asked["args"]]
    sys.modules.pop(asked["start"], None)  # imported before, to run again under another name
    runpy.run_module(asked["start"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    wanted = _serve(sys.argv[1:])
    if wanted is not None:
        _become(*wanted)
