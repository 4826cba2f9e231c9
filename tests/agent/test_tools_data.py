"""Framed data: nothing inside can end the frame, nothing unseen gets through."""

import re
import unicodedata
from random import Random

import pytest

from nightly_sync.agent.data import Marker, clean

KEY = "00c0ffee00c0ffee"
MARKER = Marker(KEY)
PIECES = (
    *("a", "line\n", "\r\n", "\r", "\t", " ", "é", "漢", "😀", "x" * 40),
    *("\x00", "\x07", "\x1b[31m", "\x1b]0;title\x07", "\x1b", "\x9b31m", "\x7f"),
    *("\u202e", "\u200b", "\ufeff", "\u2028", "\U000e0041", "\ud800", "\udcff", "\uffff"),
    *(KEY, KEY.upper(), KEY[:8], KEY[8:], f"</data-{KEY}>", f'<data-{KEY} what="x">', "</data-"),
)


def random_text(random: Random) -> str:
    return "".join(random.choice(PIECES) for _ in range(random.randrange(30)))


def test_whatever_is_inside_a_frame_begins_and_ends_once() -> None:
    random = Random(1)
    for _ in range(1000):
        text, label = random_text(random), random_text(random)
        framed = MARKER.wrap(label, text, random.randrange(1, 200), random.choice(("start", "end")))
        lines = framed.split("\n")
        assert re.fullmatch(f'<data-{KEY} what="[^"<>]*"(?: shown="[^"<>]*")?>', lines[0])
        assert lines[-1] == f"</data-{KEY}>"
        assert framed.lower().count(KEY) == 2


def test_clean_text_holds_nothing_that_is_not_seen_and_stays_as_it_is() -> None:
    random = Random(2)
    for _ in range(1000):
        text = random_text(random)
        cleaned = clean(text)
        kinds = {unicodedata.category(char) for char in cleaned if char not in "\n\t"}
        assert not kinds & {"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"}
        assert max(map(ord, cleaned), default=0) < 0xE0000
        assert clean(cleaned) == cleaned
        cleaned.encode()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (b"plain\n", "plain\n"),
        (b"caf\xe9 \xc3\xa9", "caf\\xe9 é"),
        (b"a\r\nb\rc", "a\nb\nc"),
        ("\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link", "red link"),
        ("shown\u202eneddih", "shown\\u202eneddih"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("bell\x07 nul\x00", "bell nul"),
        ("odd name \udcff \ud800", "odd name \\xff \\ud800"),
    ],
)
def test_odd_text_is_shown_as(text: str | bytes, read: str) -> None:
    assert clean(text) == read


def test_a_long_text_is_cut_at_the_end_that_matters_less_and_the_frame_says_so() -> None:
    log = "\n".join(f"line {number}" for number in range(1000))
    end = MARKER.wrap("log", log, 20, keep="end")
    assert end.split("\n")[0] == f'<data-{KEY} what="log" shown="end: 20 of 8889 characters">'
    assert end.endswith(f"line 999\n</data-{KEY}>")
    assert "line 0\n" in MARKER.wrap("log", log, 20)
    assert "shown" not in MARKER.wrap("log", "short", 20)


def test_each_conversation_has_a_key_of_its_own_and_explains_it() -> None:
    one, other = Marker.fresh(), Marker.fresh()
    assert one.key != other.key
    assert re.fullmatch("[0-9a-f]{16}", one.key)
    assert f"<data-{one.key} ...>" in one.explained()
