"""The pull request's body: within GitHub's limit, and honest about what it lacks."""

import pytest

from nightly_sync.merge.model import Take
from nightly_sync.reports import body as bodies
from nightly_sync.reports import marker as markers
from nightly_sync.reports.marker import Marker
from nightly_sync.reports.model import ReportFacts
from tests.support.facts import facts, finding, large, patch, path, whole
from tests.support.pages import MARKDOWN, active

MARKER = Marker(source="a" * 40, target="b" * 40, config="0123456789ab")


def _balanced(text: str) -> bool:
    """Do details open and close in pairs, outside of code?"""
    blocks = [token.content for token in MARKDOWN.parse(text) if token.type == "html_block"]
    opened = sum(block.startswith("<details>") for block in blocks)
    return opened == sum(block.startswith("</details>") for block in blocks)


def test_a_small_night_is_told_whole() -> None:
    shown = facts(path("lib/a.py"), diffs=(patch("lib/a.py"),), findings=(finding("lib/a.py"),))
    body = bodies.build(shown, MARKER)
    assert body.moved == ()
    assert "Too long" not in body.text
    for piece in ("`lib/a.py`", "+line 1 of lib/a.py", "Python lines: +3 / -1 across 1 files"):
        assert piece in body.text
    assert markers.parse(body.text) == MARKER
    assert body.text.startswith(markers.BEGIN)
    assert body.text.endswith(markers.END)


def test_long_parts_are_collapsed() -> None:
    names = [f"kept/file_{number}.py" for number in range(60)]
    body = bodies.build(facts(*(whole(name, Take.TARGET) for name in names)), MARKER)
    assert "<summary>Kept from dev: 60 lines</summary>" in body.text
    assert body.moved == ()
    assert _balanced(body.text)


def test_patches_are_collapsed_even_if_short() -> None:
    body = bodies.build(facts(path("a.py"), diffs=(patch("a.py"),)), MARKER)
    assert "<summary>Patch of a.py: +2 / -0</summary>" in body.text


@pytest.mark.parametrize("files", [60, 150, 700])
def test_a_large_night_stays_within_the_limit_and_says_what_is_missing(files: int) -> None:
    body = bodies.build(large(files), MARKER, where="the artifact report-1")
    assert len(body.text) <= bodies.LIMIT
    assert body.moved
    assert "Too long for this page:" in body.text
    assert "All of it is in the artifact report-1" in body.text
    assert "What needs a person" in body.text
    assert markers.parse(body.text) == MARKER
    assert _balanced(body.text)


def test_the_room_is_used() -> None:
    assert len(bodies.build(large(150), MARKER).text) > 0.8 * bodies.LIMIT


def test_the_longest_patch_goes_first_and_no_entry_before_a_patch() -> None:
    shown = large(150)
    moved = bodies.build(shown, MARKER, limit=200_000).moved
    assert moved
    assert all(title.startswith("Patch of") for title in moved)
    assert "Patch of core/module_149.py: +189 / -0" in moved
    assert "Patch of lib/module_0.py: +40 / -0" not in moved


def test_the_riskiest_files_are_the_last_to_go() -> None:
    body = bodies.build(large(150), MARKER)
    gone = set(body.moved)
    assert "lib/module_147.py" in gone  # other source, one hunk
    assert "core/module_139.py" not in gone  # a focus path with seven hunks
    assert "- `lib/module_147.py`: proposal" in body.text


def test_a_huge_list_of_findings_does_not_push_out_the_files() -> None:
    findings = tuple(finding("lib/a.py", evidence=f"lost {n} " + "x" * 200) for n in range(900))
    body = bodies.build(facts(path("a.py"), path("b.py"), findings=findings), MARKER)
    assert body.moved == ("Findings",)
    assert "#### `a.py`" in body.text
    assert "Findings: left out for length, see report.md." in body.text


def test_characters_count_not_bytes() -> None:
    names = [f"kept/{'é' * 100}_{number}.py" for number in range(250)]
    body = bodies.build(facts(*(whole(name, Take.TARGET) for name in names)), MARKER)
    assert body.moved == ()
    assert len(body.text.encode()) > len(body.text)


@pytest.mark.parametrize("limit", [0, 300, 1_000, 3_000, 8_000, 20_000, 65_536])
def test_any_limit_holds_as_far_as_the_marker_allows(limit: int) -> None:
    least = len(markers.wrap(MARKER, "The rest was left out for length, see report.md."))
    for shown in (large(40), _long_names()):
        body = bodies.build(shown, MARKER, limit=limit)
        assert len(body.text) <= max(limit, least)
        assert markers.parse(body.text) == MARKER
        assert "left out" in body.text
        assert body.moved
        assert _balanced(body.text)


def _long_names() -> ReportFacts:
    names = ["d/" * 2_000 + f"{number}.py" for number in range(50)]
    return facts(*(path(name) for name in names), diffs=tuple(patch(name) for name in names))


def test_our_text_leaves_room_for_what_people_wrote() -> None:
    mine = "x" * 30_000 + "\n"
    old = mine + markers.wrap(MARKER, "old")
    room = bodies.LIMIT - len(markers.around(old))
    new = markers.replace_between(old, bodies.build(large(150), MARKER, limit=room).text)
    assert len(new) <= bodies.LIMIT
    assert new.startswith(mine)


def test_nothing_in_a_body_is_active_on_github() -> None:
    assert active(bodies.build(large(30), MARKER).text) == []


def test_the_same_facts_give_the_same_body() -> None:
    assert bodies.build(large(150), MARKER) == bodies.build(large(150), MARKER)
