"""Imports read from Python text: the quick first look must not miss what the syntax tree shows."""

import ast
from textwrap import dedent

import pytest

from nightly_sync.imports import Import, imports_of, likely_imports, parse
from nightly_sync.merge.syntax import same_code

TEXT = dedent(
    '''
    import a.one, two as second
    from important import import_me
    if True:
        from .near import (
            three,  # a comment, with import
            four as fourth,
        )
    from x import five, \\
        six
    """
    import in_a_string
    """
    try:
        import seven
    except ImportError:
        pass
    def late():
        match late:
            case _:
                import eight; import nine
    '''
).encode()


def _exact(text: bytes) -> list[Import]:
    tree = parse(text)
    assert tree is not None
    return list(imports_of("pkg/mod.py", tree))


def _last(item: Import) -> str:
    return item.name or item.module.rpartition(".")[2]


def test_every_import_of_a_tree_is_found_at_any_depth() -> None:
    names = {_last(item) for item in _exact(TEXT)}
    assert names == {
        *("one", "two", "import_me", "three", "four", "five", "six", "seven", "eight", "nine")
    }


def test_only_an_import_that_may_fail_is_guarded() -> None:
    assert [_last(item) for item in _exact(TEXT) if item.guarded] == ["seven"]


def test_imports_come_in_the_order_of_a_walk_through_the_tree() -> None:
    tree = ast.parse(TEXT)
    kinds = (ast.Import, ast.ImportFrom)
    walked = [node.lineno for node in ast.walk(tree) if isinstance(node, kinds)]
    found = [item.line for item in _exact(TEXT)]
    assert list(dict.fromkeys(found)) == list(dict.fromkeys(walked))


@pytest.mark.parametrize(
    "word", ["one", "two", "import_me", "three", "four", "five", "six", "seven", "eight"]
)
def test_the_first_look_finds_each_import_that_names_a_word(word: str) -> None:
    assert word in {_last(item) for item in likely_imports("pkg/mod.py", TEXT, {word})}


def test_the_first_look_leaves_out_statements_without_the_words() -> None:
    assert list(likely_imports("pkg/mod.py", TEXT, {"ten"})) == []
    found = likely_imports("pkg/mod.py", TEXT, {"three"})
    assert {_last(item) for item in found} == {"three", "four"}


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (b"x = f(1,\n  2)\n", b"x = f(1, 2)\n", True),
        (b"x = 'a'\n", b'x = "a"\n', True),
        (b"x = (1)\n", b"x = 1,\n", False),
        (b"if a:\n  f()\ng()\n", b"if a:\n  f()\n  g()\n", False),
        (b"f(a, b)\n", b"f((a, b))\n", False),
        (b"x = 'a,b'\n", b"x = 'a', 'b'\n", False),
    ],
)
def test_code_is_the_same_only_if_its_syntax_trees_are(
    left: bytes, right: bytes, same: bool
) -> None:
    assert same_code(left, right) is same
