"""Step: plan the merge and commit it, or take up the one an earlier run made."""

from prefect import get_run_logger, task

from nightly_sync import report_files
from nightly_sync.divergence import Divergence
from nightly_sync.merge import step
from nightly_sync.merge.step import Merged
from nightly_sync.reports.artifacts import conflict_rows
from nightly_sync.session import Session
from tasks import artifacts, claude_progress
from tasks.policy import LOCAL


# No limit here: each git command has one, and so has Claude, who may take hours.
@task(name="merge", task_run_name="merge", **LOCAL)
def merge(run: Session, parted: Divergence) -> Merged:
    """The merge as a commit in the workspace; nothing is pushed yet."""
    claude_progress.follow(run)
    merged = step.merge(run, parted)
    facts, made = merged.facts, merged.facts.plan
    report_files.write(run.workspace.run / "report", run.workspace.repository, facts)
    artifacts.table("conflicts", conflict_rows(facts), run.config)
    log = get_run_logger()
    settled = len(made.paths) - len(made.proposals) - len(made.unresolved)
    log.info("%d conflicted files; %d paths settled, %d proposals, %d for a person",
             len(made.conflicts), settled, len(made.proposals), len(made.unresolved))  # fmt: skip
    for item in facts.tools:
        log.log(20 if item.ok else 30, "%s %s: %s", item.kind, item.name, item.message or "ok")
    if merged.choice and merged.choice.resume:
        log.info("resuming %s, made by an earlier run", merged.choice.name)
    return merged
