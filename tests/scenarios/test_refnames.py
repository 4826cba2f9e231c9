"""The rules for branch names, compared with git's own answer."""

import random
from pathlib import Path

import pytest

from nightly_sync.refnames import branch_problem
from tests.support.repo import TestRepo

NAMES = [
    "main",
    "main2dev/30_11_2026",
    "a/b/c",
    "caf\u00e9",
    "a%b",
    "a@",
    "a@b",
    "@/a",
    "a{b}",
    "a.b",
    "a.lock.b",
    "",
    "-a",
    "a/-b",
    "/a",
    "a/",
    "a//b",
    ".a",
    "a/.b",
    "a.",
    "a./b",
    "a.lock",
    "a.lock/b",
    "a..b",
    "a@{b",
    "a b",
    "a\tb",
    "a\nb",
    "a\x7fb",
    "a~b",
    "a^b",
    "a:b",
    "a?b",
    "a*b",
    "a[b",
    "a]b",
    "a\\b",
    "HEAD",
]


def _git_accepts(repo: TestRepo, name: str) -> bool:
    """`--branch` prints the name if it is one, and nothing otherwise."""
    return name != "" and repo.git("check-ref-format", "--branch", name, check=False) == name


@pytest.mark.parametrize("name", NAMES)
def test_a_branch_name_is_refused_exactly_when_git_refuses_it(name: str, tmp_path: Path) -> None:
    assert (not branch_problem(name)) is _git_accepts(TestRepo(tmp_path), name)


def test_random_names_are_judged_as_git_judges_them(tmp_path: Path) -> None:
    repo = TestRepo(tmp_path)
    choose = random.Random(4)
    parts = ["a", "b", "/", ".", "-", "@", "{", ".lock", "~", " ", "%", "_", "1"]
    # "@" alone is a word for HEAD to git, which this command resolves instead of refusing it.
    names = {"".join(choose.choices(parts, k=choose.randrange(1, 6))) for _ in range(150)} - {"@"}
    wrong = [name for name in names if bool(branch_problem(name)) is _git_accepts(repo, name)]
    assert wrong == []


def test_the_reason_names_the_character() -> None:
    assert branch_problem("21:00") == "holds ':', refused by git in a branch name"
