"""The local forge: pull requests as files beside the repository, CI in a process of its own.

For a repository on this machine, without any server. The same protocol and the same words as
GitHub, so the flow and the gate cannot tell the difference. Everything lies in one folder:

    <repository>.nightly-sync/
      lock                         held for a moment by whoever changes something
      pairs/<pair>/lock            held by the run that syncs this pair of branches
      pulls/0001.json, 0001.md     a pull request with its comments, and a page to read
      ci/<sha>/<n>/                the n-th run of the checks on a commit: rollup.json and logs
      ci/<sha>/baseline-<id>/<n>/  one check on an untouched target commit

Heads of branches are always read from origin, never remembered.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from nightly_sync import git, workspace
from nightly_sync.config import CheckCommand, SyncConfig
from nightly_sync.errors import ConfigError, StopForPerson, SyncError, Unreachable
from nightly_sync.forge.base import (
    BaselineResult,
    Check,
    CheckStatus,
    Cost,
    Glance,
    PullRequest,
    Rollup,
)
from nightly_sync.forge.local_attempts import Attempt, Attempts
from nightly_sync.forge.local_files import locked, make_folder
from nightly_sync.forge.local_records import Comment, PullRecord, Records, pull_request

TICK = 0.1  # seconds between two looks at files
BASELINE_MARGIN = 300.0  # seconds for start and checkout, on top of the check's own limit
CONCLUSIVE = ("SUCCESS", "FAILURE")


def origin_folder(repository: str) -> Path:
    """The folder of a repository on this machine, from a path or a file:// URL.

    The same for every spelling, so that one repository never has two sets of records. Raises
    ConfigError for anything else.
    """
    folder = workspace.local_path(repository)
    if folder is None or not folder.is_dir():
        raise ConfigError(
            f"{repository} is no folder on this machine; the local forge needs a local repository."
        )
    return folder


def state_folder(repository: str) -> Path:
    """Where the local forge keeps its records: `<repository>.nightly-sync`, beside it."""
    origin = origin_folder(repository)
    return origin.with_name(f"{origin.name}.nightly-sync")


def pair_folder(config: SyncConfig) -> Path:
    """Where a run locks its pair of branches: the same for every user, spelling and workspace."""
    names = f"{config.source}\0{config.target}".encode("utf-8", "surrogateescape")
    pairs = make_folder(state_folder(config.repository) / "pairs")
    return pairs / sha256(names).hexdigest()[:12]


def _utc_now() -> datetime:
    return datetime.now(UTC)


class LocalForge:
    """The `Forge` protocol of `forge/base.py` on files."""

    def __init__(
        self,
        config: SyncConfig,
        workspace_git_dir: Path,
        state: Path | None = None,
        clock: Callable[[], datetime] = _utc_now,
    ):
        self._config = config
        self._workspace = workspace_git_dir
        self._origin = git.Remote(str(origin_folder(config.repository)))
        self._state = make_folder(state or state_folder(config.repository))
        self._records = Records(self._state / "pulls")
        self._clock = clock
        self._seen: dict[str, object] = {}  # what rollup() last saw, for wait()

    # Pull requests

    def open_pull_requests(self, prefix: str) -> list[PullRequest]:
        """Our open sync pull requests, oldest first."""
        branches = self._branches()
        records = (record for record in self._records.all() if record.open)
        return [self._view(r, branches) for r in records if r.branch.startswith(prefix)]

    def create_draft(self, branch: str, target: str, title: str, body: str) -> PullRequest:
        """Open a draft, or return the open one the branch has; two callers get the same one."""
        branches = self._branches()
        for name in (branch, target):
            if name not in branches:
                raise SyncError(f"{self._origin.url} has no branch {name}: push it first.")
        with self._lock():
            record = self._open_one(branch) or self._new(branch, target, title, body, branches)
        return self._view(record, branches)

    def closed_pull_request(self, branch: str) -> PullRequest | None:
        """The newest closed pull request of a branch, unless `close` closed it."""
        mine = [r for r in self._records.all() if r.branch == branch and not r.open]
        by_person = [record for record in mine if not record.closed_by_us]
        return self._view(by_person[-1], self._branches()) if by_person else None

    def get(self, number: int) -> PullRequest:
        """The pull request as it is now; SyncError if there is none of this number."""
        return self._view(self._records.get(number), self._branches())

    def in_use(self, branch: str) -> tuple[int, ...]:
        """Numbers of the open pull requests that come from a branch or go into it."""
        found = (record for record in self._records.all() if record.open)
        return tuple(r.number for r in found if branch in (r.branch, r.target))

    def revise_body(self, number: int, revise: Callable[[str], str]) -> None:
        """Replace the body by what `revise` makes of it; no other run changes it meanwhile."""
        with self._lock():
            record = self._records.get(number)
            self._records.save(record.model_copy(update={"body": revise(record.body)}))

    def add_labels(self, number: int, labels: tuple[str, ...]) -> None:
        """Add labels; those it has stay."""
        with self._lock():
            record = self._records.get(number)
            merged = tuple(dict.fromkeys((*record.labels, *labels)))
            self._records.save(record.model_copy(update={"labels": merged}))

    def comment(self, number: int, text: str) -> None:
        """Add a comment."""
        with self._lock():
            self._records.save(self._commented(self._records.get(number), text))

    def close(self, number: int, comment: str) -> None:
        """Close with a comment. The record, the branch and the logs stay."""
        with self._lock():
            record = self._commented(self._records.get(number), comment)
            self._records.save(record.model_copy(update={"open": False, "closed_by_us": True}))

    def mark_ready(self, number: int, sha: str) -> None:
        """Draft to ready, only while origin has the branch at `sha`; StopForPerson otherwise.

        Looks again afterwards: if someone pushed meanwhile, it is a draft again.
        """
        with self._lock():
            record = self._records.get(number)
            if not record.open:
                raise StopForPerson(f"Pull request {number} was closed; it was not marked ready.")
            self._demand_head(record, sha)
            self._records.save(record.model_copy(update={"draft": False, "head": sha}))
            try:
                self._demand_head(record, sha)
            except SyncError:
                self._records.save(record.model_copy(update={"draft": True}))
                raise

    def mark_draft(self, number: int) -> None:
        """Ready back to draft."""
        self._change(number, draft=True)

    def ask_for_review(self, number: int, people: tuple[str, ...]) -> None:
        """Nobody can be asked here: whoever reads the page is the reviewer."""

    # Checks

    def required_checks(self, branch: str) -> tuple[str, ...]:
        """None: a repository on a disk protects no branch."""
        return ()

    def not_started_hints(self, number: int, sha: str, since: datetime) -> tuple[str, ...]:
        """None: the checks are started here."""
        return ()

    def trigger_ci(self, number: int, sha: str) -> datetime:
        """Run the configured checks on the head commit; returns when this was asked for.

        A run of the same checks on the same commit that is still at work is joined, with its own
        time of start. Raises StopForPerson if the head is another commit by now.
        """
        self._demand_head(self._records.get(number), sha)
        checks = self._config.checks
        if not checks:
            return self._clock()
        attempts = self._attempts(sha)
        with self._lock():
            newest = attempts.newest()
            if newest and newest.alive and newest.job.checks == checks:
                return newest.job.since
            return self._start(attempts, sha, checks).job.triggered_at

    def rerun(self, number: int, sha: str, checks: tuple[Check, ...]) -> datetime | None:
        """Run checks of the newest run again, on the same commit; the other results stand.

        None if they are not of that run, or are configured otherwise by now. Raises Unreachable
        while checks of it are at work, StopForPerson if the head is another commit.
        """
        self._demand_head(self._records.get(number), sha)
        attempts, now = self._attempts(sha), self._clock()
        with self._lock():
            newest = attempts.newest()
            if not checks or newest is None or newest.job.checks != self._config.checks:
                return None
            found = newest.rollup().checks
            if not {*checks} <= {*found}:
                return None
            _demand_end(found)
            carried = [check for check in found if check not in checks]
            attempts.start(self._workspace, sha, self._config.checks, now, carried)
        return now

    def rollup(self, sha: str, number: int | None = None) -> Rollup:
        """The newest run of the checks on a commit; empty if there is none.

        A glance at the pull request has no head: that would take a git process for each look.
        """
        now = {"at": self._clock(), "pull": self._glance(number) if number else None}
        self._seen[sha] = self._state_of(sha)
        return self._attempts(sha).rollup(sha).model_copy(update=now)

    def _glance(self, number: int) -> Glance:
        record = self._records.get(number)
        return Glance(open=record.open, labels=record.labels, target=record.target)

    def wait(self, sha: str, seconds: float) -> None:
        """Return after `seconds`, or as soon as the rollup is another than the one last read."""
        seen = self._seen.setdefault(sha, self._state_of(sha))
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and self._state_of(sha) == seen:
            time.sleep(min(TICK, left))

    def log(self, sha: str, check: Check) -> str:
        """The end of a check's log, at most 2 MiB, with a mark if it is cut."""
        attempt = self._attempts(sha).get(check.suite)
        return attempt.log(check.name) if attempt else ""

    def baseline(self, target_sha: str, check: Check) -> BaselineResult | None:
        """Run the same check on the untouched target commit, to its end, and return its log.

        A conclusive run of the same command on the same commit is not repeated. None if no such
        check is configured or the commit is not at hand. Raises SyncError if it never ends.
        """
        command = next((item for item in self._config.checks if item.name == check.name), None)
        if command is None or git.commit_of(self._workspace, target_sha) is None:
            return None
        attempts = Attempts(self._attempts(target_sha).folder / f"baseline-{_digest(command)}")
        with self._lock():
            attempt = _usable(attempts) or self._start(attempts, target_sha, (command,))
        _await_end(attempt, command)
        return BaselineResult(
            check=attempt.rollup().checks[0],
            log=attempt.log(command.name),
            where=f"the untouched target {target_sha[:12]}",
            sha=target_sha,
        )

    # For those who run it

    @property
    def cost(self) -> Cost:
        """Nothing: there is no API."""
        return Cost()

    def origin(self) -> git.Remote:
        """The repository, for git."""
        return self._origin

    def disconnect(self) -> None:
        """Nothing to do: there is no connection."""

    # Inside

    def _lock(self) -> AbstractContextManager[None]:
        return locked(self._state / "lock")

    def _branches(self) -> dict[str, str]:
        return git.remote_branches(self._workspace, self._origin)

    def _view(self, record: PullRecord, branches: dict[str, str]) -> PullRequest:
        head = branches.get(record.branch, record.head)
        return pull_request(record, head, self._records.page(record.number))

    def _open_one(self, branch: str) -> PullRecord | None:
        records = self._records.all()
        return next((item for item in records if item.open and item.branch == branch), None)

    def _new(
        self, branch: str, target: str, title: str, body: str, branches: dict[str, str]
    ) -> PullRecord:
        record = PullRecord(
            number=self._records.next_number(),
            branch=branch,
            target=target,
            head=branches[branch],
            title=title,
            body=body,
            author=self._config.committer.name,
            created_at=self._clock(),
        )
        self._records.save(record)
        return record

    def _change(self, number: int, **changes: object) -> None:
        with self._lock():
            self._records.save(self._records.get(number).model_copy(update=changes))

    def _commented(self, record: PullRecord, text: str) -> PullRecord:
        said = Comment(at=self._clock(), text=text)
        return record.model_copy(update={"comments": (*record.comments, said)})

    def _demand_head(self, record: PullRecord, sha: str) -> None:
        head = self._branches().get(record.branch, "")
        if head != sha:
            found = f"is at {head[:12]}" if head else "is gone"
            raise StopForPerson(
                f"{record.branch} {found}, not at {sha[:12]} as this run left it: look at what "
                f"happened there. Pull request {record.number} stays a draft."
            )

    def _attempts(self, sha: str) -> Attempts:
        return Attempts(self._state / "ci" / sha)

    def _start(self, attempts: Attempts, sha: str, checks: tuple[CheckCommand, ...]) -> Attempt:
        return attempts.start(self._workspace, sha, checks, self._clock())

    def _state_of(self, sha: str) -> object:
        newest = self._attempts(sha).newest()
        return newest.state() if newest else None


def _digest(command: CheckCommand) -> str:
    return sha256(command.model_dump_json().encode()).hexdigest()[:12]


def _demand_end(checks: Iterable[Check]) -> None:
    busy = [check.name for check in checks if check.status is not CheckStatus.COMPLETED]
    if busy:
        raise Unreachable(f"Nothing can run again yet: {', '.join(busy)} did not end.")


def _usable(attempts: Attempts) -> Attempt | None:
    """A run that is at work, or whose result says something about the commit."""
    newest = attempts.newest()
    if newest is None or newest.alive:
        return newest
    return newest if newest.rollup().checks[0].conclusion in CONCLUSIVE else None


def _await_end(attempt: Attempt, command: CheckCommand) -> None:
    limit = command.timeout_seconds + BASELINE_MARGIN
    deadline = time.monotonic() + limit
    while attempt.alive:
        if time.monotonic() > deadline:
            raise SyncError(f"{command.name} on the target commit did not end in {limit:g} s.")
        time.sleep(TICK)
