"""The hidden marker: it survives its trip through a forge, and people's words survive ours."""

import random

import pytest

from nightly_sync.reports import marker as markers
from nightly_sync.reports.marker import BEGIN, END, Marker

MARKER = Marker(source="a" * 40, target="b" * 40, config="0123456789ab")
OTHER = Marker(source="c" * 40, target="d" * 40, config="ba9876543210")


def test_a_marker_comes_back_as_it_was_written() -> None:
    assert markers.parse(markers.render(MARKER)) == MARKER
    assert markers.parse(markers.wrap(MARKER, "text")) == MARKER


def test_a_marker_survives_line_ends_of_the_web_form() -> None:
    body = f"Hello\n\n{markers.wrap(MARKER, 'text')}\n\nBye\n".replace("\n", "\r\n")
    assert markers.parse(body) == MARKER
    replaced = markers.replace_between(body, markers.wrap(OTHER, "new"))
    assert markers.parse(replaced) == OTHER
    assert replaced.startswith("Hello\r\n")
    assert replaced.endswith("Bye\r\n")


@pytest.mark.parametrize("evil", ["-->", "--!>", "--", "---->", "<!--", "\n-->\n", "</details>"])
def test_no_value_can_end_the_comment(evil: str) -> None:
    marker = Marker(source=evil, target="b", config="c")
    line = markers.render(marker)
    assert "\n" not in line
    inner = line.removeprefix("<!-- ").removesuffix(" -->")
    assert "--" not in inner
    assert not {"<", ">"} & set(inner)
    assert markers.parse(line) == marker


@pytest.mark.parametrize(
    "body",
    [
        "",
        "No marker here.",
        "<!-- nightly-sync: -->",
        "<!-- nightly-sync: {} -->",
        "<!-- nightly-sync: {not json} -->",
        '<!-- nightly-sync: {"source": 1} -->',
        "<!-- nightly-sync: [1] -->",
        "<!-- nightly-sync: {\ud800} -->",
        "<!-- nightly-sync: " + '{"a":' * 5000 + "}" * 5000 + " -->",
        f"{END}\n{BEGIN}",
        f"text {markers.render(MARKER)}",
        f"> {markers.render(MARKER)}",
        f"    {markers.render(MARKER)}",
    ],
)
def test_garbage_and_quotes_are_no_marker(body: str) -> None:
    assert markers.parse(body) is None


def test_random_damage_never_raises() -> None:
    dice = random.Random(3)
    body = markers.wrap(MARKER, "text")
    for _ in range(500):
        at, to = sorted(dice.choices(range(len(body)), k=2))
        damaged = body[:at] + dice.choice(["", "\x00", "}", "-->", "\n"]) + body[to:]
        assert isinstance(markers.parse(damaged), Marker | None)


def test_a_marker_of_another_schema_is_not_understood() -> None:
    newer = MARKER.model_copy(update={"schema_version": markers.SCHEMA + 1})
    assert markers.parse(markers.render(newer)) is None


def test_our_own_part_wins_over_a_marker_that_people_pasted_above_it() -> None:
    pasted = f"Like last night:\n{markers.render(OTHER)}\n\n"
    assert markers.parse(pasted + markers.wrap(MARKER, "text")) == MARKER


def test_a_marker_is_found_although_people_deleted_the_lines_around_it() -> None:
    assert markers.parse(f"Edited.\n{markers.render(MARKER)}\nMore.") == MARKER


def test_text_that_quotes_our_markers_does_not_pass_for_them() -> None:
    text = f"{END}\n{markers.render(OTHER)}\n{BEGIN}"
    body = f"Top.\n{markers.wrap(MARKER, text)}\nBottom."
    assert markers.parse(body) == MARKER
    assert body.count(BEGIN) == body.count(END) == 1
    assert markers.replace_between(body, "NEW") == "Top.\nNEW\nBottom."


def test_what_people_wrote_around_our_part_stays() -> None:
    body = f"# Mine\n\n{markers.wrap(MARKER, 'old')}\n\n- [ ] my list\n"
    new = markers.wrap(OTHER, "new")
    assert markers.replace_between(body, new) == f"# Mine\n\n{new}\n\n- [ ] my list\n"
    assert markers.around(body) == "# Mine\n\n\n\n- [ ] my list\n"


@pytest.mark.parametrize(
    "body",
    ["My words.", f"My words.\n{BEGIN}\nhalf of ours", f"half of ours\n{END}\nMy words."],
)
def test_without_a_whole_part_of_ours_nothing_is_thrown_away(body: str) -> None:
    ours = markers.wrap(MARKER, "new")
    once = markers.replace_between(body, ours)
    assert once.startswith(ours)
    assert "My words." in once
    assert once.count(BEGIN) == once.count(END) == 1
    assert markers.replace_between(once, ours) == once


def test_an_empty_body_becomes_ours() -> None:
    assert markers.replace_between(" \n", "ours") == "ours"


def test_people_may_write_backslashes_and_groups() -> None:
    ours = markers.wrap(MARKER, r"a \1 \g<0> b")
    assert r"a \1 \g<0> b" in markers.replace_between(markers.wrap(OTHER, "old"), ours)
