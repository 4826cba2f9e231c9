"""Tools over the files of the checkout: list, read, search, edit, create, delete.

A search is grep's, in a process of its own with limits: a pattern that takes forever must not hold
up the run. grep does not follow links it meets, and the folder it starts in is checked here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import Field

from nightly_sync import paths
from nightly_sync.agent.base import Action, ToolResult
from nightly_sync.agent.data import clean
from nightly_sync.agent.files import Files, Found
from nightly_sync.agent.guard import Refused, WriteGuard, is_git, shown
from nightly_sync.agent.look import (
    FirstLine,
    Inside,
    Lines,
    Needle,
    Trees,
    ends_in_crlf,
    matches,
    matching,
    numbered,
)
from nightly_sync.checks.logs import lines_of
from nightly_sync.commands import CommandResult, run_command

LISTED = 1000  # names
WRITTEN = 1_000_000  # characters of one edit
TIMEOUT = 20.0  # seconds of a search
MEMORY = 256 * 1024 * 1024  # bytes; a regex can ask for any amount
PER_FILE = 50  # matching lines
FOUND = 1 << 20  # bytes of what grep prints
_GREP = ("-rnHIZs", "--devices=skip", "--exclude-dir=.git", f"--max-count={PER_FILE}")
# In the C locale every byte is a character, so that odd bytes make no file a binary one.
_PLAIN = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
PATH = "Path from the top of the checkout; one in double quotes is read as git quotes odd names."


@dataclass(frozen=True)
class Bench(Trees):
    """What the tools of one conversation work on: a checkout without `.git`, and its repository.

    No tool pushes, comments, fetches or sees the environment, so none can be talked into it. They
    run one at a time: a command must not see a file that is half edited.

    `logs` are those of failed checks, by the check's name; nothing else of the machine is read.
    """

    files: Files
    guard: WriteGuard
    logs: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    edited: set[str] = field(default_factory=set)  # paths that tools wrote or deleted


class ListFiles(Action[Bench]):
    """List a folder of the checkout, or all files below it."""

    path: Inside = Field("", description=f"A folder; empty for the top. {PATH}")
    recursive: bool = Field(False, description="Every file below it, not only what lies in it.")

    def run(self, place: Bench) -> ToolResult:
        files = place.files
        found = files.walk(self.path) if self.recursive else files.entries(self.path)
        names = sorted(_listed(item) for item in found if not is_git(item.name.split("/")[-1]))
        more = f", the first {LISTED} of {len(names)}" if len(names) > LISTED else ""
        label = f"names in {shown(self.path) or 'the top'}{more}"
        return ToolResult(place.marker.wrap(label, "\n".join(names[:LISTED])))


def _listed(item: Found) -> str:
    if item.target is not None:
        return f"{shown(item.name)} -> {shown(item.target)}"
    return shown(item.name) + ("/" if item.is_folder else "" if item.is_file else " (no file)")


class ReadFile(Action[Bench]):
    """Read lines of a text file of the checkout, numbered (the numbers are not part of it)."""

    path: Inside = Field(description=PATH)
    first_line: FirstLine = 1
    lines: Lines = 400

    def run(self, place: Bench) -> ToolResult:
        content, what = place.files.read(self.path), shown(self.path)
        return numbered(place.marker, what, content, self.first_line, self.lines)


class Search(Action[Bench]):
    """Find lines in the checkout's text files that hold a text."""

    text: Needle
    path: Inside = Field("", description="Only in this file or folder; empty for everywhere.")
    regex: bool = Field(False, description="The text is an extended regular expression (grep -E).")
    ignore_case: bool = Field(False, description="Upper and lower case are the same.")

    def run(self, place: Bench) -> ToolResult:
        found = place.files.look(self.path)
        if not (found.is_folder or found.is_file):
            raise Refused(f"{shown(self.path)} is no file and no folder; links are not followed.")
        options = ["-E" if self.regex else "-F", *(["-i"] if self.ignore_case else [])]
        where = f"./{paths.fs_name(self.path)}"
        result, out = _grep(place.files.top, [*options, "-e", self.text, "--", where])
        lines = matches(out)
        if not lines and result.code != 1:
            raise Refused(_failure(result))
        end = "; the search was cut short" if result.timed_out else ""
        what = f"{self.text!r} (at most {PER_FILE} a file{end})"
        return matching(place.marker, what, lines)


def _grep(top: Path, words: list[str]) -> tuple[CommandResult, bytes]:
    """How it ended, and the beginning of what it printed."""
    command = ["prlimit", f"--as={MEMORY}", "--", "grep", *_GREP, *words]
    with TemporaryDirectory(prefix="nightly-sync-search-") as scratch:
        log = Path(scratch) / "matches"
        result = run_command(command, top, TIMEOUT, log, env=_PLAIN)
        with log.open("rb") as file:
            return result, file.read(FOUND)


def _failure(result: CommandResult) -> str:
    if result.timed_out:
        return f"The search took over {TIMEOUT:g} s; look for plain text, or in one folder."
    said = clean(result.output).strip()[-300:]
    return f"The search failed: {said or f'grep ended with {result.code}'}"


class ReadLog(Action[Bench]):
    """Read the log of a failed check, of which the task shows excerpts: its lines, numbered."""

    check: str = Field(description="Name of the check, as the task gives it.")
    text: str = Field("", max_length=1000, description="Only lines with this text, in any case.")
    first_line: FirstLine = 1
    lines: Lines = 400

    def run(self, place: Bench) -> ToolResult:
        if self.check not in place.logs:
            known = place.marker.wrap("checks with a log", "\n".join(place.logs))
            raise Refused(f"No check of this name has a log.\n{known}")
        texts = (file.read_text("utf-8", "replace") for file in place.logs[self.check])
        every = [line for text in texts for line in lines_of(text)]
        wanted = self.text.casefold()
        found = [
            f"{at}\t{line}"
            for at, line in enumerate(every, 1)
            if at >= self.first_line and wanted in line.casefold()
        ]
        some = f", the first {self.lines} of {len(found)}" if len(found) > self.lines else ""
        what = f" with {self.text!r}" if self.text else ""
        label = f"log of {self.check}, {len(every)} lines: those{what} from {self.first_line}{some}"
        return ToolResult(place.marker.wrap(label, "\n".join(found[: self.lines])))


class EditFile(Action[Bench]):
    """Replace an exact text in a file. Refused unless it occurs exactly `count` times."""

    path: Inside = Field(description=PATH)
    old: str = Field(
        min_length=1,
        max_length=WRITTEN,
        description="The exact text to replace, with enough around it to occur only once. An empty "
        "file gets its text by create_file.",
    )
    new: str = Field(max_length=WRITTEN, description="The text to stand there instead.")
    count: int = Field(1, ge=1, description="How often the old text must occur; all are replaced.")

    def run(self, place: Bench) -> ToolResult:
        place.guard.check(self.path, "edit_file")
        content, name = place.files.read(self.path), shown(self.path)
        if b"\0" in content:
            raise Refused(f"{name} is binary.")
        changed, found = _replaced(content, self.old.encode(), self.new.encode())
        if found != self.count or changed == content:
            raise Refused(self._problem(name, found))
        place.files.replace(self.path, changed)
        return _done(place, self.path, f"changed in {found} place{'s' * (found > 1)}")

    def _problem(self, name: str, found: int) -> str:
        if found == self.count:
            return "The old text and the new one are the same; nothing was changed."
        hint = "read the file again" if not found else "give more of the text around it, or count"
        said = f"The old text occurs {found} times in {name}, not {self.count}"
        return f"{said}; nothing was changed: {hint}."


class CreateFile(Action[Bench]):
    """Create a text file, and the folders it lies in."""

    path: Inside = Field(description=f"It must not exist yet, or be empty. {PATH}")
    content: str = Field(max_length=WRITTEN, description="The whole content.")

    def run(self, place: Bench) -> ToolResult:
        place.guard.check(self.path, "create_file")
        files = place.files
        write = files.replace if files.is_empty(self.path) else files.create
        write(self.path, self.content.encode())
        return _done(place, self.path, "created")


class DeleteFile(Action[Bench]):
    """Delete a file that the merge left behind although one side deleted it."""

    path: Inside = Field(description=PATH)

    def run(self, place: Bench) -> ToolResult:
        place.guard.check(self.path, "delete_file")
        place.files.remove(self.path)
        return _done(place, self.path, "deleted")


READING = (ListFiles, ReadFile, Search)
WRITING = (EditFile, CreateFile, DeleteFile)


def _done(place: Bench, name: str, what: str) -> ToolResult:
    place.edited.add(name)
    return ToolResult(f"{shown(name)} was {what}.")


def _replaced(content: bytes, old: bytes, new: bytes) -> tuple[bytes, int]:
    """A content with one text in place of another, and how often that stood there.

    The model writes plain line ends. Where the file has CRLF too, a line end is any of both.
    """
    if b"\r\n" not in content:
        return content.replace(old, new), content.count(old)
    lines, plain = old.replace(b"\r\n", b"\n").split(b"\n"), new.replace(b"\r\n", b"\n")
    usual = b"\r\n" if ends_in_crlf(content) else b"\n"
    pattern = re.compile(b"\r?\n".join(map(re.escape, lines)))
    return pattern.subn(lambda match: _with_ends(match[0], plain, usual), content)


def _with_ends(old: bytes, new: bytes, usual: bytes) -> bytes:
    """The new text: lines that it keeps end as in the old one, others as their neighbours there."""
    before, after = old.split(b"\n"), new.split(b"\n")
    ends = [b"\r\n" if line.endswith(b"\r") else b"\n" for line in before[:-1]] or [usual]
    at = _places([line.removesuffix(b"\r") for line in before], after)
    made = [
        line + ends[min(place, len(ends) - 1)] for line, place in zip(after[:-1], at, strict=False)
    ]
    return b"".join(made) + after[-1]


def _places(before: list[bytes], after: list[bytes]) -> list[int]:
    """For each line of one text, the line of another that it is, or stands in for."""
    places: list[int] = []
    for _, start, end, first, last in SequenceMatcher(None, before, after, False).get_opcodes():
        places += [min(start + step, max(start, end - 1)) for step in range(last - first)]
    return places
