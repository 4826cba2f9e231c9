"""What can be said of a file without reading it as code. Pure."""

from nightly_sync import patterns
from nightly_sync.review.forbidden.model import FileChange, Policy, Refusal, RefusalKind

_OWNERS = ("CODEOWNERS", ".gitmodules")  # who must look at what; what else is checked out
_MODES = ("100644", "100755", None)
_PROBE = 8000  # bytes; git's own limit when it looks for a NUL


def problem(change: FileChange, policy: Policy) -> Refusal | None:
    """Why this file may not be touched at all, or not like this; no restoration excuses it."""
    path = change.path
    if policy.protected(path) or patterns.matches(path, _OWNERS):
        return Refusal(path=path, kind=RefusalKind.PROTECTED, evidence="the path is protected")
    if not policy.allow_workflows and path.lower().startswith(".github/"):
        evidence = "what CI does may not be changed: this site keeps .github/ closed"
        return Refusal(path=path, kind=RefusalKind.WORKFLOW, evidence=evidence)
    evidence = _odd_path(path) or _odd_mode(change) or _binary(change, policy)
    return Refusal(path=path, kind=RefusalKind.FILE_TYPE, evidence=evidence) if evidence else None


def _odd_path(path: str) -> str:
    parts = path.split("/")
    bad = {"", ".", "..", ".git"}.intersection(part.lower() for part in parts)
    return "the path leaves the worktree or enters .git" if bad else ""


def _odd_mode(change: FileChange) -> str:
    before, after = change.mode_before, change.mode_after
    if before not in _MODES or after not in _MODES:
        return "only regular files may be changed, no symlinks and no submodules"
    if before != after and None not in (change.before, change.after):
        return f"its mode changes from {before} to {after}; leave modes alone"
    return ""


def _binary(change: FileChange, policy: Policy) -> str:
    contents = (change.before, change.after)
    if change.restored or not any(b"\0" in (text or b"")[:_PROBE] for text in contents):
        return ""
    if policy.allow_golden and policy.is_golden(change.path):
        return ""
    return "it is a binary file, which nobody can review"


def golden(change: FileChange, policy: Policy, moved: frozenset[bytes]) -> Refusal | None:
    """Expected values stay as they are, are restored from a side, or move with their test."""
    if policy.allow_golden or change.restored:
        return None
    if change.after is None and change.dropped_by_a_side:
        return None
    kept = change.after if change.before is None else change.before
    if kept in moved and None in (change.before, change.after):
        return None
    return Refusal(
        path=change.path,
        kind=RefusalKind.GOLDEN,
        evidence="golden values may not be changed to fit the result; repair the code, or restore "
        "the file as one side has it",
    )
