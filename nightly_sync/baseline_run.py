"""Does the check fail without us too? Asked of the very commit that we merged into, if possible.

First what the forge has of that commit. Where it proves nothing, and the config opts in: a command,
run here on the untouched target, then CI on a throw-away branch at the target's commit. Only where
nobody has tested that commit counts what the forge has of older ones, which may have been repaired
or broken since. What was done once in a run is not done again in it; the run's own folder
remembers:

    baseline/<sha12>/<check>.log, .json    a command's output and its result
    baseline/<sha12>.json                  when CI was started on a throw-away branch

A throw-away branch is called `nightly-sync-baseline/<source>/<target>/<sha12>`: below no prefix of
sync branches, the same for every run of one pair of branches, and it says where it must be. So what
a run that died left behind is known, and deleted unless somebody committed to it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol, runtime_checkable

from nightly_sync import git, paths, tools
from nightly_sync.checks.baseline import (
    CONCLUSIVE,
    NoBaseline,
    conclusive,
    is_at_work,
    is_over,
    is_under_way,
    tells,
    unprovable,
)
from nightly_sync.checks.triage import Failure
from nightly_sync.config import CheckCommand, SyncConfig
from nightly_sync.errors import SyncError, Unreachable, one_line
from nightly_sync.forge.base import BaselineResult, Check, CheckStatus, Forge, Rollup
from nightly_sync.forge.local_attempts import LOG_SHOWN, read_end
from nightly_sync.forge.local_ci import log_file, run_check
from nightly_sync.forge.local_files import make_folder, read_model, write_model
from nightly_sync.model import Model
from nightly_sync.session import Session

ROOT = "nightly-sync-baseline"


@runtime_checkable
class BranchForge(Forge, Protocol):
    """A forge whose CI can run on a branch that has no pull request."""

    def cannot_start_on_branch(self) -> str:
        """Why this config's trigger starts no checks without a pull request; "" if it does."""

    def start_on_branch(self, branch: str, sha: str) -> None:
        """Start the checks of a branch that was just pushed, unless the push does it."""


class Started(Model):
    """When this run started CI on the target's commit, by the forge's own time."""

    at: datetime


def find(run: Session, target_sha: str, failure: Failure) -> BaselineResult | NoBaseline:
    """The failed check where nothing of this sync is, or why nobody knows how it fares there.

    May take as long as a configured command, or as the configured wait for a throw-away branch;
    neither is tried for a failure that no comparison could prove. Raises Unreachable in an outage;
    called again, it goes on from there.
    """
    known = run.forge.baseline(target_sha, failure.check)
    if known is not None and known.sha == target_sha and tells(known):
        return known
    answers = [] if unprovable(failure) else _tested(run, target_sha, failure.check)
    found = [item for item in (*answers, known) if isinstance(item, BaselineResult)]
    telling = [item for item in found if tells(item)]
    if found:
        return _preferred((telling or found)[0], known)
    said = (item for item in answers if isinstance(item, str) and item)
    first = f"the forge has no result of {failure.check.name} that would tell"
    return NoBaseline(why="; ".join((first, *said)))


def _preferred(chosen: BaselineResult, known: BaselineResult | None) -> BaselineResult:
    """The chosen one, which keeps the link to what the forge knew."""
    if known is None or chosen is known or not known.check.url:
        return chosen
    return chosen.model_copy(update={"older": f"{known.where} ({known.check.url})"})


def _tested(run: Session, sha: str, check: Check) -> list[BaselineResult | str]:
    """What the ways say that the config opts in to, up to the first answer that tells."""
    answers: list[BaselineResult | str] = []
    for look in (_commanded, _on_branch):
        answer = look(run, sha, check)
        answers.append(answer)
        if isinstance(answer, BaselineResult) and tells(answer):
            break
    return answers


def _left(run: Session) -> timedelta:
    """What is left of the run's time."""
    return run.started + timedelta(minutes=run.config.time_limit_minutes) - run.clock()


def _folder(run: Session) -> Path:
    return run.workspace.run / "baseline"


# A command, on a checkout


def _commanded(run: Session, sha: str, check: Check) -> BaselineResult | str:
    """The configured command's result, or why it has none; "" if no command is configured."""
    commands = run.config.baseline.commands
    command = next((item for item in commands if item.name == check.name), None)
    if command is None:
        return ""
    left = _left(run).total_seconds()
    if left <= 0:
        return "no time was left to run the command for it"
    held = {"timeout_seconds": min(command.timeout_seconds, left)}
    log = log_file(make_folder(_folder(run) / sha[:12]), check.name)
    place = run.workspace.repository
    found = by_command(place, sha, check, command.model_copy(update=held), log)
    if found.check.conclusion in CONCLUSIVE:
        return found
    return f"the command for it on the target ended as {found.check.conclusion}"


def by_command(
    repo: Path, target_sha: str, check: Check, command: CheckCommand, log: Path
) -> BaselineResult:
    """Run the command on a checkout of the untouched target, or read what it did before.

    The output is kept in `log`, the result beside it.
    """
    file = log.with_suffix(".json")
    if not file.exists():
        log.unlink(missing_ok=True)  # of a try that was killed
        with tools.checkout(repo, target_sha) as (folder, _):
            conclusion = run_check(command, folder, log)
        write_model(file, _ended(check.name, conclusion, log))
    return BaselineResult(
        check=read_model(file, Check),
        log=read_end(log, LOG_SHOWN),
        where=f"the untouched target {target_sha[:12]}, by the configured command",
        sha=target_sha,
    )


def _ended(name: str, conclusion: str, log: Path) -> Check:
    url = paths.printable(str(log))
    return Check(name=name, status=CheckStatus.COMPLETED, conclusion=conclusion, url=url)


# CI, on a throw-away branch


def root(config: SyncConfig) -> str:
    """What the names of this pair's throw-away branches start with."""
    return f"{ROOT}/{config.source}/{config.target}/"


def _on_branch(run: Session, sha: str, check: Check) -> BaselineResult | str:
    """What CI says on the target's commit, or why nobody knows; "" if the config does not ask."""
    if not run.config.baseline.branch:
        return ""
    if not isinstance(run.forge, BranchForge):
        return "this forge runs no CI on a throw-away branch"
    problem = run.forge.cannot_start_on_branch()
    if problem:
        return f"no throw-away branch was made, since {problem}"
    try:
        return _Wait(run, run.forge, sha, check).to_the_end()
    except Unreachable:
        raise
    except SyncError as error:
        sweep(run)
        return f"the throw-away branch did not work: {one_line(error)}"


@dataclass(frozen=True)
class _Wait:
    """A wait for one check on the target's commit."""

    run: Session
    forge: BranchForge
    sha: str
    check: Check

    def to_the_end(self) -> BaselineResult | str:
        """Join what is at work, else start it; then poll until there is a result, or no hope."""
        since = self._started()
        while True:
            rollup = self.forge.rollup(self.sha)
            now = rollup.at or self.run.clock()
            since = since or now
            answer = self._answer(rollup, since, now)
            if answer:
                self._leave(rollup)
                return answer
            if self._started() is None and not is_under_way(rollup, self.check):
                self._start(now)
            self.forge.wait(self.sha, self.run.config.poll_seconds)

    def _answer(self, rollup: Rollup, since: datetime, now: datetime) -> BaselineResult | str:
        known = conclusive(rollup, self.check)
        return self._result(known) if known else self._no_hope(rollup, since, now)

    def _result(self, known: Check) -> BaselineResult:
        how = ", on a throw-away branch" if self._started() else ""
        return BaselineResult(
            check=known,
            log=self.forge.log(self.sha, known),
            where=f"the untouched target {self.sha[:12]}{how}",
            sha=self.sha,
        )

    def _no_hope(self, rollup: Rollup, since: datetime, now: datetime) -> str:
        """Both times are the forge's own; the run's own limit is told by the run's clock."""
        config = self.run.config
        late = now >= since + timedelta(minutes=config.baseline.minutes)
        if late or _left(self.run) <= timedelta(0):
            return "it did not end in time on the untouched target"
        started, grace = self._started(), timedelta(minutes=config.grace_minutes)
        if started and is_over(rollup, started, now, grace, config.exempt):
            return "CI on a throw-away branch ended without a result of it"
        return ""

    def _start(self, now: datetime) -> None:
        """Push the branch anew, even if an earlier run left it there: only a push starts CI."""
        run = self.run
        sweep(run)
        name, timeout = root(run.config) + self.sha[:12], run.config.git_timeout_seconds
        git.push(run.workspace.repository, run.origin, self.sha, name, None, timeout)
        self.forge.start_on_branch(name, self.sha)
        make_folder(_folder(run))
        write_model(self._file, Started(at=now))

    def _started(self) -> datetime | None:
        return read_model(self._file, Started).at if self._file.exists() else None

    @property
    def _file(self) -> Path:
        return _folder(self.run) / f"{self.sha[:12]}.json"

    def _leave(self, rollup: Rollup) -> None:
        """Delete the branch, unless other checks are at work there that are wanted next."""
        if self._started() and not is_at_work(rollup, self.run.config.exempt):
            sweep(self.run)


def sweep(run: Session) -> list[str]:
    """Delete this pair's throw-away branches, those of a run that died too.

    Call it when the run needs none any more. Returns why one could not be deleted, a sentence
    each: that is no reason to end a run. One that is not where its name says was committed to,
    and stays.
    """
    if not isinstance(run.forge, BranchForge):
        return []
    try:
        branches = git.remote_branches(run.workspace.repository, run.origin)
    except SyncError as error:
        return [_not_deleted("Throw-away branches", error)]
    start = root(run.config)
    ours = {name: tip for name, tip in branches.items() if name == start + tip[:12]}
    return [said for name, tip in ours.items() if (said := _deleted(run, name, tip))]


def _deleted(run: Session, name: str, tip: str) -> str:
    try:
        git.delete_branch(run.workspace.repository, run.origin, name, tip)
    except SyncError as error:
        return _not_deleted(f"The throw-away branch {name}", error)
    return ""


def _not_deleted(what: str, error: SyncError) -> str:
    return f"{what} could not be deleted: {one_line(error)}"
