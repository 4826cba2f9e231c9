"""Fixers work in a real checkout, with formatters that are small Python programs."""

import os
import sys
from pathlib import Path

import pytest

from nightly_sync.agent.assistant import Assistant
from nightly_sync.checks.items import FailureKind
from nightly_sync.checks.triage import FailureGroup, group, triage
from nightly_sync.config import Command, PathRule, SyncConfig
from nightly_sync.fixers import first_that_fixes, fixers_for
from nightly_sync.fixers.base import Change, Fixer, GaveUp
from nightly_sync.fixers.formatting import FormattingFixer
from nightly_sync.forge.base import Check, CheckStatus
from tests.agent.repairs import session
from tests.support import facts as made_up
from tests.support.repo import diverged

SQUEEZE = """
import pathlib, sys
for name in sys.argv[1:]:
    path = pathlib.Path(name)
    path.write_bytes(path.read_bytes().replace(b"  ", b" "))
"""
BREAK = SQUEEZE + "sys.exit('no good')\n"


def failures(log: str = "pkg/a.py:1:1: E225 missing whitespace\n") -> list[FailureGroup]:
    """Findings from one failed check."""
    check = Check(name="lint", status=CheckStatus.COMPLETED, conclusion="FAILURE")
    return group([triage(check, log)])


def formatter(folder: Path, code: str = SQUEEZE, name: str = "squeeze", **fields: bool) -> Command:
    """A formatter that is a script in `folder`."""
    script = folder / f"{name}.py"
    script.write_text(code)
    return Command(name=name, run=f"{sys.executable} {script}", **fields)


def config(*formatters: Command, rules: tuple[PathRule, ...] = ()) -> SyncConfig:
    """A config with these formatters."""
    return SyncConfig(repository="unused", formatters=formatters, rules=rules)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout with three files that want formatting."""
    folder = tmp_path / "tree"
    (folder / "pkg").mkdir(parents=True)
    for name in ("pkg/a.py", "pkg/b.py", "pkg/notes.txt"):
        (folder / name).write_text("x  = 1\n")
    return folder


def test_formatters_run_on_what_the_sync_changed_and_nothing_else(tree: Path) -> None:
    fixer = FormattingFixer(
        config(formatter(tree.parent)), ["pkg/a.py", "pkg/notes.txt", "gone.py"]
    )
    change = fixer.fix(failures(), tree)
    assert change == Change(summary="squeeze: 1 file formatted", files=("pkg/a.py",))
    assert (tree / "pkg/a.py").read_text() == "x = 1\n"
    assert (tree / "pkg/b.py").read_text() == "x  = 1\n", "the sync did not change it"
    assert (tree / "pkg/notes.txt").read_text() == "x  = 1\n", "no file of the formatter's"


def test_the_files_a_sync_changed_come_from_git(tmp_path: Path) -> None:
    long = "x  = 1\n"
    repo = diverged(
        tmp_path / "repo",
        {"same.py": long, "main.py": "old\n", "drop.py": "d\n"},
        {"main.py": long, "new.py": long, "drop.py": None},
        {"dev.py": long},
    )
    target = repo.git("rev-parse", "dev")
    head = repo.merge("main")
    settings, facts = config(formatter(tmp_path)), made_up.facts()
    run = session(settings, repo.path, tmp_path, Assistant(settings.agent))
    plan = facts.plan.model_copy(update={"target": target})
    fixers = fixers_for(run, facts.model_copy(update={"plan": plan}), head)
    change = first_that_fixes(fixers, failures(), repo.path)
    assert isinstance(change, Change)
    assert change.files == ("main.py", "new.py")
    assert repo.git("diff", "--name-only").splitlines() == ["main.py", "new.py"]


@pytest.mark.parametrize("rule", ["protect", "take-source", "take-target"])
def test_a_file_that_a_rule_pins_to_one_side_is_never_formatted(tree: Path, rule: str) -> None:
    pinned = PathRule.model_validate({"rule": rule, "paths": ["/pkg/a.py"]})
    fixer = FormattingFixer(
        config(formatter(tree.parent), rules=(pinned,)), ["pkg/a.py", "pkg/b.py"]
    )
    change = fixer.fix(failures(), tree)
    assert isinstance(change, Change)
    assert change.files == ("pkg/b.py",)


@pytest.mark.parametrize(
    "log",
    [
        "FAILED t.py::t - assert 1 == 2\n1 failed in 0.1s\n",
        "ModuleNotFoundError: No module named 'x'\n",
        "The widget is bent\n",
    ],
)
def test_it_gives_up_on_anything_but_lint_and_format(tree: Path, log: str) -> None:
    answer = FormattingFixer(config(formatter(tree.parent)), ["pkg/a.py"]).fix(failures(log), tree)
    assert answer == GaveUp(reason="no check failed over lint or format")
    assert (tree / "pkg/a.py").read_text() == "x  = 1\n"


def test_it_gives_up_when_formatting_changes_nothing_or_there_is_no_formatter(tree: Path) -> None:
    nothing = FormattingFixer(config(formatter(tree.parent, "")), ["pkg/a.py"])
    assert nothing.fix(failures(), tree) == GaveUp(reason="the formatters changed nothing")
    without = FormattingFixer(config(), ["pkg/a.py"])
    assert without.fix(failures(), tree) == GaveUp(reason="no formatter is configured")


def test_a_formatter_that_fails_leaves_its_files_as_they_were(tree: Path) -> None:
    fixer = FormattingFixer(config(formatter(tree.parent, BREAK)), ["pkg/a.py"])
    assert fixer.fix(failures(), tree) == GaveUp(reason="squeeze failed: no good")
    assert (tree / "pkg/a.py").read_text() == "x  = 1\n"


def test_one_that_fails_does_not_stop_the_others_unless_it_is_required(tree: Path) -> None:
    good = formatter(tree.parent)
    missing = Command(name="gone", run="no-such-formatter --fix")
    change = FormattingFixer(config(missing, good), ["pkg/a.py"]).fix(failures(), tree)
    assert isinstance(change, Change)
    assert "1 file formatted; gone failed: The command 'no-such-formatter'" in change.summary

    (tree / "pkg/a.py").write_text("x  = 1\n")
    needed = missing.model_copy(update={"required": True})
    answer = FormattingFixer(config(good, needed), ["pkg/a.py"]).fix(failures(), tree)
    assert isinstance(answer, GaveUp)
    assert (tree / "pkg/a.py").read_text() == "x  = 1\n"


def test_odd_names_reach_the_formatter_and_links_do_not(tree: Path) -> None:
    odd = ["-dash.py", "with space.py", "new\nline.py", "b\udcff.py"]
    for name in odd:
        Path(os.fsdecode(os.fsencode(tree) + b"/" + os.fsencode(name))).write_text("x  = 1\r\n")
    (tree / "link.py").symlink_to("pkg/b.py")
    fixer = FormattingFixer(config(formatter(tree.parent)), [*odd, "link.py"])
    change = fixer.fix(failures(), tree)
    assert isinstance(change, Change)
    assert sorted(change.files) == sorted(odd)
    assert (tree / "-dash.py").read_bytes() == b"x = 1\r\n"
    assert (tree / "pkg/b.py").read_text() == "x  = 1\n"


class Fixed:
    """A fixer with a fixed answer that remembers what it was asked."""

    def __init__(self, answer: Change | GaveUp):
        self.answer = answer
        self.asked: list[FailureKind] = []

    def fix(self, failures: object, worktree: Path) -> Change | GaveUp:
        """Give the answer."""
        assert isinstance(failures, list)
        self.asked = [item.kind for item in failures]
        return self.answer


def test_the_first_fixer_that_changes_something_is_taken(tree: Path) -> None:
    change = Change(summary="done", files=("x",))
    fixers = [Fixed(GaveUp(reason="not mine")), Fixed(change), Fixed(change)]
    given: list[Fixer] = list(fixers)
    assert first_that_fixes(given, failures(), tree) == change
    assert [len(fixer.asked) for fixer in fixers] == [1, 1, 0]


def test_all_reasons_are_told_when_none_fixes_it(tree: Path) -> None:
    fixers: list[Fixer] = [Fixed(GaveUp(reason="one")), Fixed(GaveUp(reason="two"))]
    assert first_that_fixes(fixers, failures(), tree) == GaveUp(reason="one; two")
    assert first_that_fixes([], failures(), tree) == GaveUp(reason="no fixer is configured")


def test_a_job_that_only_reports_on_others_is_never_given_to_a_fixer(tree: Path) -> None:
    fixer = Fixed(GaveUp(reason="no"))
    aggregate = failures("Some jobs failed\n")
    first_that_fixes([fixer], [*failures(), *aggregate], tree)
    assert fixer.asked == [FailureKind.LINT]
    answer = first_that_fixes([fixer], aggregate, tree)
    assert answer == GaveUp(reason="nothing failed but jobs that report on others")
