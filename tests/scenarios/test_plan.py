"""The merge plan on real repositories: every kind of conflict, every rule of the ladder."""

import os
import tempfile
from pathlib import Path

import pytest

from nightly_sync import git
from nightly_sync.conflicts import Kind
from nightly_sync.errors import StopForPerson
from nightly_sync.merge.auto import auto_merge
from nightly_sync.merge.markers import SIZES
from nightly_sync.merge.model import MergePlan, Status, Take
from nightly_sync.merge.plan import plan
from tests.support.repo import TestRepo, diverged
from tests.support.sync import config, content, path, planned, rule

LINES = "".join(f"line {number}\n" for number in range(30))


def _edit(text: str, **lines: str) -> str:
    parts = text.splitlines(keepends=True)
    for name, new in lines.items():
        parts[int(name[1:])] = f"{new}\n"
    return "".join(parts)


def test_a_clean_merge_has_no_paths_and_gits_own_tree(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path, {"a": LINES}, {"a": _edit(LINES, l1="m")}, {"a": _edit(LINES, l9="d")}
    )
    made = planned(repo)
    assert made.paths == ()
    assert made.resolved_tree == made.auto_merge_tree


def test_fallback_takes_the_side_per_hunk_and_keeps_what_git_merged(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path,
        {"a": LINES},
        {"a": _edit(LINES, l2="main 2", l15="main 15")},
        {"a": _edit(LINES, l2="dev 2", l25="dev 25")},
    )
    made = planned(repo)
    assert (
        content(repo, made, "a") == _edit(LINES, l2="main 2", l15="main 15", l25="dev 25").encode()
    )
    item = path(made, "a")
    assert (item.rule, item.status, item.kinds) == ("fallback", Status.PROPOSAL, (Kind.CONTENTS,))
    assert [(hunk.line, hunk.take) for hunk in item.hunks] == [(3, Take.SOURCE)]
    kept = planned(repo, fallback="target")
    assert (
        content(repo, kept, "a") == _edit(LINES, l2="dev 2", l15="main 15", l25="dev 25").encode()
    )


def test_fallback_stop_leaves_the_tree_to_a_person(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"a": "1\n"}, {"a": "2\n"}, {"a": "3\n"})
    made = planned(repo, fallback="stop")
    assert made.resolved_tree is None
    assert [item.path for item in made.unresolved] == ["a"]


def test_add_add_is_typed_and_resolved_by_hunk(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"x": ""}, {"a": "1\nsame\n"}, {"a": "2\nsame\n"})
    made = planned(repo)
    assert path(made, "a").kinds == (Kind.ADD_ADD,)
    assert content(repo, made, "a") == b"1\nsame\n"


def test_deleted_on_target_stays_deleted_and_says_who_touched_it(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"a.py": "x = 1\n", "b": ""}, {"a.py": "x = 2\n"}, {"a.py": None})
    made = planned(repo)
    item = path(made, "a.py")
    assert (item.kinds, item.rule, item.take) == ((Kind.MODIFY_DELETE,), "deletion", Take.DELETE)
    assert item.status is Status.SETTLED
    assert content(repo, made, "a.py") is None
    assert [touch.pull_request for touch in item.source_commits] == [1]
    assert [touch.pull_request for touch in item.target_commits] == [2]


def test_deleted_on_target_is_restored_when_merged_code_imports_it(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path,
        {"pkg/__init__.py": "", "pkg/old.py": "x = 1\n", "app.py": "print(1)\n"},
        {"pkg/old.py": "x = 2\n", "app.py": "from pkg import old\nprint(old.x)\n"},
        {"pkg/old.py": None},
    )
    made = planned(repo)
    item = path(made, "pkg/old.py")
    assert (item.rule, item.take, item.status) == ("deletion", Take.SOURCE, Status.SETTLED)
    assert "app.py:1" in item.evidence
    assert content(repo, made, "pkg/old.py") == b"x = 2\n"


def test_a_clean_deletion_is_undone_for_an_importer_and_what_that_imports(tmp_path: Path) -> None:
    """The source never touched the files, so git deletes them without a conflict."""
    repo = diverged(
        tmp_path,
        {"one.py": "from two import y\n", "two.py": "y = 1\n", "app.py": ""},
        {"app.py": "import one\n"},
        {"one.py": None, "two.py": None},
    )
    made = planned(repo)
    assert {item.path for item in made.paths} == {"one.py", "two.py"}
    assert all(item.rule == "deletion" and item.kinds == () for item in made.paths)
    assert content(repo, made, "two.py") == b"y = 1\n"


def test_an_import_the_target_already_had_dangling_restores_nothing(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path,
        {"old.py": "x = 1\n", "app.py": "import old\n", "b": ""},
        {"b": "main\n"},
        {"old.py": None},
    )
    assert planned(repo).paths == ()


def test_a_module_that_became_a_package_is_not_missing(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path,
        {"utils.py": "x = 1\n", "app.py": ""},
        {"app.py": "from utils import x\n"},
        {"utils.py": None, "utils/__init__.py": "x = 1\ny = 2\nz = 3\nw = 4\n"},
    )
    made = planned(repo)
    assert content(repo, made, "utils.py") is None


def test_a_guarded_import_restores_nothing(tmp_path: Path) -> None:
    guarded = "try:\n    import old\nexcept ImportError:\n    old = None\n"
    repo = diverged(tmp_path, {"old.py": "x = 1\n"}, {"app.py": guarded}, {"old.py": None, "b": ""})
    assert planned(repo).paths == ()


def test_a_file_the_source_deleted_is_kept_for_the_targets_own_importer(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path,
        {"old.py": "x = 1\n", "b": ""},
        {"old.py": None},
        {"tool.py": "import old\n", "b": "dev\n"},
    )
    made = planned(repo)
    item = path(made, "old.py")
    assert (item.take, item.status) == (Take.TARGET, Status.PROPOSAL)
    assert "tool.py:1" in item.evidence


def test_deleted_on_source_and_changed_on_target_is_a_proposal(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"a": "1\n", "b": ""}, {"a": None}, {"a": "2\n"})
    made = planned(repo)
    assert (path(made, "a").rule, path(made, "a").take) == ("fallback", Take.DELETE)
    assert path(made, "a").status is Status.PROPOSAL
    assert content(repo, planned(repo, fallback="target"), "a") == b"2\n"


def test_rename_delete_stays_deleted(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path,
        {"old.txt": LINES},
        {"old.txt": None, "new.txt": LINES},
        {"old.txt": None, "b": ""},
    )
    made = planned(repo)
    item = path(made, "new.txt")
    assert Kind.RENAME_DELETE in item.kinds
    assert item.rule == "deletion"
    assert content(repo, made, "new.txt") is None


def test_a_mode_conflict_keeps_the_merged_content(tmp_path: Path) -> None:
    repo = TestRepo(tmp_path)
    repo.commit("Base", {"keep": ""})
    repo.branch("dev")
    repo.commit("Same file", {"run.sh": "echo\n"})
    repo.checkout("main")
    repo.write({"run.sh": "echo\n"})
    (tmp_path / "run.sh").chmod(0o755)
    repo.commit("Same file, executable")
    made = planned(repo)
    item = path(made, "run.sh")
    assert item.kinds == (Kind.MODE,)
    assert item.resolved is not None
    assert item.resolved.mode == "100755"
    assert planned(repo, fallback="target").paths[0].resolved != item.resolved


def test_a_binary_conflict_is_taken_whole(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"a": b"\0base"}, {"a": b"\0main"}, {"a": b"\0dev"})
    made = planned(repo)
    assert path(made, "a").kinds == (Kind.BINARY,)
    assert path(made, "a").status is Status.PROPOSAL
    assert content(repo, made, "a") == b"\0main"
    ruled = planned(repo, rules=[rule("take-target", "a")])
    assert (path(ruled, "a").rule, path(ruled, "a").status) == ("take-target", Status.SETTLED)
    assert content(repo, ruled, "a") == b"\0dev"


def test_a_symlink_conflict_is_taken_whole(tmp_path: Path) -> None:
    repo = TestRepo(tmp_path)
    link = tmp_path / "link"
    for branch, goal in (("", "base"), ("dev", "dev"), ("main", "main")):
        if branch == "dev":
            repo.branch("dev")
        elif branch:
            repo.checkout(branch)
        link.unlink(missing_ok=True)
        link.symlink_to(goal)
        repo.commit(goal)
    made = planned(repo)
    assert path(made, "link").kinds == (Kind.SYMLINK,)
    assert content(repo, made, "link") == b"main"


def test_a_submodule_conflict_is_taken_whole(tmp_path: Path) -> None:
    repo = TestRepo(tmp_path)
    first = repo.commit("Base", {"a": ""})
    second = repo.commit("Two", {"a": "2"})
    third = repo.commit("Three", {"a": "3"})

    def at(sha: str) -> None:
        repo.git("update-index", "--add", "--cacheinfo", f"160000,{sha},sub")
        repo.git("commit", "-q", "-m", f"sub at {sha[:7]}")

    at(first)
    repo.git("checkout", "-q", "-b", "dev")
    at(second)
    repo.git("checkout", "-q", "main")
    at(third)
    made = planned(repo)
    item = path(made, "sub")
    assert item.kinds == (Kind.SUBMODULE,)
    assert item.resolved is not None
    assert item.resolved.oid == third


def _renames(tmp_path: Path) -> TestRepo:
    return diverged(
        tmp_path, {"old": LINES}, {"old": None, "main": LINES}, {"old": None, "dev": LINES}
    )


def _file_directory(tmp_path: Path) -> TestRepo:
    return diverged(tmp_path, {"x": ""}, {"a": "file\n"}, {"a/b": "folder\n"})


def _file_location(tmp_path: Path) -> TestRepo:
    base: dict[str, str | bytes | None] = {f"old/{n}": LINES + n for n in "abc"}
    moved: dict[str, str | bytes | None] = {f"new/{n}": LINES + n for n in "abc"}
    gone: dict[str, str | bytes | None] = dict.fromkeys(base)
    return diverged(tmp_path, base, {"old/added": "added\n"}, moved | gone)


def _distinct_types(tmp_path: Path) -> TestRepo:
    repo = diverged(tmp_path, {"x": ""}, {"a": "file\n"}, {"y": ""})
    (tmp_path / "a").symlink_to("x")
    repo.commit("A symlink")
    return repo


@pytest.mark.parametrize(
    ("build", "kind"),
    [
        (_renames, Kind.RENAME_RENAME),
        (_file_directory, Kind.FILE_DIRECTORY),
        (_file_location, Kind.FILE_LOCATION),
        (_distinct_types, Kind.DISTINCT_TYPES),
    ],
)
def test_other_kinds_are_typed_and_stop_for_a_person(
    tmp_path: Path, build: object, kind: Kind
) -> None:
    assert callable(build)
    made: MergePlan = planned(build(tmp_path))
    assert made.resolved_tree is None
    assert kind in {found for item in made.unresolved for found in item.kinds}
    assert all(item.evidence for item in made.unresolved)


def test_path_rules_settle_a_rename_of_both_sides_when_they_cover_every_name(
    tmp_path: Path,
) -> None:
    repo = _renames(tmp_path)
    made = planned(repo, rules=[rule("protect", "/old", "/main", "/dev")])
    assert made.resolved_tree == git.tree_of(repo.path, "dev")


def test_protect_makes_the_subtree_equal_the_targets_new_files_included(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path,
        {"ci/a": "1\n", "ci/gone": "1\n", "b": ""},
        {"ci/a": "main\n", "ci/new": "main\n", "ci/gone": "main\n"},
        {"ci/gone": None, "b": "dev\n"},
    )
    made = planned(repo, rules=[rule("protect", "/ci/")])
    assert made.resolved_tree is not None
    assert git.tree_entries(repo.path, made.resolved_tree, "ci") == git.tree_entries(
        repo.path, "dev", "ci"
    )
    assert {item.path: item.take for item in made.paths} == {
        "ci/a": Take.TARGET,
        "ci/new": Take.DELETE,
        "ci/gone": Take.DELETE,
    }


def _moved_into(tmp_path: Path, **dev: str | bytes | None) -> TestRepo:
    """The source renames old/ to conf/, which is protected; the target works on in old/."""
    base: dict[str, str | bytes | None] = {f"old/{n}": LINES + n for n in "abc"}
    gone: dict[str, str | bytes | None] = dict.fromkeys(base)
    moved: dict[str, str | bytes | None] = {f"conf/{n}": LINES + n for n in "abc"}
    return diverged(tmp_path, base, moved | gone, {**dev})


@pytest.mark.parametrize(
    "dev", [{"old/new": "dev only\n"}, {"old/a": _edit(LINES, l3="dev") + "a"}]
)
def test_a_move_into_a_protected_folder_loses_nothing_of_the_target(
    tmp_path: Path, dev: dict[str, str | bytes | None]
) -> None:
    """Reported: the new names were turned away and the old ones stayed renamed away."""
    repo = _moved_into(tmp_path, **dev)
    made = planned(repo, rules=[rule("protect", "/conf/")])
    assert made.resolved_tree is not None
    assert git.tree_entries(repo.path, made.resolved_tree) == git.tree_entries(repo.path, "dev")
    assert all(item.status is Status.SETTLED for item in made.paths)


def test_a_path_rule_settles_a_file_location_that_is_a_rename_as_well(tmp_path: Path) -> None:
    """Seen in a real history: the target moved a file into a folder that the source renamed."""
    base: dict[str, str | bytes | None] = {f"old/{n}": LINES + n for n in "abc"}
    base["x"] = "".join(f"other {number}\n" for number in range(30))
    gone: dict[str, str | bytes | None] = dict.fromkeys(base)
    moved: dict[str, str | bytes | None] = {f"new/{n}": LINES + n for n in "abc"}
    dev: dict[str, str | bytes | None] = {"x": None, "old/x": base["x"]}
    repo = diverged(tmp_path, base, moved | gone, dev)
    kinds = {kind for item in planned(repo).unresolved for kind in item.kinds}
    assert {Kind.FILE_LOCATION, Kind.RENAME_DELETE} <= kinds
    made = planned(repo, rules=[rule("protect", "/new/", "/old/")])
    assert made.resolved_tree == git.tree_of(repo.path, "dev")


@pytest.mark.parametrize(
    ("main", "dev", "kind"),
    [
        ({"b": "main\n"}, {"conf": None, "conf/dev": "dev\n"}, "take-source"),
        ({"conf": None, "conf/main": "main\n"}, {"b": "dev\n"}, "take-target"),
    ],
)
def test_a_rule_that_puts_a_file_where_the_other_side_has_a_folder_stops(
    tmp_path: Path,
    main: dict[str, str | bytes | None],
    dev: dict[str, str | bytes | None],
    kind: str,
) -> None:
    """Reported: the folder's files vanished without a word in the plan."""
    repo = diverged(tmp_path, {"conf": "base\n", "b": ""}, main, dev)
    made = planned(repo, rules=[rule(kind, "/conf")])
    assert made.resolved_tree is None
    (item,) = made.unresolved
    assert item.path == "conf"
    assert "file against folder" in item.evidence


def test_path_rules_hold_where_git_merged_cleanly(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path,
        {"s": LINES, "t": LINES},
        {"s": _edit(LINES, l1="main"), "t": _edit(LINES, l1="main")},
        {"s": _edit(LINES, l20="dev"), "t": _edit(LINES, l20="dev")},
    )
    made = planned(repo, rules=[rule("take-source", "/s"), rule("take-target", "/t")])
    assert content(repo, made, "s") == _edit(LINES, l1="main").encode()
    assert content(repo, made, "t") == _edit(LINES, l20="dev").encode()
    assert all(item.status is Status.SETTLED and item.kinds == () for item in made.paths)


def test_take_source_keeps_a_file_only_the_target_ever_had(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"x": ""}, {"x": "main\n"}, {"lib/mine": "dev\n"})
    made = planned(repo, rules=[rule("take-source", "/lib/")])
    assert content(repo, made, "lib/mine") == b"dev\n"


def test_delete_wins_whoever_deleted(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path, {"a": "1\n", "b": "1\n"}, {"a": None, "b": "2\n"}, {"a": "2\n", "b": None}
    )
    made = planned(repo, rules=[rule("delete-wins", "*")])
    assert content(repo, made, "a") is None
    assert content(repo, made, "b") is None
    assert {item.rule for item in made.paths} == {"delete-wins"}


FUNCTION = 'def f(a, b):\n    return g(a, b)\n\n\ndef h():\n    return "x"\n'


def test_reformatting_on_the_target_yields_to_the_sources_change(tmp_path: Path) -> None:
    formatted = "def f(\n    a,\n    b,\n):\n    return g(a, b)\n\n\ndef h():\n    return 'x'\n"
    changed = FUNCTION.replace("def f(a, b):", "def f(a, b, c):")
    repo = diverged(tmp_path, {"a.py": FUNCTION}, {"a.py": changed}, {"a.py": formatted})
    made = planned(repo)
    item = path(made, "a.py")
    assert (item.rule, item.status, item.take) == ("formatting", Status.SETTLED, Take.SOURCE)
    assert content(repo, made, "a.py") == changed.encode()


def test_a_changed_comment_is_not_formatting(tmp_path: Path) -> None:
    noted = FUNCTION.replace("def f(a, b):", "def f( a, b ):  # keep: the cluster needs it")
    changed = FUNCTION.replace("def f(a, b):", "def f(a, b, c):")
    repo = diverged(tmp_path, {"a.py": FUNCTION}, {"a.py": changed}, {"a.py": noted})
    assert path(planned(repo), "a.py").rule == "fallback"


def test_only_the_formatted_hunk_of_a_file_is_settled(tmp_path: Path) -> None:
    base = f"{FUNCTION}\n\ndef k():\n    return 1\n"
    source = base.replace("f(a, b):", "f(a, b, c):").replace("return 1", "return 2")
    target = base.replace("f(a, b):", "f( a,b ):").replace("return 1", "return 3")
    repo = diverged(tmp_path, {"a.py": base}, {"a.py": source}, {"a.py": target})
    item = path(planned(repo), "a.py")
    assert [hunk.rule for hunk in item.hunks] == ["formatting", "fallback"]
    assert item.status is Status.PROPOSAL


def test_space_inside_a_string_is_not_formatting(tmp_path: Path) -> None:
    base = 'TEXT = """\na b\n"""\n'
    repo = diverged(
        tmp_path,
        {"a.py": base},
        {"a.py": base.replace("a b", "a   b")},
        {"a.py": base.replace("a b", "a  b")},
    )
    assert path(planned(repo), "a.py").rule == "fallback"


ODD = os.fsdecode(b"bad \xff\nname -q")


@pytest.mark.parametrize("name", [ODD, "-leading", "with space", 'quo"te', "ünï"])
def test_odd_names_survive_the_plan_and_its_json(tmp_path: Path, name: str) -> None:
    repo = diverged(tmp_path, {name: "1\n"}, {name: "2\n"}, {name: "3\n"})
    made = planned(repo)
    assert content(repo, made, name) == b"2\n"
    read = MergePlan.model_validate_json(made.model_dump_json())
    assert [item.path for item in read.paths] == [name]
    assert read.resolved_tree == made.resolved_tree


def test_line_ends_empty_files_and_a_missing_last_newline_are_kept(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path,
        {"crlf": "a\r\nb\r\n", "bare": "1\nend", "empty": "x\n"},
        {"crlf": "a\r\nmain\r\n", "bare": "1\nmain end", "empty": ""},
        {"crlf": "a\r\ndev\r\n", "bare": "1\ndev end", "empty": "y\n"},
    )
    made = planned(repo)
    assert content(repo, made, "crlf") == b"a\r\nmain\r\n"
    assert content(repo, made, "bare") == b"1\nmain end"
    assert content(repo, made, "empty") == b""
    kept = planned(repo, fallback="target")
    assert content(repo, kept, "bare") == b"1\ndev end"


def test_the_targets_gitattributes_are_honoured_in_a_bare_repository(tmp_path: Path) -> None:
    base: dict[str, str | bytes | None] = {
        "CHANGES": "start\n",
        ".gitattributes": "CHANGES merge=union\n",
    }
    repo = diverged(
        tmp_path / "work", base, {"CHANGES": "main\nstart\n"}, {"CHANGES": "dev\nstart\n"}
    )
    bare = tmp_path / "bare.git"
    repo.git("clone", "-q", "--bare", ".", str(bare))
    shas = repo.git("rev-parse", "main"), repo.git("rev-parse", "dev")
    made = plan(bare, *shas, config(repo))
    assert made.paths == ()
    assert made.resolved_tree is not None
    assert git.read_file(bare, made.resolved_tree, "CHANGES") == b"dev\nmain\nstart\n"


def test_text_that_looks_like_markers_is_text(tmp_path: Path) -> None:
    """A heading underlined with seven signs, and a file that documents conflicts."""
    fake = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"
    repo = diverged(tmp_path, {"a": f"t\n{fake}"}, {"a": f"main\n{fake}"}, {"a": f"dev\n{fake}"})
    assert content(repo, planned(repo), "a") == f"main\n{fake}".encode()


@pytest.mark.parametrize("sign", ["=", "<", ">", "|"])
def test_a_line_as_long_as_the_plans_own_markers_is_text(tmp_path: Path, sign: str) -> None:
    """Reported: a heading underlined with 47 signs was taken for the middle of the conflict."""
    line = f"{sign * 47}\n"
    texts = [f"intro\n{title}\n{line}{title} text\n" for title in ("Base", "Main", "Dev")]
    base, main, dev = ({"doc.rst": text} for text in texts)
    repo = diverged(tmp_path, {**base}, {**main}, {**dev})
    assert content(repo, planned(repo), "doc.rst") == texts[1].encode()
    assert content(repo, planned(repo, fallback="target"), "doc.rst") == texts[2].encode()


def test_lines_as_long_as_every_marker_the_plan_knows_stop_for_a_person(tmp_path: Path) -> None:
    lines = "".join(f"{'=' * size}\n" for size in SIZES)
    repo = diverged(tmp_path, {"a": f"1\n{lines}"}, {"a": f"2\n{lines}"}, {"a": f"3\n{lines}"})
    assert "looks just like a conflict marker" in path(planned(repo), "a").evidence


def test_a_tree_that_leaves_its_folder_writes_nothing_outside(tmp_path: Path) -> None:
    """Reported: a target tree with ../.gitattributes overwrote the file of that name."""
    repo = diverged(tmp_path / "repo", {"a": "1\n"}, {"a": "2\n"}, {"b": "1\n"})
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"* text\n")
    up = f"100644 {blob}\t.gitattributes\0".encode()
    names = [("..", "40000"), ("..", "40000"), ("..", "40000"), ("victim", "40000")]
    tree = _literal_tree(repo, up)
    for name, mode in reversed(names):
        tree = _literal_tree(repo, f"{mode} {tree}\t{name}\0".encode())
    commit = repo.git("commit-tree", "-p", "dev", "-m", "hostile", tree)
    repo.git("update-ref", "refs/heads/dev", commit)
    source, target = repo.git("rev-parse", "main"), repo.git("rev-parse", "dev")
    auto_merge(repo.path, target, source)
    assert list(tmp_path.rglob(".gitattributes")) == []
    assert not (Path(tempfile.gettempdir()).parent / "victim").exists()


def _literal_tree(repo: TestRepo, listing: bytes) -> str:
    """A tree object with names that git itself would not write."""
    data = b""
    for line in listing.split(b"\0")[:-1]:
        head, _, name = line.partition(b"\t")
        mode, oid = head.split()
        data += mode + b" " + name + b"\0" + bytes.fromhex(oid.decode())
    return repo.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=data)


def test_criss_cross_merges_nest_markers_and_still_resolve(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"a": "1\n"}, {"a": "main\n"}, {"a": "dev\n"})
    main, dev = repo.git("rev-parse", "main"), repo.git("rev-parse", "dev")
    for branch, other in (("dev", main), ("main", dev)):
        repo.checkout(branch)
        repo.git("merge", "-q", "--no-commit", other, check=False)
        repo.commit(f"Cross on {branch}", {"a": f"crossed on {branch}\n"})
        if branch == "dev":
            repo.git("merge", "-q", "-s", "ours", "--no-ff", "-m", "x", main, check=False)
    # Both merges have both tips as parents, so there are two merge bases.
    made = planned(repo)
    assert len(made.bases) == 2
    assert content(repo, made, "a") == b"crossed on main\n"


def test_no_marker_is_ever_left_in_a_resolved_tree(tmp_path: Path) -> None:
    text = "".join(f"{n}\n\n\n\n" for n in range(40))
    repo = diverged(
        tmp_path,
        {"a": text},
        {"a": text.replace("3", "main")},
        {"a": text.replace("3", "dev")},
    )
    found = content(repo, planned(repo), "a")
    assert found is not None
    assert b"<<<<" not in found
    assert b"====" not in found


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"a": "1\n"}, {"a": "2\n", "b": "x"}, {"a": "3\n", "b": "y"})
    assert planned(repo).model_dump_json() == planned(repo).model_dump_json()


def test_the_plan_leaves_refs_index_and_worktree_alone(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"a": "1\n"}, {"a": "2\n"}, {"a": "3\n"})
    before = repo.git("for-each-ref"), repo.git("status", "--porcelain"), repo.git("reflog")
    planned(repo)
    assert before == (
        repo.git("for-each-ref"),
        repo.git("status", "--porcelain"),
        repo.git("reflog"),
    )


def test_unrelated_histories_are_refused_in_words(tmp_path: Path) -> None:
    repo = TestRepo(tmp_path)
    repo.commit("One", {"a": "1\n"})
    repo.git("checkout", "-q", "--orphan", "dev")
    repo.commit("Two", {"a": "2\n"})
    with pytest.raises(StopForPerson, match="no common history"):
        planned(repo)
