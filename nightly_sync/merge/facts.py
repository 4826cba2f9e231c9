"""Gather what the rules may know: entries on all sides, texts, path rules, commits."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from nightly_sync import git, patterns
from nightly_sync.config import PathRule, SyncConfig
from nightly_sync.conflicts import Conflict, is_file
from nightly_sync.merge.auto import AutoMerge
from nightly_sync.merge.model import PathFacts, Touch

_PULL = re.compile(r"\(#(\d+)\)|^Merge pull request #(\d+)")


@dataclass(frozen=True)
class Touches:
    """Commits by path, newest first, for both sides since they parted."""

    source: Mapping[str, tuple[Touch, ...]]
    target: Mapping[str, tuple[Touch, ...]]


def gather(
    repo: Path, base: str, source: str, target: str, auto: AutoMerge, config: SyncConfig
) -> dict[str, PathFacts]:
    """Facts for every conflicted path, and every path where the merge differs from a side."""
    from_target = {item.path: item for item in git.changes(repo, target, auto.tree)}
    from_source = {item.path: item for item in git.changes(repo, source, auto.tree)}
    base_target = {item.path: item for item in git.changes(repo, base, target)}
    conflicts = {item.path: item for item in auto.conflicts}
    found = {}
    for path in sorted({*from_target, *from_source, *conflicts}):
        ours, theirs = from_target.get(path), from_source.get(path)
        either = ours or theirs
        merged = either.new if either else None
        on_target = ours.old if ours else merged
        on_source = theirs.old if theirs else merged
        on_base = base_target[path].old if path in base_target else on_target
        plain = PathFacts(path, on_base, on_target, on_source, merged, marker_size=auto.marker_size)
        found[path] = _with_rules(plain, conflicts.get(path), config)
    return found


def _with_rules(plain: PathFacts, conflict: Conflict | None, config: SyncConfig) -> PathFacts:
    rule, pattern = path_rule(plain.path, config)
    ruled = replace(plain, conflict=conflict, path_rule=rule, pattern=pattern)
    if conflict is None or (rule is not None and rule.rule == "protect"):
        return ruled  # `protect` means the path in the target's tree, not a renamed file
    return replace(
        ruled,
        base=conflict.base or plain.base,
        target=conflict.target,
        source=conflict.source,
    )


def path_rule(path: str, config: SyncConfig) -> tuple[PathRule | None, str]:
    """The rule that governs a path, and its pattern: protect first, then the first match."""
    strongest_first = sorted(config.rules, key=lambda rule: rule.rule != "protect")
    for rule in strongest_first:
        if patterns.matches(path, rule.paths):
            return rule, next(
                (p for p in rule.paths if patterns.matches(path, (p,))), rule.paths[0]
            )
    return None, ""


def texts(repo: Path, facts: Iterable[PathFacts]) -> dict[str, bytes]:
    """Every blob the rules may read, by one git command."""
    entries = (
        entry
        for item in facts
        if item.conflict
        for entry in (item.conflict.base, item.conflict.target, item.conflict.source, item.merged)
    )
    return git.read_blobs(repo, {e.oid for e in entries if e and is_file(e)})


def touches(repo: Path, source: str, target: str) -> Touches:
    """Who touched what on each side: one `git log` pass a side."""
    return Touches(
        source=_by_path(git.touched(repo, f"{target}..{source}")),
        target=_by_path(git.touched(repo, f"{source}..{target}")),
    )


def _by_path(
    commits: list[tuple[str, str, tuple[str, ...]]],
) -> dict[str, tuple[Touch, ...]]:
    found: dict[str, list[Touch]] = {}
    for sha, subject, names in commits:
        touch = Touch(sha=sha, subject=subject, pull_request=pull_request(subject))
        for name in names:
            found.setdefault(name, []).append(touch)
    return {name: tuple(items) for name, items in found.items()}


def pull_request(subject: str) -> int | None:
    """The pull request a commit's subject names the way GitHub writes it; the last one counts."""
    numbers = [first or second for first, second in _PULL.findall(subject)]
    return int(numbers[-1]) if numbers else None
