"""Search in the files of the checkout, as they are now.

By grep, in a process of its own with limits: a pattern that takes forever must not hold up the
run. grep does not follow links it meets, and the folder it starts in is checked here.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import Field

from nightly_sync import paths
from nightly_sync.agent.base import Tool, ToolResult, tool
from nightly_sync.agent.bench import Bench
from nightly_sync.agent.data import clean
from nightly_sync.agent.inside import Refused, normal, shown
from nightly_sync.commands import CommandResult, run_command
from nightly_sync.model import Model

TIMEOUT = 20.0  # seconds
MEMORY = 256 * 1024 * 1024  # bytes; a regex can ask for any amount
PER_FILE = 50  # matching lines
SHOWN = 300  # matching lines in all
LINE = 300  # characters of a line
READ = 1 << 20  # bytes of what grep prints

_MATCH = re.compile(rb"\./([^\0]*)\0(\d+):([^\n]*)\n")
_OPTIONS = ("-rnHIZs", "--devices=skip", "--exclude-dir=.git", f"--max-count={PER_FILE}")


class Search(Model):
    """Input of `search`."""

    text: str = Field(min_length=1, max_length=1000, description="What to look for, in one line.")
    path: str = Field("", description="Only in this file or folder; empty for everywhere.")
    regex: bool = Field(False, description="The text is an extended regular expression (grep -E).")
    ignore_case: bool = Field(False, description="Upper and lower case are the same.")


def reading(bench: Bench) -> tuple[Tool, ...]:
    """`search`."""
    return (
        tool(
            "search",
            "Find lines in the checkout's text files that hold a text.",
            Search,
            lambda given: _search(bench, given),
        ),
    )


def _search(bench: Bench, given: Search) -> ToolResult:
    name = normal(given.path)
    found = bench.files.look(name)
    if not (found.is_folder or found.is_file):
        raise Refused(f"{shown(name)} is no file and no folder; links are not followed.")
    if "\n" in given.text or "\0" in given.text:
        raise Refused("Look for one line at a time.")
    with TemporaryDirectory(prefix="nightly-sync-search-") as scratch:
        log = Path(scratch) / "matches"
        result = _grep(bench.files.top, given, name, log)
        with log.open("rb") as file:
            out = file.read(READ)
    matches = _MATCH.findall(out)
    if not matches and result.code != 1:
        raise Refused(_failure(result))
    return ToolResult(bench.marker.wrap(_label(given, matches, result), _lines(matches)))


def _grep(top: Path, given: Search, name: str, log: Path) -> CommandResult:
    kind = "-E" if given.regex else "-F"
    case = ("-i",) if given.ignore_case else ()
    limits = ("prlimit", f"--as={MEMORY}", "--")
    where = f"./{paths.fs_name(name)}" if name else "."
    words = (*limits, "grep", *_OPTIONS, kind, *case, "-e", given.text, "--", where)
    # In the C locale every byte is a character, so that odd bytes make no file a binary one.
    return run_command(words, top, TIMEOUT, log, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})


def _failure(result: CommandResult) -> str:
    if result.timed_out:
        return f"The search took over {TIMEOUT:g} s; look for plain text, or in one folder."
    said = clean(result.output).strip()[-300:]
    return f"The search failed: {said or f'grep ended with {result.code}'}"


def _label(given: Search, matches: list[tuple[bytes, bytes, bytes]], result: CommandResult) -> str:
    many = f"the first {SHOWN} lines" if len(matches) > SHOWN else f"{len(matches)} lines"
    count = "1 line" if len(matches) == 1 else many
    end = "; the search was cut short" if result.timed_out else ""
    return f"{count} with {given.text!r} (at most {PER_FILE} a file{end})"


def _lines(matches: list[tuple[bytes, bytes, bytes]]) -> str:
    ordered = sorted(matches, key=lambda match: (match[0], int(match[1])))
    return "\n".join(
        f"{shown(paths.from_bytes(name))}:{number.decode()}: {clean(line)[:LINE]}"
        for name, number, line in ordered[:SHOWN]
    )
