"""Audits of real merges: each kind of finding once, and what must raise no alarm."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from nightly_sync import git
from nightly_sync.audits.facts import gather
from nightly_sync.audits.model import Finding, FindingKind, Parent, Severity
from nightly_sync.config import PathRule, SyncConfig
from nightly_sync.errors import SyncError
from nightly_sync.merge.plan import plan
from tests.support.audits import CONFIG, audited, kinds, of_merge
from tests.support.repo import TestRepo, diverged

Files = dict[str, str | bytes | None]


def lines(*names: str) -> str:
    """A file of simple assignments, with room between them for git to merge."""
    return "".join(f"{name} = 1\n\n\n\n" for name in names)


def only(findings: tuple[Finding, ...], kind: FindingKind) -> list[Finding]:
    return [item for item in findings if item.kind is kind]


# Errors


def test_a_protected_path_that_differs_from_the_target_is_an_error(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"ci/a": "1\n"}, {"ci/new": "s\n"}, {"ci/a": "2\n"})
    config = SyncConfig(repository=".", rules=(PathRule(rule="protect", paths=("/ci",)),))

    found = audited(repo, {"ci/a": "3\n", "ci/other": "x\n"}, config)

    assert [item.path for item in only(found, FindingKind.PROTECTED)] == ["ci/a", "ci/other"]


def test_a_protected_path_the_plan_kept_is_no_error(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"ci/a": "1\n"}, {"ci/a": "3\n", "ci/new": "s\n"}, {"ci/a": "2\n"})
    config = SyncConfig(repository=".", rules=(PathRule(rule="protect", paths=("/ci",)),))

    assert only(audited(repo, config=config), FindingKind.PROTECTED) == []


def test_a_marker_left_in_any_file_is_an_error(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"a.txt": "1\n"}, {"a.txt": "2\n"}, {"b.txt": "3\n"})
    long = "<" * 47

    found = audited(repo, {"a.txt": f"2\n{long} target\n", "new.md": ">>>>>>> main\n"})

    assert kinds(found)[:2] == [
        (FindingKind.MARKER, "a.txt", 2),
        (FindingKind.MARKER, "new.md", 1),
    ]


def test_markers_in_a_fixture_and_underlined_headings_are_no_error(tmp_path: Path) -> None:
    conflict = "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"
    heading = "Title\n=======\n\n" + lines("a", "b")
    repo = diverged(
        tmp_path,
        {"fixture.txt": conflict + "\n\n1\n", "doc.rst": heading},
        {"fixture.txt": conflict + "\n\n2\n", "doc.rst": heading.replace("b = 1", "b = 2")},
        {"fixture.txt": "0\n" + conflict + "\n\n1\n", "doc.rst": heading.replace("a = 1", "a = 2")},
    )

    assert audited(repo) == ()


def test_a_merged_file_that_does_not_parse_is_an_error(tmp_path: Path) -> None:
    base = "def f(\n    a,\n    b,\n    c,\n    d,\n):\n    return a\n"
    repo = diverged(
        tmp_path,
        {"m.py": base},
        {"m.py": base.replace("    a,\n", "    a,\n    new,\n")},
        {"m.py": base.replace("    d,\n", "    d,\n    new,\n")},
    )

    found = audited(repo)

    assert kinds(found) == [(FindingKind.SYNTAX, "m.py", 7)]
    assert "duplicate argument 'new'" in found[0].evidence


def test_a_file_that_never_parsed_is_no_error(tmp_path: Path) -> None:
    template = "{% if x %}\n\n\n\ny = 1\n"
    repo = diverged(
        tmp_path,
        {"m.py": template},
        {"m.py": "# main\n" + template},
        {"m.py": template + "z = 1\n"},
    )

    assert audited(repo) == ()


def test_a_name_one_side_stopped_importing_and_the_other_uses_is_an_error(tmp_path: Path) -> None:
    base = "import os\n\n\n\n\nx = 1\n\n\n\n\nprint(os.sep)\n\n\n\n\ny = 1\n"
    repo = diverged(
        tmp_path,
        {"m.py": base},
        {"m.py": base.replace("import os\n", "").replace("print(os.sep)\n", "")},
        {"m.py": base + "\n\n\n\nz = os.getcwd()\n"},
    )

    found = audited(repo)

    assert [(item.kind, item.path) for item in found] == [(FindingKind.UNDEFINED, "m.py")]
    assert "`os`" in found[0].evidence


def test_a_name_that_was_undefined_before_is_no_error(tmp_path: Path) -> None:
    base = lines("a", "b", "c") + "undefined()\n"
    repo = diverged(
        tmp_path, {"m.py": base}, {"m.py": "s = 1\n" + base}, {"m.py": base + "t = 1\n"}
    )

    assert audited(repo) == ()


def test_a_function_both_sides_added_at_different_places_is_an_error(tmp_path: Path) -> None:
    """git sees no conflict; found in Megatron-LM's sync of 26 February 2026."""
    base = lines("a", "b", "c", "d")
    helper = "def helper():\n    return 1\n"
    repo = diverged(
        tmp_path, {"m.py": base}, {"m.py": helper + "\n\n\n\n" + base}, {"m.py": base + helper}
    )

    found = audited(repo)

    assert [item.kind for item in found] == [FindingKind.DUPLICATE]
    assert found[0].line == 23
    assert "line 1 " in found[0].evidence


LIB = "def load():\n    return 1\n\n\n\n\ndef save():\n    return 2\n"
RENAMED = LIB.replace("def load", "def read")
USER = "from pkg.lib import load\n\nload()\n"


def test_a_caller_added_while_its_function_was_renamed_is_an_error(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path,
        {"pkg/__init__.py": "", "pkg/lib.py": LIB},
        {"pkg/lib.py": RENAMED},
        {"app.py": USER},
    )

    found = audited(repo)

    assert kinds(found) == [(FindingKind.BROKEN_IMPORT, "app.py", 1)]
    assert found[0].severity is Severity.ERROR


def test_a_new_import_in_a_file_both_sides_changed_is_an_error(tmp_path: Path) -> None:
    base = lines("a", "b")
    repo = diverged(
        tmp_path,
        {"pkg/__init__.py": "", "pkg/lib.py": LIB, "app.py": base},
        {"pkg/lib.py": RENAMED, "app.py": base + "s = 1\n"},
        {"app.py": "from pkg import lib\nfrom pkg.lib import load\n" + base},
    )

    assert kinds(audited(repo)) == [(FindingKind.BROKEN_IMPORT, "app.py", 2)]


def test_an_untouched_importer_breaks_when_the_merge_alone_loses_the_name(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path,
        {"pkg/__init__.py": "", "pkg/lib.py": LIB, "app.py": USER},
        {"pkg/lib.py": LIB + "s = 1\n"},
        {"pkg/lib.py": "t = 1\n" + LIB},
    )

    found = audited(repo, {"pkg/lib.py": "t = 1\n" + RENAMED + "s = 1\n"})

    broken = only(found, FindingKind.BROKEN_IMPORT)
    assert kinds(tuple(broken)) == [(FindingKind.BROKEN_IMPORT, "app.py", 1)]
    assert "the source and the target have that" in broken[0].evidence


def test_an_untouched_importer_breaks_when_the_merge_alone_loses_the_module(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path,
        {"pkg/__init__.py": "", "pkg/lib.py": LIB, "app.py": USER},
        {"s.py": ""},
        {"t.py": ""},
    )

    found = audited(repo, {"pkg/lib.py": None})

    assert [(item.kind, item.path) for item in found] == [
        (FindingKind.BROKEN_IMPORT, "app.py"),
        (FindingKind.LOST, "pkg/lib.py"),
    ]


def test_an_untouched_importer_that_one_side_broke_itself_is_no_news(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path,
        {
            "lib.py": LIB,
            "other.py": "x = 1\n",
            "app.py": "from lib import load\nfrom other import x\n",
        },
        {"lib.py": LIB + "s = 1\n", "other.py": "y = 1\n"},
        {"lib.py": "t = 1\n" + LIB},
    )

    found = audited(repo, {"lib.py": "t = 1\n" + RENAMED + "s = 1\n"})

    assert [item.line for item in only(found, FindingKind.BROKEN_IMPORT)] == [1]


def test_a_module_that_became_a_package_breaks_nothing(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path,
        {"pkg/__init__.py": "", "pkg/lib.py": LIB},
        {"pkg/lib.py": None, "pkg/lib/__init__.py": "from .io import load\n", "pkg/lib/io.py": LIB},
        {"app.py": USER, "pkg/near.py": "from . import lib\nfrom .lib import load\n"},
    )

    assert only(audited(repo), FindingKind.BROKEN_IMPORT) == []


# Warnings: lines


def test_a_target_only_line_the_resolution_lost_is_a_warning(tmp_path: Path) -> None:
    base = lines("a", "b", "c")
    repo = diverged(
        tmp_path,
        {"m.py": base},
        {"m.py": base.replace("b = 1", "b = 2")},
        {"m.py": base.replace("b = 1", "b = 3\nextra = 4")},
    )

    (found,) = audited(repo)

    assert (found.kind, found.severity) == (FindingKind.TARGET_DROPPED, Severity.WARNING)
    assert (found.path, found.line) == ("m.py", 5)
    assert "5: b = 3\n  6: extra = 4" in found.evidence
    assert "rule fallback" in found.evidence
    assert "Change on dev (#2)" in found.evidence


def test_a_source_line_the_resolution_lost_is_a_warning(tmp_path: Path) -> None:
    config = SyncConfig(repository=".", fallback="target")
    repo = diverged(tmp_path, {"m.py": "a = 1\n"}, {"m.py": "a = 2\n"}, {"m.py": "a = 3\n"})

    (found,) = audited(repo, config=config)

    assert (found.kind, found.line) == (FindingKind.SOURCE_DROPPED, 1)
    assert "1: a = 2" in found.evidence


def test_what_the_source_removed_on_purpose_is_named(tmp_path: Path) -> None:
    """A squash chain: dev's own feature went to main, and main took it out again."""
    repo = TestRepo(tmp_path)
    repo.commit("Base", {"m.py": "a = 1\n"})
    repo.branch("dev")
    repo.commit("Feature", {"m.py": "a = 1\nfeature = 2\nnext = 3\n"})
    repo.checkout("main")
    repo.commit("Feature (#1)", {"m.py": "a = 1\nfeature = 2\n"})
    removal = repo.commit("Remove the feature again (#5)", {"m.py": "a = 9\n"})

    (found,) = audited(repo)

    assert found.kind is FindingKind.TARGET_DROPPED
    assert f"removed on purpose: {removal[:10]} Remove the feature again (#5)" in found.evidence


def test_lines_that_went_with_a_deleted_file_are_a_warning(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path, {"m.md": "a\n"}, {"m.md": "a\nsource's own\n"}, {"m.md": None, "x": "1\n"}
    )

    (found,) = audited(repo)

    assert (found.kind, found.path) == (FindingKind.SOURCE_DROPPED, "m.md")
    assert "gone with the file, which the target deleted" in found.evidence


def test_a_renamed_file_keeps_the_other_sides_lines(tmp_path: Path) -> None:
    base = lines("a", "b", "c", "d", "e")
    repo = diverged(
        tmp_path, {"old.py": base}, {"old.py": None, "new.py": base}, {"old.py": base + "t = 1\n"}
    )

    assert audited(repo) == ()


def test_a_line_lost_from_a_renamed_file_is_found(tmp_path: Path) -> None:
    base = lines("a", "b", "c", "d", "e")
    repo = diverged(
        tmp_path, {"old.py": base}, {"old.py": None, "new.py": base}, {"old.py": base + "t = 1\n"}
    )

    assert kinds(audited(repo, {"new.py": base})) == [(FindingKind.TARGET_DROPPED, "new.py", 21)]


def test_clean_merges_and_formatters_raise_no_alarm(tmp_path: Path) -> None:
    base = lines("a", "b", "c") + "x = f('q', 1)\n"
    repo = diverged(
        tmp_path, {"m.py": base}, {"m.py": "s = 's'\n" + base}, {"m.py": base + "t = [1,\n  2]\n"}
    )
    formatted = 's = "s"\n' + base.replace("'", '"') + "t = [\n    1,\n    2,\n]\n"

    assert audited(repo) == ()
    assert audited(repo, {"m.py": formatted}) == ()


def test_a_line_nobody_wrote_is_a_warning(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"m.py": "a = 1\n"}, {"m.py": "a = 2\n"}, {"m.py": "a = 3\n"})

    found = audited(repo, {"m.py": "a = 2\na = 3\nb = 4\n"})

    assert kinds(found) == [(FindingKind.NEITHER_SIDE, "m.py", 3)]


# Warnings: files


def test_a_file_the_merge_alone_lacks_is_a_warning(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"a": "1\n"}, {"s.txt": "s\n"}, {"t.txt": "t\n"})

    found = audited(repo, {"s.txt": None, "a": None})

    assert kinds(found) == [(FindingKind.LOST, "a", None), (FindingKind.LOST, "s.txt", None)]
    assert "on the source and the target" in found[0].evidence


def test_a_file_a_rule_restored_is_a_warning_with_its_reason(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path,
        {"pkg/__init__.py": "", "pkg/lib.py": LIB},
        {"pkg/lib.py": LIB + "s = 1\n", "app.py": USER},
        {"pkg/lib.py": None},
    )

    found = audited(repo)

    assert kinds(found) == [(FindingKind.RESTORED, "pkg/lib.py", None)]
    assert "app.py:1" in found[0].evidence


def test_a_deleted_file_somebody_brought_back_is_a_warning(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"a.txt": "1\n"}, {"s": "s\n"}, {"a.txt": None, "t": "t\n"})

    assert kinds(audited(repo, {"a.txt": "1\n"})) == [(FindingKind.BROUGHT_BACK, "a.txt", None)]


def test_deletions_that_stand_raise_no_alarm(tmp_path: Path) -> None:
    repo = diverged(
        tmp_path, {"a.txt": "1\n", "b.txt": "2\n"}, {"a.txt": None}, {"b.txt": None, "t": "t\n"}
    )

    assert audited(repo) == ()


def reverted(tmp_path: Path, branch: str) -> tuple[TestRepo, str]:
    """Both branches have a feature; one of them reverts it."""
    repo = TestRepo(tmp_path)
    repo.commit("Base", {"m.py": "a = 1\n"})
    repo.commit("Feature (#3)", {"m.py": "a = 1\nfeature = 2\n", "a/feature.txt": "f\n"})
    repo.branch("dev")
    repo.commit("On dev", {"t": "t\n"})
    repo.checkout("main")
    repo.commit("On main", {"s": "s\n"})
    repo.checkout(branch)
    feature = repo.git("rev-parse", f"{branch}~1")
    repo.clock += 60
    repo.git("revert", "--no-edit", feature)
    return repo, repo.git("rev-parse", "HEAD")


@pytest.mark.parametrize("parent", list(Parent))
def test_what_a_revert_deleted_is_a_warning_that_names_it(tmp_path: Path, parent: Parent) -> None:
    """git merges a revert like any other change: cleanly, and without a word."""
    repo, revert = reverted(tmp_path, "main" if parent is Parent.SOURCE else "dev")

    found = audited(repo)

    assert kinds(found) == [
        (FindingKind.REVERT_DELETION, "a/feature.txt", 1),
        (FindingKind.REVERT_DELETION, "m.py", 2),
    ]
    assert all(f"the {parent} reverted" in item.evidence for item in found)
    assert all(revert[:10] in item.evidence for item in found)
    assert "gone with the file" in found[0].evidence


def test_a_revert_that_was_itself_reverted_deletes_nothing(tmp_path: Path) -> None:
    repo, revert = reverted(tmp_path, "main")
    repo.clock += 60
    repo.git("revert", "--no-edit", revert)

    assert audited(repo) == ()


def test_the_targets_reverts_before_the_last_sync_are_no_news(tmp_path: Path) -> None:
    """Else every night would repeat what one night decided; seen in Megatron-LM's dev."""
    repo, _ = reverted(tmp_path, "dev")
    repo.merge("main")
    repo.checkout("main")
    repo.commit("On main again", {"s": "s2\n"})

    assert audited(repo) == ()


# Odd input


def test_odd_names_binaries_links_and_line_ends_are_audited_like_others(tmp_path: Path) -> None:
    odd = "caf\udce9 ä\n-x.py"
    base: Files = {odd: "a = 1\r\nb = 1\r\n", "bin": b"\0\1", "empty": "", "end": "x"}
    repo = diverged(
        tmp_path,
        base,
        {odd: "a = 2\r\nb = 1\r\n", "bin": b"\0\2", "empty": "s\n", "end": "x\ns"},
        {odd: "a = 3\r\nb = 1\r\n", "t": "t\n"},
    )
    repo.path.joinpath("link").symlink_to("end")
    repo.commit("A link")

    found = audited(repo)

    assert kinds(found) == [(FindingKind.TARGET_DROPPED, odd, 1)]
    assert "1: a = 3\n" in found[0].evidence


def test_nothing_of_the_users_settings_changes_what_is_found(tmp_path: Path) -> None:
    repo, revert = reverted(tmp_path, "main")
    settings: Mapping[str, str] = {
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "color.ui": "always",
        "log.showSignature": "true",
        "log.follow": "true",
        "grep.patternType": "fixed",
    }
    for name, value in settings.items():
        repo.git("config", name, value)

    found = audited(repo)

    assert [item.path for item in found] == ["a/feature.txt", "m.py"]
    assert revert[:10] in found[0].evidence


def test_a_missing_commit_is_one_readable_error(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"a": "1\n"}, {"a": "2\n"}, {"t": "t\n"})
    source, target = (git.commit_of(repo.path, name) or "" for name in ("main", "dev"))
    made = plan(repo.path, source, target, CONFIG)

    with pytest.raises(SyncError, match="failed"):
        gather(repo.path, made.base, source, target, "f" * 40, CONFIG, made)


def test_facts_hold_only_what_differs(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"same.py": "x = 1\n", "a": "1\n"}, {"a": "2\n"}, {"t": "t\n"})

    facts = of_merge(repo)

    assert [row.path for row in facts.rows] == ["a", "t"]
    assert facts.removed == {Parent.SOURCE: (), Parent.TARGET: ()}
    assert facts.unchanged == ()
