"""Cutting conflicted text into segments, and putting it together again."""

import pytest

from nightly_sync.merge import hunks
from nightly_sync.merge.hunks import Hunk, Segment, assemble, without_added_newline
from nightly_sync.merge.markers import SIZES

MARKER_SIZE = SIZES[0]
OPEN, BASE, MIDDLE, CLOSE = (sign * MARKER_SIZE for sign in (b"<", b"|", b"=", b">"))


def split(text: bytes) -> tuple[Segment, ...]:
    return hunks.split(text, MARKER_SIZE)


def _text(target: bytes, base: bytes, source: bytes, end: bytes = b"\n") -> bytes:
    marks = (OPEN + b" dev" + end, BASE + b" base" + end, MIDDLE + end, CLOSE + b" main" + end)
    return marks[0] + target + marks[1] + base + marks[2] + source + marks[3]


def test_text_without_markers_is_one_segment() -> None:
    assert split(b"a\nb") == (b"a\nb",)
    assert split(b"") == (b"",)


def test_segments_alternate_and_keep_every_byte() -> None:
    text = b"a\n" + _text(b"t\n", b"b\n", b"s\n") + b"c"
    assert split(text) == (b"a\n", Hunk(base=b"b\n", target=b"t\n", source=b"s\n"), b"c")


def test_each_hunk_is_chosen_by_itself() -> None:
    text = _text(b"t\n", b"", b"s\n") * 2
    chosen = assemble(split(text), lambda index, hunk: hunk.target if index else hunk.source)
    assert chosen == b"s\nt\n"


def test_shorter_and_longer_markers_are_text() -> None:
    inner = b"<<<<<<< x\n=======\n" + b"<" * (MARKER_SIZE + 2) + b" nested\n"
    assert split(_text(b"t\n", inner, b"s\n"))[1] == Hunk(base=inner, target=b"t\n", source=b"s\n")


def test_markers_in_a_file_with_crlf() -> None:
    text = _text(b"t\r\n", b"b\r\n", b"s\r\n", b"\r\n")
    assert split(text)[1] == Hunk(base=b"b\r\n", target=b"t\r\n", source=b"s\r\n")


def test_a_lone_carriage_return_ends_no_line() -> None:
    assert split(b"a\rb\n" + _text(b"t\r\n", b"", b"s\rx\n"))[0] == b"a\rb\n"


@pytest.mark.parametrize("cut", [OPEN + b" x\na\n", _text(b"", b"", b"")[: -MARKER_SIZE - 6]])
def test_markers_that_do_not_pair_up_are_an_error(cut: bytes) -> None:
    with pytest.raises(ValueError, match="no end"):
        split(cut)


def test_the_newline_git_added_goes_again() -> None:
    assert without_added_newline(b"a\nend\n", b"x\nend") == b"a\nend"
    assert without_added_newline(b"a\r\nend\r\n", b"x\r\nend") == b"a\r\nend"
    assert without_added_newline(b"a\nend\n", b"x\nend\n") == b"a\nend\n"
    assert without_added_newline(b"a\nend", b"x\nend") == b"a\nend"
