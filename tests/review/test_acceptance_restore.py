"""Putting one lost definition back, and nothing else."""

import pytest

from nightly_sync.review.acceptance import ProblemKind
from nightly_sync.review.lost import Lost, restored_badly

TARGET = '''\
import os
from pkg import base
from pkg.tools import first, second


LIMIT = 10
_CACHE: dict[str, int] = {}


# Counts what was loaded.
@first(1)
def count(path):
    """Count."""

    return second(os.listdir(path))


class Loader(base.Loader):
    depth = 3

    def load(self, path):
        return count(path)

    def close(self):
        os.sync()


def main():
    """Say hello.

    Twice.
    """
    return Loader().load(".")
'''


def without(*pieces: str, text: str = TARGET) -> str:
    """The text without some pieces; they must be there."""
    for piece in pieces:
        assert piece in text
        text = text.replace(piece, "", 1)
    return text


COUNT = TARGET[TARGET.index("@first") : TARGET.index("class Loader")]
COMMENT = "# Counts what was loaded.\n"
CLASS = TARGET[TARGET.index("class Loader") : TARGET.index("def main")]
CLOSE = "\n    def close(self):\n        os.sync()\n"
SOURCE = without(COMMENT + COUNT, "from pkg.tools import first, second\n")


def kinds(before: str, after: str, wanted: str, target: str = TARGET) -> list[str]:
    """What is wrong with a repair, each kind once."""
    item = Lost("a.py", (wanted,), (SOURCE.encode(), target.encode()))
    found = restored_badly(item, before.encode(), after.encode())
    assert all(item.sentence for item in found)
    return sorted({item.kind for item in found})


@pytest.mark.parametrize(
    ("wanted", "lost"),
    [
        ("count", (COUNT,)),
        ("count", (COMMENT + COUNT,)),
        ("count", (COUNT, "from pkg.tools import first, second\n")),
        ("Loader", (CLASS,)),
        ("Loader", (CLASS, "from pkg import base\n")),
        ("Loader.close", (CLOSE,)),
    ],
)
def test_what_was_lost_may_be_put_back(wanted: str, lost: tuple[str, ...]) -> None:
    assert kinds(without(*lost), TARGET, wanted) == []


def test_it_may_stand_at_another_place_and_in_another_layout() -> None:
    before = without(COUNT)
    at_end = f"{before}\n\n{COUNT}"
    wide = at_end.replace("second(os.listdir(path))", "second(\n        os.listdir(path)\n    )")

    assert kinds(before, at_end, "count") == []
    assert kinds(before, wide, "count") == []


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        (ProblemKind.OUTSIDE, "    depth = 3\n", "    depth = 4\n"),
        (ProblemKind.OUTSIDE, "    depth = 3\n", ""),
        (ProblemKind.OUTSIDE, "def main():\n", "def extra():\n    pass\n\n\ndef main():\n"),
        (ProblemKind.OUTSIDE, "LIMIT = 10\n", "LIMIT = 10 \n"),
        (ProblemKind.OUTSIDE, "hello.\n\n", "hello.\n"),
        (ProblemKind.OUTSIDE, "LIMIT = 10\n", "LIMIT = 10\n# A new idea.\n"),
        (ProblemKind.INVENTED, '    """Count."""\n', ""),
        (ProblemKind.INVENTED, "@first(1)\n", ""),
        (ProblemKind.INVENTED, "@first(1)", "@first(2)"),
        (ProblemKind.INVENTED, "return second(", "return len("),
        (ProblemKind.INVENTED, "import os\n", "import os\nimport shutil\n"),
        (ProblemKind.DROPPED, "import os\n", ""),
        (ProblemKind.DROPPED, "from pkg import base\n", "from pkg import base as other\n"),
        (ProblemKind.DUPLICATE, "def main():\n", f"{COUNT}def main():\n"),
        (ProblemKind.SYNTAX, "def main():\n", "def main(:\n"),
        (ProblemKind.UNDEFINED, "def count(", "def counts("),
    ],
)
def test_anything_else_is_rejected(kind: ProblemKind, old: str, new: str) -> None:
    assert old in TARGET

    assert kind in kinds(without(COUNT), TARGET.replace(old, new, 1), "count")


def test_a_file_replaced_whole_by_a_side_is_more_than_was_asked() -> None:
    before = without(COUNT).replace("depth = 3", "depth = 5").replace("LIMIT", "BOUND")

    assert ProblemKind.OUTSIDE in kinds(before, TARGET, "count")


def test_what_is_there_already_or_on_no_side_is_not_restored() -> None:
    assert kinds(TARGET, TARGET, "count") == [ProblemKind.OUTSIDE]
    assert kinds(without(COUNT), without(COUNT), "count") == [ProblemKind.UNDEFINED]
    assert kinds(without(COUNT), TARGET, "count", SOURCE) == [ProblemKind.INVENTED]
    assert kinds(without(COUNT), TARGET, "count", "(") == [ProblemKind.INVENTED]
    assert kinds("(", TARGET, "count") == [ProblemKind.SYNTAX]
