"""Stale pull requests: those of earlier nights. Found first, closed last, never a person's work."""

from nightly_sync import git, labels, sync_branch
from nightly_sync.config import SyncConfig
from nightly_sync.errors import SyncError, one_line
from nightly_sync.forge.base import PullRequest
from nightly_sync.reports import marker
from nightly_sync.session import Session
from nightly_sync.sync_branch import BranchState


def find(run: Session) -> tuple[PullRequest, ...]:
    """Every open sync pull request into our target, before this run opens its own.

    Two pairs of branches may share a prefix, so the prefix alone makes none of them ours.
    """
    found = run.forge.open_pull_requests(run.config.prefix())
    return tuple(pull for pull in found if pull.target == run.config.target)


def close(
    run: Session, found: tuple[PullRequest, ...], replacement: PullRequest | None
) -> list[str]:
    """Close what may be closed, with a comment that says why; returns a line for each.

    Call it only once the replacement is open, or (None) when nothing is left to sync. Each pull
    request is looked at again right before: what people did meanwhile counts.
    """
    ours = replacement.number if replacement else None
    fresh = (run.forge.get(pull.number) for pull in found if pull.number != ours)
    return [_close(run, pull, replacement) for pull in fresh if pull.open]


def _close(run: Session, pull: PullRequest, replacement: PullRequest | None) -> str:
    us = replacement.author if replacement else ""
    keep = reason_to_keep(pull, _state(run, pull), run.config, us)
    if keep:
        return f"#{pull.number} ({pull.branch}) left open: {keep}"
    why = _comment(run.config, replacement)
    run.forge.close(pull.number, why)
    fate = _without_branch(run, pull) if run.config.delete_stale_branches else ""
    return f"#{pull.number} ({pull.branch}) closed: {why}{fate}"


def _without_branch(run: Session, pull: PullRequest) -> str:
    """Delete the branch; "" if it is gone, else why not.

    Never raises: the pull request is closed by now, so a second attempt would not come here.
    """
    repo, origin = run.workspace.repository, run.origin
    try:
        others = [number for number in run.forge.in_use(pull.branch) if number != pull.number]
        if others:
            names = ", ".join(f"#{number}" for number in others)
            return f" Its branch stays, as {names} needs it."
        if pull.branch in git.remote_branches(repo, origin):
            git.delete_branch(repo, origin, pull.branch, pull.head)
    except SyncError as error:
        return f" Its branch could not be deleted: {one_line(error)}"
    return ""


def _state(run: Session, pull: PullRequest) -> BranchState | None:
    """What the branch holds; a commit that this run never fetched is somebody's newest."""
    if not pull.head:
        return None
    repo = run.workspace.repository
    if git.commit_of(repo, pull.head) is None:
        return BranchState(name=pull.branch, tip=pull.head, foreign=pull.head)
    return sync_branch.inspect(repo, pull.branch, pull.head, run.config)


def reason_to_keep(
    pull: PullRequest, state: BranchState | None, config: SyncConfig, us: str = ""
) -> str:
    """Why a pull request must not be closed; "" if it may be. `us` is our account. Pure."""
    if labels.has(pull.labels, config.manual_label):
        return f"it has the label {config.manual_label}"
    if marker.parse(pull.body) is None and (not us or pull.author != us):
        return "its body has no marker of ours, so somebody else may have opened it"
    if state is not None and state.foreign:
        return f"somebody else's commit {state.foreign[:12]} is on its branch"
    return ""


def _comment(config: SyncConfig, replacement: PullRequest | None) -> str:
    if replacement is None:
        return f"Nothing is left to sync: {config.target} has everything on {config.source}."
    return f"Replaced by #{replacement.number} ({replacement.url})."
