"""Stories about whole files: deleted, renamed, reverted, binary, with a mode or a link's target."""

from nightly_sync.audits.model import FindingKind
from nightly_sync.demo.history import File
from nightly_sync.demo.model import Step, Story, Trap, edited

# dev deleted it, main changed it, nothing imports it.

_XML = '''\
"""Accounts as XML."""


def export(name):
    """One element."""
    return f"<account>{name}</account>"
'''
_TEST_XML = """\
from ledger.xml_export import export


def test_an_account_is_an_element():
    assert "Cash" in export("Cash")
"""

DELETED = Story(
    traps=(
        Trap(
            "deleted-on-dev",
            "dev deleted a module that main went on to change; no merged code imports it, so it "
            "stays deleted, and main's lost lines are listed.",
            "ledger/xml_export.py",
            "deletion",
            (FindingKind.SOURCE_DROPPED,),
        ),
    ),
    base={"ledger/xml_export.py": _XML, "tests/test_xml_export.py": _TEST_XML},
    main=(
        Step(
            "Escape names in XML (#31)",
            {
                "ledger/xml_export.py": edited(
                    _XML,
                    ('XML."""\n', 'XML."""\n\nfrom html import escape\n'),
                    ("{name}", "{escape(name)}"),
                )
            },
        ),
    ),
    dev=(
        Step(
            "Nobody reads XML (#53)",
            {"ledger/xml_export.py": None, "tests/test_xml_export.py": None},
        ),
    ),
)

# dev deleted two modules that new code on main imports.

_ROUNDING = '''\
"""Rounding."""


def half_up(number):
    """The nearest whole number; halves go up."""
    return int(number + 0.5)
'''
_INTEREST = '''\
"""Interest."""

from ledger.rounding import half_up


def interest(cents, percent):
    """The interest of one year, in cents."""
    return half_up(cents * percent / 100)
'''
_UNITS = '''\
"""Units of weight."""

GRAMS = {"kg": 1000, "t": 1000000}
'''

RESTORED = Story(
    traps=(
        Trap(
            "deleted-but-imported",
            "dev deleted a module that main changed and imports from new code: restored, with the "
            "importer as evidence.",
            "ledger/rounding.py",
            "deletion",
            (FindingKind.RESTORED,),
        ),
        Trap(
            "deleted-cleanly-but-imported",
            "The same where main never touched the file, so that git deletes it without a word.",
            "ledger/units.py",
            "deletion",
            (FindingKind.RESTORED,),
        ),
    ),
    base={
        "ledger/rounding.py": _ROUNDING,
        "ledger/interest.py": _INTEREST,
        "ledger/units.py": _UNITS,
        "tests/test_interest.py": """\
from ledger.interest import interest


def test_interest_of_a_year():
    assert interest(1000, 3) == 30
""",
    },
    main=(
        Step(
            "Invoices by weight (#32)",
            {
                "ledger/rounding.py": edited(
                    _ROUNDING, ('"""Rounding."""', '"""Rounding of positive numbers."""')
                ),
                "ledger/invoices.py": '''\
"""Invoices by weight."""

from ledger.rounding import half_up
from ledger.units import GRAMS


def price(cents_per_kilo, amount, unit):
    """Cents for so many units."""
    return half_up(cents_per_kilo * amount * GRAMS[unit] / GRAMS["kg"])
''',
                "tests/test_invoices.py": """\
from ledger.invoices import price


def test_a_ton_costs_a_thousand_kilos():
    assert price(2, 1, "t") == 2000
""",
            },
        ),
    ),
    dev=(
        Step(
            "The standard library rounds as well (#54)",
            {
                "ledger/rounding.py": None,
                "ledger/units.py": None,
                "ledger/interest.py": edited(
                    _INTEREST,
                    ("from ledger.rounding import half_up\n\n\n", "\n"),
                    ("half_up(", "round("),
                ),
            },
        ),
    ),
)

# main deleted what dev worked on.

_FAX = '''\
"""Statements by fax."""

NUMBER = "0123"


def send(text):
    """What is printed at the other end."""
    return f"{NUMBER}: {text}"
'''

DELETED_ON_MAIN = Story(
    traps=(
        Trap(
            "deleted-on-main",
            "main deleted a module that dev changed: the fallback follows main, and dev's lines "
            "are listed.",
            "ledger/fax.py",
            "fallback",
            (FindingKind.TARGET_DROPPED,),
        ),
    ),
    base={"ledger/fax.py": _FAX},
    main=(Step("No more fax (#33)", {"ledger/fax.py": None}),),
    dev=(Step("A new fax (#55)", {"ledger/fax.py": edited(_FAX, ("0123", "0456"))}),),
)

# Renamed on dev: deleted or changed on main.

_FX = '''\
"""Foreign exchange."""


def cross(one, two):
    """A rate from two others."""
    return one / two


def inverse(rate):
    """The rate the other way round."""
    return 1 / rate
'''
_TABLES = '''\
"""Tables as text."""


def row(cells):
    """Cells with a comma between them."""
    return ",".join(cells)


def table(rows):
    """A line for each row."""
    return "\\n".join(row(cells) for cells in rows)
'''

RENAMED = Story(
    traps=(
        Trap(
            "renamed-and-deleted",
            "dev renamed a module that main deleted; dev's code imports it, so it is kept.",
            "ledger/exchange.py",
            "deletion",
            (FindingKind.RESTORED,),
        ),
        Trap(
            "renamed-and-changed",
            "dev renamed a module that main changed: git carries the change over.",
            "ledger/tables.py",
        ),
    ),
    base={"ledger/fx.py": _FX, "ledger/csv_text.py": _TABLES},
    main=(
        Step("Exchange is out of scope (#34)", {"ledger/fx.py": None}),
        Step(
            "Tables end in a newline (#35)",
            {"ledger/csv_text.py": edited(_TABLES, ("in rows)", 'in rows) + "\\n"'))},
        ),
    ),
    dev=(
        Step(
            "Clearer names (#56)",
            {
                "ledger/fx.py": None,
                "ledger/exchange.py": _FX,
                "ledger/csv_text.py": None,
                "ledger/tables.py": _TABLES,
                "ledger/quotes.py": '''\
"""Quotes of currencies."""

from ledger.exchange import cross
from ledger.tables import table


def quote(one, two):
    """Both rates, and one by the other."""
    return table([[str(one), str(two), str(cross(one, two))]])
''',
                "tests/test_quotes.py": """\
from ledger.quotes import quote


def test_a_quote_has_the_cross_rate():
    assert quote(3, 2).startswith("3,2,1.5")
""",
            },
        ),
    ),
)

# A revert on main takes away what dev still has.

_DISCOUNTS = '''\
"""Discounts."""


def discount(cents):
    """Two percent off large amounts."""
    return cents * 98 // 100 if cents >= 100000 else cents
'''
_TEST_DISCOUNTS = """\
from ledger.discounts import discount


def test_large_amounts_are_cheaper():
    assert discount(100000) == 98000
"""

REVERTED = Story(
    traps=(
        Trap(
            "deleted-by-revert",
            "main reverted a feature that dev still ships: git removes it from dev, tests and "
            "all, without a conflict and with green checks.",
            "ledger/discounts.py",
            None,
            (FindingKind.REVERT_DELETION,),
        ),
        Trap(
            "tests-deleted-by-revert",
            "The tests went with the feature, which is why no check fails.",
            "tests/test_discounts.py",
            None,
            (FindingKind.REVERT_DELETION,),
        ),
    ),
    shared=(
        Step(
            "Discounts (#12)",
            {"ledger/discounts.py": _DISCOUNTS, "tests/test_discounts.py": _TEST_DISCOUNTS},
        ),
    ),
    main=(
        Step(
            'Revert "Discounts (#12)" (#36)',
            {"ledger/discounts.py": None, "tests/test_discounts.py": None},
        ),
    ),
)

# Files that can only be taken whole.

_RELEASE = b"#!/bin/sh\necho released\n"

NOT_TEXT = Story(
    traps=(
        Trap(
            "binary",
            "A binary file both branches changed is taken whole, as a proposal.",
            "assets/seal.bin",
            "fallback",
        ),
        Trap(
            "mode",
            "Both branches added the same script, one of them executable.",
            "scripts/release.sh",
            "fallback",
        ),
        Trap(
            "symlink",
            "A link that points elsewhere on each branch is taken whole, never merged as text.",
            "docs/latest",
            "fallback",
        ),
    ),
    base={
        "assets/seal.bin": b"\x89SEAL\0\x01",
        "docs/latest": File(b"v1.md", "120000"),
        "docs/v1.md": "# Version 1\n",
        "docs/empty.md": "",
    },
    main=(
        Step(
            "Release 1.1 (#37)",
            {
                "assets/seal.bin": b"\x89SEAL\0\x02",
                "scripts/release.sh": File(_RELEASE, "100755"),
                "docs/latest": File(b"v11.md", "120000"),
                "docs/v11.md": "# Version 1.1\n",
            },
        ),
    ),
    dev=(
        Step(
            "Prepare 2.0 (#57)",
            {
                "assets/seal.bin": b"\x89SEAL\0\x03",
                "scripts/release.sh": _RELEASE,
                "docs/latest": File(b"v2.md", "120000"),
                "docs/v2.md": "# Version 2\n",
            },
        ),
    ),
)

STORIES = (DELETED, RESTORED, DELETED_ON_MAIN, RENAMED, REVERTED, NOT_TEXT)
