"""Did a person move something meanwhile? Asked at each look, and last before it is marked ready."""

from collections.abc import Mapping

from nightly_sync import git, labels, sync_branch, workspace
from nightly_sync.errors import StopForPerson
from nightly_sync.forge.base import Glance, PullRequest
from nightly_sync.repair import Head
from nightly_sync.session import Session


def check(run: Session, pull: PullRequest, head: Head) -> None:
    """Raise StopForPerson unless pull request, sync branch and target still are what we merged."""
    check_open(run, pull)
    branches = git.remote_branches(run.workspace.repository, run.origin)
    _check_unmoved(branches, head)
    _check_target_kept(run, branches, head)
    sync_branch.check_invariants(run.workspace.repository, head.target, head.tip, run.config)


def check_open(run: Session, pull: PullRequest) -> None:
    """Raise StopForPerson if somebody closed, merged, claimed or retargeted the pull request."""
    now = run.forge.get(pull.number)
    if not now.open:
        after = "what is on it was not checked to the end"
        after = after if now.merged else "reopen it and run again, if it is to go on"
        raise StopForPerson(f"pull request {pull.number} {now.ended} while its checks ran; {after}")
    if now.target != run.config.target:
        raise StopForPerson(
            f"pull request {pull.number} goes into {now.target} now, and its checks and this run "
            f"were about {run.config.target}; point it back and run again, if it is to go on"
        )
    if is_claimed(run, now):
        raise StopForPerson(
            f"pull request {pull.number} got the label {run.config.manual_label} while its checks "
            "ran, so it is left alone; take the label off and run again, if it is to go on"
        )


def check_glance(run: Session, pull: PullRequest, head: Head, seen: Glance | None) -> None:
    """Raise StopForPerson if a glance shows that somebody took over; nothing is asked otherwise.

    A forge may show an old head for a while after a push, so what the glance shows is looked up.
    """
    if seen is None:
        return
    moved = seen.head not in ("", head.tip) or seen.target not in ("", run.config.target)
    if moved or not seen.open or is_claimed(run, seen):
        check_open(run, pull)
        check_unmoved(run, head)


def is_claimed(run: Session, pull: PullRequest | Glance) -> bool:
    """Has a person put the label on it that says hands off?"""
    return labels.has(pull.labels, run.config.manual_label)


def check_unmoved(run: Session, head: Head) -> None:
    """Raise StopForPerson if origin's branch is no longer where this run left it."""
    _check_unmoved(git.remote_branches(run.workspace.repository, run.origin), head)


def _check_unmoved(branches: Mapping[str, str], head: Head) -> None:
    found = branches.get(head.branch)
    if found != head.tip:
        where = found[:12] if found else "gone"
        raise StopForPerson(
            f"{head.branch} was at {head.tip[:12]} and is now {where}: somebody moved it; "
            "nothing was overwritten"
        )


def _check_target_kept(run: Session, branches: Mapping[str, str], head: Head) -> None:
    """Raise StopForPerson if origin's target no longer holds the commit that we merged into.

    Whatever was dropped there would come back with our merge. That it moved forward is fine.
    """
    place, name = run.workspace, run.config.target
    if branches.get(name) == head.target:
        return
    workspace.fetch(place, run.origin, run.config.git_timeout_seconds)
    now = workspace.branches(place).get(name)
    if now is None or not git.is_ancestor(place.repository, head.target, now):
        where = f"is at {now[:12]}" if now else "is gone"
        raise StopForPerson(
            f"{name} {where} and no longer holds {head.target[:12]}, which was merged: merging "
            "this would bring back what was dropped there. Close it, or run again"
        )
