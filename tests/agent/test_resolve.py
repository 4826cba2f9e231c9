"""Claude resolves hunks: what it says is checked, and only what holds counts."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nightly_sync import git
from nightly_sync.agent import resolve
from nightly_sync.agent.base import Reply
from nightly_sync.agent.hunk_tasks import spans, task_of
from nightly_sync.agent.look import _PATIENCE
from nightly_sync.errors import SyncError
from nightly_sync.merge.hunks import Hunk
from nightly_sync.merge.model import Resolution, Status, Take
from nightly_sync.merge.resolver import FileConflict
from nightly_sync.merge.walk import walk
from nightly_sync.review.acceptance import HunkAnswer, HunkText
from tests.agent.resolving import (
    BOTH,
    GUIDE,
    ODD,
    ORDER,
    SOURCE,
    Desk,
    answer,
    app,
    conflicts,
    gap,
    repository,
    source_commit,
)
from tests.agent.scripted import call, says

TARGET_ONLY = "    data = load(path, cache=cache)\n"
KEPT_BOTH = answer(BOTH)
TWO_LEFT = "2 tries are left."


def written(desk: Desk, path: str, fallback: Any = "source") -> bytes | None:
    """The file as it would be merged."""
    draft = walk(conflicts()[path].facts, fallback, desk.claude)
    assert draft is not None
    return draft.text


def took_source(path: str, count: int = 1, first: int = 0) -> Reply:
    """The source's lines for hunks of a file, with a word about the target's."""
    hunks = [part for part in conflicts()[path].segments if isinstance(part, Hunk)]
    mine = hunks[first : first + count]
    lines = "".join(hunk.target.decode() for hunk in mine)
    dropped = [{"lines": lines, "reason": "It is set anew.", "commit": source_commit()[:12]}]
    return answer(*(hunk.source.decode() for hunk in mine), dropped=dropped)


# Accepted, or not


def test_an_accepted_answer_is_a_proposal_with_its_reasons(tmp_path: Path) -> None:
    desk = Desk(tmp_path, KEPT_BOTH)
    (found,) = desk.resolve().values()
    assert (found.rule, found.status, found.take) == ("agent", Status.PROPOSAL, Take.TEXT)
    assert found.text == BOTH.encode()
    assert found.evidence == "Claude, high confidence: Both options are passed"
    assert (desk.left, desk.assistant.facts().rejected) == ((), {})


def test_nothing_but_the_hunk_is_replaced(tmp_path: Path) -> None:
    assert written(Desk(tmp_path, KEPT_BOTH), "app.py") == app(BOTH.strip()[7:]).encode()


def test_the_reasons_for_what_goes_and_what_is_new_are_part_of_the_evidence(tmp_path: Path) -> None:
    text = "    data = load(path, workers=workers, mode=None)\n"
    gone = {"lines": TARGET_ONLY, "reason": "No cache any more.", "commit": source_commit()}
    reply = answer(
        text, dropped=[gone], invented={"mode": "load asks for it\n@team"}, confidence="low"
    )
    (found,) = Desk(tmp_path, reply).resolve().values()
    assert found.evidence.startswith("Claude, low confidence: Both options are passed.; left out")
    assert f"left out for {source_commit()[:12]}: No cache any more." in found.evidence
    assert found.evidence.endswith("new is mode: load asks for it @ team")


def test_an_answer_that_is_one_side_as_it_stands_is_called_so(tmp_path: Path) -> None:
    (found,) = Desk(tmp_path, took_source("no_end.py")).resolve("no_end.py").values()
    assert (found.take, found.text, found.rule) == (Take.SOURCE, None, "agent")


def test_rejected_answers_go_back_with_the_reasons_until_one_holds(tmp_path: Path) -> None:
    marker = answer(f"<<<<<<< dev\n{BOTH}")
    desk = Desk(tmp_path, answer(TARGET_ONLY), marker, KEPT_BOTH)
    assert desk.resolve()[0].text == BOTH.encode()
    lost, left = desk.script.said(1), desk.script.said(2)
    assert "lines that only the source has are neither kept nor named" in lost
    assert lost.endswith(TWO_LEFT)
    assert "is a conflict marker" in left
    assert desk.assistant.facts().rejected == {"conflict-marker": 1, "dropped-lines": 1}
    assert desk.left == ()


def test_after_the_last_try_the_fallback_applies_and_the_report_says_so(tmp_path: Path) -> None:
    wrong = answer(TARGET_ONLY)
    desk = Desk(tmp_path, wrong, wrong, agent={"answers": 2})
    assert written(desk, "app.py") == app(SOURCE).encode()
    (left,) = desk.left
    assert left.startswith("resolve app.py: Claude's 2 answers were sent back; the last one: lines")
    assert desk.script.left == 0


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (call("resolve", texts=[], rationale="x", confidence="sure"), "confidence: Input should"),
        (answer(BOTH, BOTH), "the hunks are 0 to 0, each once; you gave 0, 1"),
        (answer(file=app(BOTH.strip()[7:]) + "\nmore = 1\n"), "only they may change"),
        (answer("    data = (\n"), "malformed"),
        (answer(BOTH.replace("cache=cache", "cache=cash")), "line 2: `cash` is"),
        (answer(f"{BOTH}    retries = 99\n"), "`99` is on neither side"),
    ],
)
def test_an_answer_that_does_not_hold_goes_back(tmp_path: Path, reply: Reply, said: str) -> None:
    desk = Desk(tmp_path, reply, KEPT_BOTH)
    assert desk.resolve()[0].text == BOTH.encode()
    assert said in desk.script.said()
    assert desk.script.said().endswith(TWO_LEFT)


def test_an_answer_that_cannot_be_read_counts_as_a_try(tmp_path: Path) -> None:
    unreadable = call("resolve", text=BOTH)
    desk = Desk(tmp_path, *[unreadable] * 3)
    assert desk.resolve() == {}
    assert desk.assistant.facts().rejected == {"wrong-shape": 3}


def test_what_no_task_may_do_is_refused_and_counted(tmp_path: Path) -> None:
    desk = Desk(tmp_path, answer(f"{BOTH.rstrip()}  # noqa\n"), KEPT_BOTH)
    assert desk.resolve()[0].text == BOTH.encode()
    (refusal,) = desk.assistant.facts().refusals
    assert (refusal.task, refusal.path, refusal.kind) == ("resolve", "app.py", "forbidden")


# No answer


@pytest.mark.parametrize(
    ("turns", "why"),
    [
        ([call("leave", reason="Ask\n@owner: #7")], "Claude gave up: Ask @ owner: # 7"),
        ([says("Hm."), says("Hm.")], "the model ended its turn without an answer"),
        ([says("No.", stop="refusal")], "the model refused"),
        ([says("", stop="mystery")], "the model stopped with 'mystery'"),
    ],
)
def test_a_conversation_without_an_answer_is_left_to_the_fallback(
    tmp_path: Path, turns: list[Reply], why: str
) -> None:
    desk = Desk(tmp_path, *turns)
    assert desk.resolve() == {}
    assert desk.left == (f"resolve app.py: {why}",)
    assert desk.assistant.usable


def test_a_model_that_only_looks_around_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolve, "LOOKS", 2)
    looks = [call("git_log", revision="source") for _ in range(2 + _PATIENCE + 1)]
    desk = Desk(tmp_path, *looks)
    assert desk.resolve() == {}
    assert desk.left == ("resolve app.py: it looked around and did not answer",)
    assert "looked at enough" in desk.script.said()


def test_an_api_that_gives_no_answer_ends_the_asking(tmp_path: Path) -> None:
    desk = Desk(tmp_path, SyncError("Claude's API refused the request."))
    assert (desk.resolve(), desk.resolve("no_end.py")) == ({}, {})
    assert desk.left == (
        "resolve app.py: the conversation broke off: Claude's API refused the request.",
        "resolve: not asked about 1 file, since Claude's API refused the request.: no_end.py",
    )


def test_a_spent_budget_leaves_the_rest_and_the_report_counts_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path, call("git_log", revision="source"), agent={"turns": 1})
    rest = ("apart.py", "long.py", "many.py", "no_end.py", "windows.py")
    assert not any(desk.resolve(path) for path in ("app.py", *rest))
    limit = "the limit of 1 turns is reached"
    named = "apart.py, long.py, many.py and 2 more"
    assert desk.left == (
        f"resolve app.py: the conversation broke off: {limit}",
        f"resolve: not asked about 5 files, since {limit}: {named}",
    )


def test_without_a_key_the_fallback_decides_and_answers_of_before_count(tmp_path: Path) -> None:
    Desk(tmp_path, KEPT_BOTH).resolve()
    desk = Desk(tmp_path)
    desk.assistant.problem = "Claude was not asked: there is no key"
    assert desk.resolve()[0].text == BOTH.encode()
    assert desk.resolve("no_end.py") == {}
    assert desk.left == (
        "resolve: not asked about 1 file, since Claude was not asked: there is no key: no_end.py",
    )


# Files that are not asked about


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".github/workflows/ci.yml", "what CI does may not be changed: this site keeps .git"),
        ("golden/values.json", "golden values may not be changed"),
        ("CODEOWNERS", "the path is protected"),
        ("latin.txt", "the file is not UTF-8"),
        ("hidden.txt", "a hunk holds characters that cannot be shown"),
    ],
)
def test_what_no_answer_could_settle_is_not_asked(tmp_path: Path, path: str, why: str) -> None:
    desk = Desk(tmp_path)
    assert desk.resolve(path) == {}
    (left,) = desk.left
    assert left.startswith(f"resolve: not asked about 1 file, since {why}")
    assert left.endswith(f": {path}")


def test_a_site_may_open_its_workflows_and_golden_values(tmp_path: Path) -> None:
    paths = (".github/workflows/ci.yml", "golden/values.json")
    desk = Desk(tmp_path, *map(took_source, paths), agent={"workflows": True, "golden": True})
    assert all(desk.resolve(path) for path in paths)


def test_a_hunk_too_long_for_one_answer_is_not_asked(tmp_path: Path) -> None:
    conflict = conflicts()["app.py"]
    long = Hunk(b"x\n", b"y\n" * 50_000, b"z\n")
    desk = Desk(tmp_path)
    changed = FileConflict(conflict.facts, (b"", long, b""), {}, (0,))
    assert desk.claude(changed).hunks == {}
    assert desk.left == (
        "resolve: not asked about 1 file, since a hunk is over 90,000 bytes long: app.py",
    )


# Bytes


def test_lines_get_the_line_ends_of_their_file(tmp_path: Path) -> None:
    desk = Desk(tmp_path, KEPT_BOTH)
    assert written(desk, "windows.py") == app(BOTH.strip()[7:], "\r\n").encode()
    assert "Lines of this file end in CRLF" in desk.script.opening()


def test_a_file_without_a_last_newline_stays_so(tmp_path: Path) -> None:
    kept = Desk(tmp_path, took_source("no_end.py"))
    assert written(kept, "no_end.py") == b"x = 1\ny = 2\nz = 3"


# What Claude reads


def test_the_prompt_holds_the_sides_the_text_around_and_who_changed_it_why(tmp_path: Path) -> None:
    desk = Desk(tmp_path, KEPT_BOTH)
    desk.resolve()
    opening = desk.script.opening()
    frame = f"<data-{desk.claude.briefed.marker.key} what="
    for name, load in (("base", "path"), ("target", "path, cache=cache")):
        assert f'{frame}"hunk 0, {name}">\n    data = load({load})\n' in opening
    assert f'{frame}"name of the file">\napp.py\n' in opening
    assert f'{frame}"merged text">\ndef train(' in opening
    commit = f"{source_commit()[:12]} pull request 12 (wrote lines of the hunks): Load by several"
    assert commit in opening
    assert "Cache what is loaded (#7)\n    Slow disks.\n</data-" in opening


def test_instructions_and_tools_are_the_same_for_all_files_of_a_run(tmp_path: Path) -> None:
    desk = Desk(tmp_path, KEPT_BOTH, took_source("no_end.py"), took_source("many.py", 12))
    for path in ("app.py", "no_end.py"):
        desk.resolve(path)
    one, two = ({key: body[key] for key in ("system", "tools")} for body in desk.script.bodies)
    assert json.dumps(one) == json.dumps(two)
    assert desk.script.opening(0) != desk.script.opening(1)
    assert GUIDE.strip() in one["system"][0]["text"]


def test_planted_orders_are_framed_and_no_tool_could_obey_them(tmp_path: Path) -> None:
    desk = Desk(tmp_path, call("leave", reason="?"), call("leave", reason="?"))
    desk.resolve("app.py")
    desk.resolve(ODD)
    for at, body in enumerate(desk.script.bodies):
        assert ORDER in desk.script.opening(at)
        assert ORDER not in _outside_of_frames(desk.script.opening(at), desk)
        assert ORDER not in json.dumps([body["system"], body["tools"]])
    assert {tool["name"] for tool in desk.script.bodies[0]["tools"]} == {
        *("show_file", "search", "git_log", "git_show", "git_diff", "git_blame"),
        *("resolve", "leave"),
    }


def _outside_of_frames(text: str, desk: Desk) -> str:
    end = f"</data-{desk.claude.briefed.marker.key}>"
    return "".join(part.partition("<data-")[0] for part in text.split(end))


def test_of_a_long_file_only_what_lies_around_the_hunks_is_shown(tmp_path: Path) -> None:
    desk = Desk(tmp_path, call("leave", reason="?"))
    desk.resolve("long.py")
    opening = desk.script.opening()
    assert "(1382 lines of merged text are left out here.)" in opening
    assert 'text">\nclass Long:\n    def run(self):\n' in opening
    assert len(opening) < 12_000


def test_a_file_that_is_not_long_is_shown_whole(tmp_path: Path) -> None:
    conflict, text = conflicts()["app.py"], gap(500).encode()
    hunk = Hunk(b"x = 0\n", b"x = 1\n", b"x = 2\n")
    desk = Desk(tmp_path, call("leave", reason="?"))
    desk.claude(FileConflict(conflict.facts, (text, hunk, text), {}, (0,)))
    assert desk.script.opening().count(gap(500)) == 2


def test_what_the_memory_recalls_is_shown(tmp_path: Path) -> None:
    class Elephant:
        def recall(self, path: str, hunk: Hunk) -> Resolution | None:
            return Resolution(rule="x", take=Take.TARGET, evidence="", status=Status.SETTLED)

    desk = Desk(tmp_path, KEPT_BOTH)
    replace(desk.claude, memory=Elephant())(conflicts()["app.py"])
    assert f'hunk 0, as it was resolved before">\n{TARGET_ONLY}' in desk.script.opening()


def test_the_lines_of_hunks_are_found_one_after_the_other_and_their_writers() -> None:
    text = b"a\nb\na\nb\nc"
    assert list(spans(text, (b"a\nb\n", b" \n", b"a\n", b"x\n", b"c"))) == [(1, 2), (3, 3), (5, 5)]
    repo, source, target = repository()
    base = repo.git("merge-base", source, target)
    assert git.writers(repo.path, f"{base}..{source}", "app.py", [(2, 2)]) == {source_commit()}
    assert git.writers(repo.path, f"{base}..{source}", "gone.py", [(2, 2)]) == frozenset()


# Files with many hunks


def test_many_hunks_are_asked_in_groups_and_the_second_sees_the_first(tmp_path: Path) -> None:
    desk = Desk(tmp_path, took_source("many.py", 12), took_source("many.py", 2, 12))
    found = desk.resolve("many.py")
    assert list(found) == list(range(14))
    assert "Other hunks of the file are asked about elsewhere" in desk.script.opening(0)
    assert "Resolve hunks 0 to 11." in desk.script.opening(0)
    assert "setting_0 = 2" not in desk.script.opening(1)
    assert "Resolve hunks 0 to 1." in desk.script.opening(1)


def test_a_group_without_an_answer_leaves_the_others_theirs(tmp_path: Path) -> None:
    desk = Desk(tmp_path, call("leave", reason="?"), took_source("many.py", 2, 12))
    assert list(desk.resolve("many.py")) == [12, 13]
    assert len(desk.left) == 1


def test_a_file_that_is_half_done_when_the_budget_ends_is_told_once(tmp_path: Path) -> None:
    none = Desk(tmp_path, call("git_log", revision="source"), agent={"turns": 1})
    assert none.resolve("many.py") == {}
    assert len(none.left) == 1
    desk = Desk(tmp_path, took_source("many.py", 12), agent={"turns": 1})
    assert list(desk.resolve("many.py")) == list(range(12))
    assert [line.partition(":")[0] for line in desk.left] == ["resolve many.py"]
    again = Desk(tmp_path, took_source("many.py", 2, 12))
    assert list(again.resolve("many.py")) == list(range(14))


def test_nothing_more_is_asked_where_a_person_has_to_decide_anyway(tmp_path: Path) -> None:
    desk = Desk(tmp_path, call("leave", reason="?"), fallback="stop")
    assert desk.resolve("many.py") == {}


def _apart(*, last: Take | None) -> tuple[Reply, Reply]:
    """Answers for a file whose first hunk, kept from the target, needs the last one to be so."""
    _, *others = (part for part in conflicts()["apart.py"].segments if isinstance(part, Hunk))
    new = {"lines": "return new()", "reason": "?", "commit": repository()[2]}
    old = "".join(hunk.target.decode() for hunk in others)
    gone = [new, {"lines": old, "reason": "?", "commit": source_commit()}]
    first = answer("    return own()\n", *_sources(others[:11]), dropped=gone)
    if last is None:
        return first, call("leave", reason="?")
    lost = {"lines": "new = print", "reason": "?", "commit": repository()[2]}
    return first, answer(*_sources(others[11:12]), "own = print\n", dropped=[*gone, lost])


def _sources(hunks: list[Hunk]) -> list[str]:
    return [hunk.source.decode() for hunk in hunks]


def test_an_answer_may_need_what_another_group_decides_later(tmp_path: Path) -> None:
    found = Desk(tmp_path, *_apart(last=Take.TARGET)).resolve("apart.py")
    assert [found[at].take for at in (0, 1, 13)] == [Take.TARGET, Take.SOURCE, Take.TARGET]


def test_groups_that_do_not_make_one_file_that_holds_do_not_count(tmp_path: Path) -> None:
    desk = Desk(tmp_path, *_apart(last=None))
    assert desk.resolve("apart.py") == {}
    assert len(desk.left) == 2
    assert "its answers do not fit together: line 2: `own` is" in desk.left[1]


# Memory


def test_an_accepted_answer_is_not_asked_for_again(tmp_path: Path) -> None:
    first = Desk(tmp_path, KEPT_BOTH).resolve()
    again = Desk(tmp_path)
    assert again.resolve() == first
    assert again.script.bodies == []


def test_what_is_remembered_is_checked_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path, KEPT_BOTH)
    touches = desk.claude.touches
    task = task_of(conflicts()["app.py"], (0,), {}, touches)
    wrong = HunkAnswer(
        texts=(HunkText(hunk=0, text=TARGET_ONLY),), rationale="x", confidence="high"
    )
    desk.answers.keep(task, wrong)
    assert desk.resolve()[0].text == BOTH.encode()
    assert desk.script.left == 0


def test_an_answer_that_the_check_breaks_on_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reported: a file that our own parsing could not read ended the run."""

    def broken(*_: object) -> list[object]:
        raise LookupError("'rot13' is not a text encoding")

    desk = Desk(tmp_path, KEPT_BOTH, KEPT_BOTH, KEPT_BOTH)
    monkeypatch.setattr(resolve, "problems", broken)
    assert desk.resolve() == {}
    assert not desk.script.left
    assert "could not be judged (LookupError: 'rot13'" in desk.left[0]
    assert desk.assistant.facts().rejected == {"not-judged": 3}


def test_a_remembered_answer_that_the_check_breaks_on_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> list[object]:
        raise RecursionError

    assert Desk(tmp_path, KEPT_BOTH).resolve()
    desk = Desk(tmp_path)
    desk.assistant.problem = "there is no key"
    assert desk.resolve()
    monkeypatch.setattr(resolve, "problems", broken)
    assert not desk.resolve()
