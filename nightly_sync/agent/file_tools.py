"""Tools over the files of the checkout: list, read, edit by exact replacement, create."""

import re
from difflib import SequenceMatcher

from pydantic import Field

from nightly_sync import git
from nightly_sync.agent.base import Tool, ToolResult, tool
from nightly_sync.agent.bench import Bench
from nightly_sync.agent.data import clean
from nightly_sync.agent.files import Found
from nightly_sync.agent.git_tools import commit_named
from nightly_sync.agent.inside import Refused, is_git, normal, shown
from nightly_sync.model import Model

LISTED = 1000  # names
WRITTEN = 1_000_000  # characters of one edit
PATH = "Path from the top of the checkout; one in double quotes is read as git quotes odd names."


class ListFiles(Model):
    """Input of `list_files`."""

    path: str = Field("", description=f"A folder; empty for the top. {PATH}")
    recursive: bool = Field(False, description="Every file below it, not only what lies in it.")


class ReadFile(Model):
    """Input of `read_file`."""

    path: str = Field(description=PATH)
    first_line: int = Field(1, ge=1, description="Number of the first line wanted.")
    lines: int = Field(400, ge=1, le=2000, description="How many lines.")
    revision: str = Field("", description="Read it as it is in this commit, not in the checkout.")


class EditFile(Model):
    """Input of `edit_file`."""

    path: str = Field(description=PATH)
    old: str = Field(
        min_length=1,
        max_length=WRITTEN,
        description="The exact text to replace, with enough around it to occur only once. An empty "
        "file gets its text by create_file.",
    )
    new: str = Field(max_length=WRITTEN, description="The text to stand there instead.")
    count: int = Field(1, ge=1, description="How often the old text must occur; all are replaced.")


class CreateFile(Model):
    """Input of `create_file`."""

    path: str = Field(description=f"It must not exist yet, or be empty. {PATH}")
    content: str = Field(max_length=WRITTEN, description="The whole content.")


def reading(bench: Bench) -> tuple[Tool, ...]:
    """`list_files` and `read_file`."""
    return (
        tool(
            "list_files",
            "List a folder of the checkout, or all files below it.",
            ListFiles,
            lambda given: _list(bench, given),
        ),
        tool(
            "read_file",
            "Read lines of a text file, numbered (the numbers are not part of it).",
            ReadFile,
            lambda given: _read(bench, given),
        ),
    )


def writing(bench: Bench) -> tuple[Tool, ...]:
    """`edit_file` and `create_file`; the guard decides on each path."""
    return (
        tool(
            "edit_file",
            "Replace an exact text in a file. Refused unless it occurs exactly `count` times.",
            EditFile,
            lambda given: _edit(bench, given),
        ),
        tool(
            "create_file",
            "Create a text file, and the folders it lies in.",
            CreateFile,
            lambda given: _create(bench, given),
        ),
    )


def _list(bench: Bench, given: ListFiles) -> ToolResult:
    folder = normal(given.path)
    found = bench.files.walk(folder) if given.recursive else iter(bench.files.entries(folder))
    names = [_listed(item) for item in found if not is_git(item.name.rpartition("/")[2])]
    text = "\n".join(sorted(names)[:LISTED])
    more = f", the first {LISTED} of {len(names)}" if len(names) > LISTED else ""
    label = f"names in {shown(folder) or 'the top'}{more}"
    return ToolResult(bench.marker.wrap(label, text))


def _listed(item: Found) -> str:
    if item.target is not None:
        return f"{shown(item.name)} -> {shown(item.target)}"
    return shown(item.name) + ("/" if item.is_folder else "" if item.is_file else " (no file)")


def _read(bench: Bench, given: ReadFile) -> ToolResult:
    name = normal(given.path)
    content = _in_commit(bench, given.revision, name) if given.revision else bench.files.read(name)
    lines = _text(name, content).split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    first, last = given.first_line, min(given.first_line + given.lines - 1, len(lines))
    if first > max(1, len(lines)):
        raise Refused(f"{shown(name)} has only {len(lines)} lines.")
    texts = (clean(line.removesuffix(b"\r")) for line in lines[first - 1 : last])
    numbered = (f"{at}\t{text}" for at, text in enumerate(texts, first))
    label = f"{shown(name)}, lines {first}-{last} of {len(lines)}{_ends(content)}"
    return ToolResult(bench.marker.wrap(label, "\n".join(numbered)))


def _in_commit(bench: Bench, revision: str, name: str) -> bytes:
    content = git.read_file(bench.repo, commit_named(bench, revision), name)
    if content is None:
        raise Refused(f"There is no file {shown(name)} in {clean(revision)}.")
    return content


def _edit(bench: Bench, given: EditFile) -> ToolResult:
    name = normal(given.path)
    bench.guard.check(name, "edit_file")
    content = _text(name, bench.files.read(name))
    old, new = given.old.encode(), given.new.encode()
    if _ends_in_crlf(content):
        old, new = _crlf(old), _crlf(new)
    changed, found = _replaced(content, old, new)
    if found != given.count or old == new:
        raise Refused(_no_edit(name, found, given))
    bench.files.replace(name, changed)
    return ToolResult(f"{shown(name)} was changed in {found} place{'s' * (found > 1)}.")


def _no_edit(name: str, found: int, given: EditFile) -> str:
    if found == given.count:
        return "The old text and the new one are the same; nothing was changed."
    hint = "read the file again" if not found else "give more of the text around it, or count"
    return (
        f"The old text occurs {found} times in {shown(name)}, not {given.count}; nothing was "
        f"changed: {hint}."
    )


def _create(bench: Bench, given: CreateFile) -> ToolResult:
    name = normal(given.path)
    bench.guard.check(name, "create_file")
    write = bench.files.replace if _is_empty(bench, name) else bench.files.create
    write(name, given.content.encode())
    return ToolResult(f"{shown(name)} was created.")


def _is_empty(bench: Bench, name: str) -> bool:
    """Is there an empty file? No text in it could be replaced."""
    try:
        found = bench.files.look(name)
    except Refused:
        return False
    return found.is_file and not found.stat.st_size


def _text(name: str, content: bytes) -> bytes:
    if b"\0" in content:
        raise Refused(f"{shown(name)} is binary.")
    return content


def _ends(content: bytes) -> str:
    """How lines end, for the label, where they do not all end in LF."""
    if _ends_in_crlf(content):
        return ", lines end in CRLF"
    return ", mixed line ends" if b"\r\n" in content else ""


def _ends_in_crlf(content: bytes) -> bool:
    """Do all lines end in CRLF? Then text from the model, which has plain ends, gets them too."""
    count = content.count(b"\r\n")
    return count > 0 and count == content.count(b"\n")


def _crlf(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def _replaced(content: bytes, old: bytes, new: bytes) -> tuple[bytes, int]:
    """A content with one text in place of another, and how often that stood there.

    Where the old text does not occur as it is, its lines may end in CRLF too, each by itself.
    """
    found = content.count(old)
    if found or b"\r\n" not in content:
        return content.replace(old, new), found
    lines = old.replace(b"\r\n", b"\n").split(b"\n")
    pattern = re.compile(b"\r?\n".join(map(re.escape, lines)))
    plain = new.replace(b"\r\n", b"\n")
    return pattern.subn(lambda match: _with_ends(match[0], plain), content)


def _with_ends(old: bytes, new: bytes) -> bytes:
    """The new text: lines that it keeps end as in the old one, others as their neighbours there."""
    before, after = old.split(b"\n"), new.split(b"\n")
    ends = [b"\r\n" if line.endswith(b"\r") else b"\n" for line in before[:-1]]
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
