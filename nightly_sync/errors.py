"""The errors a person can do something about, and the exit code each ends in.

Anything else that escapes is a bug and keeps its traceback.
"""

from enum import IntEnum


class Exit(IntEnum):
    """What the process tells its caller; the same for `preview`, `run` and `demo`."""

    SETTLED = 0
    FAILED = 1
    USAGE = 2
    NEEDS_LOOK = 3
    STOPPED = 4


class SyncError(Exception):
    """One readable sentence for the person in charge; ends the command with `exit_code`."""

    exit_code = Exit.FAILED

    def __init__(self, message: str):
        # Names out of git may hold undecodable bytes, which no terminal and no server takes.
        super().__init__(
            message.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        )


class ConfigError(SyncError):
    """The command line or the configuration cannot be used as written."""

    exit_code = Exit.USAGE


class StopForPerson(SyncError):
    """Going on would guess or overwrite: a person has to decide first."""

    exit_code = Exit.STOPPED


class Unreachable(SyncError):
    """Another machine did not answer, or not to the end: the same may work later."""


def one_line(error: Exception) -> str:
    """An error's words where a list, a note or a sentence takes them in."""
    return " ".join(str(error).split())
