"""Repairs that silence a test without touching what it asserts are refused."""

import pytest

from nightly_sync.agent.forbidden import FileChange, Policy, RefusalKind, forbidden

TEST = """\
import pytest
from pkg.train import train


def test_training():
    assert train(2) == 4


class TestMore:
    def test_more(self):
        assert train(3) == 6
"""
IMPORT, HEAD, BODY = "from pkg.train import train", "def test_training():", "    assert train(2)"
PATH = "tests/test_train.py"


def refused(after: str, before: str | None = TEST, path: str = PATH, *more: FileChange) -> bool:
    """Is a change refused that neither side has?"""
    old = None if before is None else before.encode()
    change = FileChange(path, old, after.encode(), sides=(old, old), base=old)
    return forbidden([change, *more], Policy()) != ()


SILENCED = {
    "a decorator": (HEAD, f"def quiet(f):\n    return print\n\n\n@quiet\n{HEAD}"),
    "a decorator of the class": ("class TestMore", "@quiet\nclass TestMore"),
    "a patch": (HEAD, f"@mock.patch('tests.test_train.train')\n{HEAD}"),
    "marks by another name": (IMPORT, f"from pytest import mark as m\n{IMPORT}"),
    "a skip by another name": (IMPORT, f"from pytest import skip as hold\n{IMPORT}"),
    "no cases": (HEAD, "@pytest.mark.parametrize('x', [])\ndef test_training(x):"),
    "__test__": ("class TestMore", "test_training.__test__ = False\n\n\nclass TestMore"),
    "globals": ("class TestMore", "globals().pop('test_training')\n\n\nclass TestMore"),
    "an import of its name": (IMPORT, f"{IMPORT}\nfrom os import sep as test_training"),
    "a loop over its name": (
        "class TestMore",
        "for test_training in ():\n    pass\n\n\nclass TestMore",
    ),
    "a context of its name": (
        "class TestMore",
        "with open('x') as test_training:\n    pass\n\n\nclass TestMore",
    ),
    "a walrus": ("class TestMore", "print(test_training := 0)\n\n\nclass TestMore"),
    "a lambda for an import": (IMPORT, "train = lambda value: value * 2"),
    "a function for an import": (IMPORT, "def train(value):\n    return value * 2"),
    "an import from tests": (IMPORT, "from tests.fake import train"),
    "an attribute by its text": (BODY, f"    getattr(pytest, 'sk' + 'ip')('x')\n{BODY}"),
    "an outcome": (BODY, f"    raise Skipped('x')\n{BODY}"),
    "an outcome of pytest": (BODY, f"    raise pytest.skip.Exception('x')\n{BODY}"),
    "a context that swallows": (
        "class TestMore",
        "class Quiet:\n    def __exit__(self, *args):\n        return True\n\n\nclass TestMore",
    ),
}


@pytest.mark.parametrize("case", SILENCED)
def test_a_test_is_not_silenced(case: str) -> None:
    """Reported: none of these was seen, and the tests were green with a broken product."""
    old, new = SILENCED[case]
    assert old in TEST
    after = TEST.replace(old, new, 1)

    assert refused(after)
    side = FileChange(PATH, TEST.encode(), (after + "# x\n").encode(), sides=(after.encode(),) * 2)
    assert forbidden([side], Policy()) == ()


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
