"""RunRecord: everything the history, the summary and the exit code need from one run."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from nightly_sync.errors import Exit
from nightly_sync.model import Location, Model

SCHEMA = 1


class Outcome(StrEnum):
    """How a run ended; each has one exit code."""

    NOTHING_TO_DO = "nothing-to-do"
    READY = "ready"  # pull request marked ready, every resolution settled
    READY_NEEDS_LOOK = "ready-needs-look"  # ready, with proposals or warnings to look at
    DRAFT_FINDINGS = "draft-findings"  # an audit found an error
    CI_FAILED = "ci-failed"
    CI_NOT_STARTED = "ci-not-started"
    CI_TIME_LIMIT = "ci-time-limit"
    PRE_EXISTING_ONLY = "pre-existing-only"
    BUDGET_SPENT = "budget-spent"  # Claude's limit ran out before it was done
    BLOCKED = "blocked"  # checks fail closed: cancelled, action required, unknown
    STALE = "stale"  # the head moved under the run
    UNRESOLVED = "unresolved-conflicts"
    REVERTED = "earlier-sync-reverted"
    UNRELATED = "unrelated-histories"
    SHALLOW = "shallow-clone"
    MISSING_BRANCH = "missing-branch"
    PREFIX_CLASH = "branch-prefix-clash"
    FOREIGN_COMMIT = "foreign-commit"
    STOPPED = "stopped"  # for a person, for a reason that the message states
    FAILED = "failed"


_EXITS = {
    Outcome.NOTHING_TO_DO: Exit.SETTLED,
    Outcome.READY: Exit.SETTLED,
    Outcome.READY_NEEDS_LOOK: Exit.NEEDS_LOOK,
    Outcome.DRAFT_FINDINGS: Exit.NEEDS_LOOK,
    Outcome.CI_FAILED: Exit.NEEDS_LOOK,
    Outcome.CI_NOT_STARTED: Exit.NEEDS_LOOK,
    Outcome.CI_TIME_LIMIT: Exit.NEEDS_LOOK,
    Outcome.PRE_EXISTING_ONLY: Exit.NEEDS_LOOK,
    Outcome.BUDGET_SPENT: Exit.NEEDS_LOOK,
    Outcome.BLOCKED: Exit.NEEDS_LOOK,
    Outcome.FAILED: Exit.FAILED,
}


def exit_of(outcome: Outcome) -> Exit:
    """The exit code of an outcome; whatever is not listed stopped for a person."""
    return _EXITS.get(outcome, Exit.STOPPED)


class RunRecord(Model):
    """One run, flat enough for a table. Counts are numbers of items, times in seconds."""

    schema_version: int = SCHEMA
    run_id: str  # the flow run's id, or a local one
    started_at: datetime  # UTC
    seconds: float
    repository: Location
    source_branch: str
    target_branch: str
    source_sha: str = ""
    target_sha: str = ""
    sync_branch: str = ""
    head_sha: str = ""
    pull_request: str = ""  # URL, or the record's path
    outcome: Outcome
    reason: str = ""  # one sentence
    commits_behind: int = 0
    conflicts: dict[str, int] = Field(default_factory=dict)  # by kind
    rules: dict[str, int] = Field(
        default_factory=dict
    )  # paths and hunks by the rule that resolved them
    settled: int = 0
    proposals: int = 0
    unresolved: int = 0
    findings: dict[str, int] = Field(default_factory=dict)  # by kind
    errors: int = 0
    warnings: int = 0
    files_changed: int = 0
    python_files: int = 0
    lines_added: int = 0
    lines_deleted: int = 0
    checks_total: int = 0
    checks_failed: int = 0
    checks_pre_existing: int = 0
    polls: int = 0
    fix_rounds: int = 0
    reruns: int = 0  # of checks that failed over infrastructure
    rest_requests: int = 0  # that count against the forge's quota
    graphql_requests: int = 0
    graphql_points: int = 0
    agent_input: int = 0  # tokens, without what the cache held
    agent_output: int = 0
    agent_cache_read: int = 0
    agent_cache_write: int = 0
    agent_turns: int = 0
    agent_seconds: float = 0.0
    agent_money: float | None = 0.0  # None: no price is known
    agent_rejected: int = 0  # answers that were sent back
    agent_refused: int = 0  # changes that no task may make

    @property
    def exit_code(self) -> Exit:
        """What the process returns."""
        return exit_of(self.outcome)
