"""Which pull requests of earlier nights may be closed: ours alone, and nobody's work."""

from datetime import UTC, datetime
from typing import Any

import pytest

from nightly_sync.config import SyncConfig
from nightly_sync.forge.base import PullRequest
from nightly_sync.reports import marker
from nightly_sync.reports.marker import Marker
from nightly_sync.stale import reason_to_keep
from nightly_sync.sync_branch import BranchState

CONFIG = SyncConfig(repository="origin.git")
OURS = marker.wrap(Marker(source="a" * 40, target="b" * 40, config="c" * 12), "text")
STATE = BranchState(name="main2dev/1", tip="e" * 40, merge="e" * 40)


def _pull(**fields: Any) -> PullRequest:
    plain = {
        "number": 1,
        "url": "pulls/0001.md",
        "branch": "main2dev/1",
        "target": "dev",
        "head": "e" * 40,
        "title": "t",
        "body": OURS,
        "draft": True,
        "open": True,
        "created_at": datetime(2026, 11, 30, tzinfo=UTC),
    }
    return PullRequest.model_validate({**plain, **fields})


def test_ours_and_untouched_may_go() -> None:
    assert reason_to_keep(_pull(), STATE, CONFIG) == ""


def test_one_whose_branch_is_gone_may_go() -> None:
    assert reason_to_keep(_pull(head=""), None, CONFIG) == ""


@pytest.mark.parametrize(
    ("pull", "state", "words"),
    [
        (_pull(labels=("nightly-sync/manual",)), STATE, "label"),
        (_pull(body="Written by hand"), STATE, "no marker"),
        (_pull(), STATE.model_copy(update={"foreign": "f" * 40}), "somebody else's commit"),
    ],
)
def test_what_people_touched_stays(pull: PullRequest, state: BranchState, words: str) -> None:
    assert words in reason_to_keep(pull, state, CONFIG)
