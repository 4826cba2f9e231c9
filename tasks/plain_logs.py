"""Log lines that every reader takes: one sentence for an error a person can act on, no odd bytes.

Tracebacks are kept for bugs.
"""

import logging
import traceback

from nightly_sync import paths
from nightly_sync.errors import SyncError

_LOGGERS = (
    "prefect.flow_runs",
    "prefect.task_runs",
    "prefect.flow_engine",
    "prefect.task_engine",
)


class OneSentence(logging.Filter):
    """Replaces Prefect's "encountered exception" and its traceback by the error's own words."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Never drops a record."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, SyncError):
            record.msg, record.args, record.exc_info = str(error), (), None
        return True


class Printable(logging.Filter):
    """Shows undecodable bytes (a commit's subject, a file's name) as `\\xNN`.

    Prefect's log handler cannot send them: the line would be lost, with a traceback in its place.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Never drops a record."""
        record.msg, record.args = paths.printable(record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            lines = traceback.format_exception(*record.exc_info)
            record.exc_text = paths.printable("".join(lines)).rstrip("\n")
        return True


_FILTERS = (OneSentence(), Printable())


def plain_logs() -> None:
    """Install the filters; a logger takes each of them once."""
    for name in _LOGGERS:
        for item in _FILTERS:
            logging.getLogger(name).addFilter(item)
