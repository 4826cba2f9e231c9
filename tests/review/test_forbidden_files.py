"""Paths, settings, golden values, comments and tests in other languages."""

import json

import pytest

from nightly_sync.review.forbidden import FileChange, Policy, RefusalKind, forbidden

GOLDEN, SETTINGS = RefusalKind.GOLDEN, RefusalKind.SETTINGS
TYPE, SUPPRESSION = RefusalKind.FILE_TYPE, RefusalKind.SUPPRESSION


def kinds(change: FileChange, policy: Policy | None = None) -> list[RefusalKind]:
    """The kinds of refusal of one change."""
    return [item.kind for item in forbidden([change], policy or Policy())]


def edit(path: str, before: str | None, after: str | None, *sides: str | None) -> FileChange:
    """A change of a text file."""
    texts = [None if text is None else text.encode() for text in (before, after, *sides)]
    return FileChange(path, texts[0], texts[1], sides=tuple(texts[2:]))


def test_protected_paths_are_refused_even_if_restored() -> None:
    policy = Policy(protected=lambda path: path.startswith("vendor/"))

    assert kinds(edit("vendor/a.py", "a = 1", "a = 2"), policy) == [RefusalKind.PROTECTED]
    assert kinds(edit("vendor/a.py", "a = 1", "a = 2", "a = 2"), policy) == [RefusalKind.PROTECTED]
    assert kinds(edit("vendor/new.py", None, "a = 2"), policy) == [RefusalKind.PROTECTED]
    assert kinds(edit("vendored.py", "a = 1", "a = 2"), policy) == []


@pytest.mark.parametrize(
    "path", ["CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS", ".gitmodules"]
)
def test_nobody_edits_who_must_review_or_what_else_is_checked_out(path: str) -> None:
    open_ = Policy(allow_workflows=True)

    assert kinds(edit(path, "* @me", "* @you", "* @you"), open_) == [RefusalKind.PROTECTED]


def test_workflows_are_closed_unless_the_site_opens_them() -> None:
    change = edit(".github/workflows/ci.yml", "on: push", "on: never", "on: never")

    assert kinds(change) == [RefusalKind.WORKFLOW]
    assert kinds(change, Policy(allow_workflows=True)) == []
    assert kinds(edit(".GitHub/workflows/ci.yml", None, "a")) == [RefusalKind.WORKFLOW]


@pytest.mark.parametrize("path", ["../a.py", "/etc/passwd", "a//b.py", ".git/config", "sub/.GIT/x"])
def test_a_path_outside_of_the_worktree_is_refused(path: str) -> None:
    assert kinds(edit(path, None, "a")) == [TYPE]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("100644", "100755"),
        ("100644", "120000"),
        (None, "120000"),
        (None, "160000"),
        ("120000", None),
    ],
)
def test_modes_links_and_submodules_are_refused(before: str | None, after: str | None) -> None:
    content = b"a = 1\n"
    old, new = (content if before else None), (content if after else None)

    assert kinds(FileChange("a.py", old, new, before, after, sides=(content,))) == [TYPE]


def test_binary_files_may_only_be_restored() -> None:
    old, new = b"\x89PNG\0a", b"\x89PNG\0b"

    assert kinds(FileChange("logo.png", old, new)) == [TYPE]
    assert kinds(FileChange("logo.png", old, new, sides=(new,))) == []
    assert kinds(FileChange("golden/a.npz", old, new), Policy(allow_golden=True)) == []
    assert kinds(FileChange("golden/a.npz", old, new)) == [TYPE]


def test_golden_values_may_only_be_restored_or_moved() -> None:
    path, other = "tests/golden_values/a.json", "tests/golden_values/b.json"
    changed = edit(path, '{"loss": 1.5}', '{"loss": 1.6}')
    moved = [edit(path, '{"loss": 1.5}', None), edit(other, None, '{"loss": 1.5}')]

    assert kinds(changed) == [GOLDEN]
    assert kinds(changed, Policy(allow_golden=True)) == []
    assert kinds(edit(path, '{"loss": 1.5}', '{"loss": 1.6}', '{"loss": 1.6}')) == []
    assert kinds(edit(path, '{"loss": 1.5}', None)) == [GOLDEN]
    assert kinds(edit(path, None, '{"loss": 1.5}')) == [GOLDEN]
    assert forbidden(moved, Policy()) == ()
    dropped = FileChange(path, b"1", None, sides=(b"1", None), base=b"1")
    assert kinds(dropped) == []
    assert kinds(edit("tests/test_golden.py", "assert f() == 1", "import a\nassert f() == 1")) == []


@pytest.mark.parametrize(
    "path",
    [
        *("pytest.ini", "tox.ini", "ruff.toml", ".coveragerc", "mypy.ini", ".pylintrc", ".flake8"),
        *(".pre-commit-config.yaml", "noxfile.py", "sub/pytest.ini", "Makefile", ".gitlab-ci.yml"),
        *("GNUmakefile", "sub/makefile"),
    ],
)
def test_settings_of_the_checks_may_only_be_restored(path: str) -> None:
    assert kinds(edit(path, "a = 1\n", "a = 2\n")) == [SETTINGS]
    assert kinds(edit(path, None, "a = 2\n")) == [SETTINGS]
    assert kinds(edit(path, "a = 1\n", None)) == [SETTINGS]
    assert kinds(edit(path, "a = 1\n", "a = 2\n", "a = 2\n")) == []


PYPROJECT = """
[project]
name = "demo"
dependencies = ["numpy"]

[tool.ruff]
line-length = 100

[tool.pytest.ini_options]
addopts = "-q"

[tool.uv]
dev = true

[tool.hatch.envs.test.scripts]
run = "pytest"
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('["numpy"]', '["numpy", "torch"]', []),
        ("dev = true", "dev = false", []),
        ('"demo"', '"demo2"', []),
        ("line-length = 100", "line-length = 200", [SETTINGS]),
        ('addopts = "-q"', 'addopts = "-q --deselect tests/test_a.py"', [SETTINGS]),
        ('[tool.pytest.ini_options]\naddopts = "-q"', "", [SETTINGS]),
        ("[tool.uv]", "[tool.coverage.report]\nfail_under = 1\n\n[tool.uv]", [SETTINGS]),
        ('run = "pytest"', 'run = "true"', [SETTINGS]),
        ("[project]", "[project", [SETTINGS]),
    ],
)
def test_of_pyproject_only_what_the_checks_read_is_closed(
    old: str, new: str, expected: list[RefusalKind]
) -> None:
    assert kinds(edit("pyproject.toml", PYPROJECT, PYPROJECT.replace(old, new))) == expected


def test_a_section_may_be_restored_by_itself() -> None:
    source = PYPROJECT.replace("line-length = 100", "line-length = 88")
    after = source.replace('["numpy"]', '["torch"]')

    assert kinds(edit("pyproject.toml", PYPROJECT, after, source, PYPROJECT)) == []
    assert kinds(edit("pyproject.toml", PYPROJECT, after, PYPROJECT, PYPROJECT)) == [SETTINGS]
    gone = after.replace("[tool.ruff]\nline-length = 88", "")
    assert kinds(edit("pyproject.toml", PYPROJECT, gone, source, PYPROJECT)) == [SETTINGS]


def test_setup_cfg_and_package_json_are_read_by_section_too() -> None:
    setup = "[metadata]\nname = a\n\n[flake8]\nmax-line-length = 100\n"
    package = {"name": "a", "scripts": {"test": "jest"}, "dependencies": {}}
    looser = {**package, "scripts": {"test": "true"}}

    assert kinds(edit("setup.cfg", setup, setup.replace("name = a", "name = b"))) == []
    assert kinds(edit("setup.cfg", setup, setup.replace("100", "200"))) == [SETTINGS]
    text = json.dumps(package)
    assert kinds(edit("package.json", text, json.dumps({**package, "name": "b"}))) == []
    assert kinds(edit("package.json", text, json.dumps(looser))) == [SETTINGS]
    assert kinds(edit("package.json", text, "[]")) == [SETTINGS]


@pytest.mark.parametrize(
    "comment",
    [
        *("# noqa", "# noqa: F401", "#noqa", "# ruff: noqa", "# type: ignore", "# type: ignore[x]"),
        *("# mypy: ignore-errors", "# pyright: ignore", "# pylint: disable=all", "# fmt: off"),
        *(
            "# pragma: no cover",
            "# isort: skip",
            "# nosec",
            "# yapf: disable",
            "# pylint:disable=a",
        ),
    ],
)
def test_a_comment_that_switches_a_check_off_is_refused(comment: str) -> None:
    line, other = "import a", "b = 2"

    assert kinds(edit("a.py", line, f"{line}  {comment}")) == [SUPPRESSION]
    assert kinds(edit("a.py", f"{line}  {comment}", f"{line}  {comment}\n{other}")) == []
    assert kinds(edit("a.py", line, f"{line}  {comment}", f"{line} {comment}\nx = 1\n")) == []
    assert kinds(edit("a.py", f"x = 1  {comment}", f"{line}  {comment}")) == []
    assert kinds(edit("a.py", line, f'{line}\nb = "say {comment} to pass"')) == []
    assert kinds(edit("a.py", f"{line}\n(", f"{line}  {comment}")) == [SUPPRESSION]


def test_both_sides_may_have_had_their_own() -> None:
    one, other = "import a  # noqa\n", "import b  # noqa\n"

    assert kinds(edit("a.py", one, one + other, one, other)) == []
    assert kinds(edit("a.py", one, one + "import c  # noqa\n", one, other)) == [SUPPRESSION]
    found = forbidden([edit("a.py", one, one + other + "f()  # nosec\n", one, other)], Policy())
    assert ["nosec" in item.evidence for item in found] == [True]


def test_a_wider_suppression_is_a_new_one() -> None:
    assert kinds(edit("a.py", "import a  # noqa: F401", "import a  # noqa")) == [SUPPRESSION]


def test_code_that_behaves_for_tests_only_is_refused() -> None:
    code = 'import os\n\nif "PYTEST_CURRENT_TEST" in os.environ:\n    STRICT = False\n'

    assert kinds(edit("a.py", "import os\n", code)) == [SUPPRESSION]
    assert kinds(edit("a.py", "import os\n", code, code)) == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.ts", "// eslint-disable-next-line"),
        ("a.ts", "// @ts-ignore"),
        ("a.cc", "f();  // NOLINT"),
        ("a.go", "f() //nolint:errcheck"),
        ("a.rs", "#[allow(dead_code)]"),
        ("a.sh", "pytest --deselect tests/test_a.py::test_b"),
        ("a.sh", "pytest -k 'not slow'"),
        ("a.sh", "pytest || true"),
        ("a.yaml", "continue-on-error: true"),
        ("a.pyi.in", "x: int  # type: ignore"),
    ],
)
def test_other_languages_have_such_lines_too(path: str, line: str) -> None:
    assert kinds(edit(path, "x\n", f"x\n{line}\n")) == [SUPPRESSION]
    assert kinds(edit(path, "x\n", f"x\n{line}\n", f"{line}\n")) == []
    assert kinds(edit(path, f"{line}\n", f"x\n{line}\n")) == []
    assert kinds(edit("notes.md", "x\n", f"x\n{line}\n")) == []


def test_tests_in_other_languages_may_only_be_restored() -> None:
    path, loosened = "tests/run.sh", RefusalKind.TEST_LOOSENED
    text = "set -e\nrun --all\ncompare out golden\n"

    assert kinds(edit(path, text, "set -e\nrun --all\n")) == [loosened]
    assert kinds(edit(path, text, text + "exit 0\n")) == [loosened]
    assert kinds(edit(path, text, None)) == [RefusalKind.TEST_REMOVED]
    assert kinds(edit(path, text.replace("run --all\n", ""), text, text, text)) == []
    assert kinds(edit(path, text + "run --all\n", text, text, text)) == []
    source = text.replace("--all", "--fast")
    assert kinds(edit(path, text, source + "# by source\n", source + "# by source\n", text)) == []
    assert kinds(edit("scripts/run.sh", text, "set -e\n")) == []


def test_a_file_that_no_longer_parses_is_refused() -> None:
    assert kinds(edit("a.py", "a = 1", "a = (")) == [RefusalKind.SYNTAX]
    assert kinds(edit("a.py", "a = (", "a = 1")) == []
    assert kinds(edit("a.py", "a = (", "a = ((", "a = 1")) == [RefusalKind.SYNTAX]
    assert kinds(edit("a.py", "{{ a }} = 1 1", "{{ a }} = 2 2")) == []


def test_what_did_not_change_is_no_change() -> None:
    policy = Policy(protected=lambda _: True)

    assert forbidden([edit("a.py", "a", "a"), edit("b", None, None)], policy) == ()


def test_every_reason_is_given_for_every_file() -> None:
    changes = [
        edit("a.py", "import a\nimport b\n", "import a  # noqa\nimport b  # nosec\n"),
        edit("ruff.toml", "a", "b"),
    ]
    found = forbidden(changes, Policy())

    assert [(item.path, item.kind) for item in found] == [
        ("a.py", SUPPRESSION),
        ("a.py", SUPPRESSION),
        ("ruff.toml", SETTINGS),
    ]


def test_a_test_in_another_language_may_move_among_tests_only() -> None:
    gone = edit("tests/run.sh", "run\n", None)

    assert forbidden([gone, edit("tests/all/run.sh", None, "run\n")], Policy()) == ()
    assert forbidden([gone, edit("old/run.sh", None, "run\n")], Policy()) != ()
