"""From facts to the run's record."""

from datetime import UTC, datetime, timedelta

from nightly_sync.errors import Exit, StopForPerson, SyncError
from nightly_sync.record import Outcome, RunRecord
from nightly_sync.recording import failed, finish

NOW = datetime(2026, 11, 30, 21, tzinfo=UTC)
START = RunRecord(
    run_id="1",
    started_at=NOW,
    seconds=0,
    repository="/srv/repo.git",
    source_branch="main",
    target_branch="dev",
    outcome=Outcome.FAILED,
)


def test_a_reason_with_undecodable_bytes_can_be_kept_and_sent() -> None:
    """Reported: odd bytes in a commit's subject broke log lines; the record's JSON takes none."""
    record = finish(START, NOW, Outcome.REVERTED, "the sync Caf\udce9 was reverted")
    assert record.reason == "the sync Caf\\xe9 was reverted"
    assert RunRecord.model_validate_json(record.model_dump_json()) == record


def test_an_error_with_undecodable_bytes_keeps_its_kind_and_its_words() -> None:
    """Found by a probe: Prefect cannot send such a message and raised UnicodeEncodeError."""
    assert str(StopForPerson("caf\udce9.py differs")) == "caf\\xe9.py differs"


def test_a_stop_and_a_failure_and_a_bug_are_told_apart() -> None:
    later = NOW + timedelta(seconds=2)
    stopped = failed(START, later, StopForPerson("look"))
    assert (stopped.outcome, stopped.reason, stopped.seconds) == (Outcome.STOPPED, "look", 2)
    assert stopped.exit_code is Exit.STOPPED
    assert failed(START, later, SyncError("no disk")).reason == "no disk"
    assert failed(START, later, KeyError("x")).reason == "bug: KeyError('x')"
