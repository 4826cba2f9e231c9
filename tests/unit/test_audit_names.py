"""Syntax errors and undefined names that only the merge has."""

import pytest

from nightly_sync.audits import syntax, undefined
from nightly_sync.audits.model import Finding
from nightly_sync.audits.scan import scan
from tests.support.audits import made_up, one_file


def undefined_in(base: str, source: str, target: str, merged: str) -> list[Finding]:
    return undefined.audit(one_file(base, source, target, merged))


def test_a_merge_that_does_not_parse_is_reported_with_its_line() -> None:
    found = syntax.audit(one_file("a = 1\n", "a = 2\n", "a = 3\n", "a = 2\nb = (\n"))

    assert [(item.path, item.line) for item in found] == [("pkg/mod.py", 2)]


def test_an_argument_named_twice_is_a_syntax_error() -> None:
    """Both sides added the same parameter: found in Megatron-LM's sync of 30 January 2026."""
    found = syntax.audit(
        one_file(
            "def f(a):\n    pass\n",
            "def f(n, a):\n    pass\n",
            "def f(a, n):\n    pass\n",
            "def f(n, a, n):\n    pass\n",
        )
    )

    assert "duplicate argument 'n'" in found[0].evidence


def test_a_file_that_does_not_parse_on_one_side_is_not_new() -> None:
    assert syntax.audit(one_file("", "print 1\n", "a = 1\n", "print 1\na = 1\n")) == []


def test_a_file_with_a_null_byte_is_no_crash() -> None:
    long = "x = 1\n" * 2000
    found = syntax.audit(one_file(long, long + "a = 1\n", long + "b = 1\n", long + "\0\n"))

    assert len(found) == 1


@pytest.mark.parametrize("text", [b"\xff\n", b"\n\n'\xff'\n", b"# coding: klingon\n", b"(" * 9999])
def test_text_that_is_no_python_at_all_is_a_fault_and_no_crash(text: bytes) -> None:
    assert scan(text).fault


def test_another_encoding_that_a_file_declares_is_read() -> None:
    assert scan("# coding: latin-1\nname = 'é'\n".encode("latin-1")).bound == {"name"}


def test_only_python_files_are_parsed() -> None:
    assert syntax.audit(one_file("a", "b", "c", "(", path="notes.txt")) == []


def test_a_new_file_the_merge_alone_has_must_parse() -> None:
    assert len(syntax.audit(made_up({}, {}, {}, {"new.py": "def\n"}))) == 1


def test_a_name_whose_binding_one_side_removed_is_undefined() -> None:
    found = undefined_in(
        "import os\nos.sep\n",
        "x = 1\n",
        "import os\nos.sep\nos.getcwd()\n",
        "x = 1\nos.getcwd()\n",
    )

    assert [(item.path, item.line) for item in found] == [("pkg/mod.py", 2)]
    assert "`os`" in found[0].evidence


def test_a_local_name_of_another_function_does_not_define_it() -> None:
    found = undefined_in(
        "def f(x):\n    return x\ndef g(y):\n    return y\n",
        "def f(x):\n    return x\ndef g(z):\n    return z\n",
        "def f(x):\n    return x\ndef g(y):\n    return y + 1\n",
        "def f(y):\n    return y\ndef g(z):\n    return y + 1\n",
    )

    assert [item.line for item in found] == [4]


def test_all_names_of_a_file_are_one_finding_with_every_line() -> None:
    found = undefined_in("a = b = 1\n", "s = 1\n", "a = b = 1\na\nb\n", "s = 1\na\nb\n")

    assert len(found) == 1
    assert "  2: `a`\n  3: `b`" in found[0].evidence


def test_a_name_in_a_quoted_annotation_counts() -> None:
    found = undefined_in(
        "from m import T\n",
        "from m import S\n",
        "from m import T\ndef f(x: 'T') -> None: ...\n",
        "from m import S\ndef f(x: 'T') -> None: ...\n",
    )

    assert [item.line for item in found] == [2]


def test_a_name_exported_in_all_counts() -> None:
    found = undefined_in(
        "from m import a\n__all__ = ['a']\n",
        "from m import b\n",
        "from m import a\n__all__ = ['a']\nx = 1\n",
        "from m import b\n__all__ = ['a']\nx = 1\n",
    )

    assert "`a`" in found[0].evidence


def test_a_name_that_is_undefined_on_one_side_already_is_not_new() -> None:
    assert undefined_in("", "missing()\n", "x = 1\n", "missing()\nx = 1\n") == []


def test_a_quoted_name_that_is_undefined_on_one_side_already_is_not_new() -> None:
    annotated = "def f(x: 'T') -> None: ...\n"

    assert undefined_in("", "from m import T\n" + annotated, annotated, annotated + "x = 1\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "from m import *\nanything()\n",
        "def f():\n    global g\n    g = 1\ndef h():\n    return g\n",
        "class C:\n    a = 1\n    b = a\n    n = __qualname__\n",
        "print(__file__, __name__, __doc__)\n",
        "try:\n    unicode\nexcept NameError:\n    unicode = str\n",
        "[x for x in range(3)]\nlambda y: y\n",
        "def f():\n    import os\n    def g():\n        return os\n    return g\n",
        "for i in []:\n    pass\nprint(i)\n",
        "match 1:\n    case {'k': v, **rest}:\n        print(v, rest)\n",
    ],
)
def test_what_python_binds_in_its_own_ways_is_defined(text: str) -> None:
    assert undefined_in("", "s = 1\n", "t = 1\n", text) == []


def test_a_file_pyflakes_cannot_parse_is_the_syntax_audits_business() -> None:
    assert undefined_in("", "s = 1\n", "t = 1\n", "nowhere(\n") == []


def test_only_names_that_are_asked_for_are_looked_up() -> None:
    """Bodies without these names are left out, and that must not lose the others."""
    text = b"def f():\n    return a\ndef g():\n    return b\n"

    assert undefined.undefined("m.py", text, {"b"}) == {"b": 4}


def test_windows_line_ends_do_not_shift_the_lines() -> None:
    text = b"def f():\r\n    return a\r\ndef g():\r\n    return b\r\n"

    assert undefined.undefined("m.py", text, {"b"}) == {"b": 4}


def test_a_scan_tells_repeated_definitions_apart_by_their_scope() -> None:
    found = scan(
        b"class A:\n    def f(self): ...\n    def f(self): ...\nclass B:\n    def f(self): ...\n"
    )

    assert found.repeated == {"A.f": 2}


def test_a_scan_knows_what_a_module_binds() -> None:
    text = b"import a.b, c as d\nfrom e import f as g\nx: int\ny = z = 1\ndef h():\n    global i\n"

    assert scan(text).bound >= {"a", "d", "g", "y", "z", "h", "i"}


@pytest.mark.parametrize("name", ["rot13", "hex"])
def test_an_encoding_that_is_none_of_text_is_a_fault_and_no_crash(name: str) -> None:
    """Reported: such a file crashed the audits of a clean merge."""
    text = f"# coding: {name}\nx = 1\n".encode()
    fault = scan(text).fault
    assert fault is not None
    assert "is not a text encoding" in fault.message
