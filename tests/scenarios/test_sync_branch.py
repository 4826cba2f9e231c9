"""The sync branch: resume what is ours, leave what is not, check before every push."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from nightly_sync import git, sync_branch
from nightly_sync.config import SyncConfig
from nightly_sync.errors import StopForPerson, SyncError
from nightly_sync.merge.commit import commit_fix, commit_merge, provenance_of
from nightly_sync.merge.plan import plan
from nightly_sync.provenance import Provenance
from nightly_sync.sync_branch import BranchState, Choice
from tests.support.repo import TestRepo, diverged
from tests.support.sync import config, rule

NOW = datetime(2026, 11, 30, 21, 0, tzinfo=UTC)
NAME = "main2dev/30_11_2026"
MADE_FROM = Provenance(source="a" * 40, target="b" * 40, config="c" * 12)


def _repo(tmp_path: Path) -> TestRepo:
    return diverged(tmp_path, {"a": "1\n"}, {"a": "2\n"}, {"b": "1\n"})


def _merge(repo: TestRepo, settings: SyncConfig) -> tuple[str, Provenance]:
    made = plan(repo.path, repo.git("rev-parse", "main"), repo.git("rev-parse", "dev"), settings)
    merged = commit_merge(repo.path, made, settings, settings.title_for(NOW), NOW)
    return merged.commit, provenance_of(made, settings)


def test_our_merge_commit_has_both_parents_identity_and_provenance(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    who = {"name": "bot", "email": "bot@example.com"}
    settings = config(repo, committer=who, sign_off=True)
    sha, made_from = _merge(repo, settings)
    (commit,) = git.log(repo.path, sha, options=("-1",))
    assert commit.parents == (repo.git("rev-parse", "dev"), repo.git("rev-parse", "main"))
    assert (commit.committer, commit.email) == ("bot", "bot@example.com")
    assert "Signed-off-by: bot <bot@example.com>" in commit.body
    state = sync_branch.inspect(repo.path, NAME, sha, settings)
    assert state == BranchState(name=NAME, tip=sha, merge=sha, made_from=made_from)


def test_a_fix_commit_of_ours_on_the_merge_is_ours(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    settings = config(repo)
    merge, made_from = _merge(repo, settings)
    fix = commit_fix(repo.path, merge, git.tree_of(repo.path, "dev"), ("one",), settings, NOW)
    state = sync_branch.inspect(repo.path, NAME, fix, settings)
    assert (state.merge, state.tip, state.foreign) == (merge, fix, "")
    assert state.made_from == made_from


@pytest.mark.parametrize("commits", [1, 2, 5])
def test_other_peoples_commits_on_top_are_seen_however_many(tmp_path: Path, commits: int) -> None:
    repo = _repo(tmp_path)
    settings = config(repo)
    merge, made_from = _merge(repo, settings)
    repo.git("checkout", "-q", "-b", NAME, merge)
    for number in range(commits):
        repo.commit(f"By hand {number}", {"hand": str(number)})
    tip = repo.git("rev-parse", "HEAD")
    state = sync_branch.inspect(repo.path, NAME, tip, settings)
    assert state.foreign == tip
    with pytest.raises(StopForPerson, match="is not ours"):
        sync_branch.choose(NAME, made_from, {NAME: state})


def test_a_branch_without_our_merge_is_all_foreign(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    tip = repo.git("rev-parse", "dev")
    state = sync_branch.inspect(repo.path, NAME, tip, config(repo))
    assert (state.merge, state.foreign) == ("", tip)


def test_our_commit_amended_by_somebody_else_is_foreign(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    settings = config(repo)
    merge, _ = _merge(repo, settings)
    repo.git("checkout", "-q", "-b", NAME, merge)
    repo.git("commit", "-q", "--amend", "--no-edit", "--allow-empty")
    tip = repo.git("rev-parse", "HEAD")
    assert sync_branch.inspect(repo.path, NAME, tip, settings).foreign == tip


def test_a_free_name_is_new() -> None:
    assert sync_branch.choose(NAME, MADE_FROM, {}) == Choice(name=NAME)


def test_the_same_inputs_resume_and_others_take_the_next_suffix() -> None:
    mine = BranchState(name=NAME, tip="1", merge="1", made_from=MADE_FROM)
    assert sync_branch.choose(NAME, MADE_FROM, {NAME: mine}).resume == mine
    moved = MADE_FROM.model_copy(update={"source": "d" * 40})
    assert sync_branch.choose(NAME, moved, {NAME: mine}) == Choice(name=f"{NAME}-2")
    second = mine.model_copy(update={"name": f"{NAME}-2", "made_from": moved})
    states = {NAME: mine, f"{NAME}-2": second}
    assert sync_branch.choose(NAME, moved, states).resume == second
    third = moved.model_copy(update={"config": "e" * 12})
    assert sync_branch.choose(NAME, third, states).name == f"{NAME}-3"


def test_a_push_never_moves_a_branch_somebody_else_made(tmp_path: Path) -> None:
    repo = _repo(tmp_path / "work")
    settings = config(repo)
    merge, _ = _merge(repo, settings)
    repo.git("clone", "-q", "--bare", ".", "../origin.git")
    origin = tmp_path / "origin.git"
    remote = git.Remote(str(origin))
    repo.git("push", "-q", str(origin), f"dev:refs/heads/{NAME}")
    target = repo.git("rev-parse", "dev")
    with pytest.raises(StopForPerson, match="moved on"):
        sync_branch.push_commit(repo.path, remote, target, merge, Choice(name=NAME), settings)
    assert git.refs(origin, f"refs/heads/{NAME}") == {f"refs/heads/{NAME}": target}


def test_a_fix_replaces_only_the_tip_that_was_last_seen(tmp_path: Path) -> None:
    repo = _repo(tmp_path / "work")
    settings = config(repo)
    repo.git("clone", "-q", "--bare", ".", "../origin.git")
    origin = git.Remote(str(tmp_path / "origin.git"))
    target = repo.git("rev-parse", "dev")
    merge, _ = _merge(repo, settings)
    sync_branch.push_commit(repo.path, origin, target, merge, Choice(name=NAME), settings)
    tree = git.tree_of(repo.path, merge)
    fixes = [commit_fix(repo.path, merge, tree, (name,), settings, NOW) for name in ("a", "b")]
    seen = merge
    for fix in fixes:
        state = BranchState(name=NAME, tip=seen, merge=merge)
        sync_branch.push_commit(repo.path, origin, target, fix, state, settings)
        seen = fix
    assert git.remote_branches(repo.path, origin)[NAME] == fixes[1]
    late = BranchState(name=NAME, tip=merge, merge=merge)
    with pytest.raises(StopForPerson):
        sync_branch.push_commit(repo.path, origin, target, fixes[0], late, settings)
    assert git.remote_branches(repo.path, origin)[NAME] == fixes[1]


def _commit(repo: TestRepo, files: dict[str, str | bytes | None]) -> str:
    repo.git("checkout", "-q", "--detach", "dev")
    return repo.commit("Candidate", files)


def test_a_protected_path_that_differs_is_never_pushed(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    settings = config(repo, rules=[rule("protect", "/b")])
    bad = _commit(repo, {"b": "changed\n"})
    with pytest.raises(SyncError, match="protected path b"):
        sync_branch.check_invariants(repo.path, repo.git("rev-parse", "dev"), bad, settings)


def test_conflict_markers_are_never_pushed(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    bad = _commit(repo, {"c": f"{'<' * 47} ours\n"})
    with pytest.raises(SyncError, match="conflict markers"):
        sync_branch.check_invariants(repo.path, repo.git("rev-parse", "dev"), bad, config(repo))


def test_lines_that_only_look_like_markers_or_are_the_sources_do_not_block(tmp_path: Path) -> None:
    """Reported: a source file with 60 signs in a row was refused at every push."""
    files: dict[str, str | bytes | None] = {
        "sep.py": f"# {'>' * 60}\n{'<' * 60}\n",
        "doc": f"{'<' * 47} kept\n",
    }
    repo = diverged(tmp_path, {"a": "1\n"}, files, {"b": "1\n"})
    settings = config(repo)
    merge, _ = _merge(repo, settings)
    target = repo.git("rev-parse", "dev")
    sync_branch.check_invariants(repo.path, target, merge, settings)
    fix = commit_fix(repo.path, merge, git.tree_of(repo.path, merge), ("x",), settings, NOW)
    sync_branch.check_invariants(repo.path, target, fix, settings)


def test_a_commit_without_the_targets_history_is_never_pushed(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    with pytest.raises(SyncError, match="does not hold the target"):
        sync_branch.check_invariants(
            repo.path, repo.git("rev-parse", "dev"), repo.git("rev-parse", "main"), config(repo)
        )
