"""Stories about paths that the configuration decides, also where git merged cleanly."""

from nightly_sync.audits.model import FindingKind
from nightly_sync.config import PathRule
from nightly_sync.demo.model import Step, Story, Trap, edited
from nightly_sync.demo.skeleton import CODEOWNERS, PYPROJECT

RULES = (
    PathRule(rule="protect", paths=("/.github/",), reason="dev has owners and CI of its own"),
    PathRule(rule="take-target", paths=("/pyproject.toml",), reason="dev pins its own tools"),
    PathRule(rule="take-source", paths=("/ledger/defaults.py",), reason="main owns the defaults"),
    PathRule(rule="delete-wins", paths=("/docs/old/",), reason="old pages only go"),
)

PROTECTED = Story(
    traps=(
        Trap(
            "protected-file",
            "main changed a protected file: it stays as on dev, though git would merge it.",
            ".github/CODEOWNERS",
            "protect",
            (FindingKind.SOURCE_DROPPED,),
        ),
        Trap(
            "protected-folder",
            "main added a file to a protected folder: dev has none, so it is not taken in.",
            ".github/workflows/nightly.yml",
            "protect",
        ),
    ),
    main=(
        Step(
            "New owners, nightly build (#38)",
            {
                ".github/CODEOWNERS": f"{CODEOWNERS}/docs/ @ledger/writers\n",
                ".github/workflows/nightly.yml": "on: schedule\n",
            },
        ),
    ),
)

_DEFAULTS = '''\
"""Defaults."""

CURRENCY = "EUR"

LOCALE = "de"

WIDTH = 40
'''

SIDES = Story(
    traps=(
        Trap(
            "take-target",
            "git would merge both changes cleanly; the rule keeps dev's file as it is.",
            "pyproject.toml",
            "take-target",
            (FindingKind.SOURCE_DROPPED,),
        ),
        Trap(
            "take-source",
            "main's file as it is, and dev's lines that this costs are listed.",
            "ledger/defaults.py",
            "take-source",
            (FindingKind.TARGET_DROPPED,),
        ),
    ),
    base={"ledger/defaults.py": _DEFAULTS},
    main=(
        Step(
            "Defaults for everybody (#39)",
            {
                "pyproject.toml": edited(
                    PYPROJECT, ('testpaths = ["tests"]\n', 'testpaths = ["tests"]\nverbosity = 1\n')
                ),
                "ledger/defaults.py": edited(_DEFAULTS, ('"de"', '"en"')),
            },
        ),
    ),
    dev=(
        Step(
            "Work towards 2.0 (#58)",
            {
                "pyproject.toml": edited(PYPROJECT, ('"1.0"', '"2.0.dev0"')),
                "ledger/defaults.py": edited(_DEFAULTS, ('"de"', '"fr"'), ("40", "72")),
            },
        ),
    ),
)

OLD_PAGES = Story(
    traps=(
        Trap(
            "delete-wins-on-dev",
            "dev deleted an old page that main changed: the deletion stands.",
            "docs/old/manual.md",
            "delete-wins",
            (FindingKind.SOURCE_DROPPED,),
        ),
        Trap(
            "delete-wins-on-main",
            "main deleted an old page that dev changed: the deletion stands as well.",
            "docs/old/faq.md",
            "delete-wins",
            (FindingKind.TARGET_DROPPED,),
        ),
    ),
    base={"docs/old/manual.md": "# Manual\n", "docs/old/faq.md": "# Questions\n"},
    main=(
        Step(
            "Fewer old pages (#40)",
            {"docs/old/manual.md": "# Manual\n\nSee the guide.\n", "docs/old/faq.md": None},
        ),
    ),
    dev=(
        Step(
            "Old pages (#59)",
            {"docs/old/manual.md": None, "docs/old/faq.md": "# Questions\n\nNone so far.\n"},
        ),
    ),
)

STORIES = (PROTECTED, SIDES, OLD_PAGES)
