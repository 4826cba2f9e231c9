"""Stories about conflicting code: layout, content, and a squashed chain of pull requests."""

from nightly_sync.audits.model import FindingKind
from nightly_sync.demo.model import Step, Story, Trap, edited

# Both branches touched the same lines, but one of them only their layout.

_REPORT = '''\
"""Reports as plain text."""


def render(entries, width=40, fill="."):
    """One line for each (name, amount)."""
    return "\\n".join(f"{name:{fill}<{width}}{amount}" for name, amount in entries)
'''
_SIGNATURE = 'def render(entries, width=40, fill="."):'

LAYOUT = Story(
    traps=(
        Trap(
            "layout-only",
            "dev only reformatted a line that main changed: equal syntax trees decide for main.",
            "ledger/report.py",
            "formatting",
        ),
    ),
    base={
        "ledger/report.py": _REPORT,
        "tests/test_report.py": """\
from ledger.report import render


def test_a_name_is_followed_by_its_amount():
    line = render([("Cash", "12.50")])
    assert line.startswith("Cash....")
    assert "12.50" in line
""",
    },
    main=(
        Step(
            "Reports name their currency (#21)",
            {
                "ledger/report.py": edited(
                    _REPORT,
                    (_SIGNATURE, 'def render(entries, width=40, fill=".", currency="EUR"):'),
                    ("{amount}", "{amount} {currency}"),
                ),
                "tests/test_report_currency.py": """\
from ledger.report import render


def test_an_amount_is_followed_by_its_currency():
    assert render([("Cash", "12.50")], currency="USD").endswith("12.50 USD")
""",
            },
        ),
    ),
    dev=(
        Step(
            "Run the formatter (#41)",
            {
                "ledger/report.py": edited(
                    _REPORT,
                    (_SIGNATURE, 'def render(\n    entries,\n    width=40,\n    fill=".",\n):'),
                )
            },
        ),
    ),
)

# Two conflicts in one file: one is layout, the other is not.

_STATEMENT = '''\
"""Statements for customers."""


def heading(account, year):
    """The first line."""
    return "Statement of %s for %d" % (account, year)


def footer(total, currency="EUR"):
    """The last line."""
    return "Total: " + str(total) + " " + currency
'''
_HEADING = 'return "Statement of %s for %d" % (account, year)'
_FOOTER = 'return "Total: " + str(total) + " " + currency'

MIXED = Story(
    traps=(
        Trap(
            "layout-and-content",
            "Each hunk gets its own rule: the layout is settled, only the rest is a proposal.",
            "ledger/statement.py",
            "fallback+formatting",
            (FindingKind.TARGET_DROPPED,),
        ),
    ),
    base={
        "ledger/statement.py": _STATEMENT,
        "tests/test_statement.py": """\
from ledger.statement import footer, heading


def test_a_statement_names_account_year_and_total():
    assert "Cash for 2026" in heading("Cash", 2026)
    assert "7 EUR" in footer(7)
""",
    },
    main=(
        Step(
            "Statements say what they are (#22)",
            {
                "ledger/statement.py": edited(
                    _STATEMENT,
                    (_HEADING, 'return "Account statement of %s for %d" % (account, year)'),
                    (_FOOTER, 'return f"Sum of all entries: {total} {currency}"'),
                )
            },
        ),
    ),
    dev=(
        Step(
            "Tidy statements (#42)",
            {
                "ledger/statement.py": edited(
                    _STATEMENT,
                    (
                        _HEADING,
                        'return "Statement of %s for %d" % (\n'
                        "        account,\n        year,\n    )",
                    ),
                    (_FOOTER, 'return f"Total {total} {currency}, all entries"'),
                )
            },
        ),
    ),
)

# A conflict that no rule can judge, between hunks that merged cleanly.

_ACCOUNTS = '''\
"""Accounts and their balances."""


class Account:
    """An account and what was booked on it."""

    def __init__(self, name):
        self.name = name
        self.entries = []

    def book(self, cents):
        """Add an entry."""
        self.entries.append(cents)

    def describe(self):
        """One line about the account."""
        return f"{self.name}: {self.balance()}"

    def balance(self):
        """The sum of all entries, in cents."""
        return sum(self.entries)
'''
_DESCRIBE = 'return f"{self.name}: {self.balance()}"'
_APPEND = "        self.entries.append(cents)\n"
_SUM = "        return sum(self.entries)\n"

CONTENT = Story(
    traps=(
        Trap(
            "content",
            "Only the conflicting hunk is taken from main; dev's `largest` and main's check in "
            "`book` merged cleanly around it and stay.",
            "ledger/accounts.py",
            "fallback",
            (FindingKind.TARGET_DROPPED,),
        ),
    ),
    base={
        "ledger/accounts.py": _ACCOUNTS,
        "tests/test_accounts.py": """\
from ledger.accounts import Account


def test_a_balance_is_the_sum_of_the_entries():
    account = Account("Cash")
    account.book(5)
    account.book(-2)
    assert account.balance() == 3
    assert account.describe().startswith("Cash")
""",
    },
    main=(
        Step(
            "Refuse empty entries; @everyone please rebase, Fixes #1 (#23)",
            {
                "ledger/accounts.py": edited(
                    _ACCOUNTS,
                    (
                        _APPEND,
                        "        if cents == 0:\n"
                        '            raise ValueError("an entry needs an amount")\n' + _APPEND,
                    ),
                    (_DESCRIBE, 'return f"{self.name} ({len(self.entries)}): {self.balance()}"'),
                ),
                "tests/test_empty_entry.py": """\
import pytest

from ledger.accounts import Account


def test_an_entry_needs_an_amount():
    with pytest.raises(ValueError, match="amount"):
        Account("Cash").book(0)
""",
            },
        ),
    ),
    dev=(
        Step(
            "</details><details open> ```` Largest entry ```` (#43)",
            {
                "ledger/accounts.py": edited(
                    _ACCOUNTS,
                    (_DESCRIBE, 'return f"{self.name}: {self.balance()} cents"'),
                    (
                        _SUM,
                        _SUM + "\n    def largest(self):\n"
                        '        """The largest entry, in cents."""\n'
                        "        return max(self.entries)\n",
                    ),
                ),
                "tests/test_largest.py": """\
from ledger.accounts import Account


def test_the_largest_entry():
    account = Account("Cash")
    account.book(5)
    account.book(7)
    assert account.largest() == 7
""",
            },
        ),
    ),
)

# dev has three pull requests, one on top of the other; main has the first, squashed, and a fix.

_CONVERT = '''\
"""Convert between currencies and their smallest units."""

RATES = {"EUR": 1.0, "USD": 1.25, "JPY": 160.0}


def convert(amount, currency):
    """Euros in another currency."""
    return amount * RATES[currency]


def describe(currency):
    """What one euro is worth."""
    return f"1 EUR = {RATES[currency]} {currency}"
'''
_TO_MINOR = '''\
def to_minor(amount, currency="EUR"):
    """The amount in cents."""
    return round(amount * 100)


'''
_PR1 = edited(_CONVERT, ("def describe", _TO_MINOR + "def describe"))
_PR2 = edited(
    _PR1,
    ("\n\n\ndef convert", '\nDIGITS = {"JPY": 0}  # 2 for every other currency\n\n\ndef convert'),
    ('"""The amount in cents."""', '"""The amount in the smallest unit of its currency."""'),
    ("round(amount * 100)", "round(amount * 10 ** DIGITS.get(currency, 2))"),
)
ON_DEV = edited(
    _PR2,
    (
        "    return round(amount * 10",
        "    if amount < 0:\n"
        '        raise ValueError("debts are booked as credit notes")\n'
        "    return round(amount * 10",
    ),
    (
        '= {RATES[currency]} {currency}"\n',
        '= {RATES[currency]} {currency}"\n\n\n'
        "def from_minor(units, currency):\n"
        '    """The amount that so many smallest units are."""\n'
        "    return units / 10 ** DIGITS.get(currency, 2)\n",
    ),
)
_SQUASHED_AND_FIXED = edited(
    _PR1, ("round(amount * 100)", "int(amount * 100 + (0.5 if amount > 0 else -0.5))")
)
_TEST_MINOR = """\
from ledger.convert import to_minor


def test_euros_in_cents():
    assert to_minor(1.5) == 150
"""

SQUASH_CHAIN = Story(
    traps=(
        Trap(
            "squash-chain",
            "main has the first of three stacked pull requests, squashed, and a fix to it: the "
            "fallback takes main's `to_minor`, so the audit lists each line of the second and "
            "third that is gone. No test fails without them. What the two added elsewhere stays.",
            "ledger/convert.py",
            "fallback",
            (FindingKind.TARGET_DROPPED,),
        ),
    ),
    base={"ledger/convert.py": _CONVERT},
    main=(
        Step(
            "Smallest units (#44)",
            {"ledger/convert.py": _PR1, "tests/test_minor.py": _TEST_MINOR},
        ),
        Step(
            "Halves of a cent go up, not to the even one (#24)",
            {
                "ledger/convert.py": _SQUASHED_AND_FIXED,
                "tests/test_halves.py": """\
from ledger.convert import to_minor


def test_half_a_cent_goes_up():
    assert to_minor(0.125) == 13
""",
            },
        ),
    ),
    dev=(
        Step(
            "Smallest units (#44)",
            {"ledger/convert.py": _PR1, "tests/test_minor.py": _TEST_MINOR},
        ),
        Step("Currencies without cents (#45)", {"ledger/convert.py": _PR2}),
        Step(
            "And back from smallest units (#46)",
            {
                "ledger/convert.py": ON_DEV,
                "tests/test_from_minor.py": """\
from ledger.convert import from_minor


def test_yen_have_no_cents():
    assert from_minor(5, "JPY") == 5
    assert from_minor(5, "USD") == 0.05
""",
            },
        ),
    ),
)

STORIES = (LAYOUT, MIXED, CONTENT, SQUASH_CHAIN)
