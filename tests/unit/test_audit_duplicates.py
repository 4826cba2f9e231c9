"""Which second definitions are mistakes, and which are how Python is written."""

import textwrap

import pytest

from nightly_sync.audits.duplicates import audit, defined_twice
from tests.support.audits import one_file

FINE = {
    "overloads": """
        @overload
        def f(a: int) -> int: ...
        @typing.overload
        def f(a: str) -> str: ...
        def f(a): return a
        """,
    "a property and its setter": """
        class C:
            @property
            def x(self): return 1
            @x.setter
            def x(self, value): pass
            @x.deleter
            def x(self): pass
        """,
    "two branches": """
        if WINDOWS:
            def f(): return 1
        else:
            def f(): return 2
        """,
    "a fallback": """
        try:
            from fast import f
        except ImportError:
            def f(): return 2
        """,
    "a fallback for a class": """
        try:
            class C(Base): pass
        except NameError:
            class C: pass
        """,
    "a default and an override": """
        def f(): return 1
        if FAST:
            def f(): return 2
        """,
    "cases": """
        match SYSTEM:
            case "a":
                def f(): return 1
            case _:
                def f(): return 2
        """,
    "implementations of a generic function": """
        @show.register
        def _(x: int): return 1
        @show.register
        def _(x: str): return 2
        """,
    "a decorator by hand": """
        def f(): return 1
        f = cached(f)
        def f(): return 2
        """,
    "a use in between": """
        def handler(): return 1
        HANDLERS = [handler]
        def handler(): return 2
        """,
    "a class that replaces its base": """
        class C: pass
        class C(C): pass
        """,
    "a use in a default": """
        def f(): return 1
        def g(call=f): return call()
        def f(): return 2
        """,
    "a use in an annotation": """
        class C: pass
        def f(c: C) -> None: ...
        class C: pass
        def g() -> C: ...
        class C: pass
        """,
    "one name in two classes": """
        class A:
            def f(self): pass
        class B:
            def f(self): pass
        """,
}
WRONG = {
    "functions": ("def f(): return 1\ndef g(): return 0\ndef f(): return 2\n", "f", 3),
    "classes": ("class C: pass\nclass C: pass\n", "C", 2),
    "methods": ("class C:\n    def f(self): pass\n    x = 1\n    def f(self): pass\n", "C.f", 4),
    "coroutines": ("async def f(): pass\nasync def f(): pass\n", "f", 2),
    "a use that runs later": (
        "def f(): return 1\ndef g(): return f()\ndef f(): return 2\n",
        "f",
        3,
    ),
    "inside a function": (
        "def o():\n    def i(): pass\n    def i(): pass\n    return i\n",
        "o.i",
        3,
    ),
    "inside a branch": ("if X:\n    def f(): pass\n    def f(): pass\n", "f", 3),
}


@pytest.mark.parametrize("name", FINE)
def test_this_is_no_mistake(name: str) -> None:
    assert defined_twice(textwrap.dedent(FINE[name]).encode()) == []


@pytest.mark.parametrize("name", WRONG)
def test_this_hides_a_definition(name: str) -> None:
    text, what, line = WRONG[name]

    assert [(item.name, item.line) for item in defined_twice(text.encode())] == [(what, line)]


def test_a_function_both_sides_added_at_different_places_is_reported() -> None:
    base = "def a(): return 0\n\n\ndef z(): return 9\n"
    new = "def helper(): return 1\n\n\n"
    source, target, both = new + base, base + "\n\n" + new, new + base + "\n\n" + new

    found = audit(one_file(base, source, target, both))

    assert [(item.path, item.line) for item in found] == [("pkg/mod.py", 10)]
    assert "`helper`" in found[0].evidence
    assert "line 1" in found[0].evidence


def test_a_definition_a_parent_has_twice_already_is_not_new() -> None:
    twice = "def f(): return 1\ndef f(): return 2\n"

    assert audit(one_file(twice, twice + "s = 1\n", twice + "t = 1\n", twice + "s = t = 1\n")) == []


def test_a_third_copy_is_new_although_a_parent_has_two() -> None:
    twice = "def f(): return 1\ndef f(): return 2\n"
    found = audit(one_file(twice, twice + "s = 1\n", twice, twice + "s = 1\ndef f(): return 3\n"))

    assert [item.line for item in found] == [4]


def test_a_file_that_equals_a_parent_is_not_looked_at() -> None:
    twice = "def f(): return 1\ndef f(): return 2\n"

    assert audit(one_file("", twice, "x = 1\n", twice)) == []
