"""The table of promises names tests that exist."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]


def _named() -> set[tuple[str, str]]:
    """`(file, test)` of every test the table names; a bare name belongs to its heading's file."""
    found: set[tuple[str, str]] = set()
    home = ""
    for line in (TESTS / "README.md").read_text().splitlines():
        heading = re.match(r"\| \w+ \| test in `(.+?)` \|", line)
        home = heading[1] if heading else home
        last = home
        for file, test in re.findall(r"`(?:([\w/]+\.py)::)?(test_\w+)`", line):
            last = file or last
            found.add((last, test))
    return found


def test_every_test_of_the_table_exists() -> None:
    named = _named()
    assert len(named) > 60
    missing = [
        f"{file}::{test}"
        for file, test in sorted(named)
        if f"def {test}(" not in (TESTS / file).read_text()
    ]
    assert missing == []
