"""Accepted answers, kept between runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from nightly_sync.agent import earlier
from nightly_sync.agent.earlier import Answers
from nightly_sync.merge.hunks import Hunk
from nightly_sync.review.acceptance import HunkAnswer, HunkTask

TASK = HunkTask("a.py", (b"x\n", Hunk(b"1", b"2", b"3"), b""), b"x\n1", b"x\n2", b"x\n3")


def said(why: str) -> HunkAnswer:
    return HunkAnswer(rationale=why, confidence="low")


def test_what_is_kept_is_recalled_by_another_run(tmp_path: Path) -> None:
    Answers(tmp_path / "answers").keep(TASK, said("ü\n"))
    assert Answers(tmp_path / "answers").recall(TASK) == said("ü\n")


def test_nothing_is_recalled_where_nothing_was_kept(tmp_path: Path) -> None:
    assert Answers(tmp_path / "answers").recall(TASK) is None
    assert not (tmp_path / "answers").exists()


@pytest.mark.parametrize("content", [b"", b'{"rationale": "a', b'{"words": "a"}', b"\xff"])
def test_what_cannot_be_read_is_as_good_as_nothing(tmp_path: Path, content: bytes) -> None:
    kept = Answers(tmp_path)
    kept.keep(TASK, said("once"))
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    assert kept.recall(TASK) is None
    kept.keep(TASK, said("again"))
    assert kept.recall(TASK) == said("again")


def test_an_answer_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    """A run that is killed while it writes leaves a file under another name."""
    Answers(tmp_path).keep(TASK, said("ha"))
    (file,) = tmp_path.iterdir()
    file.rename(file.with_suffix(".new"))
    assert Answers(tmp_path).recall(TASK) is None


@pytest.mark.parametrize(
    "other",
    [
        replace(TASK, path="b.py"),
        replace(TASK, path="a.py\udcff"),
        replace(TASK, base=b"x\n"),
        replace(TASK, parts=(b"x\n", Hunk(b"1", b"2", b"4"), b"")),
        replace(TASK, parts=(b"x\n", Hunk(b"12", b"", b"3"), b"")),
        replace(TASK, parts=(b"x", Hunk(b"1", b"2", b"3"), b"")),
    ],
)
def test_another_path_or_text_is_another_conflict(tmp_path: Path, other: HunkTask) -> None:
    Answers(tmp_path).keep(TASK, said("a"))
    assert Answers(tmp_path).recall(other) is None


def test_another_format_forgets_what_was_kept_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Answers(tmp_path).keep(TASK, said("a"))
    monkeypatch.setattr(earlier, "FORMAT", "another")
    assert Answers(tmp_path).recall(TASK) is None
