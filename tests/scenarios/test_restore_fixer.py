"""A module that the source has and the merged tree lacks is put back, where an import fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nightly_sync import git, tools
from nightly_sync.checks.triage import FailureGroup, group, triage
from nightly_sync.config import SyncConfig
from nightly_sync.fixers.base import Change, GaveUp
from nightly_sync.fixers.restore import RestoreFixer
from nightly_sync.forge.base import Check, CheckStatus
from tests.support.repo import TestRepo, diverged

Files = dict[str, str | bytes | None]
BASE: Files = {
    "pkg/__init__.py": "",
    "pkg/util.py": "from pkg.deep import deep\n",
    "pkg/deep.py": b"deep = 1\r\n",
    "pkg/other.py": "other = 1\n",
    "src/lib/__init__.py": "",
    "src/lib/inner/__init__.py": "from lib.inner import part\n",
    "src/lib/inner/part.py": "part = 1\n",
    "pkg/form.py": "form = 1\n",
    "one/twin.py": "twin = 1\n",
    "two/twin.py": "twin = 2\n",
    "README": "r\n",
}
PACKAGE = ("src/lib/inner/__init__.py", "src/lib/inner/part.py")
GONE = ("pkg/util.py", "pkg/deep.py", "pkg/other.py", "pkg/form.py", "one/twin.py", "two/twin.py")
DEV: Files = {**dict.fromkeys((*GONE, *PACKAGE)), "pkg/form/__init__.py": "new = 1\n"}


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> TestRepo:
    """The target deleted what the source still imports, and git kept the deletion."""
    main: Files = {"README": "read\n", "app.py": "import pkg.util\n"}
    repo = diverged(tmp_path_factory.mktemp("restore") / "repo", BASE, main, DEV)
    repo.merge("main")
    return repo


def failed(*errors: str) -> list[FailureGroup]:
    """What failed, by one log a check."""
    checks = [Check(name=f"c{n}", status=CheckStatus.COMPLETED) for n in range(len(errors))]
    return group(triage(check, f"{log}\n") for check, log in zip(checks, errors, strict=True))


@contextmanager
def checkout(repo: TestRepo) -> Iterator[Path]:
    """A checkout of the merge."""
    with tools.checkout(repo.path, repo.git("rev-parse", "HEAD")) as (folder, _):
        yield folder


def fixed(
    repo: TestRepo, folder: Path, *errors: str, rules: Any = (), source: str = "main"
) -> Change | GaveUp:
    """The fixer's answer."""
    fields = {"repository": str(repo.path), "rules": rules}
    config = SyncConfig.model_validate(fields)
    shas = [repo.git("rev-parse", name) for name in (source, "HEAD^1")]
    return RestoreFixer(config, repo.path, *shas).fix(failed(*errors), folder)


NO_UTIL = "ModuleNotFoundError: No module named 'pkg.util'"


def test_the_module_and_what_it_imports_are_restored_byte_for_byte(merged: TestRepo) -> None:
    with checkout(merged) as folder:
        change = fixed(merged, folder, NO_UTIL)
        files = ("pkg/deep.py", "pkg/util.py")
        summary = "restored from main, as imports need it: pkg/deep.py, pkg/util.py"
        assert change == Change(summary=summary, files=files)
        for name in files:
            assert (folder / name).read_bytes() == git.read_file(merged.path, "main", name)
        assert not (folder / "pkg/other.py").exists(), "nothing imports it"


def test_what_was_restored_can_be_committed(merged: TestRepo) -> None:
    with tools.checkout(merged.path, merged.git("rev-parse", "HEAD")) as (folder, index):
        change = fixed(merged, folder, NO_UTIL)
        assert isinstance(change, Change)
        assert git.add_files(merged.path, folder, index, change.files) == change.files
        tree = git.write_index(merged.path, folder, index)
    sides = [git.tree_entries(merged.path, name) for name in (tree, "main")]
    assert [side["pkg/deep.py"] for side in sides] == [sides[1]["pkg/deep.py"]] * 2


@pytest.mark.parametrize(
    ("error", "files"),
    [
        ("ModuleNotFoundError: No module named 'lib.inner'",
         ("src/lib/inner/__init__.py", "src/lib/inner/part.py")),
        ("ImportError: cannot import name 'other' from 'pkg' (/x/pkg/__init__.py)",
         ("pkg/other.py",)),
        ("FAILED t.py::t - ModuleNotFoundError: No module named 'pkg.deep'", ("pkg/deep.py",)),
    ],
)  # fmt: skip
def test_a_module_is_found_under_any_root_and_by_any_import(
    merged: TestRepo, error: str, files: tuple[str, ...]
) -> None:
    with checkout(merged) as folder:
        change = fixed(merged, folder, error)
    assert isinstance(change, Change)
    assert change.files == files


def test_modules_of_several_failures_are_restored_at_once(merged: TestRepo) -> None:
    with checkout(merged) as folder:
        other = "ModuleNotFoundError: No module named 'pkg.other'"
        change = fixed(merged, folder, other, "ModuleNotFoundError: No module named 'pkg.deep'")
    assert isinstance(change, Change)
    assert change.files == ("pkg/deep.py", "pkg/other.py")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("FAILED t.py::t - assert 1 == 2", "no import of a missing module failed"),
        ("Some jobs failed", "no import of a missing module failed"),
        ("ModuleNotFoundError: No module named 'numpy'",
         "main has no file to restore for numpy"),
        ("ImportError: cannot import name 'nobody' from 'pkg' (/x/pkg/__init__.py)",
         "main has no file to restore for pkg.nobody"),
        ("ModuleNotFoundError: No module named 'twin'", "main has no file to restore for twin"),
        ("ImportError: cannot import name 'form' from 'pkg' (/x/pkg/__init__.py)",
         "main has no file to restore for pkg.form"),
        ("ModuleNotFoundError: No module named 'app'", "main has no file to restore for app"),
    ],
)  # fmt: skip
def test_it_gives_up_on_anything_else(merged: TestRepo, error: str, reason: str) -> None:
    with checkout(merged) as folder:
        before = sorted(folder.rglob("*"))
        assert fixed(merged, folder, error) == GaveUp(reason=reason)
        assert sorted(folder.rglob("*")) == before


def test_what_a_restored_file_imports_may_be_ruled_out_as_well(merged: TestRepo) -> None:
    rules = [{"rule": "take-target", "paths": ["/pkg/deep.py"]}]
    with checkout(merged) as folder:
        change = fixed(merged, folder, NO_UTIL, rules=rules)
    assert isinstance(change, Change)
    assert change.files == ("pkg/util.py",)


@pytest.mark.parametrize("rule", ["protect", "take-target", "take-source", "delete-wins"])
def test_a_file_that_a_path_rule_is_about_is_left_as_the_rule_has_it(
    merged: TestRepo, rule: str
) -> None:
    rules = [{"rule": rule, "paths": ["/pkg/util.py"]}]
    reason = "a path rule keeps pkg/util.py from being restored"
    with checkout(merged) as folder:
        assert fixed(merged, folder, NO_UTIL, rules=rules) == GaveUp(reason=reason)
        deep = "ModuleNotFoundError: No module named 'pkg.deep'"
        change = fixed(merged, folder, NO_UTIL, deep, rules=rules)
        assert isinstance(change, Change)
        assert change.files == ("pkg/deep.py",)


def test_a_file_in_the_way_leaves_everything_as_it_was(merged: TestRepo) -> None:
    with checkout(merged) as folder:
        (folder / "pkg/util.py").write_text("stray\n")
        answer = fixed(merged, folder, NO_UTIL)
        assert isinstance(answer, GaveUp)
        assert "cannot be restored: pkg/util.py: File exists" in answer.reason
        assert not (folder / "pkg/deep.py").exists()
