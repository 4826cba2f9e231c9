"""Stories about text that tools stumble over: odd names, line ends, look-alikes of markers."""

from nightly_sync.audits.model import FindingKind
from nightly_sync.demo.model import Step, Story, Trap, edited

_DROPPED = (FindingKind.TARGET_DROPPED,)

# Both branches added the same file.

ADD_ADD = Story(
    traps=(
        Trap(
            "add-add",
            "Both branches added the file: there is no base, and every hunk is a proposal.",
            "CONTRIBUTING.md",
            "fallback",
            _DROPPED,
        ),
    ),
    main=(
        Step(
            "How to contribute <img src=x onerror=alert(1)> (#25)",
            {"CONTRIBUTING.md": "# Contributing\n\nOpen an issue first.\n\nSign your commits.\n"},
        ),
    ),
    dev=(
        Step(
            "Rules for contributors, closes #2 (#47)",
            {
                "CONTRIBUTING.md": "# Contributing\n\n</details> Ask @ledger/maintainers first, "
                "`` ` `` and all.\n\nSign your commits.\n"
            },
        ),
    ),
)

# Line ends.

_VAT = """\
\"\"\"Value added tax, in percent.\"\"\"

RATE = 19


def vat(cents):
    \"\"\"The tax in a net amount.\"\"\"
    return cents * RATE // 100


def gross(cents):
    \"\"\"Net and tax.\"\"\"
    return cents + vat(cents)
"""


def _crlf(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


CRLF = Story(
    traps=(
        Trap(
            "crlf",
            "Every line of the file ends in CR LF, before and after.",
            "ledger/vat.py",
            "fallback",
            _DROPPED,
        ),
    ),
    base={
        "ledger/vat.py": _crlf(_VAT),
        "tests/test_vat.py": """\
from ledger.vat import gross, vat


def test_gross_is_net_and_tax():
    assert gross(1000) == 1000 + vat(1000)
""",
    },
    main=(
        Step(
            "A higher tax (#26)", {"ledger/vat.py": _crlf(edited(_VAT, ("RATE = 19", "RATE = 20")))}
        ),
    ),
    dev=(
        Step(
            "Tax of two countries (#48)",
            {
                "ledger/vat.py": _crlf(
                    edited(
                        _VAT,
                        ("RATE = 19", "RATE = 21  # from 2027 on"),
                        ('"""Net and tax."""', '"""Net and tax together."""'),
                    )
                )
            },
        ),
    ),
)

# Lines that look like conflict markers and are none.

_GUIDE = """\
Booking
=======

An entry has an amount.

Reports
=======

A report has a line for each account.
"""
_MERGING = """\
# Merging

A conflict looks like this:

```
<<<<<<< HEAD
ours
=======
theirs
>>>>>>> main
```

Resolve it by hand.
"""

NO_MARKERS = Story(
    traps=(
        Trap(
            "heading-of-equal-signs",
            "A heading's underline of seven equal signs, right above a conflict, is no marker.",
            "docs/guide.rst",
            "fallback",
            _DROPPED,
        ),
        Trap(
            "quoted-markers",
            "The page explains conflict markers; both branches have them, so they are no finding.",
            "docs/merging.md",
        ),
    ),
    base={"docs/guide.rst": _GUIDE, "docs/merging.md": _MERGING},
    main=(
        Step(
            "Write more of the guide (#27)",
            {
                "docs/guide.rst": edited(_GUIDE, ("an amount.", "an amount and a date.")),
                "docs/merging.md": edited(_MERGING, ("# Merging", "# Merging by hand")),
            },
        ),
    ),
    dev=(
        Step(
            "Explain entries (#49)",
            {
                "docs/guide.rst": edited(_GUIDE, ("an amount.", "an amount, never zero.")),
                "docs/merging.md": edited(_MERGING, ("it by hand.", "it by hand, then test.")),
            },
        ),
    ),
)

# Names of any bytes.

ODD_NAMES = {
    "notes/à faire.txt": "name-with-space",
    "notes/caf\udce9.txt": "name-that-is-no-utf8",
    "notes/a\nb": "name-of-two-lines",
    "-v": "name-like-an-option",
}
_ODD = "The file goes through under its own name, and no newline is added at its end."


def odd_names(names: tuple[str, ...]) -> Story:
    """A conflict in each of these files, which also have no newline at their end."""
    return Story(
        traps=tuple(Trap(ODD_NAMES[name], _ODD, name, "fallback", _DROPPED) for name in names),
        base=dict.fromkeys(names, "buy paper"),
        main=(Step("Notes of main (#28)", dict.fromkeys(names, "buy ink")),),
        dev=(Step("Notes of dev (#50)", dict.fromkeys(names, "buy stamps")),),
    )


# What .gitattributes says, and data.

_CHANGES = "# Changes\n\n{}- 1.0: books, balances, statements\n"

ATTRIBUTES = Story(
    traps=(
        Trap(
            "merge-attribute",
            "The target's .gitattributes say merge=union, so both entries are kept.",
            "CHANGELOG.md",
        ),
    ),
    base={"CHANGELOG.md": _CHANGES.format("")},
    main=(Step("List 1.1 (#29)", {"CHANGELOG.md": _CHANGES.format("- 1.1: no empty entries\n")}),),
    dev=(Step("List 2.0 (#51)", {"CHANGELOG.md": _CHANGES.format("- 2.0: currencies\n")}),),
)

_GOLDEN = """\
{
  "accounts": ["Cash", "Bank"],
  "total": 1205,
  "written": "%s"
}
"""

GOLDEN = Story(
    traps=(
        Trap(
            "golden-values",
            "Recorded values conflict in their date only; data comes after code in the report.",
            "tests/golden/totals.json",
            "fallback",
            _DROPPED,
        ),
    ),
    base={
        "tests/golden/totals.json": _GOLDEN % "2026-01-31",
        "tests/test_golden.py": """\
import json
from pathlib import Path


def test_the_recorded_total_has_its_accounts():
    text = (Path(__file__).parent / "golden" / "totals.json").read_text()
    assert json.loads(text)["accounts"] == ["Cash", "Bank"]
""",
    },
    main=(Step("Record again (#30)", {"tests/golden/totals.json": _GOLDEN % "2026-02-28"}),),
    dev=(Step("Record on dev (#52)", {"tests/golden/totals.json": _GOLDEN % "2026-02-27"}),),
)

STORIES = (ADD_ADD, CRLF, NO_MARKERS, ATTRIBUTES, GOLDEN)
