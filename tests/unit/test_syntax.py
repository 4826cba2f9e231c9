"""Layout-only differences: equal syntax trees, equal comments, and nothing less."""

import pytest

from nightly_sync.merge.syntax import same_code, same_hunk

CODE = b"def f(a, b):  # why\n    return {'k': (a, b)}\n"


@pytest.mark.parametrize(
    "other",
    [
        b"def f(a,b): # why\n  return {'k':(a,b)}\n".replace(b": # why", b":  # why"),
        b'def f(\n    a,\n    b,\n):  # why\n    return {"k": (a, b)}\n',
        b"def f(a, b):  # why\n\n    return {\n        'k': (\n            a,\n            b)}",
    ],
)
def test_layout_alone_is_the_same_code(other: bytes) -> None:
    assert same_code(CODE, other)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"# why", b"# why not"),
        (b"  # why", b""),
        (b"(a, b)}", b"(a, b),}".replace(b",}", b"[0]}")),
        (b"'k'", b"'K'"),
        (b"a, b):", b"b, a):"),
        (b"(a, b)}", b"((a), (b,))}"),
    ],
)
def test_any_other_difference_is_not(old: bytes, new: bytes) -> None:
    assert old in CODE
    assert not same_code(CODE, CODE.replace(old, new))


def test_a_comma_that_makes_a_tuple_is_code() -> None:
    assert not same_code(b"x = (1)\n", b"x = (1,)\n")


def test_indentation_that_moves_a_statement_is_code() -> None:
    assert not same_code(b"if a:\n    b()\n    c()\n", b"if a:\n    b()\nc()\n")


def test_text_that_does_not_parse_is_never_the_same() -> None:
    assert not same_code(b"def f(:\n", b"def f( :\n")
    assert not same_code(b"x = '\0'\n", b"x = ' \0'\n")


FILE = b"class A:\n    def f(self):\n        return g(1, 2)\n\n    def h(self):\n        return 1\n"


def _hunk(left: bytes, right: bytes, line: int) -> bool:
    files = FILE, FILE.replace(left, right)
    spans = (line, line), (line, line + right.count(b"\n") - left.count(b"\n"))
    return same_hunk(*files, spans, (left, right))


def test_a_hunk_is_judged_where_it_stands() -> None:
    old = b"        return g(1, 2)\n"
    assert _hunk(old, b"        return g(\n            1,\n            2,\n        )\n", 3)
    assert not _hunk(old, b"        return g(1, (2,))\n", 3)


def test_a_hunk_that_only_shifts_out_of_its_block_is_code() -> None:
    assert not _hunk(b"        return 1\n", b"    return 1\n", 6)
