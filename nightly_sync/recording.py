"""From a run's facts to its RunRecord. Pure."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from nightly_sync import paths
from nightly_sync.agent.facts import AgentFacts
from nightly_sync.ci import Watched
from nightly_sync.divergence import Divergence, DivergenceKind
from nightly_sync.errors import Exit, StopForPerson, SyncError
from nightly_sync.forge.base import Cost
from nightly_sync.merge.commit import unresolved_sentence
from nightly_sync.record import Outcome, RunRecord
from nightly_sync.reports.model import ReportFacts, decisions
from nightly_sync.session import Session

_STOPS = {
    DivergenceKind.NOTHING_TO_DO: Outcome.NOTHING_TO_DO,
    DivergenceKind.REVERTED: Outcome.REVERTED,
    DivergenceKind.UNRELATED: Outcome.UNRELATED,
    DivergenceKind.SHALLOW: Outcome.SHALLOW,
    DivergenceKind.MISSING_BRANCH: Outcome.MISSING_BRANCH,
    DivergenceKind.PREFIX_CLASH: Outcome.PREFIX_CLASH,
}


def outcome_of_divergence(parted: Divergence) -> Outcome:
    """The outcome of a run that ends at the divergence check."""
    return _STOPS[parted.kind]


def failed(record: RunRecord, now: datetime, error: Exception) -> RunRecord:
    """The record of a run that ends with an error: one a person can act on, or a bug."""
    outcome = Outcome.STOPPED if isinstance(error, StopForPerson) else Outcome.FAILED
    words = str(error) if isinstance(error, SyncError) else f"bug: {error!r}"
    return finish(record, now, outcome, words)


def start(run: Session) -> RunRecord:
    """The record as far as it is known before anything happened."""
    return RunRecord(
        run_id=run.run_id,
        started_at=run.started,
        seconds=0,
        repository=run.config.repository,
        source_branch=run.config.source,
        target_branch=run.config.target,
        outcome=Outcome.FAILED,
    )


def finish(record: RunRecord, now: datetime, outcome: Outcome, reason: str) -> RunRecord:
    """The record with how and when it ended."""
    seconds = round((now - record.started_at).total_seconds(), 3)
    # Subjects and names may hold undecodable bytes, which no JSON takes.
    changes = {"seconds": seconds, "outcome": outcome, "reason": paths.printable(reason)}
    return record.model_copy(update=changes)


def unresolved(record: RunRecord, now: datetime, facts: ReportFacts) -> RunRecord:
    """The record of a run that ends because a person has to decide conflicts."""
    told = with_facts(record, facts)
    return finish(told, now, Outcome.UNRESOLVED, unresolved_sentence(facts.plan))


def concluded(record: RunRecord, now: datetime, facts: ReportFacts) -> RunRecord:
    """The record of a run that followed its checks to the end."""
    return finish(record, now, facts.outcome or Outcome.FAILED, facts.reason)


def raise_if_stopped(record: RunRecord) -> None:
    """Turn a record that stopped for a person into the error that fails the run."""
    if record.exit_code is Exit.STOPPED:
        raise Stopped(record)


class Stopped(StopForPerson):
    """A run that ended in good order, but for a person to go on with; its record is kept."""

    def __init__(self, record: RunRecord):
        self.record = record
        super().__init__(f"{record.outcome}: {record.reason}")


def with_divergence(record: RunRecord, parted: Divergence) -> RunRecord:
    """The record with what was compared."""
    changes = {
        "source_sha": parted.source,
        "target_sha": parted.target,
        "commits_behind": parted.behind,
    }
    return record.model_copy(update=changes)


def with_facts(record: RunRecord, facts: ReportFacts) -> RunRecord:
    """The record with the figures of the merge, the audits and the line counts."""
    made = facts.plan
    stats = facts.stats
    changes = {
        "sync_branch": facts.sync_branch,
        "head_sha": facts.head,
        "pull_request": facts.pull_request,
        "conflicts": _counted(kind for item in made.conflicts for kind in item.kinds),
        "rules": _counted(rule for item in made.paths for rule, _ in decisions(item)),
        "settled": len(made.paths) - len(made.proposals) - len(made.unresolved),
        "proposals": len(made.proposals),
        "unresolved": len(made.unresolved),
        "findings": _counted(item.kind for item in facts.findings),
        "errors": len(facts.errors),
        "warnings": len(facts.audit_warnings),
        "python_files": stats.files if stats else 0,
        "lines_added": stats.added if stats else 0,
        "lines_deleted": stats.deleted if stats else 0,
        **_agent(facts.agent),
    }
    return record.model_copy(update=changes)


def _agent(agent: AgentFacts) -> dict[str, object]:
    spent = agent.spent
    return {
        "agent_input": spent.input,
        "agent_output": spent.output,
        "agent_cache_read": spent.cache_read,
        "agent_cache_write": spent.cache_write,
        "agent_turns": spent.turns,
        "agent_seconds": round(spent.seconds, 3),
        "agent_money": spent.money,
        "agent_rejected": sum(agent.rejected.values()),
        "agent_refused": len(agent.refusals),
    }


def with_checks(record: RunRecord, watched: Watched) -> RunRecord:
    """The record with what the checks came to."""
    verdict = watched.verdict
    lists = (
        verdict.passed,
        verdict.failed,
        verdict.pending,
        verdict.pre_existing,
        verdict.blocking,
    )
    changes = {
        "head_sha": watched.head.tip,
        "checks_total": sum(len(checks) for checks in lists),
        "checks_failed": len(verdict.failed) + len(verdict.blocking),
        "checks_pre_existing": len(verdict.pre_existing),
        "polls": watched.polls,
        "fix_rounds": watched.rounds,
        "reruns": watched.reruns,
    }
    return record.model_copy(update=changes)


def with_cost(record: RunRecord, cost: Cost) -> RunRecord:
    """The record with what was asked of the forge's API."""
    changes = {
        "rest_requests": cost.rest,
        "graphql_requests": cost.graphql,
        "graphql_points": cost.points,
    }
    return record.model_copy(update=changes)


def _counted(names: Iterable[str]) -> dict[str, int]:
    counts = Counter(str(name) for name in names)
    return dict(sorted(counts.items()))
