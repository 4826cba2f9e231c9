"""What a branch name on the command line stands for."""

from pathlib import Path

from nightly_sync import git
from nightly_sync.errors import StopForPerson
from nightly_sync.model import Model


class Resolved(Model):
    """A commit, and how its name led there."""

    name: str
    ref: str  # the full ref, or the name itself where it is no branch
    sha: str
    warning: str = ""


def resolve(repo: Path, name: str) -> Resolved:
    """The local branch, else `origin/NAME`, else any commit-ish.

    Warns where both branches exist and differ. Raises StopForPerson if nothing has that name.
    """
    found = {ref: git.commit_of(repo, ref) for ref in _candidates(name)}
    known = {ref: sha for ref, sha in found.items() if sha}
    if not known:
        sha = git.commit_of(repo, name)
        if sha is None:
            raise StopForPerson(f"{repo} has no branch or commit called {name}; fetch it first")
        return Resolved(name=name, ref=name, sha=sha)
    (ref, sha), *others = known.items()
    warning = "".join(_differs(ref, sha, *other) for other in others if other[1] != sha)
    return Resolved(name=name, ref=ref, sha=sha, warning=warning)


def _candidates(name: str) -> tuple[str, str]:
    return f"refs/heads/{name}", f"refs/remotes/origin/{name}"


def _differs(ref: str, sha: str, other: str, other_sha: str) -> str:
    return f"{ref} ({sha[:12]}) is used; {other} differs ({other_sha[:12]})"
