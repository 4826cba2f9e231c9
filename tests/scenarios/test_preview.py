"""`nightly-sync preview`: the report, the exit code, and a clone that stays as it was."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from nightly_sync.errors import Exit
from tests.support.forking import Ended, nightly_sync
from tests.support.repo import TestRepo, diverged

BASE = {"a.py": "x = 1\n", "b.py": "y = 1\n"}


def _preview(repo: Path, out: Path, *args: str) -> Ended:
    return nightly_sync("preview", "--repo", str(repo), "--out", str(out), *args)


def _snapshot(folder: Path) -> dict[str, str]:
    """Every file of a clone, its worktree and its .git folder, with a digest of its content."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def _conflicted(path: Path) -> TestRepo:
    return diverged(path, {**BASE}, {"a.py": "x = 2\n"}, {"a.py": "x = 3\n", "b.py": "y = 2\n"})


def test_preview_writes_report_patch_files_and_plan(tmp_path: Path) -> None:
    repo = _conflicted(tmp_path / "clone")
    result = _preview(repo.path, tmp_path / "out")
    assert result.returncode == Exit.NEEDS_LOOK, result.stderr
    out = tmp_path / "out"
    assert (out / "files" / "a.py").read_text() == "x = 2\n"
    assert "\n-x = 3\n" in (out / "remerge.diff").read_text()
    assert "a.py" in (out / "report.md").read_text()
    plan = json.loads((out / "plan.json").read_text())
    assert [item["path"] for item in plan["paths"]] == ["a.py"]
    assert repo.git("rev-parse", "main") in result.stdout


def test_preview_leaves_the_clone_as_it_was_down_to_the_object_store(tmp_path: Path) -> None:
    repo = _conflicted(tmp_path / "clone")
    repo.write({"untracked": "1\n", "b.py": "work in progress\n"})
    before = _snapshot(repo.path)
    _preview(repo.path, tmp_path / "out")
    assert _snapshot(repo.path) == before


def test_the_same_inputs_give_the_same_plan_json(tmp_path: Path) -> None:
    repo = _conflicted(tmp_path / "clone")
    for name in ("one", "two"):
        _preview(repo.path, tmp_path / name)
    one, two = ((tmp_path / name / "plan.json").read_bytes() for name in ("one", "two"))
    assert one == two


def test_a_clean_merge_is_settled(tmp_path: Path) -> None:
    repo = diverged(tmp_path / "clone", {**BASE}, {"a.py": "x = 2\n"}, {"b.py": "y = 2\n"})
    assert _preview(repo.path, tmp_path / "out").returncode == Exit.SETTLED


def test_nothing_to_do_is_settled(tmp_path: Path) -> None:
    repo = diverged(tmp_path / "clone", {**BASE}, {"a.py": "x = 2\n"}, {"b.py": "y = 2\n"})
    repo.merge("main")
    assert _preview(repo.path, tmp_path / "out").returncode == Exit.SETTLED


def test_an_unresolved_conflict_stops_and_is_reported(tmp_path: Path) -> None:
    repo = diverged(tmp_path / "clone", {"x": ""}, {"a": "file\n"}, {"a/b": "folder\n"})
    result = _preview(repo.path, tmp_path / "out")
    assert result.returncode == Exit.STOPPED
    assert "file/directory" in (tmp_path / "out" / "report.md").read_text()
    assert json.loads((tmp_path / "out" / "plan.json").read_text())["resolved_tree"] is None


def test_past_nights_can_be_previewed_by_sha(tmp_path: Path) -> None:
    repo = _conflicted(tmp_path / "clone")
    source, target = repo.git("rev-parse", "main"), repo.git("rev-parse", "dev")
    repo.merge("main", "-X", "ours")
    result = _preview(repo.path, tmp_path / "out", "--source", source, "--target", f"{target}")
    assert result.returncode == Exit.NEEDS_LOOK
    result = _preview(repo.path, tmp_path / "out", "--source", "main", "--target", "dev~1")
    assert result.returncode == Exit.NEEDS_LOOK


def test_the_report_names_the_branches_that_were_previewed(tmp_path: Path) -> None:
    """Reported: with --target 2.x the report spoke of dev."""
    repo = _conflicted(tmp_path / "clone")
    repo.git("branch", "-m", "dev", "release")
    _preview(repo.path, tmp_path / "out", "--target", "release")
    text = (tmp_path / "out" / "report.md").read_text()
    assert "Sync of `main` into `release`" in text
    assert "`dev`" not in text


def test_a_branch_that_differs_from_origins_is_warned_about(tmp_path: Path) -> None:
    repo = _conflicted(tmp_path / "clone")
    repo.git("update-ref", "refs/remotes/origin/main", "main~1")
    result = _preview(repo.path, tmp_path / "out")
    assert "refs/remotes/origin/main differs" in result.stderr


def test_only_origins_branch_is_used_where_there_is_no_local_one(tmp_path: Path) -> None:
    repo = _conflicted(tmp_path / "clone")
    repo.git("update-ref", "refs/remotes/origin/main", "main")
    repo.git("branch", "-D", "main")
    result = _preview(repo.path, tmp_path / "out")
    assert "refs/remotes/origin/main" in result.stdout
    assert result.returncode == Exit.NEEDS_LOOK


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["--source", "nope"], Exit.STOPPED, "no branch or commit called nope"),
        (["--config", "missing.yaml"], Exit.USAGE, "missing.yaml"),
        (["--nonsense"], Exit.USAGE, "No such option"),
    ],
)
def test_mistakes_are_one_readable_sentence(
    tmp_path: Path, args: list[str], code: Exit, words: str
) -> None:
    result = _preview(_conflicted(tmp_path / "clone").path, tmp_path / "out", *args)
    assert result.returncode == code
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_a_folder_that_is_no_repository_is_one_sentence(tmp_path: Path) -> None:
    result = _preview(tmp_path, tmp_path / "out")
    assert result.returncode == Exit.FAILED
    assert "is not a git repository" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_folder_with_other_files_is_not_written_into(tmp_path: Path) -> None:
    repo = _conflicted(tmp_path / "clone")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("keep")
    result = _preview(repo.path, tmp_path / "out")
    assert result.returncode == Exit.USAGE
    assert (tmp_path / "out" / "precious").read_text() == "keep"


def test_preview_does_not_import_prefect(tmp_path: Path) -> None:
    repo = _conflicted(tmp_path / "clone")
    words = ["x", "preview", "--repo", str(repo.path), "--out", str(tmp_path / "out")]
    code = (
        f"import sys\nfrom nightly_sync.cli import main\nsys.argv = {words!r}\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'prefect', 'pandas', 'flows'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines()[-1] == "[]"


def test_a_shallow_clone_stops(tmp_path: Path) -> None:
    repo = _conflicted(tmp_path / "clone")
    repo.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{repo.path}", "../cut")
    result = _preview(tmp_path / "cut", tmp_path / "out")
    assert result.returncode == Exit.STOPPED
    assert "--unshallow" in result.stderr


def test_a_missing_git_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    result = subprocess.run(
        [sys.executable, "-m", "nightly_sync", "preview", "--repo", str(tmp_path)],
        env={"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == Exit.FAILED
    assert "install git 2.38 or newer" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_old_git_says_what_to_install(tmp_path: Path) -> None:
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho git version 2.25.1\n")
    old.chmod(0o755)
    result = subprocess.run(
        [sys.executable, "-m", "nightly_sync", "preview", "--repo", str(tmp_path)],
        env={"PATH": f"{old.parent}:/bin:/usr/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == Exit.FAILED
    assert "2.25.1" in result.stderr
    assert "install git 2.38 or newer" in result.stderr


def test_a_plan_json_of_somebody_elses_makes_no_report(tmp_path: Path) -> None:
    """Reported: beside a plan.json of Terraform's, a foreign files/ was removed."""
    repo = _conflicted(tmp_path / "clone")
    out = tmp_path / "out"
    (out / "files").mkdir(parents=True)
    (out / "files" / "precious").write_text("keep")
    (out / "plan.json").write_text('{"format_version": "1.2", "terraform_version": "1.9.0"}')
    result = _preview(repo.path, out)
    assert result.returncode == Exit.USAGE
    assert "holds other files" in result.stderr
    assert (out / "files" / "precious").read_text() == "keep"


@pytest.mark.parametrize("out", ["/dev/null/x", "/proc/x", "~nosuch/x"])
def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path, out: str) -> None:
    """Reported: each ended in a traceback."""
    result = _preview(_conflicted(tmp_path / "clone").path, Path(out))
    assert result.returncode == Exit.USAGE
    assert result.stderr.count("\n") == 1
    assert out in result.stderr


@pytest.mark.parametrize("name", ["caf\udce9", "new\nline", "clone"])
def test_a_clone_of_any_name_is_previewed_from_any_of_its_folders(
    tmp_path: Path, name: str
) -> None:
    """Reported: names that are not UTF-8, names with a newline, and --repo CLONE/subfolder."""
    repo = _conflicted(tmp_path / name)
    (repo.path / "sub").mkdir()
    result = _preview(repo.path / "sub", tmp_path / "out")
    assert result.returncode == Exit.NEEDS_LOOK, result.stderr
    assert json.loads((tmp_path / "out" / "plan.json").read_text())["resolved_tree"]


def test_a_clone_of_sha256_is_one_sentence(tmp_path: Path) -> None:
    """Reported: "Not a valid object name" for a branch that is there."""
    folder = tmp_path / "clone"
    subprocess.run(["git", "init", "-q", "--object-format=sha256", str(folder)], check=True)
    repo = TestRepo(folder)
    repo.commit("One", {"a": "1\n"})
    repo.git("branch", "-M", "main")
    repo.git("branch", "dev")
    result = _preview(folder, tmp_path / "out")
    assert result.returncode == Exit.STOPPED
    assert "SHA-256 repository" in result.stderr
