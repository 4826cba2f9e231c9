"""Gather what the reports show, step by step, from git and from what the steps returned."""

from pathlib import Path

from nightly_sync import diffs, paths, tools
from nightly_sync.audits import all as audits
from nightly_sync.audits.facts import gather
from nightly_sync.audits.model import Finding
from nightly_sync.config import SyncConfig
from nightly_sync.divergence import Divergence
from nightly_sync.merge.commit import MergeResult
from nightly_sync.merge.model import MergePlan
from nightly_sync.reports.model import ReportFacts


def start(config: SyncConfig, parted: Divergence, made: MergePlan) -> ReportFacts:
    """What is known once the merge is planned."""
    return ReportFacts(
        repository=config.repository,
        source=config.source,
        target=config.target,
        focus=config.focus,
        categories=config.categories,
        plan=made,
        commits_behind=parted.behind,
        divergence=parted.message,
        warnings=(parted.squashed,) if parted.squashed else (),
    )


def with_merge(facts: ReportFacts, merged: MergeResult) -> ReportFacts:
    """The same with the merge commit and what the tools said."""
    changes = {"merge_commit": merged.commit, "head": merged.commit, "tools": merged.tools}
    return facts.model_copy(update=changes)


def with_audits(facts: ReportFacts, repo: Path, head: str, config: SyncConfig) -> ReportFacts:
    """The same with what the audits find in the tree of `head`."""
    made = facts.plan
    found = gather(repo, made.base, made.source, made.target, head, config, made)
    return with_findings(facts, audits.run_all(found))


def with_findings(facts: ReportFacts, findings: tuple[Finding, ...]) -> ReportFacts:
    """The same with what the audits and the tools found, errors first."""
    found = (*findings, *tools.findings(facts.tools))
    return facts.model_copy(update={"findings": found})


def with_diffs(facts: ReportFacts, repo: Path, merge: str, head: str) -> ReportFacts:
    """The same with the patches: of the merge, or against the final tree once fixes lie on top."""
    final = merge != head
    patch = (
        diffs.final_diff(repo, facts.plan.target, facts.plan.source, head)
        if final
        else diffs.remerge_diff(repo, facts.plan.target, merge)
    )
    changes = {"diffs": tuple(diffs.split_by_path(patch)), "diffs_are_final": final, "head": head}
    return facts.model_copy(update=changes)


def with_stats(facts: ReportFacts, repo: Path, head: str, config: SyncConfig) -> ReportFacts:
    """The same with the line counts of `target...head`."""
    stats = diffs.line_stats(repo, facts.plan.target, head, config.stat_globs)
    return facts.model_copy(update={"stats": stats})


def patch_bytes(facts: ReportFacts) -> bytes:
    """The whole patch, as git printed it."""
    return b"".join(paths.to_bytes(item.text) for item in facts.diffs)
