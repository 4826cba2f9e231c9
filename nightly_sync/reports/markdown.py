"""Text from a repository, quoted so that a page shows it and does nothing else with it.

Titles, subjects, paths, diffs, logs and evidence are data. On GitHub they must not notify people,
close or link issues, or bring HTML, images and links along; anywhere they must not break the page.
GitHub looks for mentions and references in the *rendered* text, so that neither a backslash nor an
entity stops it; a zero-width space inside the reference does (Renovate and Dependabot do the same).
Inside code nothing is looked for, so code keeps its characters.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar
from urllib.parse import quote as percent_encode

from nightly_sync import paths

ZERO_WIDTH = "\u200b"
Item = TypeVar("Item")

# Control characters and the marks that reorder text on screen; newline and tab stay.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udc7f\udd00-\udfff]"
)
_ACTIVE = re.compile(r"@(?=\S)|#(?=\d)|gh(?=-\d)|:(?=//)|www(?=\.)", re.IGNORECASE)
# Letters on both sides keep an underscore from meaning emphasis: names stay readable.
_UNDERSCORES = re.compile(r"(?<!\w)_+|_+(?!\w)")
_LEADING = re.compile(r"^(\d*)([-+=#.)])")  # lists, headings, rules
_TICKS = re.compile("`+")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# An entity for the pipe: `\|` means different things in and outside a table.
_ESCAPES = str.maketrans({**_HTML, "|": "&vert;"} | {char: f"\\{char}" for char in "\\`*[]~$"})
_URL_SAFE = "/:?#[]@!$&'+,;=%~"


def visible(text: str) -> str:
    """Text whose undecodable bytes, control and direction characters can be seen.

    `^M` for a control character, as `cat -v` has it; `\\xNN` and `\\uNNNN` for the others.
    """
    return paths.printable(_CONTROLS.sub(_show, text))


def _show(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"^{chr(code ^ 64)}" if code < 0x80 else f"\\u{code:04x}"


def one_line(text: str, limit: int | None = None) -> str:
    """Plain text on one line, at most `limit` characters long; for terminals and tables."""
    words = visible(" ".join(text.split()))
    if limit is None or len(words) <= limit:
        return words
    return f"{words[: limit - 3]}..."


def inline(text: str, limit: int | None = None) -> str:
    """Prose that stays prose: one line, nothing active, safe in a list, a heading or a table."""
    return _LEADING.sub(r"\1\\\2", _escaped(one_line(text, limit)))


def _escaped(text: str) -> str:
    quiet = _quiet(text).translate(_ESCAPES)
    return _UNDERSCORES.sub(lambda match: "\\_" * len(match[0]), quiet)


def _quiet(text: str) -> str:
    return _ACTIVE.sub(lambda match: match[0] + ZERO_WIDTH, text)


def code(text: str) -> str:
    """Inline code; also safe in a table cell, where a pipe in a code span would end the cell."""
    shown = visible(text).replace("\n", " ").replace("\t", " ") or " "
    if "|" in shown:
        return f"<code>{_escaped(shown)}</code>"
    ticks = "`" * _free_run(shown)
    # The renderer drops one space at each end, unless there is nothing but spaces.
    spaced = shown.strip() and shown.startswith(" ") and shown.endswith(" ")
    space = " " if spaced or "`" in (shown[0], shown[-1]) else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def _free_run(text: str) -> int:
    """The shortest run of backticks that the text does not hold."""
    runs = {len(run) for run in _TICKS.findall(text)}
    return next(length for length in range(1, len(runs) + 2) if length not in runs)


def path(name: str) -> str:
    """A path as inline code, quoted as git does if it holds odd bytes."""
    return code(paths.quote(name))


def fence(text: str, language: str = "") -> str:
    """A code block, with a fence longer than any run of backticks in the text."""
    shown = visible(text).removesuffix("\n")
    ticks = "`" * max([3, *(len(run) + 1 for run in _TICKS.findall(shown))])
    return f"{ticks}{language}\n{shown}\n{ticks}"


def cell(text: str) -> str:
    """Text for a table cell; a dash where there is none."""
    return inline(text) or "-"


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table from cells that are Markdown already (`cell`, `code`); empty without rows."""
    lines = [_row(row) for row in rows]
    rule = "| " + " | ".join("---" for _ in headers) + " |"
    return "\n".join([_row(headers), rule, *lines]) if lines else ""


def _row(cells: Iterable[str]) -> str:
    # The functions above leave no pipe and no newline; if another did, the table still holds.
    safe = (" ".join(text.split("\n")).replace("|", "&vert;") for text in cells)
    return f"| {' | '.join(safe)} |"


def details(summary: str, body: str) -> str:
    """Collapsed Markdown below a summary of plain text.

    The blank lines end the HTML block: without them neither GitHub nor Prefect's V2 page renders
    the body as Markdown. The summary is HTML, where a backslash escapes nothing.
    """
    title = _quiet(one_line(summary))
    for char, entity in _HTML.items():
        title = title.replace(char, entity)
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"


def reference(number: int) -> str:
    """A pull request named on purpose: the only way a number becomes a link on GitHub.

    The word in front keeps any text before it from turning into "fixes #1".
    """
    return f"PR #{number}"


def link(text: str, url: str) -> str:
    """A link to a web address; any other address is shown as code, not linked."""
    if not url:
        return inline(text)
    if not url.startswith(("https://", "http://")):
        return f"{inline(text)} ({code(url)})"
    target = percent_encode(url, safe=_URL_SAFE, errors="surrogateescape")
    return f"[{inline(text)}](<{target}>)"


def capped(
    items: Sequence[Item], show: Callable[[Item], str], limit: int, separator: str = ", "
) -> str:
    """The first items of a list, and how many more there are."""
    more = [f"and {len(items) - limit} more"] if len(items) > limit else []
    return separator.join([*(show(item) for item in items[:limit]), *more])
