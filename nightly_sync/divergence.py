"""How far the branches have parted, and whether an earlier sync was undone or squashed.

git's own count is no answer: after a sync merge was reverted, `rev-list target..source` is 0 and
`git merge` says "Already up to date", yet the content is gone. After a sync was squash-merged, the
merge base stands still and every later sync conflicts again.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from nightly_sync import git, provenance
from nightly_sync.config import SyncConfig
from nightly_sync.model import Model, Text


class DivergenceKind(StrEnum):
    """Each its own outcome."""

    DIVERGED = "diverged"
    NOTHING_TO_DO = "nothing-to-do"
    REVERTED = "earlier-sync-reverted"
    UNRELATED = "unrelated-histories"
    SHALLOW = "shallow-clone"
    MISSING_BRANCH = "missing-branch"
    PREFIX_CLASH = "branch-prefix-clash"


class Divergence(Model):
    """What the run should know before it merges."""

    kind: DivergenceKind
    message: Text  # one sentence; for a stop it says what to do
    source: str = ""  # SHAs
    target: str = ""
    behind: int = 0  # commits the target lacks
    ahead: int = 0  # commits only the target has
    squashed: Text = ""  # warning that names the squash-merged sync, if there is one

    @property
    def stops(self) -> bool:
        """Does a person have to act first?"""
        return self.kind not in (DivergenceKind.DIVERGED, DivergenceKind.NOTHING_TO_DO)


def check_branches(branches: Iterable[str], config: SyncConfig, today: str) -> Divergence | None:
    """Stops that the list of origin's branches shows; None if there is none. Pure.

    `today` is the name of the sync branch to be made.
    """
    names = set(branches)
    for name in (config.source, config.target):
        if name not in names:
            return _missing(name)
    return prefix_clash(names, today)


def prefix_clash(names: set[str], today: str) -> Divergence | None:
    """A branch `main2dev` makes every `main2dev/...` impossible: git keeps refs as files.

    In the same way a branch below today's name makes that one impossible.
    """
    above = {today[:end] for end, sign in enumerate(today) if sign == "/"}
    clash = sorted(name for name in names if name in above or name.startswith(f"{today}/"))
    if not clash:
        return None
    message = (
        f"the branch {clash[0]} exists, so git cannot make the sync branch {today}; "
        "rename that branch, or set another branch_prefix"
    )
    return Divergence(kind=DivergenceKind.PREFIX_CLASH, message=message)


def _missing(name: str) -> Divergence:
    message = f"origin has no branch {name}; check `source` and `target` in the config"
    return Divergence(kind=DivergenceKind.MISSING_BRANCH, message=message)


def shallow() -> Divergence:
    """The stop for a repository whose history is cut off."""
    message = (
        "the repository is a shallow clone, so merge bases are lost; run git fetch --unshallow"
    )
    return Divergence(kind=DivergenceKind.SHALLOW, message=message)


def check(repo: Path, source: str, target: str, config: SyncConfig) -> Divergence:
    """Compare two commits by SHA. Costs one `git log` over what only the target has."""
    if git.is_shallow(repo):
        return shallow()
    if not git.merge_bases(repo, target, source):
        message = (
            f"{config.source} and {config.target} have no common history; "
            "join them once by hand with git merge --allow-unrelated-histories"
        )
        return Divergence(kind=DivergenceKind.UNRELATED, message=message)
    ours = git.log(repo, f"{source}..{target}")
    behind = git.count(repo, f"{target}..{source}")
    facts = {"source": source, "target": target, "behind": behind, "ahead": len(ours)}
    undone = reverted_sync(ours, _from_source(ours), config)
    if undone:
        return Divergence(kind=DivergenceKind.REVERTED, message=undone, **facts)
    if behind == 0:
        message = f"{config.target} already has everything on {config.source}"
        return Divergence(kind=DivergenceKind.NOTHING_TO_DO, message=message, **facts)
    message = f"{config.source} is {behind} commits ahead of {config.target}"
    squash = squashed_sync(ours, config)
    return Divergence(kind=DivergenceKind.DIVERGED, message=message, squashed=squash, **facts)


def _from_source(ours: tuple[git.Commit, ...]) -> set[str]:
    """Second parents of the target's merges that are the source's: all that are not ours."""
    own = {commit.sha for commit in ours}
    return {commit.parents[1] for commit in ours if len(commit.parents) == 2} - own


_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{7,64})")


def reverted_sync(ours: tuple[git.Commit, ...], from_source: set[str], config: SyncConfig) -> str:
    """The sentence that names a reverted sync and its revert, or "". Pure.

    A revert is known by git's own message, or by a tree equal to the one before the merge. A
    revert that was itself reverted counts as undone.
    """
    by_sha = {commit.sha: commit for commit in ours}
    live = _live_reverts(ours)
    syncs = _syncs(ours, by_sha, from_source, config)
    for commit in (item for item in ours if item.sha in syncs):
        undone_by = live.get(commit.sha) or _restored_tree(commit, by_sha, ours)
        if undone_by and undone_by not in live:
            return (
                f"the sync {commit.sha[:12]} ({commit.subject}) was reverted on {config.target} "
                f"by {undone_by[:12]}; git takes its commits for merged, so a new sync would "
                "leave them out. Revert that revert, or bring the commits back by hand, first"
            )
    return ""


def _live_reverts(ours: tuple[git.Commit, ...]) -> dict[str, str]:
    """Reverted commit to the revert that still stands; newest first, so later ones cancel."""
    cancelled: set[str] = set()
    live: dict[str, str] = {}
    for commit in ours:
        if commit.sha in cancelled:
            continue
        for short in _REVERTS.findall(commit.body):
            whole = next((item.sha for item in ours if item.sha.startswith(short)), short)
            cancelled.add(whole)
            live[whole] = commit.sha
    return live


def _syncs(
    ours: tuple[git.Commit, ...],
    by_sha: dict[str, git.Commit],
    from_source: set[str],
    config: SyncConfig,
) -> set[str]:
    """Commits that brought the source in: merges of it, merges of those, and squashed ones."""
    found: set[str] = set()
    for commit in reversed(ours):
        merged = len(commit.parents) == 2 and (
            commit.parents[1] in from_source or _leads_to(commit.parents[1], found, by_sha)
        )
        if merged or _is_squash(commit, config):
            found.add(commit.sha)
    return found


def _leads_to(sha: str, syncs: set[str], by_sha: dict[str, git.Commit]) -> bool:
    """Is `sha` a sync, or commits on top of one (a pull request's repairs)?"""
    while sha not in syncs:
        commit = by_sha.get(sha)
        if commit is None or len(commit.parents) != 1:
            return False
        sha = commit.parents[0]
    return True


def _restored_tree(
    merge: git.Commit, by_sha: dict[str, git.Commit], ours: tuple[git.Commit, ...]
) -> str:
    """A direct child of the merge that has the very tree from before it."""
    before = by_sha.get(merge.parents[0]) if merge.parents else None
    if before is None or before.tree == merge.tree:
        return ""
    children = (item for item in ours if item.parents == (merge.sha,) and item.tree == before.tree)
    return next((item.sha for item in children), "")


def squashed_sync(ours: tuple[git.Commit, ...], config: SyncConfig) -> str:
    """The warning that names the newest squash-merged sync, or "". Pure."""
    for commit in ours:
        if _is_squash(commit, config):
            return (
                f"the earlier sync {commit.sha[:12]} ({commit.subject}, {commit.date[:10]}) was "
                "squash-merged, so the merge base stands still and its changes conflict again; "
                "merge sync pull requests with a merge commit"
            )
    return ""


def _is_squash(commit: git.Commit, config: SyncConfig) -> bool:
    """One parent, and our provenance or our title. The merge commits themselves have two."""
    if len(commit.parents) != 1:
        return False
    named = provenance.parse(f"{commit.subject}\n\n{commit.body}")
    return named is not None or _title(config).match(commit.subject) is not None


def _title(config: SyncConfig) -> re.Pattern[str]:
    """The title template as a pattern, whatever the date."""
    marked = config.title.format(source=config.source, target=config.target, date="\0")
    return re.compile("^" + re.escape(marked).replace("\0", ".+?"))
