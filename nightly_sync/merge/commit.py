"""From the resolved tree to the merge commit, and the one rolling fix commit above it."""

from datetime import datetime
from pathlib import Path

from nightly_sync import git, provenance, tools
from nightly_sync.config import SyncConfig
from nightly_sync.divergence import Divergence
from nightly_sync.errors import StopForPerson
from nightly_sync.merge.model import MergePlan
from nightly_sync.model import Model
from nightly_sync.provenance import Provenance
from nightly_sync.reports.model import ToolRun


class MergeResult(Model):
    """The merge commit, made but not pushed."""

    plan: MergePlan
    commit: str
    tools: tuple[ToolRun, ...] = ()


def commit_merge(
    repo: Path, made: MergePlan, config: SyncConfig, title: str, now: datetime
) -> MergeResult:
    """Run the formatters on the resolved tree and commit it with both parents.

    Raises StopForPerson while a path is unresolved or a required formatter fails.
    """
    if made.resolved_tree is None:
        raise StopForPerson(unresolved_sentence(made))
    tooled = tools.run_all(repo, made.target, made.source, made.resolved_tree, config)
    message = provenance.merge_message(title, provenance_of(made, config), config)
    parents = (made.target, made.source)
    commit = git.commit_tree(repo, tooled.tree, parents, message, signature(config, now))
    return MergeResult(plan=made, commit=commit, tools=tooled.runs)


def unresolved_sentence(made: MergePlan) -> str:
    """Which paths a person has to decide, in one sentence."""
    names = [item.path for item in made.unresolved]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return (
        f"{len(names)} conflicted path(s) need a person: {', '.join(names[:3])}{more}; "
        "see the report, then merge by hand or add a path rule"
    )


def commit_fix(
    repo: Path, merge: str, tree: str, details: tuple[str, ...], config: SyncConfig, now: datetime
) -> str:
    """The fix commit: all repairs so far, on top of the merge commit, replacing the last one."""
    summary = f"fix: repair the merge of {config.source} into {config.target}"
    message = provenance.fix_message(summary, details, merge, config)
    return git.commit_tree(repo, tree, (merge,), message, signature(config, now))


def provenance_of(made: MergePlan | Divergence, config: SyncConfig) -> Provenance:
    """What the merge is made from."""
    return Provenance(source=made.source, target=made.target, config=config.digest())


def signature(config: SyncConfig, now: datetime) -> git.Signature:
    """The configured committer at a time."""
    who = config.committer
    return git.Signature(who.name, who.email, now.isoformat(timespec="seconds"))
