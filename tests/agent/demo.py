"""`nightly-sync demo --agent scripted`: what Claude is asked, and what code makes of its answers.

The model plays a script, so nothing leaves this machine. All that happens to its answers is real:

1. Of a conflict it takes main's line and drops dev's. Rejected; the second answer has both.
2. It skips the test that fails. Refused; then it repairs the code.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from nightly_sync import git, workspace
from nightly_sync.agent import sandbox
from nightly_sync.config import SyncConfig
from nightly_sync.demo.build import config_for, lay_out
from nightly_sync.demo.model import DemoSite
from nightly_sync.demo.show import Show
from nightly_sync.record import Outcome, RunRecord
from tests.agent import demo_seen
from tests.agent.demo_stories import (
    BOTH,
    CALL,
    CALL_REPAIRED,
    CONFLICT,
    PRICE,
    READER,
    REPAIR,
    SANDBOX,
    SKIPPED,
    SUMMARY,
    SUMMARY_REPAIRED,
    SUMMARY_TEST,
    TEST_SUMMARY,
    THEIRS,
    reader,
)
from tests.agent.standin import KEY, StandIn, Turn, calls

VARIABLE = "NIGHTLY_SYNC_DEMO_KEY"


def _resolve(text: str, rationale: str, confidence: str) -> tuple[str, dict[str, Any]]:
    texts = [{"hunk": 0, "text": text}]
    return "resolve", {"texts": texts, "rationale": rationale, "confidence": confidence}


def _edit(path: str, old: str, new: str) -> tuple[str, dict[str, Any]]:
    return "edit_file", {"path": path, "old": old, "new": new}


def _submit(summary: str) -> tuple[str, dict[str, Any]]:
    return "submit", {"summary": summary}


RUNS_TESTS = ("run_command", {"command": "tests", "arguments": [TEST_SUMMARY]})
RESOLVES = (
    calls(_resolve(THEIRS, "main's change is the newer one.", "medium")),
    calls(
        _resolve(
            BOTH,
            "dev's bank writes semicolons, main wants broken quotes refused: both hold.",
            "high",
        )
    ),
)
REPAIRS = (
    calls(
        ("read_file", {"path": SUMMARY}),
        ("git_log", {"path": "ledger/amounts.py", "revision": "source"}),
        text="A caller lacks an argument. What did main change?",
    ),
    calls(_edit(TEST_SUMMARY, SUMMARY_TEST, SKIPPED), _submit("Skip the test for now")),
    calls(_edit(TEST_SUMMARY, SKIPPED, SUMMARY_TEST), _edit(SUMMARY, CALL, CALL_REPAIRED)),
)
HANDS_IN = calls(_submit("summary names the separator, as main asks of every caller"))


def script(can_run: bool) -> tuple[Turn, ...]:
    """All that the model says; it runs a test before it hands in, where it can."""
    tries = (calls(RUNS_TESTS),) if can_run else ()
    return (*RESOLVES, *REPAIRS, *tries, HANDS_IN)


def _can_run(folder: Path) -> bool:
    try:
        sandbox.opened(folder, SANDBOX)
    except sandbox.Unavailable:
        return False
    return True


@contextmanager
def by_script(folder: Path, now: datetime) -> Iterator[Show]:
    """Build the demo below `folder`, and play the model until the context ends."""
    folder = folder.resolve()
    with StandIn() as claude, patch.dict(os.environ, {VARIABLE: KEY}):
        config = _config(config_for(folder), claude.url)
        site = lay_out(folder, now, (CONFLICT, REPAIR), config, Outcome.READY_NEEDS_LOOK)
        turns = script(can_run=_can_run(folder))
        claude.play(*turns)
        yield ByScript(site, claude, len(turns))


def _config(local: SyncConfig, url: str) -> SyncConfig:
    agent = {
        "enabled": True,
        "base_url": url,
        "key": f"env:{VARIABLE}",
        "prices": {"opus": PRICE},
        "sandbox": SANDBOX,
    }
    return SyncConfig.model_validate({**local.model_dump(), "rules": (), "agent": agent})


@dataclass(frozen=True)
class ByScript:
    """The demo while the model can be asked."""

    site: DemoSite
    claude: StandIn
    turns: int  # of the script

    def lines(self, record: RunRecord) -> list[str]:
        """What was asked, answered and refused, and what it cost."""
        file = self._runs / record.run_id / "transcript.jsonl"
        return [
            f"Claude was played by a script at {self.claude.url}, which ends with this command. "
            "Its answers are fixed; what becomes of them is not.",
            *(f"- {trap.name}: {trap.shows}" for trap in self.site.traps),
            *demo_seen.transcript(file, record),
        ]

    def problems(self, record: RunRecord) -> list[str]:
        """What came otherwise than promised."""
        kept = self.promises(record)
        return [f"it does not hold that {text}" for text in kept if not kept[text]]

    def promises(self, record: RunRecord) -> dict[str, bool]:
        """Each promise, and whether it is kept."""
        return {**self._merged(record), **self._asked(record)}

    @property
    def _runs(self) -> Path:
        return workspace.home_of(self.site.config) / "runs"

    def _file(self, record: RunRecord, path: str) -> str:
        """A file in the end; empty where there is no end."""
        found = git.read_file(self.site.origin, record.head_sha, path) if record.head_sha else b""
        return (found or b"").decode()

    def _merged(self, record: RunRecord) -> Mapping[str, bool]:
        return {
            "both changes to the reader are there": self._file(record, READER) == reader(BOTH),
            "the call was repaired": self._file(record, SUMMARY) == SUMMARY_REPAIRED,
            "the test stands as it was": self._file(record, TEST_SUMMARY) == SUMMARY_TEST,
            "there was one repair": record.fix_rounds == 1,
        }

    def _asked(self, record: RunRecord) -> Mapping[str, bool]:
        counts = (record.agent_turns, record.agent_rejected, record.agent_refused)
        return {
            "the script was played to its end, with one answer rejected and a change refused": (
                counts[:2] == (self.turns, 1) and counts[2] > 0 and self.claude.left == 0
            ),
            "each request keeps the API's rules": not self.claude.problems,
            "the bill has tokens and money": min(record.agent_input, record.agent_money or 0) > 0,
            "the key is in no file": not any(
                KEY.encode() in file.read_bytes()
                for file in self.site.origin.parent.rglob("*")
                if file.is_file()
            ),
        }
