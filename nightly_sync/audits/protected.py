"""Audit: a protected path equals the target's, new files included."""

from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.model import Finding, FindingKind, Severity
from nightly_sync.conflicts import Entry


def audit(facts: AuditFacts) -> list[Finding]:
    """Report each protected path whose content, mode or existence differs from the target's."""
    trees = facts.comparison.trees
    differing = sorted(
        path
        for path in {*trees.merged, *trees.target}
        if trees.merged.get(path) != trees.target.get(path)
    )
    return [
        _finding(path, trees.target.get(path), trees.merged.get(path))
        for path in differing
        if facts.config.holds("protect", path)
    ]


def _finding(path: str, target: Entry | None, merged: Entry | None) -> Finding:
    return Finding(
        severity=Severity.ERROR,
        kind=FindingKind.PROTECTED,
        path=path,
        evidence=f"protected, but {_difference(target, merged)}",
    )


def _difference(target: Entry | None, merged: Entry | None) -> str:
    if target is None or merged is None:
        return "new: the target has no such file" if merged else "missing: the target has it"
    if target.oid == merged.oid:
        return f"its mode is {merged.mode}, on the target {target.mode}"
    return f"its content is {merged.oid[:10]}, on the target {target.oid[:10]}"
