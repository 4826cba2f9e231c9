"""The demo with Claude where it can't end well; `tests/e2e/test_demo.py` runs it to its end."""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nightly_sync.demo import show
from nightly_sync.errors import ConfigError
from nightly_sync.record import Outcome, RunRecord
from tests.agent.demo import VARIABLE, ByScript, by_script
from tests.agent.demo_seen import SHOWN, transcript

NOW = datetime(2026, 11, 30, 21, tzinfo=UTC)


def _no_run(repository: str = "none") -> RunRecord:
    return RunRecord(
        run_id="none", started_at=NOW, seconds=0, repository=repository, outcome=Outcome.FAILED,
        source_branch="main", target_branch="dev",
    )  # fmt: skip


def _seen(folder: Path, *events: dict[str, object]) -> str:
    file = folder / "transcript.jsonl"
    file.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    return "\n".join(transcript(file, _no_run()))


def test_a_run_that_did_nothing_keeps_none_of_the_demos_promises(tmp_path: Path) -> None:
    with by_script(tmp_path, NOW) as demo:
        assert isinstance(demo, ByScript)
        demo.claude.problems.append("a request of its own making")
        (tmp_path / "leak").write_text(os.environ[VARIABLE])
        record = _no_run(demo.site.config.repository)
        assert [text for text, kept in demo.promises(record).items() if kept] == []
        assert len(demo.problems(record)) == len(demo.promises(record))
        assert any("What it cost: 0 answers" in line for line in demo.lines(record))
    assert VARIABLE not in os.environ


def test_what_is_shown_is_short_and_moves_no_cursor(tmp_path: Path) -> None:
    shown = _seen(
        tmp_path,
        {"event": "started", "task": "ci", "file": "", "opening": "line\n" * (SHOWN + 2)},
        {"event": "message", "content": [{"type": "text", "text": "\x1b[2J" + "x" * 1000}]},
        {"event": "request"},
        {"event": "ended", "reason": "refused", "detail": "it would not"},
    )
    assert "Task ci. Claude is asked:" in shown
    assert "and 2 more lines" in shown
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) < 200
    assert "The conversation ends: refused: it would not." in shown


def test_without_the_stand_in_the_demo_says_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, show.SCRIPT, None)
    with (
        pytest.raises(ConfigError, match="in a checkout"),
        show.staged(tmp_path, NOW, agent="scripted"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("agent", "on_github", "why"),
    [("real", False, "knows only scripted, not real"), ("scripted", True, "leave the others out")],
)
def test_a_demo_that_there_is_not_is_refused(
    tmp_path: Path, agent: str, on_github: bool, why: str
) -> None:
    with (
        pytest.raises(ConfigError, match=why),
        show.staged(tmp_path, NOW, on_github=on_github, agent=agent),
    ):
        pass
