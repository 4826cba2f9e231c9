"""Conversations: what each stop reason leads to, and what is sent back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nightly_sync.agent.base import Tool, ToolResult, tool
from nightly_sync.agent.budget import Meter, Spent
from nightly_sync.agent.loop import CUTS, Agent, End, Ended, Task, Transcript, converse
from nightly_sync.agent.messages import CLEARED
from nightly_sync.agent.settings import Price
from nightly_sync.errors import SyncError, Unreachable
from nightly_sync.model import Model
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

PRICE = Price(input=4, output=20, cache_read=0.4, cache_write=5)


class Named(Model):
    """Input of the tools."""

    path: str


class Desk:
    """A task with two tools that remember what they were used for."""

    def __init__(self, claude: StandIn, **settings: Any) -> None:
        self.claude = claude
        self.time = Time()
        self.read: list[str] = []
        self.answers: list[str] = []
        self.reads: Callable[[str], ToolResult] = lambda path: ToolResult(f"content of {path}")
        self.settings = claude.settings(**settings)
        self.meter = Meter(self.settings, self.time.clock)
        self.transcript = Transcript()
        self.task = Task("resolve", "a.py", "You resolve conflicts.", self._tools(), "Resolve a.py")

    def _tools(self) -> tuple[Tool, ...]:
        return (
            tool("read", "Read a file.", Named, self._read),
            tool("answer", "Answer the task.", Named, self._answer),
        )

    def _read(self, given: Named) -> ToolResult:
        self.read.append(given.path)
        self.time.now += 1
        return self.reads(given.path)

    def _answer(self, given: Named) -> ToolResult:
        self.answers.append(given.path)
        return ToolResult("taken", done=True)

    def converse(self, *turns: Turn) -> Ended:
        self.claude.play(*turns)
        agent = Agent(self.claude.connect(self.time), self.meter, self.transcript)
        return converse(agent, self.task)

    def said(self, request: int = -1) -> Any:
        """The newest user message of a request."""
        return self.claude.bodies[request]["messages"][-1]["content"]


@pytest.fixture
def desk(claude: StandIn) -> Desk:
    return Desk(claude)


def read(*paths: str) -> Turn:
    return calls(*(("read", {"path": path}) for path in paths))


def answer(path: str = "a.py") -> Turn:
    return calls(("answer", {"path": path}))


def results(content: Any) -> list[tuple[str, bool]]:
    return [(block["content"], block.get("is_error", False)) for block in content]


def test_tools_run_until_one_says_that_the_task_is_done(desk: Desk) -> None:
    ended = desk.converse(read("b.py"), read("c.py"), answer())
    assert (ended.reason, ended.detail) == (End.DONE, "")
    assert (desk.read, desk.answers) == (["b.py", "c.py"], ["a.py"])
    assert results(desk.said()) == [("content of c.py", False)]


def test_parallel_calls_are_answered_in_one_message_in_their_order(desk: Desk) -> None:
    desk.converse(read("b.py", "c.py", "d.py"), answer())
    said = results(desk.said())
    assert [text for text, _ in said] == [f"content of {path}" for path in ("b.py", "c.py", "d.py")]


def test_nothing_runs_after_the_call_that_ends_the_task(desk: Desk) -> None:
    desk.converse(
        calls(("read", {"path": "b"}), ("answer", {"path": "a"}), ("read", {"path": "c"}))
    )
    assert (desk.read, desk.answers) == (["b"], ["a"])


def test_a_rejected_answer_goes_back_and_the_next_one_counts(desk: Desk) -> None:
    verdicts = iter([ToolResult("a marker is left", is_error=True), ToolResult("ok", done=True)])
    desk.reads = lambda path: next(verdicts)
    assert desk.converse(read("b.py"), read("c.py")).reason is End.DONE
    assert results(desk.said()) == [("a marker is left", True)]


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        (calls(("read", {"paht": "b.py"})), "path: Field required"),
        (calls(("read", {"path": "b.py", "mode": "w"})), "mode: Extra inputs are not permitted"),
        (calls(("rm", {"path": "/"})), "There is no tool rm, only read, answer."),
        (half_call("read", {"path": "abcdefgh"}, "tool_calls"), "no whole JSON object"),
    ],
)
def test_a_call_that_fits_no_tool_is_an_error_result(desk: Desk, turn: Turn, said: str) -> None:
    desk.converse(turn, answer())
    (result,) = results(desk.said())
    assert said in result[0]
    assert (result[1], desk.read) == (True, [])


def test_a_readable_error_of_a_tool_is_shown_to_the_model(desk: Desk) -> None:
    def refuse(path: str) -> ToolResult:
        raise SyncError(f"{path} is protected")

    desk.reads = refuse
    desk.converse(read("CODEOWNERS"), answer())
    assert results(desk.said()) == [("CODEOWNERS is protected", True)]


def test_a_bug_in_a_tool_is_not_hidden(desk: Desk) -> None:
    desk.reads = lambda path: ToolResult(str(1 // 0))
    with pytest.raises(ZeroDivisionError):
        desk.converse(read("b.py"))


def test_results_with_odd_bytes_or_nothing_in_them_can_be_sent(desk: Desk) -> None:
    texts = iter(["caf\udce9", ""])
    desk.reads = lambda path: ToolResult(next(texts))
    desk.converse(read("b", "c"), answer())
    assert results(desk.said()) == [("caf\\udce9", False), ("(nothing)", False)]


# The model stops by itself


@pytest.mark.parametrize("stop", ["stop", "stop_sequence"])
def test_the_end_of_the_models_turn_ends_the_conversation(desk: Desk, stop: str) -> None:
    ended = desk.converse(says("I do not know.", stop))
    assert ended.reason is End.TURN_OVER


def test_it_is_reminded_once_of_the_answer(claude: StandIn) -> None:
    desk = Desk(claude)
    desk.task = Task(**{**vars(desk.task), "reminder": "Use the tool answer."})
    ended = desk.converse(says("It is a.py."), message(stop="end_turn"))
    assert ended.reason is End.TURN_OVER
    assert desk.said()[-1]["text"] == "Use the tool answer."


def test_a_refusal_ends_it_with_the_reason_given(desk: Desk) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "no malware"}
    ended = desk.converse(message(stop="refusal", details=details))
    assert (ended.reason, ended.detail) == (End.REFUSED, "the model refused: no malware")


@pytest.mark.parametrize(
    ("turn", "detail"),
    [
        (says("x", stop="moon_phase"), "the model stopped with 'moon_phase'"),
        (says("x", stop="tool_calls"), "the model announced a tool call and made none"),
        (calls(("read", {"path": "b"}), stop="stop"), "the model ended its turn with a tool call"),
        (calls(("read", {"path": "b"}), stop="moon_phase"), "the model stopped with 'moon_phase'"),
    ],
)
def test_what_nobody_knows_ends_it_and_runs_nothing(desk: Desk, turn: Turn, detail: str) -> None:
    ended = desk.converse(turn)
    assert (ended.reason, ended.detail, desk.read) == (End.UNKNOWN, detail, [])


def test_a_paused_turn_is_sent_on_as_it_is(desk: Desk) -> None:
    desk.converse(says("half", stop="pause_turn"), answer())
    last = desk.claude.bodies[-1]["messages"][-1]
    assert (last["role"], last["content"][0]["text"]) == ("assistant", "half")


def test_a_pause_with_a_call_is_answered(desk: Desk) -> None:
    desk.converse(calls(("read", {"path": "b"}), stop="pause_turn"), answer())
    assert desk.read == ["b"]


# Cut by a limit


def test_a_call_that_was_cut_at_the_output_limit_never_runs(desk: Desk) -> None:
    desk.converse(half_call("read", {"path": "abcdefgh"}, "length"), read("short"), answer())
    ((said, is_error),) = results(desk.said(1))
    assert (said.startswith("Your message was cut"), is_error) == (True, True)
    assert desk.read == ["short"]


def test_of_parallel_calls_none_runs_if_the_message_was_cut(desk: Desk) -> None:
    turn = calls(("read", {"path": "b"}), ("read", {"path": "c"}), stop="length")
    desk.converse(turn, answer())
    assert ([is_error for _, is_error in results(desk.said())], desk.read) == ([True, True], [])


def test_text_that_was_cut_goes_on(desk: Desk) -> None:
    desk.converse(says("a long story", stop="length"), answer())
    assert desk.said()[0]["text"].startswith("Your message was cut")


def test_thinking_that_was_cut_is_not_sent_back(desk: Desk) -> None:
    desk.converse(message(thinks("", "hm"), stop="max_tokens"), answer())
    (only,) = desk.claude.bodies[-1]["messages"]
    assert [block["text"][:11] for block in only["content"]] == ["Resolve a.p", "Your messag"]


def test_it_ends_when_answers_are_too_long_again_and_again(desk: Desk) -> None:
    ended = desk.converse(*[says("long", stop="length")] * (CUTS + 1))
    assert (ended.reason, ended.detail) == (
        End.CUT,
        "4 answers in a row reached the output limit",
    )


def test_only_long_answers_in_a_row_end_it(desk: Desk) -> None:
    long = [says("long", stop="length")] * CUTS
    assert desk.converse(*long, read("b"), *long, answer()).reason is End.DONE


@pytest.mark.parametrize(
    "too_long",
    [
        calls(("read", {"path": "x"}), stop="model_context_window_exceeded"),
        fails(400, message="prompt is too long: 210000 tokens > 200000 maximum"),
        fails(413),
    ],
)
def test_too_long_for_the_model_it_is_cleared_and_asked_again(desk: Desk, too_long: Turn) -> None:
    desk.reads = lambda path: ToolResult(path * 1000)
    desk.converse(read("b", "c"), too_long, answer())
    assert [text[:9] for text, _ in results(desk.said())] == [CLEARED[:9], "ccccccccc"]
    assert desk.read == ["b", "c"]


def test_too_long_also_when_cleared_it_ends(desk: Desk) -> None:
    desk.reads = lambda path: ToolResult(path * 1000)
    ended = desk.converse(read("b", "c"), fails(413), fails(413))
    assert ended.reason is End.CONTEXT


def test_too_long_once_more_after_some_work_it_is_cleared_once_more(desk: Desk) -> None:
    desk.reads = lambda path: ToolResult(path * 1000)
    ended = desk.converse(read("b", "c"), fails(413), read("d"), fails(413), answer())
    assert (ended.reason, json.dumps(desk.claude.bodies[-1]).count(CLEARED)) == (End.DONE, 2)


def test_too_long_with_nothing_to_clear_it_ends(desk: Desk) -> None:
    assert desk.converse(fails(413)).reason is End.CONTEXT


# The wire


def test_a_broken_answer_repeats_no_side_effect(desk: Desk) -> None:
    turn = read("b.py")
    ended = desk.converse(
        turn.but("disconnect", 4), turn.but("truncate", 4), fails(529), turn, answer()
    )
    assert (ended.reason, desk.read) == (End.DONE, ["b.py"])
    assert ended.spent.model_dump(include={"turns", "retries"}) == {"turns": 2, "retries": 3}


def test_a_refused_key_is_an_error_and_in_the_transcript(desk: Desk, tmp_path: Path) -> None:
    desk.transcript = Transcript(tmp_path / "t.jsonl")
    with pytest.raises(SyncError, match="does not accept the key"):
        desk.converse(fails(401))
    failed, ended = _lines(tmp_path / "t.jsonl")[-2:]
    assert (failed["event"], ended["reason"]) == ("failed", "error")


# Cache and context


def test_the_prefix_is_the_same_in_all_tasks_of_a_run_byte_for_byte(claude: StandIn) -> None:
    for file in ("a.py", "b.py"):
        desk = Desk(claude)
        desk.task = Task(**{**vars(desk.task), "file": file, "opening": f"Resolve {file}"})
        desk.converse(read("x"), answer())
    prefixes = {json.dumps([body["tools"], body["system"]]) for body in claude.bodies}
    assert len(prefixes) == 1
    assert claude.bodies[0]["system"][-1]["cache_control"] == {"type": "ephemeral"}


def test_the_last_two_user_messages_are_marked_for_the_cache(desk: Desk) -> None:
    desk.converse(read("b", "c"), read("d"), answer())
    marked = [
        (at, i)
        for at, item in enumerate(desk.claude.bodies[-1]["messages"])
        for i, block in enumerate(item["content"])
        if "cache_control" in block
    ]
    assert marked == [(2, 1), (4, 0)]


def test_a_long_conversation_is_cleared_in_one_step_and_not_again(claude: StandIn) -> None:
    desk = Desk(claude, context_tokens=100)
    desk.reads = lambda path: ToolResult(path * 300)
    tokens = [10, 10, 10, 10, 10, 10, 200, 10]  # longer than the limit with the seventh answer
    turns = [
        message(thinks(f"s{n}"), use(f"t{n}", "read", path=str(n)), cache_read_input_tokens=read)
        for n, read in enumerate(tokens)
    ]
    desk.converse(*turns, answer())
    cleared = [json.dumps(body).count(CLEARED) for body in claude.bodies]
    assert cleared == [0, 0, 0, 0, 0, 0, 0, 3, 3]
    thinking = [json.dumps(body).count('"thinking"') for body in claude.bodies]
    assert thinking == [0, 2, 4, 6, 8, 10, 12, 2, 4]


def test_little_is_not_cleared_again_and_again_at_the_price_of_a_cold_cache(
    claude: StandIn,
) -> None:
    desk = Desk(claude, context_tokens=100)  # clearing must free 40 characters, two results here
    desk.reads = lambda path: ToolResult(path * (len(CLEARED) + 39))
    turns = [
        message(use(f"t{n}", "read", path=str(n)), cache_read_input_tokens=200) for n in range(8)
    ]
    desk.converse(*turns, answer())
    cleared = [json.dumps(body).count(CLEARED) for body in claude.bodies]
    assert cleared == [0, 0, 0, 0, 0, 0, 2, 2, 4]


def test_effort_thinking_and_model_are_those_of_the_settings(claude: StandIn) -> None:
    Desk(claude, effort="max", thinking="adaptive", model="haiku").converse(answer())
    body = claude.bodies[0]
    assert (body["output_config"], body["thinking"]) == ({"effort": "max"}, {"type": "adaptive"})
    assert body["model"] == "claude-haiku-5-5"


def test_what_is_not_set_is_left_to_the_model(claude: StandIn) -> None:
    Desk(claude, effort=None).converse(answer())
    assert not {"output_config", "thinking", "tool_choice"} & set(claude.bodies[0])


# Cost


def test_tokens_turns_seconds_and_money_are_counted_by_task_and_file(claude: StandIn) -> None:
    desk = Desk(claude, prices={"opus": PRICE})
    turn = message(use("t", "read", path="b"), cache_read_input_tokens=1_000_000)
    ended = desk.converse(turn, answer())
    total = desk.meter.total()
    assert ended.spent == total == desk.meter.by_task()["resolve"] == desk.meter.by_file()["a.py"]
    assert (total.turns, total.seconds, total.cache_read) == (2, 1.0, 1_000_000)
    assert total.money == pytest.approx(
        (4 * total.input + 20 * total.output + 0.4 * total.cache_read) / 1e6
    )


def test_a_request_that_broke_off_is_on_the_bill(claude: StandIn) -> None:
    desk = Desk(claude, prices={"opus": PRICE})
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    ended = desk.converse(events(start(cache_read_input_tokens=1_000_000), error), answer())
    assert ended.spent.cache_read == 1_000_000
    assert ended.spent.money == pytest.approx(0.4, rel=0.01)


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        ({"turns": 2}, "turns"),
        ({"minutes": 2 / 60}, "minutes"),
        ({"tokens": 2000}, "tokens"),
        ({"money": 0.001, "prices": {"opus": PRICE}}, "money"),
    ],
)
def test_a_limit_ends_it_between_two_turns_and_keeps_the_work(
    claude: StandIn, limits: dict[str, Any], limit: str
) -> None:
    desk = Desk(claude, **limits)
    turn = message(use("t", "read", path="b"), cache_read_input_tokens=1000)
    second = message(use("u", "read", path="c"), cache_read_input_tokens=1500)
    ended = desk.converse(turn, second)
    assert (ended.reason, desk.read) == (End.BUDGET, ["b", "c"])
    assert ended.detail.endswith(f" {limit} is reached")
    assert ended.spent == desk.meter.total()


def test_a_pause_that_would_outlast_the_time_limit_is_not_waited_for(claude: StandIn) -> None:
    desk = Desk(claude, minutes=1)
    ended = desk.converse(fails(529, after=100))
    assert (ended.reason, desk.time.slept) == (End.BUDGET, [])


def test_an_answer_that_outlasts_the_time_that_is_left_ends_it(claude: StandIn) -> None:
    desk = Desk(claude, minutes=1)
    desk.time.step = 10
    ended = desk.converse(says("a long story"))
    assert (ended.reason, desk.time.slept) == (End.BUDGET, [])
    assert ended.detail == "the limit of 1 minutes is reached"


def test_out_of_reach_is_an_error_that_the_caller_can_tell(claude: StandIn) -> None:
    desk = Desk(claude)
    with pytest.raises(Unreachable):
        desk.converse(*[fails(529, after=300)] * 6)


# Transcript


def test_the_transcript_tells_the_whole_story_and_not_the_key(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    desk.transcript = Transcript(path, KEY)
    desk.reads = lambda given: ToolResult(f"the key is {KEY}\udcff")
    desk.converse(fails(529, after=0), read("b"), answer())
    assert desk.claude.problems == ["the key is in the body or in ['authorization']"]
    desk.claude.problems.clear()
    lines = _lines(path)
    assert [line["event"] for line in lines] == [
        *("started", "request", "retry", "message", "tool_result"),
        *("request", "message", "tool_result", "ended"),
    ]
    assert lines[4]["text"] == "the key is ***\udcff"
    assert KEY not in path.read_text()
    assert {(line["task"], line["file"]) for line in lines} == {("resolve", "a.py")}


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def test_one_conversation_costs_nothing_in_another_ones_bill(claude: StandIn) -> None:
    desk = Desk(claude)
    first = desk.converse(read("b"), answer())
    desk.task = Task(**{**vars(desk.task), "name": "repair", "file": ""})
    second = desk.converse(answer())
    assert desk.meter.total() == first.spent + second.spent
    assert list(desk.meter.by_task().values()) == [first.spent, second.spent]
    assert Spent() + first.spent == first.spent


@pytest.mark.parametrize("error", [LookupError("rot13"), RecursionError(), ValueError("\udcff")])
def test_a_tool_that_odd_input_breaks_costs_one_answer(
    desk: Desk, tmp_path: Path, error: Exception
) -> None:
    """Reported: one odd input ended the whole run."""

    def broken(path: str) -> ToolResult:
        raise error

    desk.reads = broken
    desk.transcript = Transcript(tmp_path / "t.jsonl")
    assert desk.converse(read("a.py"), answer()).reason is End.DONE
    ((text, is_error),) = results(desk.said())
    assert is_error
    assert type(error).__name__ in text
    lines = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    (fault,) = [line["fault"] for line in lines if "fault" in line]
    assert "in broken" in fault
