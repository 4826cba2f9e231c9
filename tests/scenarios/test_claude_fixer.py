"""Claude as a fixer: what it is told, what of its work is taken, and how a night goes on from it.

Conversations are played by script; the checkouts, the audits and GitHub's stand-in are not.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from nightly_sync import git, report_facts, tools
from nightly_sync.agent.assistant import employ
from nightly_sync.agent.base import Reply
from nightly_sync.checks.baseline import Classification
from nightly_sync.checks.triage import FailureGroup, group, triage
from nightly_sync.conflicts import Entry
from nightly_sync.errors import Unreachable
from nightly_sync.explain import with_baselines
from nightly_sync.fixers import fixers_for
from nightly_sync.fixers.base import Change, GaveUp
from nightly_sync.fixers.claude import ClaudeFixer
from nightly_sync.forge.base import Check, CheckStatus
from nightly_sync.merge.plan import plan
from nightly_sync.record import Outcome
from tests.agent.repairs import REPAIR, REPAIRED, TRAIN, Bench, edit, session, submit
from tests.agent.scripted import Script, call
from tests.github.ci import Act
from tests.support import facts as made_up
from tests.support.github_night import Ended, Night, followed
from tests.support.github_site import GATE, GREEN
from tests.support.night import Scribbler
from tests.support.sandboxes import sandbox

LOG = """\
ImportError while importing test module 'tests/test_train.py'.
E   ImportError: cannot import name 'old_loss' from 'pkg.model' (/w/pkg/model.py)
ERROR tests/test_train.py
"""


def failed(*logs: str) -> list[FailureGroup]:
    """What failed, by one log a check."""
    checks = [Check(name=f"unit {n}", status=CheckStatus.COMPLETED) for n in range(len(logs))]
    return group(triage(check, log) for check, log in zip(checks, logs, strict=True))


class Works(Bench):
    """A fixer on a bench's merge."""

    def __init__(self, folder: Path, *turns: Reply | Exception, **agent: Any):
        super().__init__(folder, *turns, **agent)
        at = self.ground
        self.run = session(at.config, self.repo, folder, self.assistant)
        made = plan(self.repo, at.source, at.target, at.config)
        facts = made_up.facts(plan=made, merge_commit=at.merge, head=at.merge)
        self.facts = report_facts.with_audits(facts, self.repo, at.merge, at.config)
        self.fixer = ClaudeFixer(self.run, self.facts)

    @contextmanager
    def checkout(self, tree: str = "") -> Iterator[Path]:
        """A checkout of the merge, or of a tree."""
        with tools.checkout(self.repo, tree or self.ground.tree) as (folder, _):
            yield folder

    def fix(self, *logs: str) -> Change | GaveUp:
        """One repair."""
        with self.checkout() as folder:
            return self.fixer.fix(failed(*logs or (LOG,)), folder)

    @property
    def left(self) -> tuple[str, ...]:
        """What the report says is left."""
        return self.assistant.facts().left


def test_a_repair_lands_in_the_worktree_and_nothing_else_does(tmp_path: Path) -> None:
    works = Works(tmp_path, REPAIR, submit())
    with works.checkout() as folder:
        change = works.fixer.fix(failed(LOG), folder)
        assert change == Change(summary="Claude: train uses the new name", files=(*REPAIRED,))
        again = {name: (folder / name).read_bytes() for name in REPAIRED}
        assert again == REPAIRED
        changed = git.add_files(works.repo, folder, folder.parent / "index", ["pkg/model.py"])
        assert changed == ()
    assert works.left == ()


def test_new_files_reach_the_worktree_too(tmp_path: Path) -> None:
    new = call("create_file", path="pkg/more/names.py", content="N = 1\n")
    works = Works(tmp_path, new, REPAIR, submit())
    with works.checkout() as folder:
        change = works.fixer.fix(failed(LOG), folder)
        assert isinstance(change, Change)
        assert change.files == ("pkg/more/names.py", "pkg/train.py")
        assert (folder / "pkg/more/names.py").read_text() == "N = 1\n"


def test_a_file_that_a_command_removed_is_removed(tmp_path: Path) -> None:
    sandbox(tmp_path / "probe", environment=())
    remove = call("run_command", command="drop")
    box = {"commands": [{"name": "drop", "run": "rm dropped.txt"}], "memory_mb": 200}
    works = Works(tmp_path, remove, submit(), sandbox=box)
    with works.checkout(works.with_entries(tmp_path, dropped_txt=works.dropped)) as folder:
        change = works.fixer.fix(failed(LOG), folder)
        assert isinstance(change, Change)
        index = folder.parent / "index"
        assert git.add_files(works.repo, folder, index, change.files) == ("dropped.txt",)
        assert not (folder / "dropped.txt").exists()


def test_claude_is_told_what_failed_with_baseline_and_what_the_merge_did(tmp_path: Path) -> None:
    works = Works(tmp_path, call("give_up", reason="seen"))
    (found,) = failed(LOG)
    passes = Classification(pre_existing=False, evidence="It passes on dev.", new_items=("one",))
    told = with_baselines(found, {found.failures[0].check: passes})
    with works.checkout() as folder:
        works.fixer.fix([told, *failed("Some jobs failed")], folder)
    opening = works.script.opening()
    for words in (
        "what: Broken import: pkg.model:old_loss",
        "checks: unit 0\n",
        "without the merge: It passes on dev.\nwithout the merge: only with the merge: one\n",
        "E   ImportError: cannot import name 'old_loss'",
        "git merged everything without a conflict",
        "error broken-import in pkg/train.py line 1: imports `old_loss` from pkg.model",
    ):
        assert words in opening
    assert "Some jobs failed" not in opening, "what only sums up others is never debugged"
    names = [item["name"] for item in works.script.bodies[0]["tools"]]
    assert {"read_file", "search", "git_log", "git_show", "git_diff", "git_blame"} <= {*names}


def test_jobs_that_only_report_on_others_cost_nothing(tmp_path: Path) -> None:
    works = Works(tmp_path)
    reason = "nothing failed but jobs that report on others"
    assert works.fix("Some jobs failed") == GaveUp(reason=reason)


def test_what_an_audit_would_call_an_error_goes_back(tmp_path: Path) -> None:
    wrong = edit("pkg/train.py", "return old_loss", "return better_loss")
    right = edit("pkg/train.py", "better_loss(value)", "new_loss(value)")
    name = edit("pkg/train.py", "import old_loss", "import new_loss")
    works = Works(tmp_path, wrong, name, submit(), right, submit())
    assert isinstance(works.fix(), Change)
    said = works.script.said(3)
    assert "undefined-name in pkg/train.py line 5: `better_loss` is undefined here" in said
    assert "broken-import" not in said, "it was there before"
    assert works.assistant.rejected == {"undefined-name": 1}


def test_a_definition_that_a_side_has_may_not_be_dropped_to_get_green(tmp_path: Path) -> None:
    gone = edit("pkg/train.py", TRAIN, "# nothing left\n")
    works = Works(tmp_path, gone, submit(), call("give_up", reason="no way"))
    assert works.fix() == GaveUp(reason="Claude gave up: no way")
    assert "pkg/train.py: `train` is gone, and a side has it" in works.script.said()


def test_the_next_attempt_knows_what_was_tried_and_what_came_of_it(tmp_path: Path) -> None:
    works = Works(tmp_path, REPAIR, submit(), call("give_up", reason="no"))
    works.fix()
    after = git.write_blobs(works.repo, list(REPAIRED.values()))[0]
    edits = {"pkg/train.py": Entry(mode="100644", oid=after)}
    tree = git.edit_tree(works.repo, works.ground.tree, edits, tmp_path)
    with works.checkout(tree) as folder:
        works.fixer.fix(failed("FAILED t.py::t - assert 4 == 5"), folder)
    opening = works.script.opening()
    assert "against: Broken import: pkg.model:old_loss" in opening
    assert "Claude: train uses the new name (pkg/train.py)" in opening
    assert "failed after it: FAILED t.py::t - assert 4 == 5" in opening
    assert "+from pkg.model import new_loss" in opening


def test_what_it_gave_up_on_is_left_in_the_report_and_the_worktree_is_untouched(
    tmp_path: Path,
) -> None:
    works = Works(tmp_path, REPAIR, call("give_up", reason="both names are public"))
    with works.checkout() as folder:
        answer = works.fixer.fix(failed(LOG, LOG), folder)
        assert (folder / "pkg/train.py").read_text() == TRAIN
    assert answer == GaveUp(reason="Claude gave up: both names are public")
    assert works.left == ("failing checks (unit 0, unit 1): Claude gave up: both names are public",)


def test_without_a_key_it_gives_up_before_any_work(tmp_path: Path) -> None:
    works = Works(tmp_path)
    works.assistant.problem = "Claude was not asked: no key"
    answer = works.fixer.fix(failed(LOG), tmp_path / "no checkout at all")
    assert answer == GaveUp(reason="Claude was not asked: no key")
    assert works.left == ("failing checks (unit 0): Claude was not asked: no key",)


def test_an_outage_of_claude_is_a_reason_to_give_up(tmp_path: Path) -> None:
    works = Works(tmp_path, REPAIR, Unreachable("Claude did not answer for 600 s"))
    assert works.fix() == GaveUp(reason="Claude did not answer for 600 s")
    assert works.left == ("failing checks (unit 0): Claude did not answer for 600 s",)


def test_rules_come_first_and_claude_only_where_it_is_wanted(tmp_path: Path) -> None:
    works = Works(tmp_path)
    kinds = [type(item).__name__ for item in fixers_for(works.run, works.facts, works.ground.merge)]
    assert kinds == ["FormattingFixer", "RestoreFixer", "ClaudeFixer"]
    agent = works.run.config.agent.model_copy(update={"enabled": False})
    off = works.run.config.model_copy(update={"agent": agent})
    without = fixers_for(replace(works.run, config=off), works.facts, works.ground.merge)
    assert [type(item).__name__ for item in without] == ["FormattingFixer", "RestoreFixer"]


# Whole nights


def red(log: str) -> list[Act]:
    """CI that fails with this log."""
    return [Act("tests", "FAILURE", log=log), Act(GATE, queued=2)]


def asked(night: Night, *turns: Reply | Exception, **agent: Any) -> tuple[Ended, Script]:
    """The rest of a night with Claude by script."""
    script = Script(*turns)
    with night.opened(agent={"enabled": True, **agent}) as (run, pull):
        file = run.workspace.run / "transcript.jsonl"
        mine = replace(run, assistant=employ(run.config.agent, script, file))
        return followed(mine, pull, night.start.head, night.start.facts, None), script


ONE = "FAILED test_a.py::test_one - assert 1 == 2"
TWO = "FAILED test_a.py::test_two - assert 3 == 4"


def test_two_repairs_end_in_one_fix_commit_on_a_green_head(night: Night) -> None:
    night.plays(red(ONE), red(TWO), GREEN)
    look = call("read_log", check="tests", text="test_one")
    first = (look, edit("a.py", "x = 2", "x = 3"), submit("x is 3"))
    second = (edit("b.py", "y = 2", "y = 3"), submit("y is 3"))
    ended, script = asked(night, *first, *second)
    assert ended.facts.outcome is Outcome.READY_NEEDS_LOOK, ended.facts.reason
    assert (ended.watched.rounds, script.left) == (2, 0)
    assert {"Claude: x is 3", "Claude: y is 3"} <= {*ended.watched.notes}
    assert "\nwithout the merge: " in script.opening(0)
    assert f"\t{ONE}" in script.said(1), "the whole log is at hand"
    assert "failed after it: FAILED test_a.py::test_two" in script.opening()
    place = night.hub.repository.path
    (fix,) = git.log(place, f"{night.start.head.merge}..{night.tip}")
    assert fix.parents == (night.start.head.merge,)
    assert "- Claude: x is 3\n- Claude: y is 3\n" in fix.body
    texts = [git.read_file(place, night.tip, name) for name in ("a.py", "b.py")]
    assert texts == [b"x = 3\n", b"y = 3\n"]


def test_a_spent_budget_keeps_what_was_pushed_before(night: Night) -> None:
    night.plays(red(ONE), red(TWO))
    turns = (edit("a.py", "x = 2", "x = 3"), submit("x is 3"), edit("b.py", "y = 2", "y = 3"))
    ended, _ = asked(night, *turns, turns=3)
    assert ended.watched.rounds == 1
    assert any("the limit of 3 turns is reached" in note for note in ended.watched.notes)
    assert night.tip == ended.watched.head.tip != night.start.head.tip
    assert night.pull.draft


def test_repairs_end_once_all_that_fails_came_back_unchanged_twice(night: Night) -> None:
    """Whichever fixer it is: nothing else would end them but the time limit."""
    both = [*red(ONE), Act("unit", "FAILURE", log=TWO)]
    night.plays(red(ONE), red(ONE), both, red(ONE))
    ended = night.through((Scribbler(),))
    assert (ended.facts.outcome, ended.watched.rounds) == (Outcome.CI_FAILED, 3)
    assert "the same failure came back unchanged twice: no more is tried" in ended.watched.notes
