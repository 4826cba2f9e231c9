"""The sync branch on origin: what stands there, whose it is, and what this run may push.

State lives where the next worker can see it. A branch holds our merge commit and at most one fix
commit on top; anything else is somebody's work and stays as it is.
"""

from collections.abc import Mapping
from pathlib import Path

from nightly_sync import git, provenance
from nightly_sync.config import SyncConfig
from nightly_sync.errors import StopForPerson, SyncError
from nightly_sync.merge.markers import SIZES
from nightly_sync.model import Model
from nightly_sync.provenance import Provenance

DEPTH = 100  # commits looked through for our merge
MOST_SUFFIXES = 50  # a day's reruns; more is a loop somewhere


class BranchState(Model):
    """What a sync branch holds. `merge` is empty if no merge of ours is on it."""

    name: str
    tip: str
    merge: str = ""
    made_from: Provenance | None = None
    foreign: str = ""  # the first commit that is not ours


class Choice(Model):
    """The branch this run works on; with `resume`, its merge commit is already there."""

    name: str
    resume: BranchState | None = None


def inspect(repo: Path, name: str, tip: str, config: SyncConfig) -> BranchState:
    """Look at a sync branch's newest commits, far enough to find our merge below others' work."""
    commits = git.log(repo, tip, options=(f"--max-count={DEPTH}", "--first-parent"))
    return classify(name, commits, config)


def classify(name: str, commits: tuple[git.Commit, ...], config: SyncConfig) -> BranchState:
    """The same from the commits, newest first along the first parents. Pure."""
    tip = commits[0]
    above = 0
    while above < len(commits) and not is_our_merge(commits[above], config):
        above += 1
    if above == len(commits):
        return BranchState(name=name, tip=tip.sha, foreign=tip.sha)
    clean = above == 0 or (above == 1 and is_our_fix(tip, config))
    state = _ours(name, tip, commits[above])
    return state if clean else state.model_copy(update={"foreign": tip.sha})


def _ours(name: str, tip: git.Commit, merge: git.Commit) -> BranchState:
    made_from = provenance.parse(merge.body)
    return BranchState(name=name, tip=tip.sha, merge=merge.sha, made_from=made_from)


def is_our_merge(commit: git.Commit, config: SyncConfig) -> bool:
    """Our committer, our trailers, and the two parents that the trailers name."""
    made_from = provenance.parse(commit.body)
    if made_from is None or commit.email != config.committer.email:
        return False
    return commit.parents == (made_from.target, made_from.source)


def is_our_fix(commit: git.Commit, config: SyncConfig) -> bool:
    """Our committer, and the trailer that names the merge commit it lies on."""
    named = provenance.fix_of(commit.body)
    return commit.email == config.committer.email and commit.parents == (named,)


def choose(base: str, made_from: Provenance, states: Mapping[str, BranchState]) -> Choice:
    """Today's branch: resume the one made from the same inputs, else the first free name. Pure.

    Raises StopForPerson where someone else's commit lies on the branch we would resume.
    """
    for number in range(1, MOST_SUFFIXES + 1):
        name = base if number == 1 else f"{base}-{number}"
        state = states.get(name)
        if state is None:
            return Choice(name=name)
        if state.made_from == made_from:
            return _resumed(state)
    raise SyncError(f"{base} has {MOST_SUFFIXES} reruns already; look at what starts them")


def _resumed(state: BranchState) -> Choice:
    if state.foreign:
        raise StopForPerson(foreign_sentence(state.name, state.foreign))
    return Choice(name=state.name, resume=state)


def foreign_sentence(name: str, sha: str) -> str:
    """Why the run stops at somebody else's commit."""
    return (
        f"the commit {sha[:12]} on {name} is not ours; nothing was pushed and nothing overwritten. "
        "Go on from there by hand, or delete the branch to have it made anew"
    )


def check_invariants(repo: Path, target: str, commit: str, config: SyncConfig) -> None:
    """What must hold before every push, checked on the commit itself. Raises SyncError.

    Protected paths equal the target's, no conflict marker was written, and the target's own
    commits are all still there.
    """
    if not git.is_ancestor(repo, target, commit):
        raise SyncError(f"refusing to push {commit[:12]}: it does not hold the target's commits")
    changed = git.changes(repo, target, commit)
    broken = [item.path for item in changed if config.holds("protect", item.path)]
    if broken:
        raise SyncError(f"refusing to push: the protected path {broken[0]} differs from the target")
    marked = _marked(repo, commit, changed)
    if marked:
        raise SyncError(f"refusing to push: {marked[0]} holds conflict markers")


_LENGTHS = "|".join(f"<{{{size}}}|>{{{size}}}" for size in SIZES)
_MARKER = rf"^({_LENGTHS})( .*)?$"


def _marked(repo: Path, commit: str, changed: tuple[git.Change, ...]) -> list[str]:
    """Files with a line just like one of the plan's own markers, unless the source has it so."""
    hits = set(git.grep_files(repo, commit, _MARKER, ()))
    suspects = [item for item in changed if item.new and item.path in hits]
    if not suspects:
        return []
    theirs = git.tree_entries(repo, _source_of(repo, commit))
    return sorted(item.path for item in suspects if theirs.get(item.path) != item.new)


def _source_of(repo: Path, commit: str) -> str:
    """The second parent of our merge, which is the commit itself or lies below a fix commit."""
    commits = git.log(repo, commit, options=("--max-count=2", "--first-parent"))
    return next((item.parents[1] for item in commits if len(item.parents) == 2), commits[-1].sha)


def push_commit(
    repo: Path,
    origin: git.Remote,
    target: str,
    commit: str,
    state: BranchState | Choice,
    config: SyncConfig,
) -> None:
    """Push the merge commit of a new branch, or a fix commit onto the state last seen.

    Raises StopForPerson when someone moved the branch meanwhile, SyncError when an invariant
    does not hold.
    """
    check_invariants(repo, target, commit, config)
    expected = state.tip if isinstance(state, BranchState) else None
    git.push(repo, origin, commit, state.name, expected, config.git_timeout_seconds)
