"""Runs of the local forge's CI on one commit: numbered folders, the newest counts."""

import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import nightly_sync
from nightly_sync import paths
from nightly_sync.checks.logs import CUT
from nightly_sync.config import CheckCommand
from nightly_sync.errors import SyncError
from nightly_sync.forge.base import Check, CheckStatus, Rollup
from nightly_sync.forge.local_ci import (
    JOB,
    LOCK,
    OUTPUT,
    ROLLUP,
    SCRATCH_PREFIX,
    Job,
    log_file,
    queued,
    remove_scratch,
)
from nightly_sync.forge.local_files import (
    is_held,
    make_folder,
    read_model,
    stamp,
    take_lock,
    write_model,
)

LOG_SHOWN = 2 * 1024 * 1024  # bytes of a log handed on, from its end
_STARTED: list["subprocess.Popen[bytes]"] = []  # kept, so that those that ended can be reaped


@dataclass(frozen=True)
class Attempt:
    """One run of checks on one commit, alive or over."""

    folder: Path

    @property
    def job(self) -> Job:
        """What it runs."""
        return read_model(self.folder / JOB, Job)

    @property
    def alive(self) -> bool:
        """Is its runner at work?"""
        return is_held(self.folder / LOCK)

    def rollup(self) -> Rollup:
        """Its checks as they are now; those a dead runner left unfinished are cancelled."""
        # In this order: a runner that ends in between has written everything.
        alive = self.alive
        rollup = read_model(self.folder / ROLLUP, Rollup)
        return rollup if alive else _cancelled(rollup)

    def state(self) -> tuple[str, tuple[int, int], bool]:
        """Something that changes whenever the rollup does."""
        return str(self.folder), stamp(self.folder / ROLLUP), self.alive

    def log(self, check: str) -> str:
        """The end of a check's log; empty if it has none yet."""
        file = log_file(self.folder, check)
        return read_end(file, LOG_SHOWN) if file.exists() else ""

    def sweep(self) -> None:
        """Remove what a runner that died left in the temp folder."""
        job = self.job
        scratch = Path(paths.fs_name(job.scratch))
        if scratch.exists() and not self.alive:
            remove_scratch(Path(paths.fs_name(job.workspace)), scratch)


def _cancelled(rollup: Rollup) -> Rollup:
    over = {"status": CheckStatus.COMPLETED, "conclusion": "CANCELLED"}
    checks = (
        check if check.status is CheckStatus.COMPLETED else check.model_copy(update=over)
        for check in rollup.checks
    )
    return rollup.model_copy(update={"checks": tuple(checks)})


def read_end(file: Path, limit: int) -> str:
    """The last `limit` bytes of a log as text, from the start of a line, and a mark if cut."""
    with file.open("rb") as log:
        size = log.seek(0, os.SEEK_END)
        log.seek(max(0, size - limit))
        text = log.read().decode("utf-8", "replace")
    return text if size <= limit else f"{CUT}\n{text.partition(chr(10))[2]}"


@dataclass(frozen=True)
class Attempts:
    """The runs on one commit, in one folder. Callers hold the forge's lock when they start one."""

    folder: Path

    def all(self) -> list[Attempt]:
        """Every run, oldest first."""
        return [Attempt(self.folder / str(number)) for number in sorted(self._numbers())]

    def newest(self) -> Attempt | None:
        """The run that counts."""
        return next(reversed(self.all()), None)

    def get(self, suite: str) -> Attempt | None:
        """The run a check belongs to, else the newest."""
        named = [attempt for attempt in self.all() if attempt.folder.name == suite]
        return named[0] if named else self.newest()

    def rollup(self, sha: str) -> Rollup:
        """What counts: the newest run; results of older ones that it does not carry are earlier."""
        rollups = [attempt.rollup() for attempt in self.all()]
        newest = rollups[-1] if rollups else Rollup(sha=sha)
        counted = {check.key for check in newest.checks}
        older = {check.key: check for rollup in rollups[:-1] for check in rollup.checks}
        earlier = tuple(check for key, check in older.items() if key not in counted)
        return newest.model_copy(update={"earlier": earlier})

    def start(
        self,
        workspace: Path,
        commit: str,
        checks: Sequence[CheckCommand],
        now: datetime,
        carried: Sequence[Check] = (),
    ) -> Attempt:
        """Start one more run, in a process that outlives this one."""
        for old in self.all():
            old.sweep()
        number = max(self._numbers(), default=0) + 1
        job = Job(
            workspace=str(workspace.absolute()),
            commit=commit,
            suite=str(number),
            triggered_at=now,
            scratch=str(Path(tempfile.gettempdir()) / f"{SCRATCH_PREFIX}{secrets.token_hex(4)}"),
            checks=tuple(checks),
            carried=tuple(carried),
        )
        return self._launch(job, self.folder / str(number))

    def _numbers(self) -> list[int]:
        if not self.folder.is_dir():
            return []
        return [int(item.name) for item in self.folder.iterdir() if item.name.isdecimal()]

    def _launch(self, job: Job, folder: Path) -> Attempt:
        """The run appears with its lock already held, so nobody ever takes it for dead."""
        staging = make_folder(self.folder / f".{job.suite}-{os.getpid()}-{secrets.token_hex(4)}")
        write_model(staging / JOB, job)
        write_model(staging / ROLLUP, queued(job, folder))
        handle = take_lock(staging / LOCK)
        assert handle is not None, "nobody else knows this folder"
        try:
            staging.rename(folder)
            _spawn(folder, handle)
        finally:
            os.close(handle)
        return Attempt(folder)


def _spawn(folder: Path, handle: int) -> None:
    _reap()
    root = str(Path(nightly_sync.__file__).parent.parent)
    command = [sys.executable, "-m", "nightly_sync.forge.local_ci", str(folder / JOB), str(handle)]
    with (folder / OUTPUT).open("ab") as output:
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": root},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(handle,),
            )
        except OSError as error:
            raise SyncError(f"The runner of the checks could not be started: {error}.") from error
    _STARTED.append(process)


def _reap() -> None:
    _STARTED[:] = [process for process in _STARTED if process.poll() is None]
