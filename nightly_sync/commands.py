"""Run commands of the user's: checks, formatters, linters. Never through a shell.

They run as the user, with the user's rights: the config that names them is trusted like a
Makefile. What this module holds is their environment, their time and their output.
"""

import os
import selectors
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from nightly_sync import paths
from nightly_sync.checks.logs import CUT
from nightly_sync.errors import SyncError
from nightly_sync.secrets import is_secret_name

CHUNK = 64 * 1024
TAIL = 256 * 1024  # bytes kept in memory for the result, and for the end of a log that is cut
LOG_LIMIT = 64 * 1024 * 1024  # bytes; a command in a loop must not fill the disk
NOT_FOUND = 127  # the shell's code for a command that cannot be started
BATCH = 200  # files on one command line
TICK = 0.1  # seconds between two looks at whether the command has ended

_OURS = ("GIT_", "PREFECT_", "PYTEST_")
_OURS_WHOLE = frozenset({"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP"})


@dataclass(frozen=True)
class CommandResult:
    """How a command ended. `output` is the end of what it printed, both streams in order."""

    code: int  # negative: the signal that ended it
    seconds: float
    output: str
    missing: bool = False  # it could not be started at all
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        """Did it end by itself, with 0?"""
        return self.code == 0 and not self.timed_out


def command_environment(**extra: str) -> dict[str, str]:
    """The caller's environment without what belongs to this process, and with `extra`.

    Dropped: GIT_* (would point git at another repository), PYTHONPATH and its kin (would put
    this package before the user's), the settings of Prefect and pytest around us, and whatever
    its name calls a secret: a command runs code of the branch that is merged.
    """
    kept = {name: value for name, value in os.environ.items() if not _is_ours(name)}
    return {**kept, **extra}


def _is_ours(name: str) -> bool:
    return name in _OURS_WHOLE or name.startswith(_OURS) or is_secret_name(name)


def argv(line: str) -> list[str]:
    """A configured command line as words; a plain `python` is the interpreter that runs this."""
    words = shlex.split(line)
    return [sys.executable, *words[1:]] if words[0] == "python" else words


def run_on_files(line: str, folder: Path, files: Sequence[str], timeout: float) -> CommandResult:
    """Run a configured command with the files (paths in `folder`) as its last arguments.

    In batches, as a command line has a limit; the first that fails ends it and is the result.
    """
    names = [f"./{paths.fs_name(name)}" for name in files]  # ./ so that no name is an option
    result = CommandResult(0, 0.0, "")
    for start in range(0, len(names), BATCH):
        result = run_command([*argv(line), *names[start : start + BATCH]], folder, timeout)
        if not result.ok:
            break
    return result


def run_command(
    argv: Sequence[str],
    cwd: Path,
    timeout: float,
    log: Path | None = None,
    env: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
) -> CommandResult:
    """Run a command to its end and return how it went; a failure is a result, not an error.

    Its output is appended to `log` while it runs. Its whole process group is killed when it
    ends, after `timeout` seconds, or when anything is raised here (a cancelled run). Without
    `env` it gets `command_environment()`. Of this process's open files it gets `pass_fds` only.
    Raises SyncError if `cwd` is no folder.
    """
    if not cwd.is_dir():
        raise SyncError(f"{argv[0]} cannot run in {cwd}: there is no such folder.")
    started = time.monotonic()
    with nullcontext() if log is None else log.open("ab") as file, _sink(file) as sink:
        try:
            process = _start(argv, cwd, env, pass_fds)
        except (OSError, ValueError) as error:
            return _not_started(argv, error, sink)
        timed_out = _finish(process, sink, started + timeout)
        seconds = time.monotonic() - started
        return CommandResult(process.returncode, seconds, sink.text(), timed_out=timed_out)


def _start(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str] | None, pass_fds: Sequence[int]
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        argv,
        cwd=cwd,
        env=command_environment() if env is None else env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        pass_fds=pass_fds,
        bufsize=0,
    )


@dataclass
class _Sink:
    """Where output goes: the end of it stays here, all of it (up to the limit) in the log."""

    file: IO[bytes] | None
    left: int  # bytes the log still takes
    tail: bytearray = field(default_factory=bytearray)
    cut: bool = False

    def write(self, chunk: bytes) -> None:
        self._remember(chunk)
        if self.file and self.left > 0:
            self.file.write(chunk)
            self.file.flush()
        self.cut = self.cut or self.left <= 0
        self.left -= len(chunk)

    def text(self) -> str:
        return self.tail[-TAIL:].decode("utf-8", "replace")

    def _remember(self, chunk: bytes) -> None:
        self.tail += chunk
        if len(self.tail) > 2 * TAIL:
            del self.tail[:-TAIL]


@contextmanager
def _sink(file: IO[bytes] | None) -> Iterator[_Sink]:
    sink = _Sink(file, LOG_LIMIT)
    yield sink
    if file and sink.cut:
        file.write(f"\n{CUT}\n".encode() + sink.tail[-TAIL:])


def _not_started(argv: Sequence[str], error: OSError | ValueError, sink: _Sink) -> CommandResult:
    reason = getattr(error, "strerror", None) or str(error)
    sink.write(f"The command {argv[0]!r} could not be started: {reason}\n".encode())
    return CommandResult(NOT_FOUND, 0.0, sink.text(), missing=True)


def _finish(process: "subprocess.Popen[bytes]", sink: _Sink, deadline: float) -> bool:
    """Wait for the end; True if the deadline came first."""
    assert process.stdout is not None
    try:
        return _pump(process, process.stdout.fileno(), sink, deadline)
    finally:
        _kill_group(process)
        process.wait()
        process.stdout.close()


def _pump(process: "subprocess.Popen[bytes]", pipe: int, sink: _Sink, deadline: float) -> bool:
    """Copy output until the command ends; children it leaves behind do not keep us waiting."""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while time.monotonic() < deadline:
            ended = process.poll() is not None
            if ended:
                _kill_group(process)
            if selector.select(0 if ended else TICK):
                chunk = os.read(pipe, CHUNK)
                if not chunk:
                    return _outlasts(process, deadline)
                sink.write(chunk)
            elif ended:
                return False
    return True


def _outlasts(process: "subprocess.Popen[bytes]", deadline: float) -> bool:
    """A command may close its output and go on."""
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return True
    return False


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    # The group is gone once all its members are.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
