"""Repairs that make a Python test check less are refused, whichever way they go about it."""

import pytest

from nightly_sync.review.forbidden import FileChange, Policy, RefusalKind, forbidden

REMOVED, SKIPPED = RefusalKind.TEST_REMOVED, RefusalKind.TEST_SKIPPED
LOOSENED, SYNTAX = RefusalKind.TEST_LOOSENED, RefusalKind.SYNTAX

TEST = '''\
"""Tests of the model."""
import numpy as np
import pytest

from pkg.model import build, old_loss

EXPECTED = [1.0, 2.0, 3.5]
TOLERANCE = 1e-5


def close_enough(left, right):
    assert np.allclose(left, right, rtol=1e-5)


@pytest.fixture(params=[1, 2])
def width(request):
    return request.param


@pytest.mark.parametrize("size, expected", [(1, 2), (2, 4), pytest.param(3, 6, id="three")])
def test_sizes(size, expected):
    assert build(size).total == expected


@pytest.mark.gpu
def test_loss(width):
    model = build(4, hidden=8)
    target = np.array([0.5, 0.25])
    result = old_loss(model, target, scale=2)
    assert result.shape == (2,), "the shape is off"
    assert result.mean() == pytest.approx(0.75, rel=1e-6)
    np.testing.assert_allclose(result, EXPECTED, atol=TOLERANCE)
    close_enough(result, EXPECTED)
    with pytest.raises(ValueError, match="negative"):
        old_loss(model, -target)


class TestModel(Shared):
    def test_names(self):
        for name in ["a", "b"]:
            self.assertIn(name, build(1).names)
        if build(1).ready:
            assert build(1).count > 3
'''


def refused(
    after: str | None, before: str = TEST, path: str = "tests/test_model.py", **more: object
) -> list[RefusalKind]:
    """The kinds of refusal, each once."""
    change = FileChange(path, before.encode(), None if after is None else after.encode())
    found = forbidden([FileChange(**{**vars(change), **more})], Policy())
    assert all(item.path == path and item.evidence for item in found)
    return sorted({item.kind for item in found})


def edited(*pairs: tuple[str, str], text: str = TEST) -> str:
    """The text with each first one replaced by the second; it must be there."""
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    return text


ONE_EDIT = [
    # Tests that are no longer there, or no longer found.
    (REMOVED, "def test_loss(", "def check_loss("),
    (REMOVED, "class TestModel(Shared)", "class ModelTests"),
    (REMOVED, "    def test_names(self):", "    def names(self):"),
    (REMOVED, "def test_sizes(", "def test_loss("),
    (REMOVED, "class TestModel", "def test_loss(width):\n    pass\n\n\nclass TestModel"),
    (REMOVED, "class TestModel", "class TestModel:\n    pass\n\n\nclass TestModel"),
    (SKIPPED, "class TestModel(Shared):", "class TestModel(Shared):\n    __test__ = False\n"),
    (SKIPPED, "    def test_names", "    def __init__(self):\n        pass\n\n    def test_names"),
    (SKIPPED, "def test_loss", "async def test_loss"),
    (SKIPPED, "    model = build(4", "    yield\n    model = build(4"),
    (LOOSENED, "class TestModel(Shared)", "class TestModel"),
    (LOOSENED, "class TestModel", "test_loss = None\n\n\nclass TestModel"),
    (LOOSENED, "class TestModel", "del test_loss\n\n\nclass TestModel"),
    # Skips, and marks that CI may leave out.
    (SKIPPED, "@pytest.mark.gpu", "@pytest.mark.skip"),
    (SKIPPED, "@pytest.mark.gpu", '@pytest.mark.skip(reason="broken")\n@pytest.mark.gpu'),
    (SKIPPED, "@pytest.mark.gpu", "@pytest.mark.skipif(True, reason='')\n@pytest.mark.gpu"),
    (SKIPPED, "@pytest.mark.gpu", "@pytest.mark.xfail\n@pytest.mark.gpu"),
    (SKIPPED, "@pytest.mark.gpu", "@unittest.skip('later')\n@pytest.mark.gpu"),
    (SKIPPED, "@pytest.mark.gpu", "@pytest.mark.flaky\n@pytest.mark.gpu"),
    (SKIPPED, "@pytest.mark.gpu\n", ""),
    (SKIPPED, "    model = build(4", "    pytest.skip('broken')\n    model = build(4"),
    (SKIPPED, "    model = build(4", "    pytest.importorskip('x')\n    model = build(4"),
    (SKIPPED, "    model = build(4", "    raise unittest.SkipTest\n    model = build(4"),
    (SKIPPED, "EXPECTED = ", "pytestmark = pytest.mark.skip\nEXPECTED = "),
    (SKIPPED, "EXPECTED = ", "collect_ignore = ['x.py']\nEXPECTED = "),
    (SKIPPED, "        for name in", "        self.skipTest('later')\n        for name in"),
    (SKIPPED, "(2, 4)", "pytest.param(2, 4, marks=pytest.mark.skip)"),
    # Fewer cases, other cases.
    (LOOSENED, "(1, 2), ", ""),
    (LOOSENED, ', pytest.param(3, 6, id="three")', ""),
    (LOOSENED, "(2, 4)", "(2, 5)"),
    (LOOSENED, "(2, 4)", "(1, 2)"),
    (LOOSENED, "params=[1, 2]", "params=[1]"),
    (LOOSENED, '["a", "b"]', '["a"]'),
    (LOOSENED, '["a", "b"]', "[]"),
    # Assertions that are gone, or say less.
    (LOOSENED, '    assert result.shape == (2,), "the shape is off"\n', ""),
    (LOOSENED, "    close_enough(result, EXPECTED)\n", ""),
    (LOOSENED, "assert result.shape == (2,),", "assert True,"),
    (LOOSENED, "assert result.shape == (2,),", "assert result.shape,"),
    (LOOSENED, "assert result.shape == (2,),", "assert result.shape is not None,"),
    (LOOSENED, "assert result.shape == (2,),", "assert result.shape in [(2,), ()],"),
    (LOOSENED, "assert result.shape == (2,),", "assert result.shape == (3,),"),
    (LOOSENED, "assert result.shape == (2,),", "assert result.shape == (2,) or True,"),
    (LOOSENED, "assert result.shape == (2,),", "assert result.shape == result.shape,"),
    (LOOSENED, "assert result.shape == (2,),", "assert (result.shape == (2,)),"[:-1] + " or 1,"),
    (LOOSENED, 'assert result.shape == (2,), "the shape is off"', "assert (result.shape, '')"),
    (LOOSENED, "assert result.shape == (2,),", "assert model.shape == (2,),"),
    (LOOSENED, "count > 3", "count >= 3"),
    (LOOSENED, "self.assertIn(", "self.assertNotIn("),
    (LOOSENED, "self.assertIn(name, build(1).names)", "self.assertTrue(build(1).names)"),
    (LOOSENED, "rel=1e-6", "rel=1e-2"),
    (LOOSENED, "approx(0.75, rel=1e-6)", "approx(0.75, rel=1e-6, abs=1)"),
    (LOOSENED, "approx(0.75, rel=1e-6)", "approx(0.75)"),
    (LOOSENED, "approx(0.75", "approx(0.8"),
    (LOOSENED, "rtol=1e-5", "rtol=1e-5, atol=1"),
    (LOOSENED, "TOLERANCE = 1e-5", "TOLERANCE = 1e-2"),
    (
        LOOSENED,
        "assert_allclose(result, EXPECTED, atol=TOLERANCE)",
        "assert_allclose(result, result)",
    ),
    (LOOSENED, "raises(ValueError, match", "raises(Exception, match"),
    (LOOSENED, 'raises(ValueError, match="negative")', "raises(ValueError)"),
    (
        LOOSENED,
        "    close_enough(result",
        "    with pytest.raises(TypeError):\n        close_enough(result",
    ),
    # Values that results are compared with.
    (LOOSENED, "[1.0, 2.0, 3.5]", "[1.0, 2.0, 3.6]"),
    (LOOSENED, "[1.0, 2.0, 3.5]", "[1.0, 2.0]"),
    (LOOSENED, "np.array([0.5, 0.25])", "np.array([0.5, 0.5])"),
    (LOOSENED, "hidden=8", "hidden=4"),
    (LOOSENED, "TOLERANCE = 1e-5", "TOLERANCE = build(1).eps"),
    (LOOSENED, "target = np.array([0.5, 0.25])", "target = build(1).loss"),
    (LOOSENED, "close_enough(result, EXPECTED)", "close_enough(result)"),
    (LOOSENED, "build(4, hidden=8)", "build(2, hidden=8)"),
    (LOOSENED, "build(4, hidden=8)", "build(4, 7)"),
    (LOOSENED, "TOLERANCE = 1e-5", "TOLERANCE = build().eps"),
    (LOOSENED, "scale=2)", "scale=2)\n    result = EXPECTED"),
    (LOOSENED, "scale=2)", "scale=2)\n    EXPECTED = [9.0]"),
    (LOOSENED, "result = old_loss(model, target, scale=2)", "result = EXPECTED"),
    # Checks that are no longer reached.
    (LOOSENED, "    model = build(4", "    return\n    model = build(4"),
    (LOOSENED, "            self.assertIn", "            continue\n            self.assertIn"),
    (LOOSENED, "    model = build(4", "    os._exit(0)\n    model = build(4"),
    (LOOSENED, "        if build(1).ready:", "        if build(1).ready and build(2):"),
    (LOOSENED, '        for name in ["a", "b"]:', '        if "a":'),
    (
        LOOSENED,
        "    close_enough(result, EXPECTED)",
        "    try:\n        close_enough(result, EXPECTED)\n    except Exception:\n        pass",
    ),
    (
        LOOSENED,
        "    result = old_loss(model, target, scale=2)",
        "    try:\n        result = old_loss(model, target, scale=2)\n    except Exception:\n"
        "        result = build(1)",
    ),
    (
        LOOSENED,
        "    close_enough(result, EXPECTED)",
        "    with contextlib.suppress(AssertionError):\n        close_enough(result, EXPECTED)",
    ),
    (LOOSENED, "    assert np.allclose", "    if left:\n        assert np.allclose"),
    (LOOSENED, "    assert np.allclose(left, right, rtol=1e-5)", "    return left"),
    # What is no Python any more.
    (SYNTAX, "def test_loss(width):", "def test_loss(width:"),
]


@pytest.mark.parametrize(("kind", "old", "new"), ONE_EDIT)
def test_one_edit_that_weakens_a_test_is_refused(kind: RefusalKind, old: str, new: str) -> None:
    assert kind in refused(edited((old, new)))


@pytest.mark.parametrize(
    ("old", "new", "ok"),
    [
        ("a.x == 1 and b.x == 1", "a.y == 1 and b.y == 1", True),
        ("a.x == 1 and b.x == 1", "a.y == 1 and b.x == 1", False),
        ("a.x == b.x", "a.x == a.x", False),
        ("a.x == b.x", "c.x == b.x", True),
        ("a.x == b.x", "b.x == a.x", False),
        ("x == y", "y == x", False),
        ("equal(x, y)", "allclose(x, y)", False),
        ("same(x, y)", "matches(x, y)", False),
        ("any(x)", "all(x)", False),
        ("old.f(x) == 1", "new.f(x) == 1", True),
        ("old.f(x) == 1", "f(x) == 1", True),
        ("f(x) == g(x)", "f(x) == h(x)", True),
        ("f(x) == g(x)", "f(x) == f(x)", False),
        ("f(x, 1) == 1", "f(x, 1, y=2) == 1", True),
        ("f(x, 1) == 1", "f(x, 1, 2) == 1", True),
        ("f(x, 1) == 1", "f(1, x=x) == 1", True),
        ("f(x, 1) == 1", "f(x, 2) == 1", False),
        ("f(x, 1) == 1", "f(x) == 1", False),
        ("f(x, 1) == 1", "f(x, 1, strict=False) == 1", False),
        ("f(x, y=1) == 1", "f(x) == 1", True),
        ("f(x, y=1) == 1", "f(x, z=1) == 1", True),
        ("f(x, y=1) == 1", "f(x, tol=1) == 1", False),
        ("f(y=1, x=2) == 1", "f(x=1, y=2) == 1", False),
        ("len(f(x)) == 1", "len(f(x, y)) == 1", True),
        ("len(x) == 1", "len(x, y) == 1", False),
        ("f(x) == 1", "f(x) == 1.0", False),
        ("f(x) == 1", "f(x) == True", False),
        ("f(x)[0] == 1", "f(x)[1] == 1", False),
        ("f(x)[0] == 1", "f(x) == 1", False),
        ("not f(x)", "f(x)", False),
        ("x - y < 3", "x + y < 3", False),
        ("[i for i in x]", "[j for j in x]", True),
        ("f(x) == f(y)", "f(x, k=1) == f(x, k=1)", False),
        ("f(x) == g(x) + 1", "f(x) == f(x) + 1", False),
        ("f(x) == f(y) + 1", "g(x) == h(y) + 1", False),
        ("f(x) == g(y) + 1", "h(x) == h(y) + 1", False),
        ("f(x) == f(y) + k(z)", "g(x) == h(y) + h(z)", False),
        ("equal(x, y)", "f(x, y)", False),
        ("f(x, y)", "equal(x, y)", False),
        ("f(x, 1) == 1", "f(x, 2, y=3) == 1", False),
        ("x == approx(y, abs=1)", "x == approx(y, rel=1)", False),
        ("x == approx(y, abs=1)", "x == z(y, abs=1)", False),
        ("same(x, tol=1)", "same(x, tolerance=1)", True),
        ("same(x, size=1)", "same(x, tol=1)", False),
    ],
)
def test_only_names_may_change_in_an_assertion(old: str, new: str, ok: bool) -> None:
    before, after = (f"def test_a():\n    assert {text}\n" for text in (old, new))

    assert refused(after, before) == ([] if ok else [LOOSENED])


def test_another_variable_is_no_other_name() -> None:
    before = "def test_a():\n    x, y = f()\n    assert x.n == 1\n"

    assert refused(before.replace("assert x.n", "assert y.n"), before) == [LOOSENED]
    assert refused(before.replace("x", "z"), before) == []


def test_a_looser_setting_is_no_other_name_for_a_strict_one() -> None:
    before = "def test_a():\n    made = Setup(tol=1e-5, size=1)\n    assert made.run()\n"

    assert refused(before.replace("tol=1e-5", "tolerance=1e-2"), before) == [LOOSENED]
    assert refused(before.replace("tol=1e-5", "tolerance=1e-5"), before) == []
    assert refused(before.replace("size=1", "width=2"), before) == []


def test_a_skip_may_go() -> None:
    for skip in ("@pytest.mark.skip", "@pytest.mark.xfail(reason='x')", "@unittest.skip('x')"):
        before = f"{skip}\ndef test_a():\n    assert f()\n"
        assert refused(before.replace(f"{skip}\n", ""), before) == []


def test_a_skip_of_a_side_stays_under_the_conditions_it_has_there() -> None:
    before = "def test_a():\n    x = f()\n    assert x\n"
    skip, source = (
        "        pytest.skip('x')\n",
        "def test_a():\n    if y:\n        pytest.skip('x')\n",
    )
    sides = (source.encode(), before.encode())

    def after(condition: str) -> str:
        return before.replace("    x =", f"    if {condition}:\n{skip}    x =")

    assert refused(after("y"), before, sides=sides) == []
    assert SKIPPED in refused(after("not y"), before, sides=sides)
    assert SKIPPED in refused(before.replace("    x =", f"{skip[4:]}    x ="), before, sides=sides)


def test_a_test_that_moves_below_a_condition_is_refused() -> None:
    head, tail = TEST.split("class TestModel")
    inner = "".join(f"    {line}" for line in f"class TestModel{tail}".splitlines(keepends=True))

    assert SKIPPED in refused(f"{head}if False:\n{inner}")


def test_every_statement_of_a_test_can_not_be_dropped_without_a_word() -> None:
    """Assertions, one after the other, and all at once."""
    lines = TEST.splitlines(keepends=True)
    for at in (at for at, line in enumerate(lines) if "assert" in line or "close_enough(r" in line):
        rest = [*lines[:at], lines[at].replace(lines[at].strip(), "pass"), *lines[at + 1 :]]
        assert refused("".join(rest)) == [LOOSENED], lines[at]


@pytest.mark.parametrize("after", [None, "", '"""Tests of the model."""\n'])
def test_a_test_file_that_is_deleted_or_emptied_is_refused(after: str | None) -> None:
    assert REMOVED in refused(after)


@pytest.mark.parametrize("now", [TEST, edited(("1.0", "1.5"))])
def test_a_test_file_that_is_renamed_out_of_collection_is_refused(now: str) -> None:
    def renamed(name: str) -> set[RefusalKind]:
        gone = FileChange("tests/test_model.py", TEST.encode(), None)
        new = FileChange(name, None, now.encode())
        return {item.kind for item in forbidden([gone, new], Policy())}

    assert REMOVED in renamed("tests/model_tests_off.py")
    assert REMOVED in renamed("old/test_model.txt")
    assert (renamed("tests/test_models.py") == set()) == (now == TEST)


def test_a_hook_of_pytest_that_is_new_or_changed_is_refused() -> None:
    hook = "def pytest_collection_modifyitems(items):\n    items.sort(key=str)\n"
    path = "tests/conftest.py"

    assert refused(hook, before="", path=path) == [SKIPPED]
    assert refused(hook.replace("sort(key=str)", "clear()"), hook, path) == [SKIPPED]
    assert refused("", hook, path) == [SKIPPED]
    assert refused(hook, "", path, sides=(hook.encode(), b"")) == []


def test_skips_and_lost_assertions_count_in_code_that_is_no_test_too() -> None:
    code = "def load(path):\n    assert path.exists()\n    return read(path)\n"
    path = "pkg/load.py"

    assert refused(code.replace("    assert path.exists()\n", ""), code, path) == [LOOSENED]
    assert refused(code.replace("path.exists()", "True"), code, path) == [LOOSENED]
    assert refused(code.replace("return", "pytest.skip()\n    return"), code, path) == [SKIPPED]
    assert refused("def other():\n    return 1\n", code, path) == []
    assert refused(code.replace("    assert", "    if path:\n        assert"), code, path) == []


BROKEN = edited(("def test_loss(width):", "def test_loss(width:"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(2, 4), ", ""),
        ("    close_enough(result, EXPECTED)\n    with", "    with"),
        ("TOLERANCE = 1e-5", "TOLERANCE = 1e-2"),
        ("count > 3", "count"),
        ("@pytest.mark.gpu", "@pytest.mark.skip"),
        ("@pytest.mark.gpu", "@pytest.mark.skip\n@pytest.mark.gpu"),
        ("    model = build(4", "    pytest.skip()\n    model = build(4"),
        ("        if build(1).ready:", "        if not build(1):"),
        ("rel=1e-6", "rel=1"),
        ("def test_sizes(", "def sizes("),
    ],
)
def test_a_file_that_did_not_parse_is_no_excuse(old: str, new: str) -> None:
    both = (TEST.encode(), TEST.encode())

    assert refused(edited((old, new)), BROKEN)
    assert refused(edited((old, new)), BROKEN, sides=both, base=TEST.encode())


def test_a_file_that_did_not_parse_may_be_mended() -> None:
    both = (TEST.encode(), TEST.encode())

    assert refused(TEST + "# mended\n", BROKEN, sides=both) == []
    assert refused(TEST, BROKEN) != []  # nobody has it
    assert refused(BROKEN, BROKEN) == []
    assert refused(f"{BROKEN}\n", BROKEN, sides=(TEST.encode(),)) == [SYNTAX]
    markers = BROKEN.replace("EXPECTED = ", "<<<<<<< ours\n=======\n>>>>>>> theirs\nEXPECTED = ", 1)
    assert refused(edited(("build(4", "build(x, 4")), markers, sides=both) == []


def test_what_can_never_be_parsed_may_only_be_restored() -> None:
    template = "def test_{{ name }}():\n    assert 1\n"
    changed = template.replace("1", "2")

    assert refused(changed, template) == [LOOSENED]
    assert refused(changed, template, sides=(changed.encode(), template.encode())) == []


@pytest.mark.parametrize("text", ["\0", "x = (" * 3000, "\udcff"])
def test_odd_content_is_no_crash(text: str) -> None:
    odd = text.encode("utf-8", "surrogateescape")
    change = FileChange("tests/test_a.py", odd, b"assert 1\n", sides=(odd, None), base=odd)

    forbidden([change, FileChange("tests/test_b.py", b"assert 1\n", odd)], Policy())
