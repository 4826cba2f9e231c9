"""Which lines a merge lost or made up, and what a formatter may do without being noticed."""

import pytest

from nightly_sync.audits.lines import LineFacts, is_trivial, line_facts, normal_lines


def facts(base: str, source: str, target: str, merged: str, python: bool = True) -> LineFacts:
    return line_facts(base.encode(), source.encode(), target.encode(), merged.encode(), python)


def numbers(lines: tuple[object, ...]) -> list[int]:
    return [getattr(line, "number", 0) for line in lines]


def test_a_line_only_the_target_added_and_the_merge_lacks_is_missed() -> None:
    found = facts("a = 1\n", "a = 1\n", "a = 1\nb = 2\n", "a = 1\nc = 3\n")

    assert [line.text for line in found.target] == [b"b = 2"]
    assert found.target[0].number == 2
    assert found.source == ()


def test_a_line_only_the_source_added_and_the_merge_lacks_is_missed() -> None:
    found = facts("a = 1\n", "a = 1\nb = 2\n", "a = 1\n", "a = 1\n")

    assert [line.text for line in found.source] == [b"b = 2"]
    assert found.target == ()


def test_a_line_that_moved_inside_the_file_is_not_missed() -> None:
    found = facts(
        "a = 1\nz = 9\n", "a = 1\nz = 0\n", "b = 2\na = 1\nz = 9\n", "a = 1\nz = 0\nb = 2\n"
    )

    assert not found.some


def test_a_second_copy_of_a_line_can_be_missed() -> None:
    base = "one()\nlog()\ntwo()\n"
    target = "one()\nlog()\ntwo()\nlog()\n"

    assert numbers(facts(base, base, target, base + "x = 1\n").target) == [4]


def test_a_copy_the_source_took_out_of_the_base_is_not_missed() -> None:
    base = "one()\nlog()\ntwo()\n"
    target = "one()\nlog()\ntwo()\nlog()\n"
    source = "one()\ntwo()\n"

    assert facts(base, source, target, "one()\ntwo()\nlog()\n").target == ()


def test_what_both_sides_added_once_is_there_once() -> None:
    assert not facts("a = 1\n", "a = 1\nb = 2\n", "a = 1\nb = 2\n", "b = 2\na = 1\n").some


def test_a_line_both_sides_have_and_the_merge_lacks_is_missed() -> None:
    base = "keep = 1\na = 1\nb = 2\n"
    found = facts(base, base + "s = 1\n", base + "t = 1\n", "a = 1\nb = 2\ns = 1\nt = 1\n")

    assert [line.text for line in found.shared] == [b"keep = 1"]


def test_copies_that_both_sides_took_out_of_different_places_are_not_missed() -> None:
    base = "a()\nlog()\nb()\nlog()\nc()\n"

    found = facts(base, "a()\nb()\nlog()\nc()\n", "a()\nlog()\nb()\nc()\n", "a()\nb()\nc()\n")

    assert found.shared == ()


def test_a_line_nobody_wrote_is_on_neither_side() -> None:
    found = facts("a = 1\n", "a = 2\n", "a = 3\n", "a = 4\n")

    assert [line.text for line in found.invented] == [b"a = 4"]


def test_a_file_equal_to_one_side_holds_nothing_made_up() -> None:
    assert facts("a = 1\n", "a = 2\n", "a = 3\n", "a = 2\n").invented == ()


@pytest.mark.parametrize("line", ["", "  )", "},", "else:", "    pass", "try:", "----"])
def test_lines_too_common_to_miss_are_never_reported(line: str) -> None:
    assert not facts("a = 1\n", "a = 1\n", f"a = 1\n{line}\n", "a = 1\nb = 2\n").target


def test_a_line_in_another_script_is_not_taken_for_punctuation() -> None:
    assert not is_trivial("дата".encode())


BASE = "def f():\n    return 1\n"
REFORMATTED = {
    "white space": ("x = f( 1,2 )\n", "x = f(1, 2)\n"),
    "quotes": ("x = f('a')\n", 'x = f("a")\n'),
    "split over lines": ("x = f(alpha, beta)\n", "x = f(\n    alpha,\n    beta,\n)\n"),
    "joined to one line": ("x = f(\n    alpha,\n    beta,\n)\n", "x = f(alpha, beta)\n"),
    "parentheses added": ("x = alpha + beta\n", "x = (\n    alpha\n    + beta\n)\n"),
    "backslash replaced": ("x = alpha + \\\n    beta\n", "x = (\n    alpha\n    + beta\n)\n"),
    "imports sorted": ("from m import c, a, b\n", "from m import (\n    a,\n    b,\n    c,\n)\n"),
    "imports split up": ("from m import a, b as c\n", "from m import a\nfrom m import b as c\n"),
    "import regrouped": (
        "from m import (\n    a, b,\n    c,\n)\n",
        "from m import (\n    a,\n    b, c,\n)\n",
    ),
    "line ends": ("x = 1\r\ny = 2\r\n", "x = 1\ny = 2\n"),
    "no newline at the end": ("x = 1", "x = 1\n"),
}


@pytest.mark.parametrize("name", REFORMATTED)
def test_what_a_formatter_did_is_neither_missed_nor_made_up(name: str) -> None:
    old, new = REFORMATTED[name]

    found = facts(BASE, BASE + "s = 1\n", BASE + old, BASE + new + "s = 1\n")

    assert not found.some


@pytest.mark.parametrize("brackets", ["()", "[]"])
def test_a_joined_statement_is_kept_although_its_words_stand_elsewhere_more_rarely(
    brackets: str,
) -> None:
    one, two = brackets[0], brackets[1]
    base = "f(alpha)\ng(alpha)\n"
    target = base + f"x = f(\n    {one}\n        alpha,\n    {two}\n)\n"

    found = facts(base, "s = 1\n", target, f"s = 1\nx = f({one}alpha{two})\n")

    assert found.target == ()


def test_a_short_line_inside_longer_ones_is_still_missed() -> None:
    base = "max = 10\n"

    found = facts(base, base + "a = 1\n", base + "x = 1\n", base + "a = 1\nfix = 3\n")

    assert [line.text for line in found.target] == [b"x = 1"]


def test_an_import_is_missed_when_one_of_its_names_is() -> None:
    found = facts("", "import os\n", "from m import a, b\n", "import os\nfrom m import a\n")

    assert [line.text for line in found.target] == [b"from m import a, b"]


def test_quotes_matter_outside_python() -> None:
    found = facts("", "s\n", 'x: "1"\n', "s\nx: '1'\n", python=False)

    assert [line.text for line in found.target] == [b'x: "1"']


def test_bytes_of_any_encoding_are_kept_as_they_are() -> None:
    found = line_facts(b"", b"s\n", b"caf\xe9\n", b"s\n", python=False)

    assert [line.text for line in found.target] == [b"caf\xe9"]


def test_normal_lines_keep_the_numbers_of_the_lines() -> None:
    assert normal_lines(b"a = 'x',\r\n\n  b\n", python=True) == [b'a="x"', b"", b"b", b""]
