"""Read Markdown the way GitHub does: what would a page show, and what in it would be active?"""

import html
import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])

# After rendering, GitHub looks for these in text outside of code.
ACTIVE = {
    "mention": re.compile(r"(?<![\w`])@[a-z0-9]", re.IGNORECASE),
    "reference": re.compile(r"(?<!\w)(?:[\w.-]+/[\w.-]+)?#\d|\bgh-\d", re.IGNORECASE),
    "address": re.compile(r"[a-z]://\S|\bwww\.\S|\w@\w", re.IGNORECASE),
}
CLOSING = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+(?:\S*#\d|gh-\d|\S+://)", re.IGNORECASE
)
OURS = re.compile(r"PR #\d+")


def tokens(text: str) -> Iterator[Token]:
    """Every token of a page, inline ones included."""
    for token in MARKDOWN.parse(text):
        yield token
        yield from token.children or ()


def kinds(text: str) -> set[str]:
    """Names of the tokens a page is made of."""
    return {token.type for token in tokens(text)}


def prose(text: str) -> str:
    """What a page shows outside of code, HTML blocks (summaries) included."""
    shown = []
    for token in tokens(text):
        if token.type == "text":
            shown.append(token.content)
        elif token.type == "html_block":
            shown.append(html.unescape(re.sub(r"</?\w+>|<!--.*?-->", "\n", token.content)))
        elif token.type in {"softbreak", "paragraph_open", "code_inline", "td_open"}:
            shown.append("\n")
    return "".join(shown)


def active(text: str) -> list[str]:
    """Mentions, references, addresses and closing keywords that would work on the page.

    Pull requests the report names on purpose do not count, unless a keyword precedes them.
    """
    shown = prose(text)
    closing = ["closing keyword"] if CLOSING.search(shown) else []
    rest = OURS.sub("", shown)
    return closing + [name for name, pattern in ACTIVE.items() if pattern.search(rest)]
