"""What the demo with Claude merges: a conflict that no side is right in, and a silent break.

Both branches changed one line of the ledger's reader; a test of each side fails on the other's
line. On main a function got an argument that new code on dev does not give: git merges that
without a word, and the checks are red.
"""

import sys

from nightly_sync.agent.settings import SandboxSettings
from nightly_sync.audits.model import FindingKind
from nightly_sync.demo.build import QUIET_PYTEST
from nightly_sync.demo.model import Step, Story, Trap, edited
from nightly_sync.demo.skeleton import AMOUNTS, TEST_AMOUNTS

# An example; it is the one of docs/claude.md.
PRICE = {"input": 5, "output": 25, "cache_read": 0.5, "cache_write": 6.25}
SANDBOX = SandboxSettings.model_validate(
    {
        "commands": [{"name": "tests", "run": QUIET_PYTEST, "arguments": True}],
        "environment": [sys.prefix, sys.base_prefix],
    }
)

READER, SUMMARY = "ledger/reader.py", "ledger/summary.py"
TEST_SUMMARY = "tests/test_summary.py"
HUNK = "        rows = list(csv.reader(file{}))\n"
OURS, THEIRS, BOTH = (
    HUNK.format(options)
    for options in (', delimiter=";"', ", strict=True", ', delimiter=";", strict=True')
)


def reader(line: str) -> str:
    return f'''\
"""Read what a bank writes."""

import csv


def read_rows(path):
    """The rows of a file, without its header."""
    with open(path, newline="") as file:
{line}    return rows[1:]
'''


SEMICOLONS = """\
from ledger.reader import read_rows


def test_columns_are_parted_by_semicolons(tmp_path):
    file = tmp_path / "bank.csv"
    file.write_text("what;cents\\nink;1205\\n")
    assert read_rows(file) == [["ink", "1205"]]
"""
QUOTES = """\
import csv

import pytest
from ledger.reader import read_rows


def test_a_broken_quote_is_an_error(tmp_path):
    file = tmp_path / "bank.csv"
    file.write_text('what\\n"ink"x\\n')
    with pytest.raises(csv.Error):
        read_rows(file)
"""
SUMMARY_ON_DEV = '''\
"""One line for the monthly letter."""

from ledger.amounts import format_amount


def summary(amounts):
    """What all of them come to."""
    total = format_amount(sum(amounts))
    return f"In all: {total}"
'''
CALL, CALL_REPAIRED = "format_amount(sum(amounts))", 'format_amount(sum(amounts), ".")'
SUMMARY_REPAIRED = edited(SUMMARY_ON_DEV, (CALL, CALL_REPAIRED))
SUMMARY_TEST = """\
from ledger.summary import summary


def test_the_letter_has_the_sum():
    assert summary([1205, 795]) == "In all: 20.00"
"""
SKIPPED = SUMMARY_TEST.replace("from", "import pytest\nfrom", 1).replace(
    "def", '@pytest.mark.skip(reason="red since the merge")\ndef'
)
AMOUNTS_ON_MAIN = edited(
    AMOUNTS,
    ("def format_amount(cents):", "def format_amount(cents, separator):"),
    ('"""A text such as 12.50."""', '"""A text such as 12.50, with the separator given."""'),
    ("{cents // 100}.{cents", "{cents // 100}{separator}{cents"),
)

CONFLICT = Story(
    traps=(
        Trap(
            "neither-side",
            "no rule settles the line that both changed; Claude writes one that is on no side",
            READER,
            "agent",
            (FindingKind.NEITHER_SIDE, FindingKind.SOURCE_DROPPED),
        ),
    ),
    base={READER: reader(HUNK.format(""))},
    dev=(
        Step(
            "Our bank writes semicolons (#21)",
            {READER: reader(OURS), "tests/test_semicolons.py": SEMICOLONS},
        ),
    ),
    main=(
        Step(
            "A broken quote is an error (#47)",
            {READER: reader(THEIRS), "tests/test_quotes.py": QUOTES},
        ),
    ),
)
REPAIR = Story(
    traps=(
        Trap(
            "argument-missing",
            "git merges a call that lacks an argument; CI sees it, and Claude repairs it",
            SUMMARY,
            findings=(FindingKind.NEITHER_SIDE,),
        ),
    ),
    dev=(
        Step(
            "The sum for the monthly letter (#22)",
            {SUMMARY: SUMMARY_ON_DEV, TEST_SUMMARY: SUMMARY_TEST},
        ),
    ),
    main=(
        Step(
            "Callers say which separator they print (#48)",
            {
                "ledger/amounts.py": AMOUNTS_ON_MAIN,
                "tests/test_amounts.py": edited(TEST_AMOUNTS, ("(1205)", '(1205, ".")')),
            },
        ),
    ),
)
