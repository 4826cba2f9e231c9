"""JSON lines that survive anything and tell no secret."""

import json
from datetime import UTC, datetime
from pathlib import Path

from nightly_sync.agent.assistant import hire
from nightly_sync.agent.loop import Transcript
from nightly_sync.agent.settings import AgentSettings

NOW = datetime(2026, 11, 30, 21, 0, tzinfo=UTC)
ODD = "caf\udce9 \ud800 \x00\x1b \u2028 \U0001f600 \n{"


def transcript(path: Path, secret: str = "") -> Transcript:
    return Transcript(path, secret, now=lambda: NOW)


def test_odd_text_of_any_kind_is_one_line_and_read_back_the_same(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    transcript(path).write("message", "resolve", ODD, text=ODD)
    (line,) = path.read_bytes().splitlines()
    assert json.loads(line) == {
        "at": "2026-11-30T21:00:00+00:00",
        "event": "message",
        "task": "resolve",
        "file": ODD,
        "text": ODD,
    }


def test_each_line_is_there_as_soon_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    writer = transcript(path)
    for count in (1, 2, 3):
        writer.write("request", "resolve", "")
        assert len(path.read_text().splitlines()) == count


def test_a_second_one_goes_on_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    for task in ("resolve", "repair"):
        transcript(path).write("started", task, "")
    assert [json.loads(line)["task"] for line in path.read_text().splitlines()] == [
        "resolve",
        "repair",
    ]


def test_the_secret_is_hidden_wherever_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    key = 'k"ey\\1'
    transcript(path, key).write("x", key, "", deep=[{key: f"a{key}b"}])
    line = json.loads(path.read_text())
    assert (line["task"], line["deep"]) == ("***", [{"***": "a***b"}])


def test_without_a_path_nothing_is_written() -> None:
    Transcript().write("x", "resolve", "")


def test_the_key_is_hidden_as_it_is_sent(tmp_path: Path) -> None:
    """Reported: with the newline of its file around it, the key was found nowhere."""
    claude = hire(AgentSettings(enabled=True), tmp_path, lambda reference: " sk-ant-1\n")
    assert claude.agent is not None
    claude.agent.transcript.write("x", "resolve", "", text="leak sk-ant-1 end")
    assert json.loads((tmp_path / "transcript.jsonl").read_text())["text"] == "leak *** end"
