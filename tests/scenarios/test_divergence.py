"""Divergence on real repositories: each state its own outcome, none called up to date wrongly."""

from pathlib import Path

import pytest

from nightly_sync import divergence
from nightly_sync.divergence import Divergence, DivergenceKind
from tests.support.repo import TestRepo, diverged
from tests.support.sync import config

TODAY = "main2dev/30_11_2026"
TITLE = "chore: nightly sync main into dev (01_06_2025)"


def _check(repo: TestRepo) -> Divergence:
    source, target = repo.git("rev-parse", "main"), repo.git("rev-parse", "dev")
    return divergence.check(repo.path, source, target, config(repo))


def _parted(tmp_path: Path) -> TestRepo:
    return diverged(tmp_path, {"x": "1\n"}, {"m": "main\n"}, {"d": "dev\n"})


def test_parted_branches_are_counted(tmp_path: Path) -> None:
    found = _check(_parted(tmp_path))
    assert (found.kind, found.behind, found.ahead) == (DivergenceKind.DIVERGED, 1, 1)
    assert not found.stops
    assert found.squashed == ""


def test_nothing_to_do_after_a_merge(tmp_path: Path) -> None:
    repo = _parted(tmp_path)
    repo.merge("main")
    assert _check(repo).kind is DivergenceKind.NOTHING_TO_DO


def test_a_reverted_sync_is_not_up_to_date(tmp_path: Path) -> None:
    repo = _parted(tmp_path)
    sync = repo.merge("main")
    repo.git("revert", "-m1", "--no-edit", sync)
    found = _check(repo)
    assert found.kind is DivergenceKind.REVERTED
    assert found.stops
    assert sync[:12] in found.message


def test_a_revert_without_gits_message_is_known_by_its_tree(tmp_path: Path) -> None:
    repo = _parted(tmp_path)
    sync = repo.merge("main")
    repo.git("revert", "-m1", "--no-commit", sync)
    repo.commit("Back out last night")
    assert _check(repo).kind is DivergenceKind.REVERTED


def test_a_reverted_revert_is_no_stop(tmp_path: Path) -> None:
    repo = _parted(tmp_path)
    sync = repo.merge("main")
    repo.git("revert", "-m1", "--no-edit", sync)
    repo.git("revert", "--no-edit", "HEAD")
    assert _check(repo).kind is DivergenceKind.NOTHING_TO_DO


def test_a_reverted_pull_request_of_a_sync_branch_stops_too(tmp_path: Path) -> None:
    """The merge commit of the pull request is reverted, not the sync's own merge commit."""
    repo = _parted(tmp_path)
    repo.branch("main2dev/01_06_2025")
    repo.merge("main")
    repo.commit("Repair CI", {"fix": "1\n"})
    repo.checkout("dev")
    pull = repo.merge("main2dev/01_06_2025")
    repo.git("revert", "-m1", "--no-edit", pull)
    assert _check(repo).kind is DivergenceKind.REVERTED


def test_an_ordinary_revert_on_the_target_is_none_of_our_business(tmp_path: Path) -> None:
    repo = _parted(tmp_path)
    repo.git("revert", "--no-edit", "HEAD")
    assert _check(repo).kind is DivergenceKind.DIVERGED


def test_a_revert_stays_a_stop_when_the_source_moved_on(tmp_path: Path) -> None:
    repo = _parted(tmp_path)
    sync = repo.merge("main")
    repo.git("revert", "-m1", "--no-edit", sync)
    repo.checkout("main")
    repo.commit("More", {"more": "1\n"})
    assert _check(repo).kind is DivergenceKind.REVERTED


@pytest.mark.parametrize("message", [f"{TITLE} (#7)", "Nightly\n\n* x\n\nNightly-Sync-Source: {}"])
def test_a_squashed_sync_is_named_and_does_not_stop(tmp_path: Path, message: str) -> None:
    repo = _parted(tmp_path)
    repo.git("merge", "-q", "--squash", "main")
    source, target = repo.git("rev-parse", "main"), repo.git("rev-parse", "HEAD")
    trailers = f"\nNightly-Sync-Target: {target}\nNightly-Sync-Config: 0123456789ab"
    squash = repo.commit(message.replace("{}", source) + trailers)
    found = _check(repo)
    assert found.kind is DivergenceKind.DIVERGED
    assert squash[:12] in found.squashed


def test_unrelated_histories_stop(tmp_path: Path) -> None:
    repo = TestRepo(tmp_path)
    repo.commit("One", {"a": "1\n"})
    repo.git("checkout", "-q", "--orphan", "dev")
    repo.commit("Two", {"a": "2\n"})
    assert _check(repo).kind is DivergenceKind.UNRELATED


def test_a_shallow_clone_stops(tmp_path: Path) -> None:
    repo = _parted(tmp_path / "origin")
    repo.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{repo.path}", "../cut")
    cut = tmp_path / "cut"
    sha = repo.git("rev-parse", "main")
    found = divergence.check(cut, sha, sha, config(repo))
    assert found.kind is DivergenceKind.SHALLOW
    assert "--unshallow" in found.message


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        ({"main"}, DivergenceKind.MISSING_BRANCH),
        ({"dev"}, DivergenceKind.MISSING_BRANCH),
        ({"main", "dev", "main2dev"}, DivergenceKind.PREFIX_CLASH),
    ],
)
def test_branch_lists_that_stop_a_sync(
    tmp_path: Path, names: set[str], kind: DivergenceKind
) -> None:
    found = divergence.check_branches(names, config(TestRepo(tmp_path)), TODAY)
    assert found is not None
    assert found.kind is kind
    assert found.stops


def test_a_branch_below_the_prefix_is_fine(tmp_path: Path) -> None:
    names = {"main", "dev", "main2dev/01_01_2026", "main2development"}
    assert divergence.check_branches(names, config(TestRepo(tmp_path)), TODAY) is None


@pytest.mark.parametrize(
    ("today", "other"),
    [
        ("main2dev/30_11_2026", "main2dev/30_11_2026/x"),
        ("main2dev/2026/11/30", "main2dev/2026"),
    ],
)
def test_a_branch_that_leaves_no_room_for_todays_is_named(
    tmp_path: Path, today: str, other: str
) -> None:
    """Reported: with `main2dev/30_11_2026/x` on origin the push failed thrice, in git's words.

    Such names are refs that cannot be a file and a folder at once.
    """
    names = {"main", "dev", other}
    found = divergence.check_branches(names, config(TestRepo(tmp_path)), today)
    assert found is not None
    assert found.kind is DivergenceKind.PREFIX_CLASH
    assert f"the branch {other} exists" in found.message
    assert today in found.message
