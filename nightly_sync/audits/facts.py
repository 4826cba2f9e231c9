"""Gather, with git, all that the audits look at. The audits themselves never touch git."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from nightly_sync import git
from nightly_sync.audits.compare import (
    Comparison,
    Row,
    Tree,
    Trees,
    align,
    all_texts,
    wanted_texts,
)
from nightly_sync.audits.history import REVERTS, Removal, removals
from nightly_sync.audits.lost import Importer, shared_losses
from nightly_sync.audits.model import Parent
from nightly_sync.config import SyncConfig
from nightly_sync.git import Change
from nightly_sync.merge.model import MergePlan, PathPlan
from nightly_sync.merge.syntax import is_python

Removals = Mapping[Parent, tuple[Removal, ...]]
MAX_LOG_PATHS = 2000
"""Above this many paths the log is read for all of them: a command line has an end."""
WORDS_PER_GREP = 1000


@dataclass(frozen=True)
class AuditFacts:
    """Everything the audits may know of one merge."""

    comparison: Comparison
    config: SyncConfig
    plan: MergePlan
    removed: Removals = field(default_factory=dict)
    """Commits that took lines out of files where the *other* side's lines are missing."""
    reverts: Removals = field(default_factory=dict)
    """What reverts on each side took out."""
    unchanged: tuple[Importer, ...] = ()
    """Files the same everywhere that name something both parents have and the merge lacks."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """The files that differ somewhere."""
        return self.comparison.rows

    @cached_property
    def planned(self) -> Mapping[str, PathPlan]:
        """What the plan says of a path."""
        return {item.path: item for item in self.plan.paths}

    def plan_of(self, row: Row) -> PathPlan | None:
        """What the plan says of a file, under any of its names."""
        return next((self.planned[name] for name in row.names if name in self.planned), None)


def gather(
    repo: Path,
    base: str,
    source: str,
    target: str,
    merged_tree: str,
    config: SyncConfig,
    plan: MergePlan,
) -> AuditFacts:
    """Read the facts of one merge; `base`, `source`, `target` are commits.

    `merged_tree` is the tree as it will be committed, formatters included, or such a commit.
    Raises GitError when an object is missing.
    """
    tips = {Parent.SOURCE: source, Parent.TARGET: target}
    reverts = {parent: _reverts(repo, base, tip, parent) for parent, tip in tips.items()}
    trees = _trees(repo, base, source, target, merged_tree)
    rows = align(trees, {parent: git.renames(repo, base, tip) for parent, tip in tips.items()})
    comparison = Comparison(trees, rows, _texts(repo, trees, rows, reverts))
    removed = {
        parent: _removed(repo, f"{base}..{tip}", comparison, parent) for parent, tip in tips.items()
    }
    unchanged = _unchanged(repo, merged_tree, comparison)
    return AuditFacts(comparison, config, plan, removed, reverts, unchanged)


def _trees(repo: Path, base: str, source: str, target: str, merged_tree: str) -> Trees:
    merged = git.tree_entries(repo, merged_tree)

    # Listing one tree and its differences to the others takes half the time of listing four.
    def other(tip: str) -> Tree:
        return _edited(merged, git.changes(repo, merged_tree, tip))

    return Trees(other(base), other(source), other(target), merged)


def _edited(tree: Tree, changes: Iterable[Change]) -> Tree:
    edited = dict(tree)
    for change in changes:
        if change.new is None:
            del edited[change.path]
        else:
            edited[change.path] = change.new
    return edited


def _texts(repo: Path, trees: Trees, rows: tuple[Row, ...], reverts: Removals) -> dict[str, bytes]:
    touched = {item.path for items in reverts.values() for item in items}
    reverted = [row for row in rows if touched.intersection(row.names)]
    return git.read_blobs(repo, wanted_texts(trees, rows) | all_texts(reverted))


def _reverts(repo: Path, base: str, tip: str, parent: Parent) -> tuple[Removal, ...]:
    """Lines taken out by reverts since the base."""
    options = ("--extended-regexp", f"--grep={REVERTS}", *_since(parent))
    return removals(git.patches(repo, f"{base}..{tip}", options=options))


def _since(parent: Parent) -> tuple[str, ...]:
    """The target's history holds years of its own commits; only those since the last sync count."""
    return ("--ancestry-path",) if parent is Parent.TARGET else ()


def _removed(
    repo: Path, commits: str, comparison: Comparison, parent: Parent
) -> tuple[Removal, ...]:
    """Lines this parent's commits took out of the files where the other's lines are missing.

    Python only: in data files the diffs are large, and no line of theirs has a story to tell.
    """
    missing = (path for path, facts in comparison.lines.items() if facts.of(parent.other))
    names = {name for path in missing for name in comparison.by_name[path].names}
    python = sorted(filter(is_python, names))
    if not python:
        return ()
    only = python if len(python) <= MAX_LOG_PATHS else []
    return removals(git.patches(repo, commits, only, _since(parent)))


def _unchanged(repo: Path, tree: str, comparison: Comparison) -> tuple[Importer, ...]:
    words = sorted(shared_losses(comparison))
    hits = {
        path
        for at in range(0, len(words), WORDS_PER_GREP)
        for path in _grep(repo, tree, words[at : at + WORDS_PER_GREP])
    }
    entries = comparison.trees.merged
    found = {path: entries[path].oid for path in sorted(hits - comparison.by_name.keys())}
    blobs = git.read_blobs(repo, found.values())
    return tuple((path, blobs[oid]) for path, oid in found.items())


def _grep(repo: Path, tree: str, words: list[str]) -> list[str]:
    return git.grep_files(repo, tree, rf"\b({'|'.join(words)})\b", ("*.py",))
