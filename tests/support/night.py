"""A night below the Prefect flow: the library's own steps, in the flow's order, on any forge."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nightly_sync import (
    ci,
    conclude,
    divergence,
    publish,
    recording,
    report_facts,
    session,
    stale,
    workspace,
)
from nightly_sync.checks.gate import Verdict
from nightly_sync.checks.triage import FailureGroup
from nightly_sync.ci import Watched
from nightly_sync.config import SyncConfig
from nightly_sync.divergence import Divergence
from nightly_sync.fixers import fixers_for
from nightly_sync.fixers.base import Change, Fixer
from nightly_sync.forge.base import Cost, PullRequest
from nightly_sync.merge import step
from nightly_sync.merge.step import Merged
from nightly_sync.record import RunRecord
from nightly_sync.repair import Head
from nightly_sync.reports.model import ReportFacts
from nightly_sync.session import Session


def parted(run: Session) -> Divergence:
    """Fetch and compare."""
    place, config = run.workspace, run.config
    workspace.fetch(place, run.origin, config.git_timeout_seconds)
    heads = workspace.branches(place)
    return divergence.check(place.repository, heads[config.source], heads[config.target], config)


def merged(run: Session, compared: Divergence | None = None) -> Merged:
    """Fetch and compare unless that was done, merge, audit."""
    made = step.merge(run, compared or parted(run))
    repo = run.workspace.repository
    facts = report_facts.with_audits(made.facts, repo, made.facts.head, run.config)
    return made.model_copy(update={"facts": facts})


@dataclass
class Seen:
    """What a run told on the way: each verdict, and what reading the checks had cost."""

    verdicts: list[Verdict] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)

    def __call__(self, verdict: Verdict, cost: Cost) -> None:
        self.verdicts.append(verdict)
        self.costs.append(cost)

    @property
    def reasons(self) -> list[str]:
        """What it said, without doubles."""
        return list(dict.fromkeys(verdict.reason for verdict in self.verdicts))


@dataclass(frozen=True)
class Ended:
    """How a night came out."""

    watched: Watched
    facts: ReportFacts
    seen: Seen


def followed(
    run: Session, pull: PullRequest, head: Head, facts: ReportFacts, fixers: Sequence[Fixer] | None
) -> Ended:
    """Follow the checks to the end and conclude; the configured fixers unless told otherwise."""
    seen = Seen()
    if fixers is None:
        fixers = fixers_for(run, facts, head.tip)
    watched = ci.follow(run, pull, head, fixers, seen)
    final = conclude.after_repairs(run, facts, watched)
    return Ended(watched, conclude.conclude(run, pull, final, watched), seen)


def ended(run: Session, compared: Divergence | None = None) -> Ended:
    """A whole night: find what is stale, merge, publish, close, follow, conclude."""
    found = stale.find(run)
    made = merged(run, compared)
    pull = publish.publish(run, made)
    publish.ask_for_review(run, pull)
    stale.close(run, found, pull)
    head = step.head_of(run.workspace.repository, made)
    return followed(run, pull, head, made.facts, None)


def played(config: SyncConfig, run_id: str = "run-1") -> RunRecord:
    """A night on this machine that gets as far as its checks, and its record."""
    with session.opened(config, run_id) as run:
        compared = parted(run)
        came = ended(run, compared)
        record = recording.with_divergence(recording.start(run), compared)
        record = recording.with_checks(recording.with_facts(record, came.facts), came.watched)
        return recording.concluded(record, run.clock(), came.facts)


class Scribbler:
    """A fixer that never runs out of ideas, none of which helps."""

    rounds = 0

    def fix(self, failures: Sequence[FailureGroup], worktree: Path) -> Change:
        """One more."""
        self.rounds += 1
        (worktree / "a.py").write_text(f"attempt = {self.rounds}\n")
        return Change(summary=f"attempt {self.rounds}", files=("a.py",))
