"""Patches and line counts of real merges: odd names, renames, binaries, no newline at the end."""

from pathlib import Path

import pytest

from nightly_sync import diffs, git
from nightly_sync.diffs import FileDiff
from tests.support.repo import TestRepo, diverged

ODD = "caf\udce9 new\nline\t.py"  # one byte that is not UTF-8


def _merged(repo: TestRepo, resolved: dict[str, str | bytes | None]) -> str:
    """Merge main into dev, conflicts resolved as given; returns the merge commit."""
    repo.git("merge", "--no-commit", "--no-ff", "main", check=False)
    return repo.commit("Merge main", resolved)


def _patch(repo: TestRepo, old: str, new: str) -> dict[str, FileDiff]:
    raw = git.run(repo.path, "diff", "--find-renames", old, new).out
    return {item.path: item for item in diffs.split_by_path(raw)}


def test_remerge_diff_shows_how_a_conflict_was_resolved(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"a.py": "x = 0\n"}, {"a.py": "x = 1\n"}, {"a.py": "x = 2\n"})
    merge = _merged(repo, {"a.py": "x = 3\n"})
    (part,) = diffs.split_by_path(diffs.remerge_diff(tmp_path, f"{merge}^1", merge))
    assert part.path == "a.py"
    assert "remerge CONFLICT" in part.text
    assert "\n+x = 3\n" in part.text
    assert "\n-<<<<<<< " in part.text  # markers of 7 characters


def test_remerge_diff_of_a_merge_that_git_made_alone_is_empty(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"a.py": "0\n"}, {"b.py": "1\n"}, {"c.py": "2\n"})
    assert diffs.remerge_diff(tmp_path, "dev", _merged(repo, {})) == b""


def test_remerge_diff_heeds_the_targets_attributes_in_a_bare_repository(tmp_path: Path) -> None:
    base: dict[str, str | bytes | None] = {".gitattributes": "a merge=union\n", "a": "0\n"}
    repo = diverged(tmp_path / "work", base, {"a": "1\n0\n"}, {"a": "2\n0\n"})
    merge = repo.merge("main")
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    assert diffs.remerge_diff(tmp_path / "bare.git", f"{merge}^1", merge) == b""


def test_final_diff_includes_what_fix_commits_changed(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"a.py": "x = 0\n"}, {"a.py": "x = 1\n"}, {"a.py": "x = 2\n"})
    merge = _merged(repo, {"a.py": "x = 3\n"})
    fix = repo.commit("Fix", {"a.py": "x = 4\n", "b.py": "y = 1\n"})
    patch = diffs.final_diff(tmp_path, f"{merge}^1", f"{merge}^2", fix)
    parts = {item.path: item for item in diffs.split_by_path(patch)}
    assert "\n-<<<<<<< " in parts["a.py"].text  # markers of 7 characters
    assert "+x = 4" in parts["a.py"].text
    assert "x = 3" not in parts["a.py"].text
    assert parts["b.py"].added == 1


def test_the_users_diff_settings_do_not_change_a_patch(tmp_path: Path) -> None:
    old, new = "a = 1\n\nb = 1\n", "a = 1\n\nb = 2\n"
    repo = diverged(tmp_path, {"a.py": old}, {"a.py": new}, {"z.py": "1\n"})
    plain = diffs.tree_diff(tmp_path, "dev", "main")
    for setting in ("noprefix", "mnemonicPrefix", "suppressBlankEmpty", "colorMoved"):
        repo.git("config", f"diff.{setting}", "true")
    repo.git("config", "color.ui", "always")
    repo.git("config", "diff.external", "false")
    repo.git("config", "diff.context", "0")
    assert diffs.tree_diff(tmp_path, "dev", "main") == plain


def test_lines_are_counted_against_the_merge_base(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"a.py": "1\n"}, {"a.py": "1\n2\n"}, {"dev.py": "1\n2\n3\n"})
    stats = diffs.line_stats(tmp_path, "dev", "main", ("*.py",))
    assert diffs.python_line(stats) == "Python lines: +1 / -0 across 1 files"
    target = repo.git("rev-parse", "dev")
    merge = _merged(repo, {})
    assert diffs.line_stats(tmp_path, target, merge, ("*.py",)) == stats


def test_globs_are_gitignore_patterns_as_everywhere_in_the_config(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {"a.py": "1\n", "d/b.py": "1\n", "d/c.md": "1\n"}
    diverged(tmp_path, {"x": ""}, files, {"y": ""})
    assert diffs.line_stats(tmp_path, "dev", "main", ("*.py",)).files == 2
    assert diffs.line_stats(tmp_path, "dev", "main", ("/*.py",)).files == 1
    assert diffs.line_stats(tmp_path, "dev", "main", ("d/", "!*.md")).files == 1


def test_a_binary_file_counts_as_a_file_without_lines(tmp_path: Path) -> None:
    diverged(tmp_path, {"x": ""}, {"a.py": b"\0\1\n\2"}, {"y": ""})
    stats = diffs.line_stats(tmp_path, "dev", "main", ("*.py",))
    assert (stats.files, stats.added, stats.deleted) == (1, 0, 0)
    assert stats.per_file[0].added is None


def test_a_renamed_file_counts_under_its_new_name_and_what_follows_is_not_lost(
    tmp_path: Path,
) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    main: dict[str, str | bytes | None] = {"old.py": None, "new.py": f"{text}more\n", "z.py": "1\n"}
    diverged(tmp_path, {"old.py": text}, main, {"y": ""})
    stats = diffs.line_stats(tmp_path, "dev", "main", ("*.py",))
    assert [(row.path, row.added) for row in stats.per_file] == [("new.py", 1), ("z.py", 1)]


def test_odd_names_come_back_byte_for_byte(tmp_path: Path) -> None:
    names = (
        ODD,
        "-dash.py",
        "a b.py",
        "tab\t.py",
        'say "hi".py',
        "b a/b a/x.py",
        "é.py",
        "a\\b.py",
    )
    diverged(tmp_path, {"x": ""}, dict.fromkeys(names, "1\n"), {"y": ""})
    stats = diffs.line_stats(tmp_path, "dev", "main", ("*.py",))
    assert {row.path for row in stats.per_file} == set(names)
    parts = _patch(TestRepo(tmp_path), "dev~1", "main")
    assert set(parts) == set(names)
    assert all(item.added == 1 for item in parts.values())


def test_odd_names_survive_a_rename_a_deletion_and_a_remerge(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    base: dict[str, str | bytes | None] = {ODD: text, "gone\n.py": "1\n", "fight\t.py": "0\n"}
    main: dict[str, str | bytes | None] = {ODD: None, f"b a/{ODD}": text, "gone\n.py": None}
    repo = diverged(tmp_path, base, main | {"fight\t.py": "1\n"}, {"fight\t.py": "2\n"})
    parts = _patch(repo, "dev~1", "main")
    assert set(parts) == {f"b a/{ODD}", "gone\n.py", "fight\t.py"}
    assert parts[f"b a/{ODD}"].old_path == ODD
    assert parts["gone\n.py"].deleted == 1
    merge = _merged(repo, {"fight\t.py": "3\n"})
    (part,) = diffs.split_by_path(diffs.remerge_diff(tmp_path, f"{merge}^1", merge))
    assert part.path == "fight\t.py"


def test_patches_without_lines_are_named_too(tmp_path: Path) -> None:
    repo = TestRepo(tmp_path)
    repo.commit("Base", {"run me.sh": "1\n", "pic.bin": b"\0\1", "empty.py": ""})
    (tmp_path / "run me.sh").chmod(0o755)
    repo.commit("Change", {"pic.bin": b"\0\2", "empty.py": None, "new.py": ""})
    parts = _patch(repo, "HEAD~1", "HEAD")
    assert {"run me.sh", "pic.bin"} <= set(parts)
    assert parts["pic.bin"].binary
    assert "new mode 100755" in parts["run me.sh"].text
    assert all((item.added, item.deleted) == (0, 0) for item in parts.values())


def test_content_that_looks_like_a_patch_is_content(tmp_path: Path) -> None:
    fake = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\nrename to y\n"
    repo = TestRepo(tmp_path)
    repo.commit("Base", {"a.txt": "1\n"})
    repo.commit("Change", {"a.txt": f"-- 1\n++ 2\n{fake}"})
    (part,) = _patch(repo, "HEAD~1", "HEAD").values()
    assert (part.path, part.added, part.deleted) == ("a.txt", 7, 1)


@pytest.mark.parametrize("text", [b"1\r\n2\r\n3", b"\xff\xfe1\n2", b"1\n\r2\n3\x0b4\n"])
def test_a_patch_keeps_every_byte(tmp_path: Path, text: bytes) -> None:
    repo = TestRepo(tmp_path)
    repo.commit("Base", {"a.txt": "0\n", "b.txt": text})
    repo.commit("Change", {"a.txt": text, "b.txt": text + b"\nend"})
    raw = git.run(tmp_path, "diff", "HEAD~1", "HEAD").out
    parts = diffs.split_by_path(raw)
    assert [part.path for part in parts] == ["a.txt", "b.txt"]
    assert "".join(part.text for part in parts).encode("utf-8", "surrogateescape") == raw


def test_a_missing_newline_at_the_end_is_no_line(tmp_path: Path) -> None:
    repo = TestRepo(tmp_path)
    repo.commit("Base", {"a.txt": "1\n2"})
    repo.commit("Change", {"a.txt": "1\n2\n"})
    (part,) = _patch(repo, "HEAD~1", "HEAD").values()
    assert "\\ No newline at end of file" in part.text
    assert (part.added, part.deleted) == (1, 1)


def test_a_submodule_is_one_line_whatever_it_holds(tmp_path: Path) -> None:
    repo = TestRepo(tmp_path)
    first = repo.commit("Base", {"a.txt": "1\n"})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{first},sub")
    repo.git("commit", "-qm", "Submodule")
    part = {
        item.path: item for item in diffs.split_by_path(diffs.tree_diff(tmp_path, first, "HEAD"))
    }
    assert part["sub"].added == 1


def test_an_unknown_commit_is_one_readable_error(tmp_path: Path) -> None:
    TestRepo(tmp_path).commit("Base", {"a": "1\n"})
    with pytest.raises(git.GitError, match="failed"):
        diffs.remerge_diff(tmp_path, "main", "f" * 40)
