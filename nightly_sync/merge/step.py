"""The merge step of a run: plan, then resume the branch that has this very merge, or commit it."""

from pathlib import Path

from nightly_sync import git, provenance, report_facts, sync_branch, tools, workspace
from nightly_sync.agent.resolve import resolver
from nightly_sync.divergence import Divergence
from nightly_sync.merge.commit import MergeResult, commit_merge, provenance_of
from nightly_sync.merge.model import MergePlan
from nightly_sync.merge.plan import plan
from nightly_sync.model import Model
from nightly_sync.repair import Head
from nightly_sync.reports.model import ReportFacts
from nightly_sync.session import Session
from nightly_sync.sync_branch import BranchState, Choice


class Merged(Model):
    """What the later steps work on; `choice` is None while a person has to decide a path."""

    facts: ReportFacts
    choice: Choice | None = None


def merge(run: Session, parted: Divergence) -> Merged:
    """Plan the merge, and commit it unless origin already has it from an earlier run.

    Claude is asked about what no rule settles; a merge that is there already is told as it is.
    """
    choice = _choice(run, parted)
    asked = resolver(run, parted, pushed=choice.resume.merge if choice.resume else "")
    made = plan(run.workspace.repository, parted.source, parted.target, run.config, asked)
    facts = report_facts.start(run.config, parted, made)
    facts = facts.model_copy(update={"agent": run.assistant.facts()})
    if made.resolved_tree is None:
        return Merged(facts=facts)
    result = _resumed(run, made, choice.resume) if choice.resume else _committed(run, made)
    facts = report_facts.with_merge(facts, result)
    tip = choice.resume.tip if choice.resume else result.commit
    facts = facts.model_copy(update={"sync_branch": choice.name, "head": tip})
    return Merged(facts=facts, choice=choice)


def _choice(run: Session, parted: Divergence) -> Choice:
    base = run.config.branch_name(run.started)
    mine = {
        name: sha
        for name, sha in workspace.branches(run.workspace).items()
        if name == base or name.startswith(f"{base}-")
    }
    repo = run.workspace.repository
    states = {name: sync_branch.inspect(repo, name, sha, run.config) for name, sha in mine.items()}
    return sync_branch.choose(base, provenance_of(parted, run.config), states)


def _committed(run: Session, made: MergePlan) -> MergeResult:
    title = run.config.title_for(run.started)
    return commit_merge(run.workspace.repository, made, run.config, title, run.clock())


def _resumed(run: Session, made: MergePlan, state: BranchState) -> MergeResult:
    """The merge that is there; the tools run again for what they say, and change nothing."""
    repo = run.workspace.repository
    tree = git.tree_of(repo, state.merge)
    tooled = tools.run_all(repo, made.target, made.source, tree, run.config)
    return MergeResult(plan=made, commit=state.merge, tools=tooled.runs)


def head_of(repo: Path, merged: Merged) -> Head:
    """The sync branch as it stands after the merge step: merge, and repairs of an earlier run."""
    facts = merged.facts
    fixes = () if facts.head == facts.merge_commit else _fixes(repo, facts.head)
    return Head(facts.sync_branch, facts.plan.target, facts.merge_commit, facts.head, fixes)


def _fixes(repo: Path, commit: str) -> tuple[str, ...]:
    (fix,) = git.log(repo, commit, options=("--max-count=1",))
    return provenance.fixes(fix.body)
