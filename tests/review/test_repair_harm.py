"""What a repair must not do: bring errors, or lose definitions; and what was lost to begin with."""

import pytest

from nightly_sync.audits.history import Removal
from nightly_sync.audits.lines import normal_lines
from nightly_sync.audits.model import Finding, FindingKind, Parent, Severity
from nightly_sync.review.forbidden import FileChange
from nightly_sync.review.harm import definitions, lost_definitions, new_errors
from nightly_sync.review.lost import Lost, lost, restored_badly
from tests.support.audits import made_up


def error(evidence: str, line: int = 1, path: str = "a.py", **changes: object) -> Finding:
    """An error of an audit."""
    found = Finding(
        severity=Severity.ERROR,
        kind=FindingKind.UNDEFINED,
        path=path,
        line=line,
        evidence=evidence,
    )
    return found.model_copy(update=changes)


def test_an_error_that_only_moved_is_not_new() -> None:
    before = error("`slug` was defined in line 3 already", kind=FindingKind.DUPLICATE)
    after = error("`slug` was defined in line 9 already", 12, kind=FindingKind.DUPLICATE)
    assert new_errors([before], [after]) == []
    broken = error("imports pkg.a: the target has pkg/a.py, the merged tree has not")
    assert new_errors([broken], [broken.model_copy(update={"line": 7})]) == []


def test_one_of_two_names_that_is_mended_makes_the_other_no_new_error() -> None:
    both = error("2 names are undefined here, but in neither parent's file:\n  3: `x`\n  9: `y`")
    one = error("`y` is undefined here, but in neither parent's file", 10)
    assert new_errors([both], [one]) == []
    (found,) = new_errors([one], [both])
    assert found.kind == "undefined-name"
    assert found.sentence.startswith("undefined-name in a.py line 1: 2 names")


def test_warnings_are_no_errors_and_other_files_are_other_errors() -> None:
    known = error("`x` is undefined")
    assert new_errors([], [known.model_copy(update={"severity": Severity.WARNING})]) == []
    assert len(new_errors([known], [known, error("`x` is undefined", path="b.py")])) == 1


CODE = """\
def one():
    def inner():
        return 1
    return inner


class Two:
    def close(self):
        return 1

    class Three:
        def deep(self):
            return 1


if one:
    async def four():
        return 4
"""


def test_definitions_are_found_in_classes_and_blocks_and_not_in_functions() -> None:
    assert sorted(definitions(CODE.encode())) == [
        *("Two", "Two.Three", "Two.Three.deep", "Two.close", "four", "one")
    ]
    assert definitions(b"def broken(") == {}


def change(before: str, after: str | None, *sides: str | None, base: str = "") -> FileChange:
    """A changed file; `sides` are source and target."""
    texts = tuple(None if side is None else side.encode() for side in sides)
    new = None if after is None else after.encode()
    return FileChange("a.py", before.encode(), new, sides=texts, base=base.encode() or None)


F, G = "def f():\n    return 1\n", "def g():\n    return 2\n"


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (change(F + G, G, "", F), ["f"]),
        (change(F + G, G, F, ""), ["f"]),
        (change(F + G, None, None, F + G), ["f", "g"]),
        (change(F + G, G, "", ""), []),  # the merge made it up
        (change(F + G, G, G, F + G, base=F + G), []),  # the source deleted it
        (change(F + G, G, F, F + G, base=F + G), ["f"]),  # both have it
        (change(F + F, F, F, F), []),  # it was there twice
        (change(F, F.replace("1", "2"), F, F), []),
        (change(CODE, "def one(): ...\n", "", CODE), ["Two", "four"]),  # no line for each part
    ],
)
def test_what_a_side_has_may_go_only_if_a_side_let_it_go(
    made: FileChange, names: list[str]
) -> None:
    assert [item.sentence for item in lost_definitions([made])] == [
        f"a.py: `{name}` is gone, and a side has it" for name in names
    ]


def test_a_definition_may_move_to_another_file() -> None:
    new = FileChange("b.py", b"", F.encode(), sides=(None, None))
    assert lost_definitions([change(F + G, G, F, F), new]) == []
    old = FileChange("b.py", F.encode(), F.encode() + b"x = 1\n", sides=(None, None))
    assert len(lost_definitions([change(F + G, G, F, F), old])) == 1, "it was there before"


@pytest.mark.parametrize(
    "other", ["def f():\n    return 2\n", "@cache\n" + F, "def f(): ...\n", "class f: ...\n"]
)
def test_a_definition_that_moved_is_what_it_was(other: str) -> None:
    """Reported: any definition of that name in another file stood for it."""
    new = FileChange("b.py", b"", other.encode(), sides=(None, None))
    (found,) = lost_definitions([change(F + G, G, F, F), new])
    assert found.sentence == "a.py: `f` is gone, and a side has it"


def test_a_definition_may_move_as_a_side_has_it() -> None:
    ours = F.replace("1", "5")
    new = FileChange("b.py", b"", ours.encode(), sides=(None, None))
    assert lost_definitions([change(F + G, G, F, ours), new]) == []


def test_a_definition_at_the_end_of_a_long_chain_of_branches_is_found() -> None:
    branches = "".join(f"elif {at}:\n    pass\n" for at in range(1500))
    assert list(definitions(f"if 0:\n    pass\n{branches}else:\n    def f(): ...\n".encode())) == [
        "f"
    ]


def test_data_has_no_definitions() -> None:
    made = FileChange("a.txt", F.encode(), b"", sides=(F.encode(), F.encode()))
    assert lost_definitions([made]) == []


# What the merge lost

INNER = "def outer():\n    def f():\n        return 1\n    return f\n"
KEPT = "def kept():\n    return os\n"
CLASS = "class C:\n    def a(self):\n        return 1\n\n    def b(self):\n        return 2\n"
METHOD = "    def b(self):\n        return 2\n"


def names_lost(base: str, source: str, target: str, merged: str, *removed: str) -> list[str]:
    """What the merge lost of the target, where a commit of the source took out some lines."""
    lines = dict.fromkeys(normal_lines("\n".join(removed).encode(), python=True), 1)
    commits = {Parent.SOURCE: (Removal("1" * 40, "Drop it", "a.py", lines, False),)}
    b, s, t, m = ({"a.py": text} for text in (base, source, target, merged))
    return [name for item in lost(made_up(b, s, t, m, removed=commits)) for name in item.names]


@pytest.mark.parametrize(
    ("base", "source", "target", "merged", "names"),
    [
        (KEPT, KEPT + G, KEPT + F, KEPT + G, ["f"]),
        (KEPT, KEPT + "x = 1\n", KEPT + F + CLASS, KEPT + "x = 1\n", ["C", "f"]),
        (KEPT + CLASS, KEPT + CLASS + G, KEPT + CLASS, KEPT + CLASS + G, []),
        (  # one method; the same line is in another class, which is kept
            KEPT + CLASS.replace(METHOD, ""),
            KEPT + CLASS.replace(METHOD, "") + G,
            KEPT + CLASS + "class D:\n" + METHOD,
            KEPT + CLASS.replace(METHOD, "") + G + "class D:\n" + METHOD,
            ["C.b"],
        ),
        (  # the source deleted the class
            KEPT + CLASS.replace(METHOD, ""),
            KEPT + G,
            KEPT + CLASS,
            KEPT + G,
            [],
        ),
        (KEPT, KEPT + F + G, KEPT + F, KEPT + G, []),  # the source has it too
        (KEPT + F, KEPT + G, KEPT + F.replace("()", "(x)"), KEPT + G, []),  # not only the target's
        (KEPT, KEPT + G, KEPT + F, "from b import f\n" + KEPT + G, []),  # it is imported now
        (KEPT, KEPT + G, KEPT + "x = 5\n", KEPT + G, []),  # no definition
        (KEPT, KEPT + G, KEPT + F + "x = 5\n", KEPT + INNER + G, []),  # it is inside another
    ],
)
def test_lost_are_whole_definitions_that_only_the_target_had(
    base: str, source: str, target: str, merged: str, names: list[str]
) -> None:
    assert names_lost(base, source, target, merged) == names


def test_what_a_commit_of_the_source_took_out_was_not_lost() -> None:
    assert names_lost(KEPT, KEPT + G, KEPT + F, KEPT + G, "def f():") == []


SIDES = (
    f"import os\n\n\n{KEPT}{G}".encode(),
    f"import os\nimport re\n\n\n{KEPT}{F}{CLASS}".encode(),
)
ITEM = Lost("a.py", ("C.b", "f"), SIDES)
BEFORE = f"import os\n\n\n{KEPT}{CLASS.replace(METHOD, '')}{G}"
AFTER = f"import os\nimport re\n\n\n{KEPT}{F}{CLASS}{G}"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", ""),
        (F, "", "`f` is defined 0 times, not once"),
        (METHOD, "", "`C.b` is defined 0 times, not once"),
        ("return 2\n" + G, "return 3\n" + G, "`C.b` is not as either side has it"),
        (G, "", "only `C.b`, `f` and their imports may be added"),
        ("import re", "import json", "neither side has `import json`"),
        (F, F + F, "`f` is defined 2 times"),
        ("def f", "def f(", "the file has to parse"),
    ],
)
def test_several_definitions_are_put_back_and_nothing_else(old: str, new: str, said: str) -> None:
    after = AFTER.replace(old, new, 1) if old else AFTER
    found = restored_badly(ITEM, BEFORE.encode(), after.encode())
    assert any(said in item.sentence for item in found) if said else found == []
    assert all(item.sentence.startswith("a.py: ") for item in found)


def test_the_targets_text_of_a_lost_definition_is_quoted_with_its_decorators() -> None:
    text = f"@cache\n@other(\n    1)\n{F}\n{G}"
    assert Lost("a.py", ("f",), (b"", text.encode())).text.decode() == text.replace(f"\n{G}", "")
