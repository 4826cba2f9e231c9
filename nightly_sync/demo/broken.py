"""Stories that git merges without a conflict and that break the code: they force a draft.

No test of the demo runs the broken lines, and its linter looks at style only, so that the audits
alone see them.
"""

from nightly_sync.audits.model import FindingKind
from nightly_sync.config import CheckCommand
from nightly_sync.demo.model import Step, Story, Trap, edited
from nightly_sync.demo.skeleton import AMOUNTS

CONTRACT = CheckCommand(
    name="contract", run="python -m pytest -q -p no:cacheprovider contract", timeout_seconds=300
)
"""A check that fails on dev already: pre-existing, so that it says nothing about the merge."""

# The same function, added at two places of one file.

_TEXT = '''\
"""Text for statements."""


def title(words):
    """Words with capitals."""
    return words.title()


def shorten(words, width):
    """The first few letters."""
    return words[:width]


def centre(words, width):
    """Words in the middle."""
    return words.center(width)
'''

TWICE = Story(
    traps=(
        Trap(
            "defined-twice",
            "Both branches added `slug`, at different places: git keeps both, the later one wins.",
            "ledger/text.py",
            None,
            (FindingKind.DUPLICATE,),
        ),
    ),
    base={"ledger/text.py": _TEXT},
    main=(
        Step(
            "Slugs (#61)",
            {
                "ledger/text.py": edited(
                    _TEXT,
                    (
                        "def title",
                        'def slug(words):\n    """Words for a file name."""\n'
                        '    return words.lower().replace(" ", "-")\n\n\ndef title',
                    ),
                )
            },
        ),
    ),
    dev=(
        Step(
            "Slugs for dev (#71)",
            {
                "ledger/text.py": _TEXT + '\n\ndef slug(words):\n    """Words for a link."""\n'
                '    return words.lower().replace(" ", "_")\n'
            },
        ),
    ),
)

# main renames, dev goes on to use the old name.

RENAMED_NAMES = Story(
    traps=(
        Trap(
            "renamed-function",
            "main renamed `parse_amount`; a new module on dev still imports the old name.",
            "ledger/bank.py",
            None,
            (FindingKind.BROKEN_IMPORT,),
        ),
        Trap(
            "renamed-helper",
            "main renamed `_clean`; dev added a function to the same file that calls it.",
            "ledger/amounts.py",
            None,
            (FindingKind.UNDEFINED,),
        ),
    ),
    main=(
        Step(
            "Better names (#62)",
            {
                "ledger/amounts.py": edited(
                    AMOUNTS,
                    ("def _clean(text)", "def _digits(text)"),
                    ("_clean(text).part", "_digits(text).part"),
                    ("parse_amount", "read_amount"),
                )
            },
        ),
    ),
    dev=(
        Step(
            "Read a bank's file (#72)",
            {
                "ledger/amounts.py": AMOUNTS + "\n\ndef is_amount(text):\n"
                '    """Does the text look like an amount?"""\n'
                '    return _clean(text).replace(".", "", 1).isdigit()\n',
                "ledger/bank.py": '''\
"""Entries from a bank's file."""

from ledger.amounts import parse_amount


def entries(text):
    """One entry a line."""
    return [parse_amount(line) for line in text.splitlines()]
''',
            },
        ),
    ),
)

# A test that fails on dev with or without the merge.

PRE_EXISTING = Story(
    traps=(),
    base={
        "contract/test_negative.py": """\
from ledger.amounts import format_amount


def test_a_debt_of_five_cents():
    assert format_amount(5) == "0.05"
"""
    },
    dev=(
        Step(
            "Write down what debts should look like (#73)",
            {
                "contract/test_negative.py": """\
from ledger.amounts import format_amount


def test_a_debt_of_five_cents():
    assert format_amount(-5) == "-0.05"
"""
            },
        ),
    ),
)

STORIES = (TWICE, RENAMED_NAMES, PRE_EXISTING)
