"""What imports ask for, what modules offer, and when the two no longer meet."""

from collections.abc import Mapping

import pytest

from nightly_sync import imports
from nightly_sync.audits.broken_imports import audit, required
from nightly_sync.audits.model import Finding
from nightly_sync.audits.modules import (
    imported_by_line,
    keys,
    modules,
    names,
    quick_imports,
    quick_names,
)
from nightly_sync.imports import Import, imports_of
from tests.support.audits import made_up

Files = Mapping[str, str]


def broken(base: Files, source: Files, target: Files, merged: Files) -> list[Finding]:
    return audit(made_up(base, source, target, merged))


def places(findings: list[Finding]) -> list[tuple[str, int | None]]:
    return [(item.path, item.line) for item in findings]


STATEMENTS = {
    "import": "import a, b.c as d\n",
    "from": "from a.b import c, d as e\n",
    "relative": "from .a import b\nfrom .. import c\nfrom . import d\n",
    "star": "from a import *\n",
    "brackets": "from a import (  # (why)\n    b,  # one (1)\n    c as d,\n)\n",
    "backslash": "from a import b, \\\n    c\n",
    "nested": "def f():\n    from a import b\n    return b\n",
    "after a colon": "if X: import a\n",
    "after a semicolon": "import a; from b import c\n",
    "odd spaces": "from  a   import   b\nfrom a import(b)\nfrom.a import b\n",
    "windows": "from a import (\r\n    b,\r\n    c,\r\n)\r\n",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_the_quick_look_sees_every_import_the_syntax_tree_has(name: str) -> None:
    text = STATEMENTS[name].encode()
    tree = imports.parse(text)
    assert tree is not None

    exact = {(i.module, i.name, i.folder) for i in imports_of("p/q/m.py", tree)}

    assert {(i.module, i.name, i.folder) for i in quick_imports("p/q/m.py", text)} >= exact


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("def f(): ...\nasync def g(): ...\nclass C: ...\n", {"f", "g", "C"}),
        ("a = 1\nb: int = 2\n", {"a", "b"}),
        ("import a.b, c as d\nfrom e import f as g\n", {"a", "d", "g"}),
    ],
)
def test_the_quick_look_sees_plain_definitions(text: str, bound: set[str]) -> None:
    assert quick_names(text.encode()) == bound
    assert names(text.encode()).bound == bound


def test_the_quick_look_does_not_take_inner_names_for_the_modules() -> None:
    text = b"class C:\n    a = 1\n    def f(self):\n        import os\n        b = 2\n"

    assert quick_names(text) == {"C"}


@pytest.mark.parametrize(
    "text",
    [
        "for a in []: ...\n",
        "with open('x') as a: ...\n",
        "if X:\n    a = 1\n",
        "try:\n    import a\nexcept E as b: ...\n",
        "(a := 1)\n",
        "b, (a, *c) = 1\n",
        "def f():\n    global a\n    a = 1\n",
        "match x:\n    case [a]: ...\n",
        "a += 1\n",
    ],
)
def test_the_syntax_tree_tells_every_way_to_bind_a_name(text: str) -> None:
    assert "a" in names(text.encode()).bound


@pytest.mark.parametrize(
    "text",
    [
        "from m import *\n",
        "def __getattr__(name): ...\n",
        "globals()['a'] = 1\n",
        "import sys\nsetattr(sys.modules[__name__], 'a', 1)\n",
        "this does not parse",
    ],
)
def test_a_module_that_may_define_anything_is_open(text: str) -> None:
    assert names(text.encode()).open


def test_a_plain_module_is_not_open() -> None:
    assert not names(b"import sys\na = sys.argv\n").open


def test_a_package_hides_a_module_of_its_name() -> None:
    found = modules(["a/utils.py", "a/utils/__init__.py", "b/c.py", "README.md"])

    assert found.files["a/utils"] == "a/utils/__init__.py"
    assert found.has("b/c")
    assert found.has("b")
    assert not found.has("README")
    assert found.roots == ("a",)


def test_an_absolute_import_is_looked_for_at_the_top_first() -> None:
    item = Import("m.n", None, 0, None, False)

    found = list(keys(item, "a/b.py", ("packages/x",)))

    assert found[:2] == ["m/n", "src/m/n"]
    assert "a/m/n" in found
    assert "packages/x/m/n" in found


def test_a_module_of_the_standard_library_is_never_ours() -> None:
    assert list(keys(Import("types", None, 0, None, False), "a/b.py")) == []


def test_lines_of_an_import_know_what_they_import() -> None:
    text = b"x = 1\nfrom .m import (\n    a,\n    b as c,  # no d\n)\nimport os\n"

    assert imported_by_line(text) == {
        2: set(),
        3: {b".m a"},
        4: {b".m b as c"},
        5: set(),
        6: {b" os"},
    }


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    from m import a\nexcept ImportError:\n    a = None\n",
        "try:\n    from n import a\nexcept ModuleNotFoundError:\n    from m import a\n",
        "try:\n    from m import a\nexcept (KeyError, Exception):\n    pass\n",
        "try:\n    from m import a\nexcept:\n    pass\n",
        "with contextlib.suppress(ImportError):\n    from m import a\n",
    ],
)
def test_an_import_that_may_fail_is_not_required(text: str) -> None:
    assert ("m", "a", None) not in required("x.py", text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "if TYPE_CHECKING:\n    from m import a\n",
        "def f():\n    from m import a\n",
        "try:\n    from m import a\nexcept KeyError:\n    pass\n",
        "try:\n    from m import a\nfinally:\n    pass\n",
        "try:\n    x\nexcept KeyError:\n    from m import a\n",
        "with lock:\n    from m import a\n",
    ],
)
def test_any_other_import_is(text: str) -> None:
    assert ("m", "a", None) in required("x.py", text.encode())


LIB = "def old(): ...\ndef other(): ...\n"
NEW_LIB = "def new(): ...\ndef other(): ...\n"
CALLER = "from pkg.lib import old\n"


def test_a_function_one_side_renamed_and_the_other_newly_imports_is_reported() -> None:
    found = broken(
        {"pkg/lib.py": LIB},
        {"pkg/lib.py": NEW_LIB},
        {"pkg/lib.py": LIB, "app.py": "import os\n" + CALLER},
        {"pkg/lib.py": NEW_LIB, "app.py": "import os\n" + CALLER},
    )

    assert places(found) == [("app.py", 2)]
    assert "imports `old` from pkg.lib: the target has that in pkg/lib.py" in found[0].evidence


def test_several_names_of_one_statement_are_one_finding() -> None:
    caller = {"app.py": "from pkg.lib import old, other\n"}
    lib = {"pkg/lib.py": "x = 1\n"}

    found = broken({"pkg/lib.py": LIB}, lib, {"pkg/lib.py": LIB, **caller}, {**lib, **caller})

    assert len(found) == 1
    assert "`old`, `other`" in found[0].evidence


def test_a_module_one_side_deleted_and_the_other_newly_imports_is_reported() -> None:
    found = broken(
        {"pkg/lib.py": LIB},
        {},
        {"pkg/lib.py": LIB, "a.py": "import pkg.lib\n", "b.py": "from pkg import lib\n"},
        {"a.py": "import pkg.lib\n", "b.py": "from pkg import lib\n"},
    )

    assert places(found) == [("a.py", 1), ("b.py", 1)]


def test_relative_imports_are_followed() -> None:
    caller = "from ..lib import old\nfrom .. import lib\nfrom . import near\n"
    source = {"pkg/__init__.py": "", "pkg/sub/near.py": ""}

    found = broken(
        {"pkg/lib.py": LIB, **source},
        source,
        {"pkg/lib.py": LIB, "pkg/sub/app.py": caller, **source},
        {"pkg/sub/app.py": caller, **source},
    )

    assert places(found) == [("pkg/sub/app.py", 1), ("pkg/sub/app.py", 2)]


def test_a_package_below_src_is_found_from_its_tests() -> None:
    test = {"tests/test_lib.py": CALLER}
    found = broken(
        {"src/pkg/lib.py": LIB},
        {"src/pkg/lib.py": NEW_LIB},
        {"src/pkg/lib.py": LIB, **test},
        {"src/pkg/lib.py": NEW_LIB, **test},
    )

    assert places(found) == [("tests/test_lib.py", 1)]


def test_a_script_finds_the_module_beside_it() -> None:
    found = broken(
        {"tools/helper.py": LIB},
        {},
        {"tools/helper.py": LIB, "tools/run.py": "from helper import old\n"},
        {"tools/run.py": "from helper import old\n"},
    )

    assert places(found) == [("tools/run.py", 1)]


def test_a_folder_deep_in_a_package_is_not_taken_for_a_library_of_its_name() -> None:
    """Seen in a real history: pkg/inner/lib lost a name that everybody imports from `lib`."""
    base = {"pkg/__init__.py": "", "pkg/inner/__init__.py": ""}
    user = {"pkg/inner/use.py": "from lib import old\n"}
    found = broken(
        {**base, "pkg/inner/lib/__init__.py": LIB},
        {**base, "pkg/inner/lib/__init__.py": NEW_LIB},
        {**base, **user, "pkg/inner/lib/__init__.py": LIB},
        {**base, **user, "pkg/inner/lib/__init__.py": NEW_LIB},
    )

    assert places(found) == []


def test_a_name_lost_from_a_package_is_reported_where_it_is_imported() -> None:
    init = "from .lib import old\n"
    found = broken(
        {"pkg/__init__.py": init, "pkg/lib.py": LIB},
        {"pkg/__init__.py": "", "pkg/lib.py": LIB},
        {"pkg/__init__.py": init, "pkg/lib.py": LIB, "app.py": "from pkg import old\n"},
        {"pkg/__init__.py": "", "pkg/lib.py": LIB, "app.py": "from pkg import old\n"},
    )

    assert places(found) == [("app.py", 1)]


def test_a_name_that_a_condition_bound_is_missed_too() -> None:
    lib = {"pkg/lib.py": "if FAST:\n    old = 1\nelse:\n    old = 2\n"}
    new, caller = {"pkg/lib.py": NEW_LIB}, {"app.py": CALLER}

    assert places(broken(lib, new, {**lib, **caller}, {**new, **caller})) == [("app.py", 1)]


def test_the_source_is_served_like_the_target() -> None:
    caller = {"app.py": CALLER}
    found = broken(
        {"pkg/lib.py": LIB},
        {"pkg/lib.py": LIB, **caller},
        {"pkg/lib.py": NEW_LIB},
        {"pkg/lib.py": NEW_LIB, **caller},
    )

    assert "the source has that" in found[0].evidence


NO_ALARM: dict[str, tuple[Files, Files, Files, Files]] = {
    "a module became a package": (
        {"pkg/lib.py": LIB},
        {"pkg/lib/__init__.py": LIB},
        {"pkg/lib.py": LIB, "app.py": CALLER},
        {"pkg/lib/__init__.py": LIB, "app.py": CALLER},
    ),
    "a package imports its name from elsewhere now": (
        {"pkg/lib.py": LIB},
        {"pkg/lib/__init__.py": "from .deep import (\n    old,\n)\n", "pkg/lib/deep.py": LIB},
        {"pkg/lib.py": LIB, "app.py": CALLER},
        {
            "pkg/lib/__init__.py": "from .deep import (\n    old,\n)\n",
            "pkg/lib/deep.py": LIB,
            "app.py": CALLER,
        },
    ),
    "a star import may bring the name": (
        {"pkg/lib.py": LIB},
        {"pkg/lib.py": "from .deep import *\n", "pkg/deep.py": LIB},
        {"pkg/lib.py": LIB, "app.py": CALLER},
        {"pkg/lib.py": "from .deep import *\n", "pkg/deep.py": LIB, "app.py": CALLER},
    ),
    "a module makes its names on demand": (
        {"pkg/lib.py": LIB},
        {"pkg/lib.py": "def __getattr__(name): ...\n"},
        {"pkg/lib.py": LIB, "app.py": CALLER},
        {"pkg/lib.py": "def __getattr__(name): ...\n", "app.py": CALLER},
    ),
    "the import expects to fail": (
        {"pkg/lib.py": LIB},
        {"pkg/lib.py": NEW_LIB},
        {"pkg/lib.py": LIB, "app.py": f"try:\n    {CALLER}except ImportError:\n    old = None\n"},
        {
            "pkg/lib.py": NEW_LIB,
            "app.py": f"try:\n    {CALLER}except ImportError:\n    old = None\n",
        },
    ),
    "the importer is as broken on its own side": (
        {},
        {"pkg/lib.py": NEW_LIB},
        {"pkg/other.py": "", "app.py": CALLER},
        {"pkg/lib.py": NEW_LIB, "pkg/other.py": "", "app.py": CALLER},
    ),
    "the name is somebody else's": (
        {},
        {"s.py": ""},
        {"app.py": "from torch.nn import Module\nimport numpy as np\n"},
        {"s.py": "", "app.py": "from torch.nn import Module\nimport numpy as np\n"},
    ),
    "a text only mentions an import": (
        {"pkg/lib.py": LIB},
        {"pkg/lib.py": NEW_LIB},
        {"pkg/lib.py": LIB, "app.py": f'"""Example:\n\n{CALLER}"""\n'},
        {"pkg/lib.py": NEW_LIB, "app.py": f'"""Example:\n\n{CALLER}"""\n'},
    ),
    "a name became a module": (
        {"pkg/__init__.py": "old = 1\n"},
        {"pkg/__init__.py": "", "pkg/old.py": ""},
        {"pkg/__init__.py": "old = 1\n", "app.py": "from pkg import old\n"},
        {"pkg/__init__.py": "", "pkg/old.py": "", "app.py": "from pkg import old\n"},
    ),
    "a module became a name": (
        {"pkg/__init__.py": "", "pkg/old.py": ""},
        {"pkg/__init__.py": "old = 1\n"},
        {"pkg/__init__.py": "", "pkg/old.py": "", "app.py": "from pkg import old\n"},
        {"pkg/__init__.py": "old = 1\n", "app.py": "from pkg import old\n"},
    ),
    "a package without __init__ is one still": (
        {"pkg/__init__.py": "", "pkg/lib.py": LIB},
        {"pkg/lib.py": LIB},
        {"pkg/__init__.py": "", "pkg/lib.py": LIB, "app.py": "from pkg import lib\n"},
        {"pkg/lib.py": LIB, "app.py": "from pkg import lib\n"},
    ),
    "the package moved below src": (
        {"pkg/__init__.py": "", "pkg/lib.py": LIB},
        {"src/pkg/__init__.py": "", "src/pkg/lib.py": LIB},
        {"pkg/__init__.py": "", "pkg/lib.py": LIB, "app.py": CALLER},
        {"src/pkg/__init__.py": "", "src/pkg/lib.py": LIB, "app.py": CALLER},
    ),
    "the package moved to a place only other packages tell of": (
        {"pkg/__init__.py": "", "pkg/lib.py": LIB},
        {"packages/one/pkg/__init__.py": "", "packages/one/pkg/lib.py": LIB},
        {"pkg/__init__.py": "", "pkg/lib.py": LIB, "app.py": CALLER},
        {"packages/one/pkg/__init__.py": "", "packages/one/pkg/lib.py": LIB, "app.py": CALLER},
    ),
    "the merged module does not parse": (
        {"pkg/lib.py": LIB},
        {"pkg/lib.py": NEW_LIB},
        {"pkg/lib.py": LIB, "app.py": CALLER},
        {"pkg/lib.py": "def (\n", "app.py": CALLER},
    ),
}


@pytest.mark.parametrize("name", NO_ALARM)
def test_nothing_is_broken_when(name: str) -> None:
    assert broken(*NO_ALARM[name]) == []


def test_a_type_checking_import_counts() -> None:
    caller = {"app.py": f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {CALLER}"}
    found = broken(
        {"pkg/lib.py": LIB},
        {"pkg/lib.py": NEW_LIB},
        {"pkg/lib.py": LIB, **caller},
        {"pkg/lib.py": NEW_LIB, **caller},
    )

    assert places(found) == [("app.py", 3)]
