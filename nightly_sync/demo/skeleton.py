"""The demo's repository before its branches part: a small bookkeeping library with tests."""

from nightly_sync.demo.model import Files

README = """\
# ledger

Book amounts, add them up, print statements. A made-up library: `nightly-sync demo` wrote it.
"""

PYPROJECT = """\
[project]
name = "ledger"
version = "1.0"
description = "Book amounts, add them up, print statements."
requires-python = ">=3.11"

[tool.ruff]
line-length = 100

[tool.ruff.lint]
select = ["E4", "E7", "E9"]

[tool.pytest.ini_options]
testpaths = ["tests"]
"""

CODEOWNERS = """\
* @ledger/maintainers
/ledger/ @ledger/bookkeepers
"""

CHANGELOG = """\
# Changes

- 1.0: books, balances, statements
"""

AMOUNTS = '''\
"""Amounts of money as whole cents: sums of floats drift."""


def _clean(text):
    return text.strip().replace(" ", "")


def parse_amount(text):
    """The cents in a text such as 12.5."""
    whole, _, cents = _clean(text).partition(".")
    return int(whole) * 100 + int(cents.ljust(2, "0"))


def format_amount(cents):
    """A text such as 12.50."""
    return f"{cents // 100}.{cents % 100:02}"
'''

TEST_AMOUNTS = """\
from ledger.amounts import format_amount


def test_cents_have_two_digits():
    assert format_amount(1205) == "12.05"
"""

SKELETON: Files = {
    "README.md": README,
    "pyproject.toml": PYPROJECT,
    ".gitattributes": "CHANGELOG.md merge=union\n",
    ".github/CODEOWNERS": CODEOWNERS,
    "CHANGELOG.md": CHANGELOG,
    "ledger/__init__.py": '"""A small ledger."""\n',
    "ledger/amounts.py": AMOUNTS,
    "tests/test_amounts.py": TEST_AMOUNTS,
}
