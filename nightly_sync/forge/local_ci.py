"""The local forge's CI: a process of its own that runs the configured checks on a commit.

    python -m nightly_sync.forge.local_ci FOLDER/job.json [LOCK_HANDLE]

Results go to FOLDER/rollup.json, each check's output to a log beside it. The process holds a lock
on FOLDER/lock for as long as it lives: who finds checks unfinished and the lock free knows that it
died. It has its own session and talks to files only, so the flow that started it may end, be
killed or hang without touching it.

Security: the checks are the user's own commands, run as the user, on the code of the branch, with
no sandbox. Whoever may push to the source branch may therefore run code here, as with any CI that
runs on the machine of its owner. They see the caller's environment, without the settings of git,
Python, pytest and Prefect.
"""

import os
import re
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from threading import Lock

from nightly_sync import git, paths
from nightly_sync.commands import CommandResult, argv, command_environment, run_command
from nightly_sync.config import CheckCommand
from nightly_sync.errors import SyncError
from nightly_sync.forge.base import Check, CheckStatus, Rollup
from nightly_sync.forge.local_files import read_model, take_lock, write_model
from nightly_sync.model import Model, PathName

APP, WORKFLOW = "local", "checks"
AT_ONCE = 2  # checks; each has a checkout of its own, so they cannot disturb each other
SCRATCH_PREFIX = "nightly-sync-ci-"  # `checks/logs.py` takes folders of this name off paths
JOB, ROLLUP, LOCK, OUTPUT = "job.json", "rollup.json", "lock", "runner.out"
_PLAIN = re.compile(r"[a-z0-9_][a-z0-9._-]{0,59}")


class Job(Model):
    """These checks on this commit. `scratch` is a folder the runner makes and removes.

    `carried` are results of the run before that stand: a rerun of those that failed shows them
    beside its own, and their logs stay where they are.
    """

    workspace: PathName  # the bare repository that has the commit
    commit: str
    suite: str
    triggered_at: datetime  # when this run was asked for
    scratch: PathName
    checks: tuple[CheckCommand, ...]  # all that it has a result of
    carried: tuple[Check, ...] = ()

    @property
    def to_run(self) -> tuple[CheckCommand, ...]:
        """The checks that run."""
        standing = {check.name for check in self.carried}
        return tuple(check for check in self.checks if check.name not in standing)

    @property
    def since(self) -> datetime:
        """Since when its results count: since it was asked for, or the oldest carried one began."""
        starts = (check.started_at for check in self.carried if check.started_at)
        return min((self.triggered_at, *starts))


def log_file(folder: Path, check: str) -> Path:
    """Where a check's output goes: its name, with a digest if that is no plain file name."""
    if _PLAIN.fullmatch(check):
        return folder / f"{check}.log"
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", check)[:60].strip(".-")
    return folder / f"{readable}-{sha256(check.encode()).hexdigest()[:8]}.log"


def queued(job: Job, folder: Path) -> Rollup:
    """The rollup before anything runs."""
    waiting = {check.name: _queued(check, job, folder) for check in job.to_run}
    carried = {check.name: check for check in job.carried}
    results = {**waiting, **carried}
    return Rollup(sha=job.commit, checks=tuple(results[check.name] for check in job.checks))


def _queued(check: CheckCommand, job: Job, folder: Path) -> Check:
    return Check(
        name=check.name,
        app=APP,
        workflow=WORKFLOW,
        suite=job.suite,
        status=CheckStatus.QUEUED,
        url=paths.printable(str(log_file(folder, check.name))),
    )


class Board:
    """The rollup file, kept up to date by several threads."""

    def __init__(self, file: Path):
        self._file = file
        self._lock = Lock()
        self._rollup = read_model(file, Rollup)

    def update(self, name: str, **changes: object) -> None:
        """Change one check, on disk too."""
        with self._lock:
            checks = (
                check.model_copy(update=changes) if check.name == name else check
                for check in self._rollup.checks
            )
            self._rollup = self._rollup.model_copy(update={"checks": tuple(checks)})
            write_model(self._file, self._rollup)


class Runner:
    """One job in its folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.job = read_model(folder / JOB, Job)
        self.board = Board(folder / ROLLUP)
        self.workspace = Path(paths.fs_name(self.job.workspace))
        self.scratch = Path(paths.fs_name(self.job.scratch))
        self._one_checkout_at_a_time = Lock()

    def run(self) -> None:
        """Run every check to its end, and leave nothing behind but results and logs."""
        self.scratch.mkdir(mode=0o700)
        try:
            with ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(self._check, range(len(self.job.to_run)), self.job.to_run))
        finally:
            remove_scratch(self.workspace, self.scratch)

    def _check(self, number: int, check: CheckCommand) -> None:
        started = max(_now(), self.job.triggered_at)
        self.board.update(check.name, status=CheckStatus.IN_PROGRESS, started_at=started)
        checkout = self.scratch / str(number)
        conclusion = self._conclude(check, checkout)
        shutil.rmtree(checkout, ignore_errors=True)
        self.board.update(
            check.name,
            status=CheckStatus.COMPLETED,
            conclusion=conclusion,
            completed_at=max(_now(), started),
        )

    def _conclude(self, check: CheckCommand, checkout: Path) -> str:
        log = log_file(self.folder, check.name)
        try:
            with self._one_checkout_at_a_time:
                git.add_worktree(self.workspace, checkout, self.job.commit)
        except SyncError as error:
            _append(log, f"##[error]The commit could not be checked out: {error}")
            return "STARTUP_FAILURE"
        return run_check(check, checkout, log)


def run_check(check: CheckCommand, checkout: Path, log: Path) -> str:
    """Run a check in a checkout, append to its log what it prints and how it ends.

    Returns the conclusion, in GitHub's words: SUCCESS, FAILURE or TIMED_OUT.
    """
    _append(log, f"##[command]{check.run}")
    words, environment = argv(check.run), command_environment(CI="true")
    result = run_command(words, checkout, check.timeout_seconds, log, environment)
    _append(log, _last_word(check, result))
    return _conclusion(result)


def _conclusion(result: CommandResult) -> str:
    if result.timed_out:
        return "TIMED_OUT"
    return "SUCCESS" if result.ok else "FAILURE"


def _last_word(check: CheckCommand, result: CommandResult) -> str:
    if result.timed_out:
        return f"##[error]The check took over {check.timeout_seconds:g} s and was stopped."
    if result.code < 0:
        return f"##[error]The check was ended by signal {-result.code}."
    return "" if result.ok else f"##[error]Process completed with exit code {result.code}."


def _append(log: Path, line: str) -> None:
    """Add a line of our own, on a line of its own."""
    with log.open("ab+") as file:
        if file.tell() and line:
            file.seek(-1, 2)
            file.write(b"" if file.read(1) == b"\n" else b"\n")
        file.write(f"{line}\n".encode("utf-8", "backslashreplace") if line else b"")


def _now() -> datetime:
    return datetime.now(UTC)


def remove_scratch(workspace: Path, scratch: Path) -> None:
    """Remove a runner's checkouts, and what the repository knows of them."""
    if scratch.name.startswith(SCRATCH_PREFIX) and scratch.exists():
        shutil.rmtree(scratch, ignore_errors=True)
        git.prune_worktrees(workspace)


def main(arguments: Sequence[str]) -> int:
    """Run a job; 1 if another runner has it."""
    folder = Path(arguments[0]).absolute().parent
    inherited = int(arguments[1]) if len(arguments) > 1 else None
    handle = take_lock(folder / LOCK) if inherited is None else inherited
    if handle is None:
        sys.stderr.write(f"Another runner is at work in {folder}.\n")
        return 1
    # A check that outlives this process must not look as if this process lived.
    os.set_inheritable(handle, False)
    Runner(folder).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
