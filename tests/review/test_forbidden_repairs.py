"""Repairs of tests that a merge needs are no weakening, and stand.

Most are modelled on what people and Claude did to real syncs of one large Python project.
"""

import pytest

from nightly_sync.review.forbidden import FileChange, Policy, RefusalKind, forbidden
from tests.review.test_forbidden import TEST, edited

SOURCE = edited(
    ("from pkg.model import build, old_loss", "from pkg.model import build, new_loss"),
    ("result = old_loss(model, target, scale=2)", "result = new_loss(model, target, scale=2)"),
    ("        old_loss(model, -target)", "        new_loss(model, -target)"),
    ("approx(0.75", "approx(0.7"),
    ("class TestModel", "def test_more():\n    assert build(9)  # noqa: S101\n\n\nclass TestModel"),
    ("@pytest.mark.gpu", "@pytest.mark.flaky\n@pytest.mark.gpu"),
    ("TOLERANCE = 1e-5", "TOLERANCE = 1e-4"),
    ("(2, 4), ", ""),
)
TARGET = TEST


def reasons(
    after: str,
    before: str = TEST,
    base: str | None = TEST,
    sides: tuple[str | None, ...] = (SOURCE, TARGET),
) -> list[str]:
    """Why a change of the test file is refused."""
    change = FileChange(
        "tests/test_model.py",
        before.encode(),
        after.encode(),
        sides=tuple(None if side is None else side.encode() for side in sides),
        base=None if base is None else base.encode(),
    )
    return [f"{item.kind}: {item.evidence}" for item in forbidden([change], Policy())]


RENAMED = (
    ("build, old_loss", "build, new_loss"),
    ("result = old_loss(", "result = new_loss("),
    ("        old_loss(", "        new_loss("),
)
REPAIRS = {
    "nothing but layout": [("[1.0, 2.0, 3.5]", "[\n    1.0,\n    2.0,\n    3.5,\n]")],
    "a comment and a docstring": [
        ('"""Tests of the model."""', '"""Tests of models."""'),
        ("    target = np", "    # of the last layer\n    target = np"),
    ],
    "an import from another module": [("from pkg.model import", "from pkg.models.base import")],
    "one more import": [("import pytest\n", "import pytest\nimport torch\n")],
    "a function by its new name": list(RENAMED),
    "a function by its module": [
        ("build, old_loss", "build, losses"),
        ("result = old_loss(", "result = losses.old_loss("),
        ("        old_loss(", "        losses.old_loss("),
    ],
    "an assertion's function by another path": [
        ("np.testing.assert_allclose(", "assert_allclose("),
        ("import numpy as np\n", "import numpy as np\nfrom numpy.testing import assert_allclose\n"),
    ],
    "an attribute by its new name": [("build(size).total", "build(size).total_size")],
    "a variable by its new name": [
        ("result = old_loss(", "output = old_loss("),
        ("result.shape", "output.shape"),
        ("result.mean", "output.mean"),
        ("(result, EXPECTED, atol", "(output, EXPECTED, atol"),
        ("(result, EXPECTED)", "(output, EXPECTED)"),
    ],
    "a new argument": [("build(4, hidden=8)", 'build(4, hidden=8, backend="local")')],
    "a new argument inside an assertion": [("build(size).total", "build(size, width=2).total")],
    "an argument that is gone": [("build(4, hidden=8)", "build(4)")],
    "an argument for another": [("build(4, hidden=8)", 'build(4, backend="local")')],
    "an argument by name": [("build(4, hidden=8)", "build(size=4, hidden=8)")],
    "an argument's new name": [("hidden=8", "hidden_size=8")],
    "arguments in another order": [("build(4, hidden=8)", "build(hidden=8, size=4)")],
    "a new signature of a helper that asserts": [
        ("def close_enough(left, right):", "def close_enough(left, right, name=None):"),
        ("close_enough(result, EXPECTED)", 'close_enough(result, EXPECTED, name="loss")'),
    ],
    "a function that returns two things now": [
        (
            "result = old_loss(model, target, scale=2)",
            "result, _ = old_loss(model, target, scale=2)",
        )
    ],
    "the first of what it returns": [("scale=2)", "scale=2)[0]")],
    "a value set on what the test made": [
        ("    target = np", "    model.graph_all_prefills = False\n    target = np")
    ],
    "a constant under a new name": [("EXPECTED = ", "GRAPHS = None\nEXPECTED = ")],
    "a fixture more": [("def test_loss(width)", "def test_loss(width, tmp_path)")],
    "one more case": [("(2, 4)", "(2, 4), (5, 10)")],
    "a stricter test": [("scale=2)", "scale=2)\n    assert result.dtype == float")],
    "another message": [('"the shape is off"', '"wrong shape"')],
    "a test by another name": [("def test_loss(", "def test_old_loss(")],
    "a class of tests by another name": [("class TestModel", "class TestNet")],
    # What the source has, in a test that is neither side's.
    "a case that the source removed": [
        ("(2, 4), ", ""),
        ("total == expected", "total_size == expected"),
    ],
    "the source's expectation": [("approx(0.75", "approx(0.7"), ("result.shape", "result.dims")],
    "the source's tolerance": [("TOLERANCE = 1e-5", "TOLERANCE = 1e-4")],
    "the source's mark": [("@pytest.mark.gpu", "@pytest.mark.flaky\n@pytest.mark.gpu")],
    "the source's test, with its noqa": [
        (
            "class TestModel",
            "def test_more():\n    assert build(9)  # noqa: S101\n\n\nclass TestModel",
        )
    ],
}


@pytest.mark.parametrize("edits", REPAIRS.values(), ids=REPAIRS)
def test_a_repair_of_a_merge_stands(edits: list[tuple[str, str]]) -> None:
    assert reasons(edited(*edits)) == []


REFUSED = {
    "a setup step": [("    model = build(4", "    initialize(1, 2)\n    model = build(4")],
    "a context around a call": [
        ("    assert result.shape", "    with no_grad():\n        f(1)\n    assert result.shape")
    ],
    "an attribute by its text": [
        ("    model = build(4", '    setattr(model, "old", 1)\n    model = build(4')
    ],
    "one more test": [
        ("class TestModel", "def test_new():\n    assert build(2)\n\n\nclass TestModel")
    ],
    "an assertion that calls": [
        ("    close_enough(res", "    assert result.max() < 9\n    close_enough(res")
    ],
    "one more value in each case": [
        ('"size, expected"', '"size, expected, width"'),
        ("(1, 2)", "(1, 2, None)"),
        ("(2, 4)", "(2, 4, 1)"),
        ("param(3, 6,", "param(3, 6, 7,"),
    ],
}


@pytest.mark.parametrize("edits", REFUSED.values(), ids=REFUSED)
def test_what_is_as_often_a_trick_is_left_to_a_person(edits: list[tuple[str, str]]) -> None:
    after = edited(*edits)

    assert reasons(after) != []
    assert reasons(f"{after}# x\n", sides=(after, TARGET)) == []


def test_a_file_may_be_put_back_as_one_side_has_it() -> None:
    assert reasons(SOURCE) == []
    assert reasons(TARGET, before=SOURCE, sides=(SOURCE, TARGET), base=SOURCE) == []


def test_but_not_if_that_loses_a_test_only_the_other_side_has() -> None:
    assert "test_more" in reasons(TARGET, before=SOURCE, base=TARGET)[0]
    assert "test_more" in reasons(TARGET, before=SOURCE, base=None)[0]


def test_a_function_may_be_put_back_as_one_side_has_it() -> None:
    mixed = edited(*RENAMED, ("approx(0.75", "approx(0.72"))
    mark = ("@pytest.mark.gpu", "@pytest.mark.flaky\n@pytest.mark.gpu")

    assert reasons(edited(*RENAMED, ("approx(0.75", "approx(0.7"), mark), before=mixed) == []
    assert reasons(edited(), before=mixed) == []
    assert reasons(edited(*RENAMED), before=mixed) != []  # what stood there may be of both sides
    assert reasons(edited(*RENAMED, ("approx(0.75", "approx(0.71")), before=mixed) != []


def test_a_function_that_is_put_back_keeps_what_only_the_other_side_has() -> None:
    """Reported: it was put back without the cases and assertions that the target had added."""
    base = "def test_a():\n    assert f()\n"
    source = base.replace("    assert", "    assert g()\n    assert")
    target = base.replace("def", "@pytest.mark.parametrize('x', [1])\ndef").replace("()", "(x)", 1)
    more = base + "    assert h()\n"

    assert reasons(source + "# x\n", source + "    assert h()\n", base, (source, more)) != []
    assert reasons(base + "# x\n", target, base, (base, target)) != []


def test_a_test_that_one_side_renamed_keeps_what_the_other_added() -> None:
    """Reported: no answer to the conflict was good, but the one that lost what was added."""
    base = "def test_a():\n    assert f()\n"
    renamed, more = base.replace("test_a", "test_b"), base + "    assert h.x\n"
    both = more.replace("test_a", "test_b")

    def judged(before: str, after: str) -> bool:
        texts = (more.encode(), renamed.encode())
        args = ("tests/test_a.py", before.encode(), f"{after}# x\n".encode())
        change = FileChange(*args, sides=texts, base=base.encode(), merging=True)
        return forbidden([change], Policy()) == ()

    assert judged(renamed, both)
    assert judged(more, both)
    assert not judged(more, renamed)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from pkg.deep import d", "from pkg.other import d"),
        ("from pkg.deep import d\n    d(", "from pkg.deep import e\n    e("),
        ("    d(1)", "    from pkg.more import x\n    d(1)"),
    ],
)
def test_an_import_inside_a_test_may_have_another_path_or_name(old: str, new: str) -> None:
    before = "def test_a():\n    from pkg.deep import d\n    d(1)\n"
    assert old in before

    assert reasons(before.replace(old, new), before, before, (before, before)) == []


def test_of_two_answers_to_a_conflict_the_one_that_checks_less_is_refused() -> None:
    base, target, source = (
        f"def test_a():\n    {line}\n" for line in ("f(0)", "assert f(1)", "g()")
    )

    def judged(before: str, after: str, *sides: str) -> bool:
        texts = tuple(side.encode() for side in sides)
        args = ("tests/test_a.py", before.encode(), f"{after}# x\n".encode())
        change = FileChange(*args, sides=texts, base=base.encode(), merging=True)
        return forbidden([change], Policy()) == ()

    assert judged(source, target, target, source)
    assert not judged(target, source, target, source)
    other = target.replace("f(1)", "f(2)")
    assert judged(target, other, target, other)
    assert not judged(target, target.replace("f(1)", "f(3)"), target, other)


def test_what_the_merge_doubled_may_go_once() -> None:
    helper = TEST[TEST.index("def close") : TEST.index("@pytest.fixture")]
    test = TEST[TEST.index("@pytest.mark.gpu") : TEST.index("class TestModel")]
    doubled = edited((helper, helper * 2), (test, test * 2))

    assert reasons(TEST, before=doubled, sides=()) == []
    assert reasons(edited((test, "")), before=doubled) != []


@pytest.mark.parametrize(
    "line", ["    assert result.shape == (2,)", "    target = np.array([0.5, 0.25])"]
)
def test_a_line_the_merge_doubled_may_go_once(line: str) -> None:
    twice, once = edited((line, f"{line}\n{line}")), edited((line, f"    # once\n{line}"))

    assert reasons(once, before=twice) == []
    assert reasons(once, before=twice, sides=()) != []


def test_values_may_be_those_of_one_side_and_no_others() -> None:
    base = "WANTED = {'a': 1, 'old': 2}\n\n\ndef test_a():\n    assert f() == WANTED\n"
    source, target = base.replace("'old'", "'new'"), base.replace("'a': 1", "'a': 1, 'b': 3")
    both = target.replace("'old': 2", "'old': 2, 'new': 2")  # the merge took the new name too

    def why(after: str, base: str | None = base) -> list[str]:
        return reasons(after, both, base, (source, target))

    assert why(both.replace("'old': 2, ", "")) == []
    assert why(both.replace("'old': 2, ", ""), base=None) != []
    assert why(both.replace("'b': 3, ", "")) != []
    assert why(both.replace("'a': 1", "'a': 4")) != []
    fives = [f"WANTED = {[5] * count}\n\n\ndef test_a():\n    f(WANTED)\n" for count in range(4)]
    assert reasons(fives[2] + "# x\n", fives[3], fives[3], (fives[2], fives[3])) == []
    assert reasons(fives[1], fives[3], fives[3], (fives[2], fives[3])) != []
    assert reasons(base.replace("'old'", "'new'"), base, None, (source, target)) == []
    assert reasons(base.replace("'old': 2", "'new': 3"), base, None, (source, target)) != []


def test_of_two_versions_of_a_test_the_stale_one_may_go() -> None:
    """The merge kept both the base's and the source's."""
    start, end = SOURCE.index("@pytest.mark.flaky"), SOURCE.index("def test_more")
    both = edited(("class TestModel", SOURCE[start:end] + "class TestModel"))
    only_new = SOURCE[SOURCE.index("@pytest.mark.flaky") : SOURCE.index("def test_more")]
    kept = both.replace(TEST[TEST.index("@pytest.mark.gpu") : TEST.index("class TestModel")], "", 1)

    assert only_new in kept
    assert reasons(kept, before=both) == []
    assert reasons(kept, before=both, base=None, sides=()) != []


def test_a_test_that_a_side_removed_may_go() -> None:
    without = TEST[: TEST.index("@pytest.mark.gpu")] + TEST[TEST.index("class TestModel") :]

    assert reasons(without, sides=(without, SOURCE)) == []
    assert reasons(without + "\n", sides=(without, SOURCE)) == []
    assert reasons(without + "\n", sides=(without, SOURCE), base=None) != []


def test_a_test_file_that_a_side_deleted_may_go() -> None:
    gone = FileChange(
        "tests/test_model.py", TEST.encode(), None, sides=(TEST.encode(), None), base=TEST.encode()
    )

    assert forbidden([gone], Policy()) == ()


def test_a_test_moves_with_its_whole_file_only() -> None:
    test = TEST[TEST.index("@pytest.mark.gpu") : TEST.index("class TestModel")]
    here = FileChange("tests/test_model.py", TEST.encode(), edited((test, "")).encode())
    there = FileChange("tests/test_loss.py", b"import pytest\n", f"import pytest\n{test}".encode())
    gone = FileChange("tests/test_model.py", TEST.encode(), None, mode_after=None)
    whole = FileChange("tests/more/test_model.py", None, TEST.encode(), mode_before=None)

    assert {item.kind for item in forbidden([here, there], Policy())} >= {RefusalKind.TEST_REMOVED}
    assert forbidden([gone, whole], Policy()) == ()


def test_a_file_may_be_put_together_from_both_sides_where_the_merge_broke_it() -> None:
    source = "def test_a():\n    assert f(1, 2) == 3\n\n\ndef test_b():\n    assert g() == 5\n"
    target = "def test_a():\n    assert f(1) == 2\n\n\ndef test_c():\n    assert h() == 7\n"
    tail = source[source.index("\n\ndef test_b") :] + target[target.index("\n\ndef test_c") :]
    broken = f"def test_a():\n    assert f(1, 2) == 3\n    assert f(1) == 2)\n{tail}"
    best = f"def test_a():\n    assert f(1) == 2\n{tail}"

    assert reasons(best, broken, None, (source, target)) == []
    assert reasons(best + "\n\nWANTED = 9\n", broken, None, (source, target)) != []
    assert reasons(target, broken, None, (source, target)) != []
    assert reasons(best.replace("f(1) == 2", "f(1) == 4"), broken, None, (source, target)) != []
