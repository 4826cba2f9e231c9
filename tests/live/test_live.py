"""Whole flows with Claude itself. They cost money, so they run on request only:

    NIGHTLY_SYNC_LIVE=1 ANTHROPIC_API_KEY=... .uv/bin/uv run pytest tests/live

What it answers is its own, so only what must hold of any good answer is asked for. The limits are
far above what either takes; money is counted at the example prices of docs/claude.md.
"""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nightly_sync import git
from nightly_sync.config import SyncConfig
from nightly_sync.demo.build import config_for, lay_out
from nightly_sync.demo.model import DemoSite, Story
from nightly_sync.record import Outcome, RunRecord
from tests.agent.demo_stories import CONFLICT, PRICE, REPAIR, SANDBOX

KEY = "ANTHROPIC_API_KEY"

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("NIGHTLY_SYNC_LIVE") != "1",
        reason="asks Claude itself, which costs money: set NIGHTLY_SYNC_LIVE=1",
    ),
    pytest.mark.skipif(not os.environ.get(KEY), reason=f"needs a key for Claude in {KEY}"),
    pytest.mark.usefixtures("prefect"),
    pytest.mark.timeout(1200),
]

AGENT = {"enabled": True, "turns": 40, "minutes": 15, "tokens": 500_000, "money": 2}


def _run(folder: Path, story: Story) -> tuple[DemoSite, RunRecord]:
    from flows.sync import sync

    agent = {**AGENT, "prices": {"opus": PRICE}, "sandbox": SANDBOX}
    local = config_for(folder).model_dump()
    config = SyncConfig.model_validate({**local, "rules": (), "agent": agent})
    site = lay_out(folder, datetime.now(UTC), (story,), config, Outcome.READY_NEEDS_LOOK)
    record = sync(config)
    assert isinstance(record, RunRecord)
    assert record.outcome is site.verdict, record.reason
    assert record.agent_turns > 0
    return site, record


def _says_nothing_of_the_key(folder: Path) -> bool:
    files = (file for file in folder.rglob("*") if file.is_file())
    return not any(os.environ[KEY].encode() in file.read_bytes() for file in files)


def test_a_conflict_is_resolved_as_the_tests_of_both_sides_demand(tmp_path: Path) -> None:
    _, record = _run(tmp_path, CONFLICT)
    assert record.rules == {"agent": 1}
    assert record.fix_rounds == 0
    assert _says_nothing_of_the_key(tmp_path)


def test_a_failing_check_is_repaired_without_a_change_to_its_test(tmp_path: Path) -> None:
    site, record = _run(tmp_path, REPAIR)
    assert record.fix_rounds >= 1
    after, source, target = (
        git.tree_entries(site.origin, at, "tests")
        for at in (record.head_sha, record.source_sha, record.target_sha)
    )
    assert all(entry in (source.get(name), target.get(name)) for name, entry in after.items())
    assert after.keys() == source.keys() | target.keys()
    assert _says_nothing_of_the_key(tmp_path)
