"""Log lines every reader takes: no traceback for what a person can act on, no odd bytes."""

import logging
from collections.abc import Iterator

import pytest

from nightly_sync.errors import SyncError
from tasks.plain_logs import plain_logs

ODD = "Caf\udce9"


class Seen(logging.Handler):
    """Keeps every line as a handler would send it."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture
def seen() -> Iterator[Seen]:
    """What arrives at a handler of the tasks' logger."""
    plain_logs()
    logger, handler = logging.getLogger("prefect.task_runs"), Seen()
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


def _log() -> logging.Logger:
    return logging.getLogger("prefect.task_runs")


def test_undecodable_bytes_are_shown_not_sent(seen: Seen) -> None:
    """Reported: a commit subject of odd bytes lost its log line to a TypeError of orjson."""
    _log().error("the sync %s was squashed", ODD)
    assert seen.lines == ["the sync Caf\\xe9 was squashed"]


def test_a_bug_keeps_its_traceback_odd_bytes_or_not(seen: Seen) -> None:
    try:
        raise ValueError(ODD)
    except ValueError:
        _log().exception("Encountered an exception")
    (line,) = seen.lines
    assert "Traceback" in line
    assert "ValueError: Caf\\xe9" in line
    line.encode()


def test_an_error_for_a_person_is_its_one_sentence(seen: Seen) -> None:
    try:
        raise SyncError("install git")
    except SyncError:
        _log().exception("Encountered an exception")
    assert seen.lines == ["install git"]


def test_the_filters_are_installed_once() -> None:
    plain_logs()
    before = list(_log().filters)
    plain_logs()
    assert _log().filters == before
