"""The demo on GitHub where it can't end well; `tests/e2e/test_demo.py` runs it to its good end."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nightly_sync.demo import show
from nightly_sync.errors import ConfigError
from nightly_sync.record import Outcome, RunRecord
from tests.github.demo import VARIABLE, OnGitHub, on_github
from tests.github.record import Recorded

NOW = datetime(2026, 11, 30, 21, tzinfo=UTC)


def _no_run(repository: str) -> RunRecord:
    return RunRecord(
        run_id="none", started_at=NOW, seconds=0, repository=repository, outcome=Outcome.FAILED,
        source_branch="main", target_branch="dev",
    )  # fmt: skip


def _leak(token: str) -> Recorded:
    return Recorded("rest", "GET", f"/?t={token}", {}, b"", 200, "", "core", 1)


def test_a_run_that_did_nothing_keeps_none_of_the_demos_promises(tmp_path: Path) -> None:
    with on_github(tmp_path, NOW) as demo:
        assert isinstance(demo, OnGitHub)
        demo.github.problems.append("a request of its own making")
        demo.github.requests.all.append(_leak(os.environ[VARIABLE]))
        record = _no_run(demo.site.config.repository)
        assert [text for text, kept in demo.promises(record).items() if kept] == []
        assert len(demo.problems(record)) == len(demo.promises(record))
        assert "  #1 main2dev/29_11_2026 into dev: draft" in demo.lines(record)
    assert VARIABLE not in os.environ


def test_without_the_stand_in_the_demo_says_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, show.STAND_IN, None)
    with (
        pytest.raises(ConfigError, match="in a checkout"),
        show.staged(tmp_path, NOW, broken=False, on_github=True),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_broken_demo_is_for_the_local_forge_only(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigError, match="either --broken or on --github or by --agent"),
        show.staged(tmp_path, NOW, broken=True, on_github=True),
    ):
        pass
