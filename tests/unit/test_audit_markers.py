"""What is a conflict marker, and which markers a merge may hold."""

import pytest

from nightly_sync.audits.markers import audit, marker_lines
from tests.support.audits import made_up, one_file

CONFLICT = "<<<<<<< dev\na\n=======\nb\n>>>>>>> main\n"


@pytest.mark.parametrize("length", [7, 9, 47, 49])
@pytest.mark.parametrize("sign", ["<", ">", "|"])
def test_a_marker_of_any_length_git_writes_is_one(sign: str, length: int) -> None:
    """Nested markers, 2 longer for each level, come from criss-cross merges."""
    text = f"a\n{sign * length} main\nb\n".encode()

    assert list(marker_lines(text)) == [(2, f"{sign * length} main".encode())]


@pytest.mark.parametrize(
    "line",
    [
        "=======",
        "Title\n=======",
        "=" * 47,
        ">>> doctest()",
        ">>>>>>>x",
        " <<<<<<< indented",
        "<<<<<<<< eight",
        "<" * 46 + " short of ours",
        "|||||||",
        "| cell |",
    ],
)
def test_what_only_looks_like_a_marker_is_none(line: str) -> None:
    assert list(marker_lines(f"a\n{line}\nb\n".encode())) == []


def test_a_bare_marker_with_a_windows_line_end_is_one() -> None:
    assert list(marker_lines(b">>>>>>>\r\n")) == [(1, b">>>>>>>")]


def test_each_new_marker_is_reported_with_its_line() -> None:
    found = audit(one_file("x\n", "x\ns\n", "x\nt\n", "x\n" + CONFLICT, path="notes.txt"))

    assert [(item.path, item.line) for item in found] == [("notes.txt", 2), ("notes.txt", 6)]


def test_a_fixture_that_holds_markers_on_one_side_is_fine() -> None:
    facts = one_file("x\n", "x\ns\n", "x\n" + CONFLICT, "x\ns\n" + CONFLICT, path="fixture.txt")

    assert audit(facts) == []


def test_one_more_marker_than_a_fixture_has_is_reported() -> None:
    merged = "x\ns\n" + CONFLICT + CONFLICT
    found = audit(one_file("x\n", "x\ns\n", "x\n" + CONFLICT, merged, path="fixture.txt"))

    assert [item.line for item in found] == [8, 12]


def test_a_fixture_that_only_moved_is_fine() -> None:
    """A directory renamed on one side carries the other side's new file along."""
    fixture = {"old/fixture.txt": CONFLICT}

    assert audit(made_up({}, {}, fixture, {"new/fixture.txt": CONFLICT})) == []


def test_a_binary_file_is_not_searched() -> None:
    facts = one_file("x\n", "x\ns\n", "x\nt\n", "\0\n" + CONFLICT, path="image.bin")

    assert audit(facts) == []
