"""Facts for the audits: made up from texts, or gathered from a real merge."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from nightly_sync import git
from nightly_sync.audits.all import run_all
from nightly_sync.audits.compare import Comparison, Trees, align
from nightly_sync.audits.facts import AuditFacts, Removals, gather
from nightly_sync.audits.model import Finding, FindingKind
from nightly_sync.config import SyncConfig
from nightly_sync.conflicts import Entry
from nightly_sync.merge.model import MergePlan, PathPlan
from nightly_sync.merge.plan import plan
from tests.support.repo import TestRepo

Texts = Mapping[str, str | bytes]
CONFIG = SyncConfig(repository=".")


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _oid(text: bytes) -> str:
    return hashlib.sha1(text).hexdigest()


def _tree(texts: Texts) -> dict[str, Entry]:
    return {name: Entry(mode="100644", oid=_oid(_bytes(text))) for name, text in texts.items()}


def made_up(
    base: Texts,
    source: Texts,
    target: Texts,
    merged: Texts,
    config: SyncConfig = CONFIG,
    planned: tuple[PathPlan, ...] = (),
    removed: Removals | None = None,
) -> AuditFacts:
    """Facts of a merge of whole trees, path to text; no git."""
    trees = Trees(*(_tree(texts) for texts in (base, source, target, merged)))
    every = [text for texts in (base, source, target, merged) for text in texts.values()]
    contents = {_oid(_bytes(text)): _bytes(text) for text in every}
    blank = MergePlan(
        source="s",
        target="t",
        bases=("b",),
        auto_merge_tree="",
        resolved_tree=None,
        paths=planned,
    )
    comparison = Comparison(trees, align(trees, {}), contents)
    return AuditFacts(comparison, config, blank, removed or {})


def one_file(
    base: str, source: str, target: str, merged: str, path: str = "pkg/mod.py"
) -> AuditFacts:
    """The same for one file that all four trees have."""
    return made_up({path: base}, {path: source}, {path: target}, {path: merged})


def of_merge(
    repo: TestRepo,
    edits: Mapping[str, str | bytes | None] | None = None,
    config: SyncConfig = CONFIG,
) -> AuditFacts:
    """Facts of merging `main` into `dev` as planned; `edits` come on top, None removes a file."""
    source, target = (git.commit_of(repo.path, name) or "" for name in ("main", "dev"))
    made = plan(repo.path, source, target, config)
    assert made.resolved_tree, made.unresolved
    entries = {
        path: None
        if text is None
        else Entry(mode="100644", oid=git.write_blobs(repo.path, [_bytes(text)])[0])
        for path, text in (edits or {}).items()
    }
    with TemporaryDirectory() as folder:
        tree = git.edit_tree(repo.path, made.resolved_tree, entries, Path(folder))
    return gather(repo.path, made.base, source, target, tree, config, made)


def audited(
    repo: TestRepo,
    edits: Mapping[str, str | bytes | None] | None = None,
    config: SyncConfig = CONFIG,
) -> tuple[Finding, ...]:
    """What all audits find in that merge."""
    return run_all(of_merge(repo, edits, config))


def kinds(findings: tuple[Finding, ...]) -> list[tuple[FindingKind, str, int | None]]:
    """The findings without their evidence."""
    return [(item.kind, item.path, item.line) for item in findings]
