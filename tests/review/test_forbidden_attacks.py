"""Tricks that silence a test: the rule knows none of them by name, and refuses all."""

import time

import pytest

from nightly_sync.review.forbidden import FileChange, Policy, RefusalKind, forbidden

TEST = """\
import numpy as np
import pytest
from pkg.slow import reference
from pkg.train import Model, train

EXPECTED = [1, 2, 3]
TOLERANCE = 1e-5


def close(left, right):
    assert abs(left - right) < TOLERANCE


@pytest.fixture
def model():
    return Model(size=4)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_training(size, model):
    result = train(model, size)
    expected = EXPECTED[size]
    assert result == expected
    assert result == reference(size)
    close(result.loss, 0.5)
    np.testing.assert_allclose(result.loss, 0.5, rtol=1e-3)
    with pytest.raises(ValueError):
        train(model, -1)
    for item in EXPECTED:
        assert item in result.items


class TestMore:
    limit = 3
    zero = 0

    def test_more(self):
        got = train(Model(), 1)
        try:
            got.stop()
        finally:
            assert got.stopped
        assert len(got) == self.limit
"""

BODY = "    result = train(model, size)\n"
EXPECT = "    expected = EXPECTED[size]\n"
CHECK = "    assert result == expected\n"
HEAD = "def test_training("
CASES = '@pytest.mark.parametrize("size", [1, 2, 3])\n'
IMPORT = "from pkg.train import Model, train\n"
DATA = "EXPECTED = [1, 2, 3]\n"
CLASS = "class TestMore:\n"
PATH = "tests/test_train.py"
IMPORTED = "    from pkg import x\n    f"

ATTACKS = {
    "skip by decorator": (CASES, "@pytest.mark.skip\n" + CASES),
    "skip under a condition": (BODY, "    if size > 1:\n        pytest.skip('x')\n" + BODY),
    "early return": (CHECK, "    return\n" + CHECK),
    "early return under condition": (CHECK, "    if result:\n        return\n" + CHECK),
    "expected rebound": (CHECK, "    expected = result\n" + CHECK),
    "expected from result": (EXPECT, "    expected = result\n"),
    "expected copied with a call": (EXPECT, "    expected = list(result)\n"),
    "result rebound": (BODY, BODY + "    result = EXPECTED[size]\n"),
    "shadowed helper": (
        "@pytest.fixture\n",
        "def close(left, right):\n    pass\n\n\n@pytest.fixture\n",
    ),
    "local helper": (BODY, "    def close(left, right):\n        pass\n" + BODY),
    "local lambda": (BODY, "    close = lambda left, right: None\n" + BODY),
    "try except": (
        CHECK,
        "    try:\n        assert result == expected\n    except AssertionError:\n        pass\n",
    ),
    "try finally return": (
        CHECK,
        "    try:\n        assert result == expected\n    finally:\n        return\n",
    ),
    "autouse": ("@pytest.fixture\n", "@pytest.fixture(autouse=True)\n"),
    "new autouse fixture": (
        "@pytest.fixture\n",
        "@pytest.fixture(autouse=True)\ndef off(monkeypatch):\n    train.strict = 0\n\n\n"
        "@pytest.fixture\n",
    ),
    "monkeypatch": (BODY, "    pytest.MonkeyPatch().setattr('pkg.train.check', print)\n" + BODY),
    "monkeypatch of an import": (CLASS, "train = EXPECTED.index\n\n\n" + CLASS),
    "attribute of the product": (BODY, "    Model.check = None\n" + BODY),
    "attribute of the module": (CLASS, "np.testing.assert_allclose = print\n\n\n" + CLASS),
    "constant": (DATA, "EXPECTED = [1, 2, 4]\n"),
    "fewer constants": (DATA, "EXPECTED = [1, 2]\n"),
    "empty loop": ("for item in EXPECTED:", "for item in EXPECTED[3:]:"),
    "empty loop data": (DATA, "EXPECTED = []\n"),
    "cleared data": (CLASS, "EXPECTED.clear()\n\n\n" + CLASS),
    "tolerance": ("TOLERANCE = 1e-5", "TOLERANCE = 1e5"),
    "tolerance argument": ("rtol=1e-3", "rtol=1e3"),
    "one tolerance more": ("rtol=1e-3", "rtol=1e-3, atol=9"),
    "moved under if False": (CHECK, "    if False:\n    " + CHECK),
    "moved under a loop": (CHECK, "    for _ in ():\n    " + CHECK),
    "moved under while": (CHECK, "    while False:\n    " + CHECK),
    "under raises": (CHECK, "    with pytest.raises(AssertionError):\n    " + CHECK),
    "earlier failure in raises": (
        "        train(model, -1)\n",
        "        int('x')\n        train(model, -1)\n",
    ),
    "other argument in raises": ("train(model, -1)", "train(model, -1, size)"),
    "wider raises": ("raises(ValueError)", "raises(Exception)"),
    "two raises": ("raises(ValueError)", "raises((ValueError, TypeError))"),
    "default argument": (HEAD + "size, model", HEAD + "model, size=1"),
    "walrus in a message": (CHECK, "    assert result == expected, pytest.skip('x')\n"),
    "walrus in an argument": ("train(model, size)", "train(model, size, x=(size := 0))"),
    "__test__ in the class": (CLASS, CLASS + "    __test__ = False\n"),
    "__test__ on the test": (CLASS, "test_training.__test__ = False\n\n\n" + CLASS),
    "limit of the class": ("    limit = 3", "    limit = 0"),
    "star import": (IMPORT, IMPORT + "from tests.fake import *\n"),
    "import over a name": (IMPORT, IMPORT + "from pkg.fast import train as reference\n"),
    "import over a builtin": (IMPORT, IMPORT + "from pkg.fast import len\n"),
    "import as a second name": (
        "from pkg.slow import reference",
        "from pkg.train import train as reference",
    ),
    "imported hook": (IMPORT, IMPORT + "from pkg.plug import pytest_runtest_call\n"),
    "import of a fake package": ("from pkg.train", "from fake.train"),
    "fewer cases": ("[1, 2, 3])", "[1, 2])"),
    "marked case": ("[1, 2, 3])", "[1, 2, pytest.param(3, marks=pytest.mark.skip)])"),
    "no cases": (CASES, "@pytest.mark.parametrize('size', [])\n"),
    "async": (HEAD, "async " + HEAD),
    "generator": (BODY, "    yield\n" + BODY),
    "generator at the end": (
        "        assert item in result.items\n",
        "        assert item in result.items\n    yield\n",
    ),
    "await in an assertion": ("assert result == expected", "assert (yield) or result == expected"),
    "del": (CLASS, "del test_training\n\n\n" + CLASS),
    "del in a test": (CHECK, "    del expected[:]\n" + CHECK),
    "global": (BODY, "    global EXPECTED\n" + BODY),
    "globals": (CLASS, "globals()['test_training'] = None\n\n\n" + CLASS),
    "match": (CHECK, "    match result:\n        case None:\n        " + CHECK),
    "nested function": (CHECK, "    def later():\n    " + CHECK),
    "lambda": (CHECK, "    lambda: result == expected\n"),
    "tuple": (CHECK, "    assert (result == expected, 'x')\n"),
    "x == x": (CHECK, "    assert result == result\n"),
    "or": (CHECK, "    assert result == expected or True\n"),
    "bool": (CHECK, "    assert bool(result) or expected\n"),
    "in": (CHECK, "    assert result in (expected, result)\n"),
    "not none": (CHECK, "    assert result is not None\n"),
    "swapped operands": (CHECK, "    assert expected != result\n"),
    "the product as reference": (
        "assert result == reference(size)",
        "assert result == train(size)",
    ),
    "another import as reference": (
        "assert result == reference(size)",
        "assert result == train(model, size)",
    ),
    "a helper as reference": ("assert result == reference(size)", "assert result == close(size)"),
    "print for the helper": ("    close(result.loss, 0.5)\n", "    print(result.loss, 0.5)\n"),
    "another function for the helper": (
        "    close(result.loss, 0.5)\n",
        "    show(result.loss, 0.5)\n",
    ),
    "comment out": (CHECK, "    # assert result == expected\n"),
    "string": (CHECK, "    '''assert result == expected'''\n"),
    "disabled helper": (
        "    assert abs(left - right) < TOLERANCE\n",
        "    return\n    assert abs(left - right) < TOLERANCE\n",
    ),
    "helper by a decorator": ("def close(", "@print\ndef close("),
    "decorated test": (CASES, "@close\n" + CASES),
    "usefixtures": (CASES, "@pytest.mark.usefixtures('off')\n" + CASES),
    "mark": (CASES, "@pytest.mark.slow\n" + CASES),
    "pytestmark": (DATA, "pytestmark = pytest.mark.skip\n" + DATA),
    "pytestmark by annotation": (DATA, "pytestmark: list = [pytest.mark.skip]\n" + DATA),
    "annotation": (
        "def close(left, right)",
        "def close(left: pytest.skip('x', allow_module_level=True), right)",
    ),
    "setup": (CLASS, CLASS + "    def setup_method(self):\n        pytest.skip('x')\n\n"),
    "setup module": (CLASS, "def setup_module():\n    pytest.skip('x')\n\n\n" + CLASS),
    "load_tests": (CLASS, "def load_tests(*args):\n    return []\n\n\n" + CLASS),
    "module getattr": (CLASS, "def __getattr__(name):\n    return print\n\n\n" + CLASS),
    "new fixture over another": (CLASS, "@pytest.fixture\ndef size():\n    return 0\n\n\n" + CLASS),
    "init": (CLASS, CLASS + "    def __init__(self):\n        pass\n\n"),
    "run": (CLASS, CLASS + "    def run(self, result=None):\n        pass\n\n"),
    "metaclass": (CLASS, "class TestMore(metaclass=Quiet):\n"),
    "base": (CLASS, "class TestMore(Model):\n"),
    "renamed out of collection": (HEAD, "def check_training("),
    "class renamed": (CLASS, "class More:\n"),
    "class in a function": (CLASS, "def hide():\n  class TestMore:\n    pass\n\n\n" + CLASS),
    "class under a condition": (CLASS, "if not EXPECTED:\n    class Test1: pass\n\n\n" + CLASS),
    "two tests of one name": (CLASS, HEAD + "):\n    pass\n\n\nclass TestMore:\n"),
    "exit": (BODY, "    __import__('os')._exit(0)\n" + BODY),
    "sys.modules": (BODY, "    sys.modules['pkg.train'] = None\n" + BODY),
    "finally": (
        "        finally:\n            assert got.stopped\n",
        "        except Exception:\n            pass\n        else:\n"
        "            assert got.stopped\n",
    ),
    "loop else": (
        "        assert item in result.items\n",
        "        break\n    else:\n        assert item in result.items\n",
    ),
    "break": (
        "        assert item in result.items\n",
        "        break\n        assert item in result.items\n",
    ),
    "moved below": (
        EXPECT + "    assert result == expected\n    assert result == reference(size)\n",
        "    assert result == expected\n    assert result == reference(size)\n" + EXPECT,
    ),
    "two loops": (
        "    for item in EXPECTED:\n",
        "    for item in EXPECTED:\n        pass\n    for item in []:\n",
    ),
    "augmented": (CHECK, "    expected += result\n" + CHECK),
    "unpacked": (BODY, "    result, expected = train(model, size), 0\n"),
    "with as": (CHECK, "    with model as expected:\n        pass\n" + CHECK),
    "except as": (
        "        finally:",
        "        except ValueError as got:\n            pass\n        finally:",
    ),
    "comprehension": (
        "for item in EXPECTED:",
        "for item in [i for i in EXPECTED if i in result.items]:",
    ),
    "sorted away": ("assert item in result.items", "assert item or result.items"),
    "attribute over another": (BODY, BODY + "    result.loss = 0.5\n"),
    "attribute of equality": (BODY, BODY + "    result.__class__ = None\n"),
    "index of the result": ("train(model, size)\n    expected", "EXPECTED[size]\n    expected"),
    "constant fixture": ("return Model(size=4)", "return Model(size=0)"),
    "yield fixture": ("return Model(size=4)", "return None"),
    "encoding": ("import numpy", "# coding: rot13\nimport numpy"),
    "new constant over a name of another file": (DATA, DATA + "limit = 0\n"),
    "semicolon": (BODY, "    result = train(model, size); size = 0\n"),
    "unreachable by raise": (CHECK, "    raise unittest.SkipTest\n" + CHECK),
    "assert message changes to a call": (
        "    assert result == reference(size)\n",
        "    assert result == reference(size), result.fix()\n",
    ),
    "new plain module value under pytest's name": (DATA, DATA + "pytest_plugins = ['x']\n"),
    "exec": (CLASS, "exec('train = EXPECTED.index')\n\n\n" + CLASS),
    "setattr": (BODY, "    setattr(result, 'loss', 0.5)\n" + BODY),
    "result sliced": (BODY, "    result = train(model, size)[0:0]\n"),
    "type alias": (CLASS, "class reference:\n    pass\n\n\n" + CLASS),
    "conditional import": (
        IMPORT,
        "try:\n    from pkg.train import Model, train\nexcept ImportError:\n"
        "    pytest.skip('x', allow_module_level=True)\n",
    ),
    "import under a condition": (
        "from pkg.slow import reference\n",
        "if False:\n    from pkg.slow import reference\n",
    ),
    "a function's own import": (BODY, "    from tests.fake import reference\n" + BODY),
    "a function's own import of a fake": (BODY, "    from pkg.fake import reference\n" + BODY),
    "a patch": (CASES, "@mock.patch('tests.test_train.train')\n" + CASES),
    "marks by another name": (IMPORT, "from pytest import mark as m\n" + IMPORT),
    "a skip by another name": (IMPORT, "from pytest import skip as hold\n" + IMPORT),
    "an import of its name": (IMPORT, IMPORT + "from os import sep as test_training\n"),
    "a loop over its name": (CLASS, "for test_training in ():\n    pass\n\n\n" + CLASS),
    "a context of its name": (CLASS, "with open('x') as test_training:\n    pass\n\n\n" + CLASS),
    "a walrus": (CLASS, "print(test_training := 0)\n\n\n" + CLASS),
    "a lambda for an import": (
        IMPORT,
        "from pkg.train import Model\ntrain = lambda model, size: EXPECTED[size]\n",
    ),
    "a function for an import": (
        IMPORT,
        "from pkg.train import Model\n\n\ndef train(model, size):\n    return EXPECTED[size]\n",
    ),
    "an import from tests": (IMPORT, "from tests.fake import Model, train\n"),
    "an attribute by its text": (BODY, "    getattr(pytest, 'sk' + 'ip')('x')\n" + BODY),
    "an outcome": (BODY, "    raise Skipped('x')\n" + BODY),
    "an outcome of pytest": (BODY, "    raise pytest.skip.Exception('x')\n" + BODY),
    "a context that swallows": (
        CLASS,
        "class Quiet:\n    def __exit__(self, *args):\n        return True\n\n\n" + CLASS,
    ),
    "attribute of a class renamed to another": ("== self.limit", "== self.zero"),
}


def refused(after: str, before: str | None = TEST, path: str = PATH, merging: bool = False) -> bool:
    """Is a change refused that neither side has?"""
    old = None if before is None else before.encode()
    sides = (old, old)
    change = FileChange(path, old, after.encode(), sides=sides, base=old, merging=merging)
    return forbidden([change], Policy()) != ()


@pytest.mark.parametrize("case", ATTACKS)
def test_a_test_is_not_silenced(case: str) -> None:
    """Reported: many of these were not seen, and the tests were green with a broken product."""
    old, new = ATTACKS[case]
    assert old in TEST
    after = TEST.replace(old, new, 1)

    assert refused(after)
    assert refused(after, merging=True)


NAMES = {
    "another condition of a skip": ("@skipif(not pkg.HAVE)\ndef test_a(): f()", "HAVE", "OFF"),
    "a fixture for all": ("@fixture(params=[1])\ndef a(x): f()", "[1]", "[1], autouse=True"),
    "a wider error": ("def test_a():\n    with raises(pkg.Small):\n        f()", "Small", "Wide"),
    "a wider handler": ("try:\n    f()\nexcept Small:\n    g()", "Small", "Wide"),
    "another base": ("class TestA(pkg.Old):\n    pass", "Old", "New"),
    "an import in a class": ("class A:\n    n = 3", "n = 3", "n = 3\n    from pkg import n"),
    "an import over a variable": ("def test_a():\n    x = 1\n    f(x)", "    f", IMPORTED),
    "an import over a fixture": ("def test_a(x):\n    f(x)", "def", "from pkg import x\ndef"),
    "an attribute of a test": (
        "class A:\n    def test_a(s): f()",
        "f()",
        "f()\n    test_a.skip = 1",
    ),
    "a method of a list": ("def test_a():\n    x.append(1)", "append(1)", "count(1)"),
    "the end of the process": ("def test_a():\n    start(0)", "start", "os._exit"),
    "a known attribute": ("def test_a():\n    assert f() == x.n\n    g(x.z)", "x.n", "x.z"),
    "a variable that is there": ("def test_a(x, y):\n    assert x == 1", "assert x", "assert y"),
    "an argument that fakes": ("def test_a():\n    f(1)", "f(1)", "f(1, return_value=2)"),
    "an argument that runs": ("def test_a():\n    f(1)", "f(1)", "f(1, x=skip())"),
    "two names made one": ("def test_a():\n    f(1)\n    g(1)", "f(1)\n    g", "h(1)\n    h"),
    "a doctest": ('def f():\n    """>>> f()"""\n    g()', ">>> f()", "f()"),
    "a failure that is expected": ("@xfail\ndef test_a():\n    f(1)", "f(1)", "f(1)\n    assert 0"),
    "two keys": ("X = {'a': 1, 'b': 2}\ndef test_a(): f(X)", "'b': 2", "'b': 2, 'a': 3"),
}


@pytest.mark.parametrize("case", NAMES)
def test_a_name_or_an_argument_is_no_way_around(case: str) -> None:
    before, old, new = NAMES[case]
    assert old in before

    assert refused(before.replace(old, new), before)


CHECK_IT = "def check(a, b=None, slack=0):\n    assert abs(a - b) <= slack\n\n\ndef test_a():\n    "
RAISES = "from pkg import f\n\n\ndef test_a():\n    with raises(Exception):\n        f(-1)\n"
CASE = "@pytest.mark.parametrize('a', [pytest.param(3, id='x')])\ndef test_a(a): f(a)\n"
MODEL = (
    "@pytest.fixture\ndef model():\n    return f(4)\n\n\ndef test_a(model):\n    assert g(model)\n"
)
IN_CLASS = "    def test_a(self): f(1)\n"
SKIPPED = "@skip\nclass TestB:\n    y = 1\n"
HOLES = {
    "an import that was the test": (
        "def test_a():\n    import pkg.foo\n",
        "import pkg.foo",
        "pass",
    ),
    "another import in a try": (
        "try:\n    from pkg.fast import q\nexcept ImportError:\n    q = None\n",
        "pkg.fast",
        "pkg.missing",
    ),
    "an import that fails as expected": (
        RAISES,
        "        f(-1)",
        "        import no\n        f(-1)",
    ),
    "a name that is imported too late": (RAISES, "f(-1)\n", "f(-1)\n    from pkg import f\n"),
    "code in the id of a case": (CASE, "id='x'", "id=pytest.skip('x', allow_module_level=True)"),
    "code in the id of a new case": (CASE, ")])", "), pytest.param(4, id=exit())])"),
    "names of a case swapped": (
        "@parametrize(('a', 'b'), [(1, 2)])\ndef test_a(a, b): assert f(a) == b\n",
        "('a', 'b')",
        "('b', 'a')",
    ),
    "a case given to a fixture": (
        "@parametrize('a,b', [(1, 2)], indirect=['a'])\ndef test_a(a, b): f(a, b)\n",
        "['a']",
        "['a', 'b']",
    ),
    "a second result with a name of pytest's": (
        "X = f()\n\n\ndef test_a(): f(X)\n",
        "X =",
        "X, run =",
    ),
    "a second result over a builtin": ("X = f()\n\n\ndef test_a(): f(X)\n", "X =", "X, print ="),
    "a fixture that may skip": ("def test_a():\n    assert f(1)\n", "()", "(requires_gpu)"),
    "a builtin for a variable": (
        "def test_a():\n    out = f()\n    assert out.count\n",
        "out = f()\n    assert out",
        "x = f()\n    assert str",
    ),
    "one variable for two": (
        "def test_a():\n    x = f()\n    assert x\n    x = g()\n    assert x\n",
        "x = f()\n    assert x\n    x = g()\n    assert x",
        "y = f()\n    assert y\n    z = g()\n    assert y",
    ),
    "a helper's argument that is gone": (CHECK_IT + "check(f(), b=3)\n", "f(), b=3", "f()"),
    "one argument more for a helper": (CHECK_IT + "check(f(), 3)\n", "f(), 3", "f(), 3, slack=99"),
    "one value more for a helper": (CHECK_IT + "check(f(), 3)\n", "f(), 3", "f(), 3, 99"),
    "an expectation that is not given": (
        "def test_a():\n    run(1, expected=3)\n",
        ", expected=3",
        "",
    ),
    "a mock of anything": ("def test_a():\n    f(Mock(spec=g))\n", "spec=g", ""),
    "a test in a skipped class by another name": (
        f"class TestA:\n    x = 1\n{IN_CLASS}{SKIPPED}",
        IN_CLASS + SKIPPED,
        SKIPPED + IN_CLASS.replace("test_a", "test_b"),
    ),
    "a test class out of collection": ("class TestA(Base):\n    x = 1\n", "TestA", "More"),
    "a fixture that makes room for another": (MODEL, "def model", "def other_model"),
    "a failure that a class expects": (
        "@xfail\nclass TestA:\n    def test_a(self):\n        f(1)\n",
        "        f(1)",
        "        assert 0\n        f(1)",
    ),
}


@pytest.mark.parametrize("case", HOLES)
def test_a_test_does_not_check_less_by_a_detour(case: str) -> None:
    """Reported: each of these went through."""
    before, old, new = HOLES[case]
    assert old in before

    assert refused(before.replace(old, new), before)
    assert refused(before.replace(old, new), before, merging=True)


def test_lines_of_a_script_that_tests_stay_in_their_order() -> None:
    """Reported: `exit 0` moved to the top."""
    assert refused("exit 0\ncheck a\n", "check a\nexit 0\n", "tests/run.sh")
    assert not refused("check a\n\nexit  0\n", "check a\nexit 0\n", "tests/run.sh")


def test_a_long_test_is_judged_in_seconds() -> None:
    """Reported: a long definition with other constants took minutes, with other names too."""
    body = "".join(f"    assert f({at}) == g({at})\n" for at in range(200))
    before = f"from pkg import f\n\n\ndef test_a():\n{body}"
    start = time.process_time()

    assert refused(before.replace("g(", "g(1"), before)
    assert not refused(before.replace(" f(", " h(").replace("import f", "import h"), before)
    items = "".join(f"'{at}': {at},\n" for at in range(1000))
    other = "".join(reversed(items.splitlines(keepends=True)))
    assert not refused(f"X = {{\n{other}}}\n", f"X = {{\n{items}}}\n")
    assert time.process_time() - start < 10  # of hundreds


def test_whatever_a_side_has_is_no_attack() -> None:
    for case, (old, new) in ATTACKS.items():
        after = TEST.replace(old, new, 1).encode()
        change = FileChange(PATH, TEST.encode(), after + b"# x\n", sides=(after,) * 2)
        found = forbidden([FileChange(**{**vars(change), "base": TEST.encode()})], Policy())
        assert {item.kind for item in found} <= {RefusalKind.SYNTAX}, case


def test_hooks_and_conftests_decide_over_every_test() -> None:
    """Reported: a new conftest.py replaced what the tests import."""
    hook = "def pytest_collection_modifyitems(items):\n    items[:] = []\n"
    fixture = "@pytest.fixture(autouse=True)\ndef patched(monkeypatch):\n    pass\n"
    known = "import pytest\nfrom pkg.old import build\n"

    assert refused(hook, "", "pkg/plug.py")
    assert refused("from pkg.plug import pytest_configure\n", "", "pkg/other.py")
    assert refused("x = 1\n", None, "tests/conftest.py")
    for added in (fixture, "import sys\n", "build.run = print\n"):
        assert refused(known + added, known, "tests/conftest.py")
    assert not refused(known.replace("old", "new"), known, "tests/conftest.py")


def test_a_plugin_of_the_test_runner_is_a_setting() -> None:
    """Reported: an entry point loads it, whatever the settings of pytest say."""
    head = "[project]\nname = 'a'\n"

    assert refused(f"{head}[project.entry-points.pytest11]\nx = 'p'\n", head, "pyproject.toml")


@pytest.mark.parametrize(
    "place", ["build/test_train.py", ".old/test_train.py", "docs/test_train.py"]
)
def test_a_test_moves_only_to_where_tests_are_looked_for(place: str) -> None:
    """Reported: any path counted whose name is a test's."""
    text = TEST.encode()
    gone = FileChange(PATH, text, None, mode_after=None, sides=(text, text), base=text)

    def kinds(path: str) -> set[RefusalKind]:
        fresh = FileChange(path, None, text, mode_before=None)
        return {item.kind for item in forbidden([gone, fresh], Policy())}

    assert RefusalKind.TEST_REMOVED in kinds(place)
    assert RefusalKind.TEST_REMOVED not in kinds("tests/more/test_train.py")


def test_what_is_too_deep_to_be_read_is_refused_and_no_crash() -> None:
    """Reported: a sum of 1,500 terms ended the run."""
    deep = f"x = {' + '.join(['1'] * 1500)}\n"

    assert refused(TEST + "y = 1\n" + deep, TEST + deep)
    assert refused("a = " + "[" * 2000 + "]" * 2000, "a = 1\n", "pyproject.toml")
    assert refused("[" * 20000 + "]" * 20000, "{}", "package.json")
    assert refused("# coding: rot13\nx = 1  # noqa\n", "x = 1\n", "pkg/a.py")


@pytest.mark.parametrize(
    "mark", ["  # ty: ignore", "  # pyrefly: ignore", "\n@typing.no_type_check"]
)
def test_newer_checkers_are_not_switched_off_either(mark: str) -> None:
    assert refused(f"x = 1{mark}\ndef f(): pass\n", "x = 1\ndef f(): pass\n", "pkg/a.py")


def test_a_whole_file_goes_only_if_a_side_deleted_it_or_it_moved() -> None:
    """Reported: a module was deleted, or left empty, to get rid of its errors."""
    text = b"x = 1\n"

    def kinds(
        after: bytes | None, *more: FileChange, sides: tuple[bytes | None, ...] = (text, text)
    ) -> int:
        change = FileChange("pkg/a.py", text, after, base=text, sides=sides)
        return len(forbidden([change, *more], Policy()))

    assert kinds(None) == kinds(b"\n") == 1
    assert kinds(None, sides=(text, None)) == 0
    assert kinds(None, FileChange("pkg/b.py", None, text, mode_before=None)) == 0
