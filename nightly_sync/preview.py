"""What would tonight's sync do? Everything but the push, in a throw-away repository.

The user's clone is only read: refs, index, configuration, worktree, reflog and object store are
the same before and after.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from nightly_sync import divergence, git, report_facts, report_files, workspace
from nightly_sync.config import SyncConfig
from nightly_sync.divergence import Divergence
from nightly_sync.errors import Exit, StopForPerson
from nightly_sync.merge.commit import commit_merge
from nightly_sync.merge.model import MergePlan
from nightly_sync.merge.plan import plan
from nightly_sync.names import Resolved
from nightly_sync.paths import printable
from nightly_sync.reports.model import ReportFacts


@dataclass(frozen=True)
class Preview:
    """What the preview found, and what the process should return."""

    facts: ReportFacts
    exit_code: Exit


def preview(
    repo: Path, source: Resolved, target: Resolved, config: SyncConfig, out: Path, now: datetime
) -> Preview:
    """Plan, merge and audit `source` into `target`; write the reports to `out`.

    Raises StopForPerson, with what to do, when the branches cannot be merged at all.
    """
    temporary = TemporaryDirectory(prefix="nightly-sync-preview-")
    with (
        temporary as folder,
        workspace.scratch(repo, Path(folder)) as scratch,
        _told_if_partial(repo),
    ):
        named = _named(config, source, target)
        parted = _parted(scratch, repo, source, target, named, config.branch_name(now))
        made = plan(scratch, source.sha, target.sha, named)
        facts = _facts(scratch, named, parted, made, now)
        report_files.write(out, scratch, facts)
    return Preview(facts, exit_of(facts))


def _named(config: SyncConfig, source: Resolved, target: Resolved) -> SyncConfig:
    """The config with the branches that are previewed; a bare commit keeps the config's name."""
    sides = {"source": source, "target": target}
    names = {key: side.name for key, side in sides.items() if side.ref.startswith("refs/")}
    return config.model_copy(update=names)


@contextmanager
def _told_if_partial(repo: Path) -> Iterator[None]:
    """A partial clone lacks objects, and its remote is not asked for them: it is only read."""
    try:
        yield
    except git.GitError as error:
        if not git.is_partial(repo):
            raise
        raise StopForPerson(
            f"{printable(str(repo))} is a partial clone and lacks objects this needs; run "
            f"git fetch --refetch --no-filter there, or preview in a full clone ({error})"
        ) from error


def _parted(
    scratch: Path,
    repo: Path,
    source: Resolved,
    target: Resolved,
    config: SyncConfig,
    today: str,
) -> Divergence:
    names = {name.removeprefix("refs/heads/") for name in git.refs(repo, "refs/heads")}
    stop = divergence.shallow() if git.is_shallow(repo) else divergence.prefix_clash(names, today)
    parted = stop or divergence.check(scratch, source.sha, target.sha, config)
    if parted.stops:
        raise StopForPerson(parted.message)
    return parted


def _facts(
    scratch: Path, config: SyncConfig, parted: Divergence, made: MergePlan, now: datetime
) -> ReportFacts:
    facts = report_facts.start(config, parted, made)
    if made.resolved_tree is None:
        return facts
    merged = commit_merge(scratch, made, config, config.title_for(now), now)
    facts = report_facts.with_merge(facts, merged)
    facts = report_facts.with_audits(facts, scratch, merged.commit, config)
    facts = report_facts.with_diffs(facts, scratch, merged.commit, merged.commit)
    facts = report_facts.with_stats(facts, scratch, merged.commit, config)
    # The commit goes with the scratch repository, so the report must not name it.
    return facts.model_copy(update={"merge_commit": "", "head": ""})


def exit_of(facts: ReportFacts) -> Exit:
    """0 settled, 3 something needs a look, 4 a person has to decide. Pure."""
    if facts.plan.unresolved:
        return Exit.STOPPED
    look = facts.plan.proposals or facts.findings or facts.warnings
    return Exit.NEEDS_LOOK if look else Exit.SETTLED
