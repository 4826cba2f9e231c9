"""Quoting: whatever a repository holds, a page shows it and does nothing else with it."""

import html
import random
import re

import pytest

from nightly_sync.reports import markdown as md
from tests.support.pages import MARKDOWN, active, kinds, tokens

NASTY = (
    "",
    " ",
    "@octocat and @org/team",
    "Fixes #1",
    "closes: owner/repo#12, resolves GH-7",
    "Fixes https://github.com/owner/repo/issues/3",
    "see www.example.com or mail me@example.com",
    "<script>alert(1)</script>",
    "<!-- nightly-sync:end -->",
    "</details></summary>",
    "<https://example.com>",
    "![image](https://example.com/x.png)",
    "[link](https://example.com)",
    "[label]: https://example.com",
    "[^1] and [x] task",
    "a | b || c \\| d \\\\| e",
    "`code` ``two`` ```three",
    "```\nfence\n```",
    "~~~ tildes ~~gone~~",
    "**bold** *em* __bold__ _em_ snake_case __init__ _x",
    "# heading",
    "###### ",
    "- item",
    "+ item",
    "* item",
    "1. item",
    "12) item",
    "> quote",
    "---",
    "===",
    "    indented",
    "two\nlines\r\nand\rmore\x0b\x0c\x85\u2028\u2029",
    "hard break  \nback\\\nslash",
    "ends with \\",
    "&lt;b&gt; &amp; &#64;octocat &commat;octocat &copy;",
    "\x00\x1b[31mred\x1b[0m\x7f\x9b",
    "\u202edesrever \u2066isolated",
    "caf\udce9 \ud800",
    "$x^2$ :tada: \u200b",
    "::: | --- | :-: |",
    '"quoted" \\"',
)
FRAGMENTS = (
    *"@#|`*_[]()<>!\\~-+=.:/& \n",
    "a", "1", "fix ", "gh-", "http://", "www.", "-->", "<!--", "``", "\t",
)  # fmt: skip
CONTEXTS = ("{}", "- {}", "#### {}", "> {}", "word {} word", "| a |\n| --- |\n| {} |", "{}\n***")
PLAIN = {
    "paragraph_open", "paragraph_close", "inline", "text", "text_special", "hr",
    "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close",
    "heading_open", "heading_close", "blockquote_open", "blockquote_close",
    "table_open", "table_close", "thead_open", "thead_close", "tbody_open", "tbody_close",
    "tr_open", "tr_close", "th_open", "th_close", "td_open", "td_close",
}  # fmt: skip


def _mixtures(count: int) -> list[str]:
    dice = random.Random(2)
    return ["".join(dice.choices(FRAGMENTS, k=dice.randint(1, 14))) for _ in range(count)]


TEXTS = (*NASTY, *_mixtures(300))


def _shown(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", MARKDOWN.render(page)))


@pytest.mark.parametrize("text", [NASTY[2], NASTY[3], NASTY[4], NASTY[5], NASTY[6], "a &#64;b"])
def test_the_check_below_sees_what_would_be_active_unquoted(text: str) -> None:
    assert active(text)


@pytest.mark.parametrize("context", CONTEXTS)
def test_prose_brings_no_structure_and_nothing_active_into_a_page(context: str) -> None:
    expected = kinds(context.format("word")) | PLAIN
    for text in TEXTS:
        page = context.format(md.inline(text))
        assert kinds(page) <= expected, text
        assert active(page) == [], text


@pytest.mark.parametrize("context", CONTEXTS)
def test_prose_adds_no_block_to_a_page(context: str) -> None:
    shape = [token.type for token in MARKDOWN.parse(context.format("word"))]
    for text in TEXTS:
        if md.inline(text):
            page = MARKDOWN.parse(context.format(md.inline(text)))
            assert [token.type for token in page] == shape, text


def test_prose_still_reads_as_it_was_written() -> None:
    for text in TEXTS:
        page = _shown(f"x {md.inline(text)}").removeprefix("<p>").strip()
        expected = f"x {md.one_line(text)}".strip().replace(md.ZERO_WIDTH, "")
        assert page.replace(md.ZERO_WIDTH, "") == expected, text


def test_names_with_underscores_stay_readable_in_the_source_too() -> None:
    assert md.inline("load_state_dict in v1") == "load_state_dict in v1"


def test_a_long_text_is_cut_before_it_is_quoted() -> None:
    assert md.inline("&" * 50, 10) == "&amp;" * 7 + "..."


@pytest.mark.parametrize("context", ["{}", "a {} b", "| a |\n| --- |\n| {} |"])
def test_code_shows_its_text_unchanged_and_ends_where_it_should(context: str) -> None:
    for text in TEXTS:
        page = context.format(md.code(text))
        found = [token for token in tokens(page) if token.type == "code_inline"]
        shown = md.visible(text).replace("\n", " ").replace("\t", " ") or " "
        if "|" in shown:
            assert f"<code>{html.escape(shown)}</code>" == _unquoted(page), text
        else:
            assert [token.content for token in found] == [shown], text
        assert active(page) == [], text


def _unquoted(page: str) -> str:
    match = re.search(r"<code>.*</code>", MARKDOWN.render(page))
    assert match
    return match[0].replace(md.ZERO_WIDTH, "").replace("'", "&#x27;")


def test_code_blocks_hold_their_text_whatever_fences_it_has_itself() -> None:
    for text in TEXTS:
        blocks = MARKDOWN.parse(f"before\n\n{md.fence(text, 'diff')}\n\nafter")
        fences = [token for token in blocks if token.type == "fence"]
        assert [token.content for token in fences] == [md.visible(text).removesuffix("\n") + "\n"]
        assert blocks[-2].content == "after"


def test_line_ends_that_differ_can_be_seen_in_a_patch() -> None:
    assert "-x^M\n+x" in md.fence("-x\r\n+x\n", "diff")


def test_a_table_keeps_its_columns_whatever_its_cells_hold() -> None:
    rows = [(md.cell(text), md.code(text), md.path(text)) for text in TEXTS]
    page = MARKDOWN.parse(md.table(("A", "B", "C"), rows))
    assert sum(token.type == "td_open" for token in page) == 3 * len(rows)
    assert sum(token.type == "table_open" for token in page) == 1


def test_a_cell_that_was_not_quoted_still_cannot_break_its_table() -> None:
    page = MARKDOWN.parse(md.table(("A", "B"), [("x | y", "two\nlines")]))
    assert [token.content for token in page if token.type == "inline"][2:] == [
        "x &vert; y",
        "two lines",
    ]


def test_a_table_without_rows_is_nothing() -> None:
    assert md.table(("A",), []) == ""


def test_details_cannot_be_closed_by_summary_or_body() -> None:
    for text in TEXTS:
        page = md.details(text, f"{md.inline(text)}\n\n{md.fence(text)}")
        blocks = [token for token in tokens(page) if token.type.startswith("html")]
        assert [token.content.strip()[:9] for token in blocks] == ["<details>", "</details"], text
        assert blocks[0].content.count("<") == 3, text
        assert active(page) == [], text


def test_the_body_of_details_is_markdown() -> None:
    # Prefect's V2 page and GitHub both need the blank lines.
    page = md.details("more", "*see*")
    assert page == "<details>\n<summary>more</summary>\n\n*see*\n\n</details>"


def test_odd_path_names_are_shown_as_git_quotes_them() -> None:
    assert md.path("a b.py") == "`a b.py`"
    assert md.path("new\nline.py") == '`"new\\nline.py"`'
    assert md.path("caf\udce9") == '`"caf\\351"`'
    assert md.path("tick`.py") == "``tick`.py``"


def test_a_pull_request_named_on_purpose_is_a_reference_but_closes_nothing() -> None:
    page = f"{md.inline('This fixes')} {md.reference(12)}"
    assert "#12" in _shown(page)
    assert active(page) == []


@pytest.mark.parametrize(
    ("url", "href"),
    [
        ("https://ci.example/run?a=1&b=2", "https://ci.example/run?a=1&amp;b=2"),
        ("https://ci.example/a b>)<", "https://ci.example/a%20b%3E%29%3C"),
        ("http://ci.example/\n\n# x", "http://ci.example/%0A%0A#%20x"),
    ],
)
def test_a_link_leads_to_its_address_and_nowhere_else(url: str, href: str) -> None:
    page = md.link("[check] @me", url)
    assert f'<a href="{href}">' in MARKDOWN.render(page)
    assert [token.type for token in tokens(page)].count("link_open") == 1


@pytest.mark.parametrize("url", ["javascript:alert(1)", "/srv/logs/1.txt", "data:text/html,x"])
def test_only_web_addresses_become_links(url: str) -> None:
    page = md.link("check", url)
    assert "link_open" not in kinds(page)
    assert url in _shown(page)


def test_long_lists_say_how_many_more_there_are() -> None:
    assert md.capped(["a", "b", "c"], md.code, 2) == "`a`, `b`, and 1 more"
    assert md.capped(["a", "b"], md.code, 2) == "`a`, `b`"
