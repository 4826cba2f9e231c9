"""Keep tracebacks for bugs: an error a person can act on is logged as its one sentence."""

import logging

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


def plain_logs() -> None:
    """Install the filter, once a process."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(item, OneSentence) for item in logger.filters):
            logger.addFilter(OneSentence())
