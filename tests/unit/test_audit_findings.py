"""How rows are aligned, findings are worded and ranked."""

import pytest

from nightly_sync.audits import (
    lost_files,
    neither_side,
    protected,
    ranking,
    restored_files,
    source_dropped,
    target_dropped,
)
from nightly_sync.audits.all import AUDITS, run_all
from nightly_sync.audits.compare import Trees, align, wanted_texts
from nightly_sync.audits.history import Removal, removals
from nightly_sync.audits.model import FindingKind, Parent, Severity
from nightly_sync.config import PathRule, SyncConfig
from nightly_sync.conflicts import Entry
from nightly_sync.merge.model import PathPlan, Status, Take, Touch
from tests.support.audits import CONFIG, made_up, one_file

FOCUSED = SyncConfig(repository=".", focus=("/core",))


def entry(text: str, mode: str = "100644") -> Entry:
    return Entry(mode=mode, oid=text * 40)


def plan_for(path: str, rule: str, take: Take | None = Take.SOURCE, there: bool = True) -> PathPlan:
    return PathPlan(
        path=path,
        kinds=(),
        base=None,
        target=None,
        source=None,
        rule=rule,
        take=take,
        evidence="because",
        status=Status.SETTLED,
        resolved=entry("a") if there else None,
        target_commits=(Touch(sha="f" * 40, subject="Add b (#7)", pull_request=7),),
    )


def test_a_file_that_is_the_same_everywhere_is_no_row() -> None:
    tree = {"a": entry("1")}

    assert align(Trees(tree, tree, tree, tree), {}) == ()


def test_a_changed_mode_is_a_row() -> None:
    plain, program = {"a": entry("1")}, {"a": entry("1", "100755")}

    assert [row.path for row in align(Trees(plain, plain, plain, program), {})] == ["a"]


def test_a_file_the_source_renamed_is_compared_under_its_new_name() -> None:
    trees = Trees({"a": entry("1")}, {"b": entry("2")}, {"a": entry("3")}, {"b": entry("4")})

    (row,) = align(trees, {Parent.SOURCE: {"a": "b"}})

    assert (row.path, row.base, row.source, row.target) == (
        "b",
        entry("1"),
        entry("2"),
        entry("3"),
    )
    assert set(row.names) == {"a", "b"}


def test_a_file_both_renamed_differently_and_the_merge_kept_twice_is_two_rows() -> None:
    trees = Trees(
        {"a": entry("1")}, {"b": entry("1")}, {"c": entry("1")}, {"b": entry("1"), "c": entry("1")}
    )

    rows = align(trees, {Parent.SOURCE: {"a": "b"}, Parent.TARGET: {"a": "c"}})

    assert sorted(row.path for row in rows) == ["a", "b", "c"]


def test_a_renamed_file_the_other_side_deleted_is_not_lost() -> None:
    trees = Trees({"a": entry("1")}, {"b": entry("1")}, {}, {})

    (row,) = align(trees, {Parent.SOURCE: {"a": "b"}})

    assert not row.lost(Parent.SOURCE)
    assert row.deleted_by(Parent.TARGET)


def test_a_file_that_went_along_with_a_renamed_directory_is_one_row_and_not_lost() -> None:
    facts = made_up({}, {}, {"old/m.py": "a = 1\n"}, {"new/m.py": "a = 1\n"})

    assert [(row.path, row.names) for row in facts.rows] == [("new/m.py", ("new/m.py", "old/m.py"))]
    assert run_all(facts) == ()


def test_clean_rows_need_no_text_unless_they_are_python() -> None:
    base = {"a.md": entry("1"), "a.py": entry("1")}
    new = {"a.md": entry("2"), "a.py": entry("3")}
    trees = Trees(base, new, base, new)

    assert wanted_texts(trees, align(trees, {})) == {"1" * 40, "3" * 40}


def test_symlinks_and_submodules_have_no_text() -> None:
    tree = {"link": entry("1", "120000"), "module": entry("2", "160000")}
    other = {"link": entry("3", "120000"), "module": entry("4", "160000")}
    trees = Trees(tree, other, {}, {})

    assert wanted_texts(trees, align(trees, {})) == set()


PATCH = (
    b"\0" + b"a" * 40 + b"\0Remove (#1)\0\n\n"
    b"diff --git a/x y.py b/x y.py\nindex 1..2 100644\n--- a/x y.py\t\n+++ b/x y.py\t\n"
    b"@@ -1,2 +0,0 @@\n-gone = 1\n--- also\n@@ -5 +3 @@\n-moved = 1\n+added = 1\n"
    b"@@ -9,0 +8 @@\n+moved = 1\n"
    b"diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n"
    b"@@ -0,0 +1 @@\n+x = 1\n"
    b"\0" + b"b" * 40 + b"\0Delete\0\n\n"
    b"diff --git a/old.bin b/old.bin\ndeleted file mode 100644\n"
    b"Binary files a/old.bin and /dev/null differ\n"
    b'diff --git "a/t\\303\\251\\n.py" "b/t\\303\\251\\n.py"\n--- "a/t\\303\\251\\n.py"\n'
    b'+++ "b/t\\303\\251\\n.py"\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n'
)


def test_removals_tell_what_each_commit_took_out_and_did_not_put_back() -> None:
    first, deleted, odd = removals(PATCH)

    assert (first.sha, first.subject, first.path) == ("a" * 40, "Remove (#1)", "x y.py")
    assert first.lines == {b"gone=1": 1, b"--also": 1}
    assert not first.whole
    assert (deleted.path, deleted.whole) == ("old.bin", True)
    assert (odd.path, odd.lines) == ("té\n.py", {b"a": 1})


def test_no_patches_are_no_removals() -> None:
    assert removals(b"") == ()


def test_a_dropped_line_names_file_line_text_and_commits() -> None:
    gone = Removal("c" * 40, "Drop b on purpose", "m.py", {b"b=2": 1}, whole=False)
    facts = made_up(
        {"m.py": "a = 1\n"},
        {"m.py": "a = 9\n"},
        {"m.py": "a = 1\nb = 2\n"},
        {"m.py": "a = 9\n"},
        planned=(plan_for("m.py", "fallback"),),
        removed={Parent.SOURCE: (gone,)},
    )

    (found,) = target_dropped.audit(facts)

    assert (found.kind, found.path, found.line) == (FindingKind.TARGET_DROPPED, "m.py", 2)
    assert found.severity is Severity.WARNING
    first, *rest = found.evidence.split("\n")
    assert first == (
        "1 line added by the target, missing in the merged file (rule fallback); target's text:"
    )
    assert rest == [
        "  2: b = 2",
        "1 of them removed on purpose: cccccccccc Drop b on purpose",
        "target commits here: ffffffffff Add b (#7)",
    ]


def test_long_lists_and_long_lines_are_cut_and_say_so() -> None:
    lines = "".join(f"line_{number} = '{'x' * 300}'\n" for number in range(9))
    facts = one_file("a = 1\n", "a = 2\n", "a = 1\n" + lines, "a = 2\n")

    evidence = target_dropped.audit(facts)[0].evidence

    assert evidence.startswith("9 lines")
    assert "and 4 more" in evidence
    assert max(map(len, evidence.split("\n"))) < 220


def test_a_file_deleted_under_the_targets_work_says_so() -> None:
    facts = made_up({"m.py": "a = 1\n"}, {}, {"m.py": "a = 1\nb = 2\n"}, {})

    (found,) = target_dropped.audit(facts)

    assert "gone with the file, which the source deleted" in found.evidence
    assert lost_files.audit(facts) == []


def test_a_lost_file_is_reported_once_and_not_line_by_line() -> None:
    facts = made_up({}, {}, {"m.py": "a = 1\n"}, {})

    assert [item.path for item in lost_files.audit(facts)] == ["m.py"]
    assert target_dropped.audit(facts) == []


def test_a_new_file_kept_out_of_a_protected_folder_is_not_lost() -> None:
    config = SyncConfig(repository=".", rules=(PathRule(rule="protect", paths=("/ci",)),))
    facts = made_up({}, {"ci/new.yml": "x\n"}, {}, {}, config=config)

    assert lost_files.audit(facts) == []


@pytest.mark.parametrize(
    ("target", "merged", "difference"),
    [
        ({"ci/a": "1"}, {"ci/a": "2"}, "its content is"),
        ({"ci/a": "1"}, {}, "missing"),
        ({}, {"ci/a": "2"}, "new: the target has no such file"),
    ],
)
def test_protected_paths_must_equal_the_targets(
    target: dict[str, str], merged: dict[str, str], difference: str
) -> None:
    config = SyncConfig(repository=".", rules=(PathRule(rule="protect", paths=("/ci",)),))

    (found,) = protected.audit(made_up({}, {}, target, merged, config=config))

    assert found.severity is Severity.ERROR
    assert difference in found.evidence


def test_paths_beside_a_protected_one_may_differ() -> None:
    config = SyncConfig(repository=".", rules=(PathRule(rule="protect", paths=("/ci",)),))

    assert protected.audit(made_up({}, {}, {"cif": "1"}, {"cif": "2"}, config=config)) == []


def test_a_deleted_file_a_rule_brings_back_is_restored() -> None:
    facts = made_up(
        {"m.py": "a\n"},
        {"m.py": "b\n"},
        {},
        {"m.py": "b\n"},
        planned=(plan_for("m.py", "deletion"),),
    )

    (found,) = restored_files.audit(facts)

    assert found.kind is FindingKind.RESTORED
    assert "deleted on the target" in found.evidence
    assert "rule deletion: because" in found.evidence


@pytest.mark.parametrize("planned", [(), (plan_for("m.py", "fallback"),)])
def test_a_deleted_file_that_is_back_without_evidence_is_brought_back(
    planned: tuple[PathPlan, ...],
) -> None:
    facts = made_up({"m.py": "a\n"}, {"m.py": "b\n"}, {}, {"m.py": "b\n"}, planned=planned)

    assert [item.kind for item in restored_files.audit(facts)] == [FindingKind.BROUGHT_BACK]


def test_a_line_nobody_has_and_a_line_only_the_merge_lacks_are_two_findings() -> None:
    found = neither_side.audit(
        one_file(
            "a = 1\nb = 2\n", "a = 1\nb = 2\ns = 1\n", "a = 1\nb = 2\nt = 1\n", "a = 1\nx = 1\n"
        )
    )

    assert ["that neither side has" in item.evidence for item in found] == [True, False]
    assert "that both sides have" in found[1].evidence


def test_focus_comes_before_code_and_data_comes_last() -> None:
    in_order = [
        "core/m.py",
        "m.py",
        "tests/m.py",
        "docs/m.md",
        "pyproject.toml",
        "tests/golden.json",
    ]

    ranks = [ranking.rank(path, FOCUSED) for path in in_order]

    assert ranks[:2] == [ranking.FOCUS, ranking.CODE]
    assert ranks == sorted(set(ranks))
    assert ranking.rank("uv.lock", FOCUSED) == ranks[-1]
    assert ranking.rank("core/tests/x.json", FOCUSED) == ranking.FOCUS


def test_warnings_are_ranked_by_path_and_then_by_lines() -> None:
    names = {"docs/a.md": 9, "z.py": 2, "a.py": 1, "b.py": 3, "core/m.py": 1}
    target = {name: "".join(f"l{n} = 1\n" for n in range(count)) for name, count in names.items()}
    base = dict.fromkeys(names, "")
    source = dict.fromkeys(names, "s = 1\n")

    found = run_all(made_up(base, source, target, source, config=FOCUSED))

    assert [item.path for item in found] == ["core/m.py", "b.py", "z.py", "a.py", "docs/a.md"]


def test_errors_come_before_warnings_in_the_order_of_paths_and_lines() -> None:
    marker = "<<<<<<< dev\n"
    facts = made_up(
        {},
        {"b.txt": "s\n", "core/a.txt": "s\n"},
        {"b.txt": "t\n", "core/a.txt": "t\n", "core/m.py": "x\n"},
        {"b.txt": marker * 2, "core/a.txt": marker},
        config=FOCUSED,
    )

    found = run_all(facts)

    errors = [(item.path, item.line) for item in found if item.severity is Severity.ERROR]
    assert errors == [("core/a.txt", 1), ("b.txt", 1), ("b.txt", 2)]
    assert [item.severity for item in found[:3]] == [Severity.ERROR] * 3


def test_many_data_files_share_a_finding_that_names_them_all() -> None:
    names = [f"data/{number}.json" for number in range(ranking.SHOWN_OF_REST + 3)]
    old, new = dict.fromkeys(names, "1\n"), dict.fromkeys(names, "2\n")

    found = source_dropped.audit(made_up(old, new, dict.fromkeys(names, "3\n"), old))

    assert len(found) == ranking.SHOWN_OF_REST + 1
    assert "3 more files" in found[-1].evidence
    assert all(name in "".join(item.path + item.evidence for item in found) for name in names)


def test_every_kind_of_finding_belongs_to_one_audit() -> None:
    assert len(set(AUDITS)) == len(AUDITS) == 12


def test_a_merge_that_is_all_right_has_no_findings() -> None:
    assert (
        run_all(one_file("a = 1\n", "a = 1\ns = 1\n", "t = 1\na = 1\n", "t = 1\na = 1\ns = 1\n"))
        == ()
    )


def test_names_of_any_bytes_are_no_crash() -> None:
    name = "caf\udce9 \n.py"
    facts = made_up({}, {name: "a = 1\n"}, {name: "b = 2\n"}, {name: "<<<<<<< x\n"}, config=CONFIG)

    assert run_all(facts)[0].model_dump_json()
