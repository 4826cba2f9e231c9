"""Job logs: how GitHub Actions dresses them up, and the other host that hands them out."""

from datetime import datetime

BOM = "\ufeff"
_HEAD = (
    "##[group]Run actions/checkout@v4",
    "with:",
    "  fetch-depth: 1",
    "##[endgroup]",
    "\x1b[36;1mpython -m pytest -q\x1b[0m",
)


def dressed(text: str, moment: datetime, failed: bool = False) -> bytes:
    """A log with byte order mark, a timestamp on every line, colours and group marks."""
    end = (
        "##[error]Process completed with exit code 1." if failed else "Cleaning up orphan processes"
    )
    lines = [*_HEAD, *map(_coloured, text.splitlines()), end]
    start = moment.strftime("%Y-%m-%dT%H:%M:%S")
    stamped = (f"{start}.{at:07d}Z {line}" for at, line in enumerate(lines))
    return (BOM + "\r\n".join(stamped) + "\r\n").encode()


def _coloured(line: str) -> str:
    return f"\x1b[31m{line}\x1b[0m" if line.startswith(("E ", "FAILED", "ERROR")) else line
