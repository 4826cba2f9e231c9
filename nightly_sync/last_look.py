"""The last look at origin before a pull request is marked ready: did anything move meanwhile?"""

from nightly_sync import git, sync_branch, workspace
from nightly_sync.errors import StopForPerson
from nightly_sync.forge.base import PullRequest
from nightly_sync.repair import Head
from nightly_sync.session import Session


def check(run: Session, pull: PullRequest, head: Head) -> None:
    """Raise StopForPerson unless pull request, sync branch and target still are what we merged."""
    check_open(run, pull)
    check_unmoved(run, head)
    check_target_kept(run, head)
    sync_branch.check_invariants(run.workspace.repository, head.target, head.tip, run.config)


def check_open(run: Session, pull: PullRequest) -> None:
    """Raise StopForPerson if somebody closed the pull request."""
    if not run.forge.get(pull.number).open:
        raise StopForPerson(
            f"pull request {pull.number} was closed while its checks ran; "
            "reopen it and run again, if it is to go on"
        )


def check_unmoved(run: Session, head: Head) -> None:
    """Raise StopForPerson if origin's branch is no longer where this run left it."""
    found = git.remote_branches(run.workspace.repository, run.workspace.origin).get(head.branch)
    if found != head.tip:
        where = found[:12] if found else "gone"
        raise StopForPerson(
            f"{head.branch} was at {head.tip[:12]} and is now {where}: somebody moved it; "
            "nothing was overwritten"
        )


def check_target_kept(run: Session, head: Head) -> None:
    """Raise StopForPerson if origin's target no longer holds the commit that we merged into.

    Whatever was dropped there would come back with our merge. That it moved forward is fine.
    """
    place, name = run.workspace, run.config.target
    if git.remote_branches(place.repository, place.origin).get(name) == head.target:
        return
    workspace.fetch(place, run.config.git_timeout_seconds)
    now = workspace.branches(place).get(name)
    if now is None or not git.is_ancestor(place.repository, head.target, now):
        where = f"is at {now[:12]}" if now else "is gone"
        raise StopForPerson(
            f"{name} {where} and no longer holds {head.target[:12]}, which was merged: merging "
            "this would bring back what was dropped there. Close it, or run again"
        )
