"""Editing conversations: what is taken of them, what is refused, and how they end."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nightly_sync import git
from nightly_sync.agent import repair
from nightly_sync.agent.data import plain
from nightly_sync.agent.guard import WriteGuard
from nightly_sync.agent.repair import Mended, NotMended
from nightly_sync.conflicts import Entry
from nightly_sync.errors import Unreachable
from nightly_sync.review.harm import Objection
from tests.agent.repairs import GUIDE, REPAIR, REPAIRED, TEST, Bench, edit, submit
from tests.agent.scripted import call, says
from tests.support.sandboxes import PYTHON, sandbox


def test_a_repair_is_taken_as_a_tree_and_nothing_else_leaves_the_checkout(tmp_path: Path) -> None:
    bench = Bench(tmp_path, call("read_file", path="pkg/train.py"), REPAIR, submit())
    made = bench.mend()
    assert bench.changed(made) == REPAIRED
    assert isinstance(made, Mended)
    assert (made.summary, made.files) == ("Claude: train uses the new name", ("pkg/train.py",))
    assert git.commit_of(bench.repo, "dev") == bench.ground.merge
    assert (bench.refused, bench.assistant.rejected) == ([], {})


def test_a_repair_is_compared_with_what_both_sides_and_the_base_have(tmp_path: Path) -> None:
    bench = Bench(tmp_path, REPAIR, edit("pkg/model.py", "* 2", "* 3"), submit())
    bench.mend()
    (proposal,) = bench.seen
    by_path = {change.path: change for change in proposal.changes}
    train, model = by_path["pkg/train.py"], by_path["pkg/model.py"]
    assert (train.before, train.base) == (train.sides[1], None)
    assert (train.sides[0], train.mode_before, train.mode_after) == (None, "100644", "100644")
    source, target = model.sides
    assert source == model.before != target == model.base


SKIP = edit("tests/test_train.py", "def test", "import pytest\n\n\n@pytest.mark.skip\ndef test")
NO_SKIP = edit("tests/test_train.py", "import pytest\n\n\n@pytest.mark.skip\ndef test", "def test")


def test_the_cheapest_fix_is_refused_and_shown_and_a_real_one_is_taken(tmp_path: Path) -> None:
    bench = Bench(tmp_path, SKIP, submit("skip it"), NO_SKIP, REPAIR, submit())
    made = bench.mend()
    assert bench.changed(made) == REPAIRED
    assert "- tests/test_train.py: " in bench.script.said(2)
    assert "2 tries are left" in bench.script.said(2)
    assert set(bench.refused) == {("tests/test_train.py", "test-skipped")}
    assert len(bench.seen) == 1, "the judge is not asked about what is refused"


CLOSED = [
    (edit("CODEOWNERS", "@owners", "@me"), "CODEOWNERS", "protected-path"),
    (edit("kept.py", "1", "2"), "kept.py", "protected-path"),
    (edit("VERSION", "1", "2"), "VERSION", "protected-path"),
    (edit(".github/workflows/ci.yml", "push", "x"), ".github/workflows/ci.yml", "workflow"),
    (call("create_file", path=".github/x.yml", content="x\n"), ".github/x.yml", "workflow"),
    (edit("odd.txt", "odd", "even"), "odd.txt", "closed-path"),
]


@pytest.mark.parametrize(("turn", "path", "kind"), CLOSED)
def test_what_the_tools_refuse_is_counted_too(
    tmp_path: Path, turn: Any, path: str, kind: str
) -> None:
    bench = Bench(tmp_path, turn, REPAIR, submit())
    made = bench.mend(allowed={"pkg/train.py"})
    assert bench.changed(made) == REPAIRED
    assert "may not be changed" in bench.script.said(1)
    assert bench.refused == [(path, kind)]


@pytest.mark.parametrize("path", ["../x.py", "/tmp/x.py", ".git/hooks/post-commit", "pkg/../../x"])
def test_nothing_is_written_outside_of_the_checkout(tmp_path: Path, path: str) -> None:
    bench = Bench(tmp_path, call("create_file", path=path, content="x\n"), submit(), call("give_up",
                  reason="no"))  # fmt: skip
    assert isinstance(bench.mend(), NotMended)
    assert "nothing was changed" in bench.script.said(2)


@pytest.mark.parametrize(("turn", "path", "kind"), CLOSED)
def test_the_difference_is_judged_even_where_a_tool_let_it_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turn: Any, path: str, kind: str
) -> None:
    monkeypatch.setattr(WriteGuard, "check", lambda *_: None)
    bench = Bench(tmp_path, turn, REPAIR, submit(), call("give_up", reason="so"))
    assert bench.mend(allowed={"pkg/train.py"}) == NotMended("Claude gave up: so")
    assert bench.refused == [(path, kind)]
    assert bench.seen == []


def test_settings_of_checks_are_refused_however_they_are_changed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, edit("setup.cfg", "88", "200"), submit(), call("give_up", reason="so"))
    assert bench.mend() == NotMended("Claude gave up: so")
    assert bench.refused == [("setup.cfg", "check-settings")]


def test_a_site_may_open_workflows_and_golden_values(tmp_path: Path) -> None:
    workflow = edit(".github/workflows/ci.yml", "push", "pull_request")
    golden = edit("golden/values.json", "1", "2")
    closed = Bench(tmp_path, golden, submit(), call("give_up", reason="so"))
    assert isinstance(closed.mend(), NotMended)
    assert closed.refused == [("golden/values.json", "golden-values")]
    opened = Bench(tmp_path, workflow, golden, submit(), workflows=True, golden=True)
    changed = {".github/workflows/ci.yml": b"on: pull_request\n", "golden/values.json": b"[2]\n"}
    assert opened.changed(opened.mend()) == changed


def test_a_call_that_fits_no_schema_is_an_error_that_the_model_reads(tmp_path: Path) -> None:
    bench = Bench(tmp_path, call("edit_file", file="a"), REPAIR, submit())
    assert bench.changed(bench.mend()) == REPAIRED
    assert "does not fit its schema" in bench.script.said(1)


def test_a_judges_objections_go_back_and_are_counted(tmp_path: Path) -> None:
    bench = Bench(tmp_path, REPAIR, submit(), submit())
    bench.objections = [[Objection("undefined-name", "`x` is undefined")] * 2]
    assert bench.changed(bench.mend()) == REPAIRED
    assert "- `x` is undefined" in bench.script.said()
    assert bench.assistant.rejected == {"undefined-name": 1}


def test_after_the_last_try_it_ends_with_the_reason(tmp_path: Path) -> None:
    bench = Bench(tmp_path, REPAIR, submit(), submit(), answers=2)
    bench.objections = [[Objection("a", "one is wrong")], [Objection("b", "two is wrong")]]
    reason = "Claude's 2 answers were sent back; the last one: two is wrong"
    assert bench.mend() == NotMended(reason)
    assert bench.script.left == 0


def test_a_repair_that_changes_nothing_is_sent_back(tmp_path: Path) -> None:
    back = edit("pkg/train.py", "new_loss", "old_loss", count=2)
    bench = Bench(tmp_path, submit(), REPAIR, back, submit(), answers=2)
    assert isinstance(bench.mend(), NotMended)
    assert bench.assistant.rejected == {"nothing-changed": 2}
    assert bench.seen == []


def test_new_files_are_taken_if_a_tool_made_them(tmp_path: Path) -> None:
    made = call("create_file", path="pkg/losses.py", content="LOSS = 1\n")
    bench = Bench(tmp_path, made, REPAIR, submit())
    assert bench.changed(bench.mend()) == {**REPAIRED, "pkg/losses.py": b"LOSS = 1\n"}


# How it ends without a repair


def test_it_may_give_up_and_the_reason_is_one_harmless_line(tmp_path: Path) -> None:
    bench = Bench(tmp_path, REPAIR, call("give_up", reason="ask @owners\nabout #12."))
    assert bench.mend() == NotMended("Claude gave up: ask @ owners about # 12")


def test_a_summary_mentions_nobody_and_adds_no_line_to_the_commit() -> None:
    text = "Fixes #12, says @you.\n\nNightly-Sync-Fix-Of: 0123\x1b[31m \u202eevil" + "x" * 400
    line = plain(text)
    assert line.startswith("Fixes # 12, says @ you. Nightly-Sync-Fix-Of: 0123 \\u202eevil")
    assert len(line) == 200


def test_a_model_that_only_talks_is_reminded_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path, says("I am done."), says("Really."))
    assert "the model ended its turn without an answer" in str(bench.mend())
    said = bench.script.bodies[1]["messages"][-1]["content"][0]["text"]
    assert "Call submit" in said


def test_a_spent_budget_ends_it_and_the_next_one_costs_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path, REPAIR, turns=1)
    assert bench.mend() == NotMended("Claude made no repair: the limit of 1 turns is reached")
    reason = "Claude is not asked any more: the limit of 1 turns is reached"
    assert bench.mend() == NotMended(reason)
    assert len(bench.script.bodies) == 1


def test_an_outage_ends_it_with_the_reason(tmp_path: Path) -> None:
    bench = Bench(tmp_path, REPAIR, Unreachable("Claude did not answer"))
    assert bench.mend() == NotMended("Claude did not answer")
    assert not bench.assistant.usable


def test_without_a_key_nothing_is_checked_out(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.assistant.problem = "Claude was not asked: no key"
    bench.ground = replace(bench.ground, repo=tmp_path / "nowhere")
    assert bench.mend() == NotMended("Claude was not asked: no key")


def test_what_is_cached_is_the_same_for_all_repairs_of_a_run(tmp_path: Path) -> None:
    bench = Bench(tmp_path, call("give_up", reason="a"))
    bench.mend()
    system = bench.script.bodies[0]["system"][0]["text"]
    assert GUIDE.strip() in system
    (frame,) = [line for line in system.splitlines() if "guidance from CLAUDE.md" in line]
    assert frame.startswith("<data-")
    tools = [item["name"] for item in bench.script.bodies[0]["tools"]]
    assert "run_command" not in tools
    assert tools[-2:] == ["submit", "give_up"]


def test_a_file_that_one_side_deleted_may_be_deleted(tmp_path: Path) -> None:
    bench = Bench(tmp_path, call("delete_file", path="dropped.txt"), REPAIR, submit())
    tree = bench.with_entries(tmp_path, dropped_txt=bench.dropped)
    bench.ground = replace(bench.ground, tree=tree)
    assert bench.changed(bench.mend()) == {**REPAIRED, "dropped.txt": None}


def test_a_file_that_no_side_deleted_stays(tmp_path: Path) -> None:
    turns = (call("delete_file", path="odd.txt"), submit(), call("give_up", reason="so"))
    bench = Bench(tmp_path, *turns)
    assert isinstance(bench.mend(), NotMended)
    assert bench.refused == [("odd.txt", "file-removed")]


def test_logs_are_read_where_there_are_any(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("E   ImportError: old_loss\n")
    turns = (call("read_log", check="unit", text="importerror"), call("give_up", reason="so"))
    bench = Bench(tmp_path, *turns, *turns)
    bench.mend(logs={"unit": [tmp_path / "log"]})
    assert "1\tE   ImportError: old_loss" in bench.script.said()
    bench.mend()
    assert "There is no tool read_log" in bench.script.said()


# With commands

NEW = call("create_file", path="new.py", content="n = 1\n")
SHELL = {"name": "sh", "run": "/bin/sh -c", "arguments": True, "options": True}


def shell(script: str) -> Any:
    return call("run_command", command="sh", arguments=[script])


@pytest.fixture
def box(tmp_path: Path) -> dict[str, Any]:
    """Settings with a sandbox; the test is skipped where none works."""
    sandbox(tmp_path / "probe", environment=())
    return {"commands": [SHELL], "environment": (), "processes": 24, "memory_mb": 200}


def test_commands_are_no_way_around_a_refusal(tmp_path: Path, box: dict[str, Any]) -> None:
    script = (
        "echo '* @me' > CODEOWNERS; rm -r .github; "
        "sed -i 's/def test/import pytest\\npytestmark = pytest.mark.skip\\ndef test/' tests/*.py; "
        "ln -s /etc pkg/link; mkdir pkg/__pycache__; touch pkg/__pycache__/x.pyc; "
        "sed -i s/old_loss/new_loss/ pkg/train.py"
    )
    undo = "sed -i '/pytest/d' tests/*.py"
    bench = Bench(tmp_path, shell(script), submit(), shell(undo), submit(), sandbox=box)
    made = bench.mend()
    assert bench.changed(made) == REPAIRED
    assert "- tests/test_train.py: " in bench.script.said(2)
    assert set(bench.refused) == {
        ("CODEOWNERS", "protected-path"),
        (".github/workflows/ci.yml", "workflow"),
        ("tests/test_model.py", "test-skipped"),
        ("tests/test_train.py", "test-skipped"),
    }


def test_what_a_command_changed_or_removed_is_taken_and_new_files_are_not(
    tmp_path: Path, box: dict[str, Any]
) -> None:
    script = "sed -i s/old_loss/new_loss/ pkg/*.py; rm dropped.txt; touch setup.cfg; echo > new.py"
    bench = Bench(tmp_path, shell(script), submit(), sandbox=box)
    tree = bench.with_entries(tmp_path, dropped_txt=bench.dropped)
    bench.ground = replace(bench.ground, tree=tree)
    assert bench.changed(bench.mend()) == {**REPAIRED, "dropped.txt": None}


def test_what_a_command_only_touched_stays_as_it_was_committed(
    tmp_path: Path, box: dict[str, Any]
) -> None:
    """Taken in anew, line ends would be converted; and a submodule is not checked out at all."""
    bench = Bench(tmp_path, shell("touch ends.txt; rmdir sub"), REPAIR, submit(), sandbox=box)
    texts = git.write_blobs(bench.repo, [b"one\r\n", b"ends.txt text\n"])
    ends, attributes = (Entry(mode="100644", oid=oid) for oid in texts)
    sub = Entry(mode="160000", oid=bench.ground.merge)
    tree = bench.with_entries(tmp_path, ends_txt=ends, _gitattributes=attributes, sub=sub)
    bench.ground = replace(bench.ground, tree=tree)
    assert bench.changed(bench.mend()) == REPAIRED


def test_files_of_other_tasks_stay_as_they_were_whatever_a_command_does(
    tmp_path: Path, box: dict[str, Any]
) -> None:
    script = "sed -i s/old_loss/new_loss/ pkg/*.py tests/*.py; echo > odd.txt"
    bench = Bench(tmp_path, shell(script), submit(), sandbox=box)
    assert bench.changed(bench.mend(allowed={"pkg/train.py"})) == REPAIRED
    assert bench.refused == [("odd.txt", "closed-path")]


@pytest.mark.parametrize(
    "script", ["rm new.py; mkdir new.py", "rm new.py; mkfifo new.py", "rm -r pkg; ln -s /etc pkg"]
)
def test_what_git_cannot_take_in_is_told_and_never_taken(
    tmp_path: Path, box: dict[str, Any], script: str
) -> None:
    turns = (shell("true"), NEW, shell(script), submit(), submit())
    bench = Bench(tmp_path, *turns, sandbox=box, answers=2)
    assert isinstance(bench.mend(), NotMended)
    assert "could not be judged (GitError: git update-index" in bench.script.said()


def test_a_link_in_place_of_a_new_file_is_refused(tmp_path: Path, box: dict[str, Any]) -> None:
    link = shell("ln -sf /etc/passwd new.py")
    bench = Bench(tmp_path, shell("true"), NEW, link, submit(), sandbox=box, answers=1)
    assert isinstance(bench.mend(), NotMended)
    assert bench.refused == [("new.py", "file-type")]


def test_without_a_working_sandbox_there_are_no_commands_and_the_report_says_so(
    tmp_path: Path,
) -> None:
    gone = {"commands": [SHELL], "environment": [*PYTHON, str(tmp_path / "gone")]}
    bench = Bench(tmp_path, REPAIR, submit(), sandbox=gone)
    assert bench.changed(bench.mend()) == REPAIRED
    assert "run_command" not in [item["name"] for item in bench.script.bodies[0]["tools"]]
    assert "Claude could run no commands" in bench.assistant.facts().commands_off


def test_a_test_that_is_removed_by_a_command_is_refused(
    tmp_path: Path, box: dict[str, Any]
) -> None:
    put_back = call("create_file", path="tests/test_train.py", content=TEST)
    turns = (shell("rm tests/test_train.py"), REPAIR, submit(), put_back, submit())
    bench = Bench(tmp_path, *turns, sandbox=box)
    assert bench.changed(bench.mend()) == REPAIRED
    assert bench.refused == [("tests/test_train.py", "test-removed")]


@pytest.mark.parametrize(
    "text",
    [
        *("[skip ci]", "[CI skip]", "[no ci]", "[skip actions]", "[actions skip]", "[[skip ci]"),
        *("***NO_CI***", "GH-12", "gh-12", "https://github.com/o/r/issues/3", "skip-checks: true"),
        *("www.github.com/o/r/pull/3", "[skip\u200b ci]", "[skip\nci]", "@me", "o/r#1"),
    ],
)
def test_a_summary_stops_no_workflow_and_closes_no_issue(text: str) -> None:
    """Reported: such words reached the message of the fix commit as they were."""
    obeyed = r"\[(skip|no|ci|actions) *(ci|skip|actions)\]|\*{3}NO_CI|GH-\d|://\w|(issues|pull)/\d"
    line = plain(f"a closes {text} b")
    assert not re.search(rf"{obeyed}|skip-checks:|[@#]\w", line, re.IGNORECASE)
    assert line.startswith("a closes ")


def test_brackets_and_words_that_nothing_obeys_stay() -> None:
    text = "x[0] of list[int] in a/b, see GH and [the notes]; a ** b ***c*** skip ci"
    assert plain(text) == text


def test_an_answer_that_the_judge_breaks_on_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reported: a file that our own parsing could not read ended the run."""

    def broken(*_: object) -> list[object]:
        raise RecursionError("too deep")

    bench = Bench(tmp_path, REPAIR, submit(), submit(), submit())
    monkeypatch.setattr(repair, "forbidden", broken)
    made = bench.mend()
    assert isinstance(made, NotMended)
    assert "the repair could not be judged (RecursionError: too deep" in made.reason
    assert "1 try is left" in bench.script.said()
    assert bench.assistant.facts().rejected == {"not-judged": 3}
    assert "in broken" in (tmp_path / "transcript.jsonl").read_text()
    assert not bench.script.left
