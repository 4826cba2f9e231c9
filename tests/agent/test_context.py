"""Clearing, marking and joining messages, on thousands of random conversations."""

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

import pytest

from nightly_sync.agent.base import ToolResult
from nightly_sync.agent.messages import (
    CLEARED,
    KEEP,
    Messages,
    added,
    cleared,
    marked,
    result_block,
    returnable,
    text_block,
)
from tests.agent.rules import Binding, problems, unmarked

CASES = 100


def conversation(random: Random) -> Messages:
    """As the loop builds one: thinking, text, calls and their results, of any size."""
    messages = added((), "user", [text_block("the task")])
    for turn in range(random.randrange(14)):
        calls = [_call(f"t{turn}-{i}") for i in range(random.randrange(4))]
        thinking = [_thought(f"s{turn}")] if random.random() < 0.7 else []
        talk = [text_block("hm")] if random.random() < 0.3 or not calls else []
        messages = added(messages, "assistant", [*thinking, *talk, *calls])
        answers = [_answer(random, call) for call in calls]
        messages = added(messages, "user", answers or [text_block("go on")])
    return messages


def _call(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "read", "input": {}}


def _thought(signature: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": "", "signature": signature}


def _answer(random: Random, call: dict[str, Any]) -> dict[str, Any]:
    text = random.choice(("", "ok", "x" * 500, CLEARED))
    return result_block(call, ToolResult(text, is_error=random.random() < 0.2))


def body(messages: Messages) -> dict[str, Any]:
    return {"system": [], "messages": marked(messages)}


def blocks(messages: Messages, kind: str) -> list[dict[str, Any]]:
    return [block for item in messages for block in item["content"] if block["type"] == kind]


def tied(messages: Messages) -> Binding:
    """All thinking of a conversation, bound as it was when it was thought."""
    binding = Binding()
    for at, message in enumerate(messages):
        if message["role"] == "assistant":
            binding.tie(body(messages[:at]), message["content"])
    return binding


@pytest.fixture(params=range(4), ids=lambda seed: f"seed{seed}")
def cases(request: pytest.FixtureRequest) -> Callable[[], list[Messages]]:
    random = Random(request.param)
    return lambda: [conversation(random) for _ in range(CASES // 4)]


def test_what_is_cleared_still_keeps_the_rules_of_the_api(
    cases: Callable[[], list[Messages]],
) -> None:
    for messages in cases():
        for keep in (0, 1, KEEP, 100):
            after = cleared(messages, keep).messages
            assert list(problems(body(after), may_continue=False)) == []
            assert list(tied(messages).problems(body(after))) == []


def test_calls_answers_and_everything_said_stay_the_newest_results_untouched(
    cases: Callable[[], list[Messages]],
) -> None:
    for messages in cases():
        after = cleared(messages).messages
        for kind in ("text", "tool_use"):
            assert blocks(after, kind) == blocks(messages, kind)
        before, kept = blocks(messages, "tool_result"), blocks(after, "tool_result")
        assert [item["tool_use_id"] for item in kept] == [item["tool_use_id"] for item in before]
        assert kept[-KEEP:] == before[-KEEP:]
        assert after[:1] == messages[:1]
        none = blocks(cleared(messages, keep=0).messages, "tool_result")
        assert max((len(item["content"]) for item in none), default=0) <= len(CLEARED)


def test_clearing_twice_is_clearing_once_and_changes_nothing_in_place(
    cases: Callable[[], list[Messages]],
) -> None:
    for messages in cases():
        copy = deepcopy(messages)
        once = cleared(messages)
        twice = cleared(once.messages)
        assert messages == copy
        assert (twice.messages, twice.results, twice.freed) == (once.messages, 0, 0)


def test_what_stands_before_the_first_cleared_result_stays_in_the_cache(
    cases: Callable[[], list[Messages]],
) -> None:
    for messages in cases():
        after = cleared(messages).messages
        changed = [
            at for at, item in enumerate(after) if at >= len(messages) or item != messages[at]
        ]
        assert not changed or CLEARED in str(after[changed[0]])


def test_marks_are_on_the_last_two_user_messages_and_change_nothing_else(
    cases: Callable[[], list[Messages]],
) -> None:
    for messages in cases():
        out = marked(messages)
        users = [at for at, item in enumerate(out) if item["role"] == "user"]
        with_mark = [at for at, item in enumerate(out) if "cache_control" in item["content"][-1]]
        assert with_mark == users[-2:]
        assert unmarked(out) == list(messages)


def test_nothing_to_clear_is_nothing_cleared() -> None:
    messages = added((), "user", [text_block("the task")])
    assert (cleared(messages).results, cleared(messages).messages) == (0, messages)


def test_clearing_pays_only_if_it_frees_a_good_part_of_the_limit() -> None:
    messages = added((), "user", [text_block("task")])
    for at in range(KEEP + 1):
        messages = added(messages, "assistant", [_call(f"t{at}")])
        messages = added(messages, "user", [result_block(_call(f"t{at}"), ToolResult("x" * 4064))])
    smaller = cleared(messages)
    assert (smaller.results, smaller.freed) == (1, 4064 - len(CLEARED))
    assert (smaller.worthwhile(10_000), smaller.worthwhile(10_100)) == (True, False)


@pytest.mark.parametrize(
    ("block", "stays"),
    [
        ({"type": "text", "text": ""}, False),
        ({"type": "text", "text": "hm"}, True),
        ({"type": "thinking", "thinking": "hm", "signature": ""}, False),
        ({"type": "thinking", "thinking": "hm"}, False),
        ({"type": "thinking", "thinking": "", "signature": "s"}, True),
        ({"type": "redacted_thinking", "data": "x"}, True),
        ({"type": "tool_use", "id": "t", "name": "n", "input": {}}, True),
        ({"type": "not_invented_yet"}, True),
    ],
)
def test_what_the_api_would_refuse_is_not_sent_back(block: dict[str, Any], stays: bool) -> None:
    assert returnable([block]) == [block] * stays


def test_blocks_of_one_role_share_a_message() -> None:
    messages = added(added((), "user", [text_block("a")]), "user", [text_block("b")])
    assert [[block["text"] for block in item["content"]] for item in messages] == [["a", "b"]]
    assert added(messages, "assistant", []) == messages
