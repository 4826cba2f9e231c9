"""The merge plan: from two commits to one tree, or to the paths a person has to decide.

No refs, no worktree, no commit; only objects are written. The same inputs give the same plan.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from nightly_sync import git
from nightly_sync.config import SyncConfig
from nightly_sync.conflicts import Entry
from nightly_sync.errors import StopForPerson
from nightly_sync.merge import facts as facts_of
from nightly_sync.merge import importers, moves
from nightly_sync.merge.auto import AutoMerge, auto_merge
from nightly_sync.merge.facts import Touches
from nightly_sync.merge.model import MergePlan, PathFacts, PathPlan, Status, Touch
from nightly_sync.merge.resolver import Resolver
from nightly_sync.merge.syntax import is_python
from nightly_sync.merge.walk import Draft, walk


@dataclass(frozen=True)
class _Situation:
    """The inputs every step below shares."""

    repo: Path
    source: str
    target: str
    auto: AutoMerge
    config: SyncConfig


def plan(
    repo: Path,
    source_sha: str,
    target_sha: str,
    config: SyncConfig,
    resolver: Resolver | None = None,
) -> MergePlan:
    """What merging `source_sha` into `target_sha` would do, path by path.

    `resolver` is asked about the hunks that no rule decides; the plan is as repeatable as it is.
    Raises StopForPerson for unrelated histories and GitError when git cannot merge at all.
    """
    bases = git.merge_bases(repo, target_sha, source_sha)
    if not bases:
        raise StopForPerson("source and target have no common history; nothing can be merged")
    auto = auto_merge(repo, target_sha, source_sha, config.git_timeout_seconds)
    at = _Situation(repo, source_sha, target_sha, auto, config)
    facts = facts_of.gather(repo, bases[0], source_sha, target_sha, auto, config)
    texts = facts_of.texts(repo, facts.values())
    facts = {path: replace(item, texts=texts) for path, item in facts.items()}
    drafts = _stored(repo, _walk_all(facts.values(), config, resolver))
    drafts = _with_imported_files(at, facts, drafts)
    drafts = drafts | moves.kept_at_home(repo, bases[0], source_sha, facts, drafts)
    return _plan(at, bases, drafts)


def _walk_all(
    facts: Iterable[PathFacts], config: SyncConfig, resolver: Resolver | None = None
) -> dict[str, Draft]:
    drafts = ((item.path, walk(item, config.fallback, resolver)) for item in facts)
    return {path: draft for path, draft in drafts if draft is not None}


def _stored(repo: Path, drafts: dict[str, Draft]) -> dict[str, Draft]:
    """Store resolved texts as blobs, all with one git command."""
    waiting = {path: draft for path, draft in drafts.items() if draft.text is not None}
    oids = git.write_blobs(repo, [draft.text or b"" for draft in waiting.values()])
    stored = {
        path: replace(draft, entry=Entry(mode=_mode(draft), oid=oid))
        for (path, draft), oid in zip(waiting.items(), oids, strict=True)
    }
    return drafts | stored


def _mode(draft: Draft) -> str:
    return draft.entry.mode if draft.entry else "100644"


def _tree(at: _Situation, drafts: Mapping[str, Draft]) -> str:
    edits = {path: draft.entry for path, draft in drafts.items()}
    with TemporaryDirectory(prefix="nightly-sync-index-") as folder:
        return git.edit_tree(at.repo, at.auto.tree, edits, Path(folder))


def _with_imported_files(
    at: _Situation, facts: Mapping[str, PathFacts], drafts: dict[str, Draft]
) -> dict[str, Draft]:
    """Walk again, with their importers as evidence, the files that merged code needs.

    A restored file may import another one, so this repeats with those until nothing new turns up.
    """
    known: set[str] = set()
    new: set[str] | None = None
    while lacking := _lacking(facts, drafts) - known:
        found = _importers(at, facts, _tree(at, drafts), lacking, new)
        if not found:
            break
        new = set(found)
        known |= new
        needed = [replace(facts[path], importers=places) for path, places in found.items()]
        drafts = drafts | _stored(at.repo, _walk_all(needed, at.config))
    return drafts


def _lacking(facts: Mapping[str, PathFacts], drafts: Mapping[str, Draft]) -> set[str]:
    """Python files one side has, the other deleted, and the tree lacks; path rules have the say."""
    return {
        path
        for path, item in facts.items()
        if is_python(path)
        and item.path_rule is None
        and item.base is not None
        and (item.source or item.target)
        and (drafts[path].entry if path in drafts else item.merged) is None
    }


def _importers(
    at: _Situation,
    facts: Mapping[str, PathFacts],
    tree: str,
    lacking: set[str],
    among: set[str] | None,
) -> dict[str, tuple[str, ...]]:
    """Importers of what a side deleted; an importer just as on that side is no evidence."""
    by_target = {path for path in lacking if facts[path].target is None}
    found = importers.find(at.repo, tree, by_target, at.target, among)
    return found | importers.find(at.repo, tree, lacking - by_target, at.source, among)


def _plan(at: _Situation, bases: tuple[str, ...], drafts: dict[str, Draft]) -> MergePlan:
    tree = _tree(at, drafts)
    drafts = drafts | _clashing(at, drafts, tree)
    stuck = any(draft.status is Status.UNRESOLVED for draft in drafts.values())
    return MergePlan(
        source=at.source,
        target=at.target,
        bases=bases,
        auto_merge_tree=at.auto.tree,
        resolved_tree=None if stuck else tree,
        paths=_path_plans(at, drafts),
    )


def _clashing(at: _Situation, drafts: Mapping[str, Draft], tree: str) -> dict[str, Draft]:
    """Drafts that cost a path no draft speaks of: a file where others have a folder.

    Nothing but what is planned may change, so a person has to decide these.
    """
    silent = {item.path for item in git.changes(at.repo, at.auto.tree, tree)} - drafts.keys()
    found = {}
    for lost in sorted(silent):
        for path, draft in drafts.items():
            if lost.startswith(f"{path}/") or path.startswith(f"{lost}/"):
                evidence = f"{draft.rule} for this path would remove {lost}: file against folder"
                found[path] = replace(draft, status=Status.UNRESOLVED, take=None, evidence=evidence)
    if silent and not found:
        raise RuntimeError(f"paths changed that no rule speaks of: {sorted(silent)[:3]}")
    return found


def _path_plans(at: _Situation, drafts: dict[str, Draft]) -> tuple[PathPlan, ...]:
    if not drafts:
        return ()
    touches = facts_of.touches(at.repo, at.source, at.target)
    return tuple(_path_plan(draft, touches) for _, draft in sorted(drafts.items()))


def _path_plan(draft: Draft, touches: Touches) -> PathPlan:
    facts = draft.facts
    conflict = facts.conflict
    settled = draft.status is not Status.UNRESOLVED
    names = (facts.path, *(conflict.related if conflict else ()))
    return PathPlan(
        path=facts.path,
        kinds=conflict.kinds if conflict else (),
        base=facts.base,
        target=facts.target,
        source=facts.source,
        rule=draft.rule,
        take=draft.take,
        evidence=draft.evidence,
        status=draft.status,
        hunks=draft.hunks,
        resolved=draft.entry if settled else None,
        file=facts.path if settled and conflict and draft.entry else None,
        source_commits=_touched(touches.source, names),
        target_commits=_touched(touches.target, names),
        messages=conflict.messages if conflict else (),
    )


def _touched(by_path: Mapping[str, tuple[Touch, ...]], names: Iterable[str]) -> tuple[Touch, ...]:
    found = (touch for name in names for touch in by_path.get(name, ()))
    return tuple(dict.fromkeys(found))  # a renamed file's two names share commits
