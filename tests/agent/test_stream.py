"""One request: every way it can fail on the wire, and what is asked again."""

from typing import Any

import pytest

from nightly_sync.agent.base import Failure, Reply
from nightly_sync.agent.budget import Spent
from nightly_sync.agent.stream import BEGUN, LONGEST_ASKED, PATIENCE
from nightly_sync.errors import SyncError, Unreachable
from tests.agent.standin import (
    KEY,
    StandIn,
    Time,
    Turn,
    calls,
    events,
    fails,
    half_call,
    message,
    says,
    start,
    thinks,
    use,
)

BODY: dict[str, Any] = {
    "model": "claude-opus-5-5",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "system"}],
    "tools": [{"name": "read", "description": "reads", "input_schema": {"type": "object"}}],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
}
ANSWER = says("the whole answer")


class Asked:
    """One request through the product's client, and what it heard of failed tries."""

    def __init__(self, claude: StandIn, *turns: Turn, time: Time | None = None, **settings: float):
        self.time = time or Time()
        self.failures: list[Failure] = []
        self.seconds = 1e6
        claude.play(*turns)
        self._ask = claude.connect(self.time, **settings)

    def reply(self) -> Reply:
        return self._ask(BODY, self.seconds, self.failures.append)

    def error(self, kind: type[SyncError]) -> str:
        with pytest.raises(kind) as caught:
            self.reply()
        assert type(caught.value) is kind
        assert KEY not in str(caught.value)
        return str(caught.value)


def text(reply: Reply) -> str:
    return "".join(block.get("text", "") for block in reply.content)


def test_a_whole_message_comes_back_as_it_was_said(claude: StandIn) -> None:
    reply = Asked(claude, ANSWER).reply()
    assert (text(reply), reply.stop_reason, reply.cut) == (
        "the whole answer",
        "end_turn",
        frozenset(),
    )


def test_usage_is_that_of_the_end_of_the_message_with_the_cache(claude: StandIn) -> None:
    turn = message(
        thinks("s"), stop="end_turn", cache_read_input_tokens=7, cache_creation_input_tokens=3
    )
    assert Asked(claude, turn).reply().spent == Spent(
        input=10, output=5, cache_read=7, cache_write=3
    )


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_what_may_pass_is_asked_again(claude: StandIn, status: int) -> None:
    asked = Asked(claude, fails(status, after=0), ANSWER)
    assert text(asked.reply()) == "the whole answer"
    assert claude.bodies == [BODY | {"stream": True}] * 2
    assert [failure.why[:3] for failure in asked.failures] == [str(status)]


def test_the_api_may_say_itself_whether_asking_again_helps(claude: StandIn) -> None:
    asked = Asked(claude, fails(400, x_should_retry="true"), ANSWER)
    assert text(asked.reply()) == "the whole answer"
    hopeless = fails(429, message="spend limit", x_should_retry="false")
    said = Asked(claude, hopeless).error(SyncError)
    assert said == "Claude's API refused the request (429): spend limit"


def test_a_page_of_a_proxy_is_shown_in_part_and_on_one_line(claude: StandIn) -> None:
    asked = Asked(claude, fails(502, after=0, message="<html>\n" * 1000), ANSWER)
    asked.reply()
    assert asked.failures[0].why == "502: " + ("<html> " * 1000)[:300]


def test_retry_after_is_obeyed_and_never_undercut(claude: StandIn) -> None:
    asked = Asked(claude, fails(429, after=17), ANSWER)
    asked.reply()
    assert asked.time.slept == [18.0]


def test_an_endless_retry_after_is_cut_short(claude: StandIn) -> None:
    asked = Asked(claude, fails(429, after=86_400), ANSWER)
    asked.reply()
    assert asked.time.slept == [LONGEST_ASKED + 1]


@pytest.mark.parametrize("kind", ["disconnect", "truncate", "malformed"])
@pytest.mark.parametrize("after", [0, 1, 3, 6])
def test_a_stream_that_breaks_anywhere_is_asked_again(
    claude: StandIn, kind: str, after: int
) -> None:
    asked = Asked(claude, ANSWER.but(kind, after), ANSWER)
    assert text(asked.reply()) == "the whole answer"
    assert len(claude.bodies) == 2


def test_a_message_that_ends_without_a_reason_is_no_answer(claude: StandIn) -> None:
    asked = Asked(claude, events(start(), {"type": "message_stop"}), ANSWER)
    assert text(asked.reply()) == "the whole answer"
    assert [failure.why for failure in asked.failures] == ["the answer ended early"]


def test_half_a_tool_call_is_never_an_answer(claude: StandIn) -> None:
    turn = calls(("read", {"path": "a/long/name/of/a/file"}))
    asked = Asked(claude, turn.but("disconnect", 3), turn.but("truncate", 4), turn)
    reply = asked.reply()
    assert [call["input"] for call in reply.calls] == [{"path": "a/long/name/of/a/file"}]
    assert (len(asked.failures), len(reply.cut)) == (2, 0)


def test_a_stream_that_stalls_is_given_up_and_asked_again(claude: StandIn) -> None:
    asked = Asked(claude, ANSWER.but("stall", 2, seconds=1), ANSWER, stall_seconds=0.2)
    assert text(asked.reply()) == "the whole answer"
    assert "ReadTimeout" in asked.failures[0].why


def test_an_error_inside_the_stream_that_may_pass_is_asked_again(claude: StandIn) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    asked = Asked(claude, events(start(), error), ANSWER)
    assert text(asked.reply()) == "the whole answer"
    assert asked.failures[0].why == "529: Overloaded"


def test_an_error_inside_the_stream_that_never_passes_ends_it(claude: StandIn) -> None:
    error = {"type": "error", "error": {"type": "permission_error", "message": "not yours"}}
    said = Asked(claude, events(start(), error)).error(SyncError)
    assert said == "Claude's API refused the request (403): not yours"


def test_a_broken_stream_costs_what_it_had_read(claude: StandIn) -> None:
    error = {"type": "error", "error": {"type": "api_error", "message": "sorry"}}
    asked = Asked(claude, events(start(cache_read_input_tokens=900), error), ANSWER)
    asked.reply()
    assert asked.failures[0].spent == Spent(input=10, output=1, cache_read=900)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "Claude's API refused the request (400): credit is too low"),
        (401, "Claude's API does not accept the key: check what the agent's setting key names."),
        (403, "Claude's API refused the request (403): credit is too low"),
        (
            404,
            "Claude's API knows no model claude-opus-5-5 here: check the agent's settings model "
            "and base_url (credit is too low).",
        ),
    ],
)
def test_a_refusal_is_one_sentence_and_not_asked_again(
    claude: StandIn, status: int, said: str
) -> None:
    asked = Asked(claude, fails(status, message="credit is too low"))
    assert asked.error(SyncError) == said
    assert (len(claude.bodies), asked.time.slept) == (1, [])


@pytest.mark.parametrize(
    ("status", "words"), [(400, "prompt is too long: 210000 tokens > 200000 maximum"), (413, "big")]
)
def test_a_prompt_that_is_too_long_is_a_reply_like_the_models_own(
    claude: StandIn, status: int, words: str
) -> None:
    reply = Asked(claude, fails(status, message=words)).reply()
    assert reply == Reply((), "model_context_window_exceeded", Spent())


def test_an_outage_is_borne_for_a_while_with_growing_pauses(claude: StandIn) -> None:
    asked = Asked(claude, *[fails(503, after=None)] * 3, ANSWER)
    asked.reply()
    assert asked.time.slept == sorted(asked.time.slept)
    assert len(claude.bodies) == 4


def test_an_outage_that_lasts_is_unreachable(claude: StandIn) -> None:
    turns = [fails(529, after=LONGEST_ASKED, message="Overloaded")] * 6
    asked = Asked(claude, *turns)
    said = asked.error(Unreachable)
    assert said == "Claude's API was asked 6 times without an answer: 529: Overloaded."
    assert PATIENCE - LONGEST_ASKED < sum(asked.time.slept) <= PATIENCE
    assert asked.failures[-1].pause == 0


def test_answers_that_always_break_off_are_not_paid_for_ever(claude: StandIn) -> None:
    asked = Asked(claude, *[ANSWER.but("disconnect", 2)] * BEGUN)
    assert "5 times without an answer: the connection broke" in asked.error(Unreachable)


def test_nobody_at_the_other_end_is_unreachable(claude: StandIn) -> None:
    ask = claude.connect(Time(step=PATIENCE), base_url="http://127.0.0.1:9")
    with pytest.raises(Unreachable, match="asked once without an answer: the connection broke"):
        ask(BODY, 1e6, lambda failure: None)


def test_what_hears_of_a_failure_may_end_it(claude: StandIn) -> None:
    class Enough(Exception):
        pass

    def stop(failure: Failure) -> None:
        raise Enough

    asked = Asked(claude, fails(529))
    with pytest.raises(Enough):
        asked._ask(BODY, 1e6, stop)


def test_a_call_whose_input_breaks_off_is_marked_and_emptied(claude: StandIn) -> None:
    reply = Asked(claude, half_call("read", {"path": "abcdefgh"}, "tool_calls")).reply()
    (call,) = reply.calls
    assert (call["input"], list(reply.cut)) == ({}, [call["id"]])


@pytest.mark.parametrize("raw", ['{"a": NaN}', '{"a": 1e999}', "[1]", '"text"', '{"a": 1', "null"])
def test_input_that_is_no_json_object_is_marked_and_emptied(claude: StandIn, raw: str) -> None:
    turn = message(use("toolu_1", "read"))
    broken = tuple(line.replace(b'"{}"', _quoted(raw)) for line in turn.raw)
    reply = Asked(claude, Turn(raw=broken)).reply()
    assert (reply.calls[0]["input"], list(reply.cut)) == ({}, ["toolu_1"])


def _quoted(raw: str) -> bytes:
    return ('"' + raw.replace('"', '\\"') + '"').encode()


def test_thinking_comes_back_untouched_and_odd_text_can_be_sent_back(claude: StandIn) -> None:
    said = {"type": "text", "text": "odd \ud800 end"}
    reply = Asked(claude, message(thinks("sig", "hm"), said, stop="end_turn")).reply()
    assert reply.content[0] == {"type": "thinking", "thinking": "hm", "signature": "sig"}
    assert text(reply) == "odd \\ud800 end"


def test_a_refusal_of_the_model_brings_its_explanation(claude: StandIn) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "no malware"}
    reply = Asked(claude, message(stop="refusal", details=details)).reply()
    assert (reply.stop_reason, reply.explanation) == ("refusal", "no malware")


PING = events({"type": "ping"})


def test_an_answer_that_only_pings_is_given_up(claude: StandIn) -> None:
    """Reported: pings kept a request open for ever, whatever the limits."""
    asked = Asked(claude, PING, time=Time(step=PATIENCE), stall_seconds=PATIENCE)
    assert "nothing but pings came for 1800 s" in asked.error(Unreachable)


def test_an_answer_may_take_longer_than_its_silence(claude: StandIn) -> None:
    asked = Asked(claude, ANSWER, time=Time(step=60), stall_seconds=130)
    assert text(asked.reply()) == "the whole answer"
    assert asked.time.now > 400


def test_no_try_outlasts_the_time_that_is_left(claude: StandIn) -> None:
    asked = Asked(claude, ANSWER, time=Time(step=1000))
    asked.seconds = 2500
    assert "the time that was left is over" in asked.error(Unreachable)
