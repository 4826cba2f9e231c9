"""Accepted answers, kept between runs."""

from pathlib import Path

import pytest

from nightly_sync.agent import answers
from nightly_sync.agent.answers import Answers
from nightly_sync.model import Model


class Said(Model):
    """An answer."""

    text: str


def test_what_is_kept_is_recalled_by_another_run(tmp_path: Path) -> None:
    Answers(tmp_path / "answers").keep("one", Said(text="ü\n"))
    assert Answers(tmp_path / "answers").recall("one", Said) == Said(text="ü\n")


def test_nothing_is_recalled_where_nothing_was_kept(tmp_path: Path) -> None:
    assert Answers(tmp_path / "answers").recall("one", Said) is None
    assert not (tmp_path / "answers").exists()


@pytest.mark.parametrize("content", [b"", b'{"text": "a', b'{"words": "a"}', b"\xff"])
def test_what_cannot_be_read_is_as_good_as_nothing(tmp_path: Path, content: bytes) -> None:
    kept = Answers(tmp_path)
    (tmp_path / "one.json").write_bytes(content)
    assert kept.recall("one", Said) is None
    kept.keep("one", Said(text="again"))
    assert kept.recall("one", Said) == Said(text="again")


def test_an_answer_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    """A run that is killed while it writes leaves a file under another name."""
    (tmp_path / "one.new").write_text('{"text": "ha')
    assert Answers(tmp_path).recall("one", Said) is None


def test_keys_tell_parts_apart_and_the_order_of_them() -> None:
    keys = [answers.key(*parts) for parts in ((b"ab", b""), (b"a", b"b"), (b"b", b"a"), (b"ab",))]
    assert len(set(keys)) == len(keys)


def test_another_format_forgets_what_was_kept_before(monkeypatch: pytest.MonkeyPatch) -> None:
    before = answers.key(b"a")
    monkeypatch.setattr(answers, "FORMAT", "another")
    assert answers.key(b"a") != before
