"""Tools that look at commits without a checkout."""

from typing import Any

import pytest

from nightly_sync.agent.base import ToolResult
from nightly_sync.agent.data import Marker
from nightly_sync.agent.look import _PATIENCE, SHOWN, Looks, Trees, looking
from tests.agent.resolving import repository


def use(name: str, **given: Any) -> ToolResult:
    repo, source, target = repository()
    trees = Trees(repo.path, Marker("0" * 16), {"source": source, "target": target})
    return {tool.name: tool for tool in looking(trees)}[name].call(given)


def test_a_file_is_shown_as_it_is_in_a_commit() -> None:
    shown = use("show_file", revision="target", path="app.py", first_line=2, lines=1)
    assert shown.text.splitlines() == [
        f'<data-{"0" * 16} what="app.py in target, lines 2-2 of 7">',
        "2\t    data = load(path, cache=cache)",
        f"</data-{'0' * 16}>",
    ]


def test_lines_are_found_with_their_place() -> None:
    found = use("search", revision="source", text="self.value", path="long.py").text
    assert "1 line with 'self.value' in source" in found
    assert "long.py:1503:         self.value = 3" in found
    assert "(nothing)" in use("search", revision="source", text="no such text").text


def test_a_flood_of_lines_is_cut() -> None:
    found = use("search", revision="source", text="e").text
    assert found.count("\n") <= SHOWN + 2
    assert found.count("long.py:") == 30


def test_a_commit_is_named_from_another_one() -> None:
    text = use("git_show", revision="source~1", path="app.py").text
    assert "Load by several workers" in text
    assert "workers=workers" in text


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("show_file", {"revision": "source", "path": "../../etc/passwd"}),
        ("show_file", {"revision": "source", "path": "gone.py"}),
        ("show_file", {"revision": "source", "path": "app.py", "first_line": 99}),
        ("show_file", {"revision": "--output=x", "path": "app.py"}),
        ("show_file", {"revision": "mine", "path": "app.py"}),
        ("search", {"revision": "source", "text": "a\nb"}),
        ("search", {"revision": "source", "text": "a", "path": "/etc"}),
        ("search", {"revision": "target~99", "text": "a"}),
    ],
)
def test_what_cannot_be_looked_at_is_an_error_result(name: str, given: dict[str, Any]) -> None:
    assert use(name, **given).is_error


def test_an_option_is_no_text_to_search_for_and_a_pattern_no_path() -> None:
    assert "(nothing)" in use("search", revision="source", text="--open-files-in-pager=id").text
    assert "(nothing)" in use("search", revision="source", text="load", path="*.py").text


def test_tools_stop_working_after_so_many_uses() -> None:
    looks = Looks(1)
    repo, source, _ = repository()
    trees = Trees(repo.path, Marker("0" * 16), {"source": source})
    show, search = (looks.limited(made) for made in looking(trees)[1::-1])
    asked = {"revision": "source", "path": "app.py"}
    assert not show.call(asked).is_error
    results = [search.call({"revision": "source", "text": "a"}) for _ in range(_PATIENCE + 1)]
    assert all(result.is_error for result in results)
    assert [result.done for result in results] == [False] * _PATIENCE + [True]
