"""Did a failed check run to its end? Only then is what its log lists all that is wrong. Pure."""

import re
from collections.abc import Iterable, Sequence

from nightly_sync.checks.gate import RAN_TO_THE_END
from nightly_sync.checks.items import test_lines
from nightly_sync.checks.logs import CUT
from nightly_sync.forge.base import Check, CheckStatus

_EXIT_CODE = re.compile(r"^##\[error\]Process completed with exit code (\d+)")
_SHELL_CODES = range(126, 166)  # not runnable, not found, 128 + signal
_SESSION = re.compile(r"^=+ test session starts =+$")
_SUMMARY = re.compile(
    r"^(?:=+ )?(?:no tests ran|\d+ [a-z]+(?: [a-z]+)?(?:, \d+ [a-z]+(?: [a-z]+)?)*)"
    r" in \d[\d.]*s(?: \([\d:]+\))?(?: =+)?$"
)
_UNITTEST_SUMMARY = re.compile(r"^FAILED \((?:\w[\w ]*=\d+(?:, )?)+\)$")
_UNITTEST_HEADER = re.compile(r"^(?:FAIL|ERROR): \S+ \([\w.]+\)")
_COUNTS = re.compile(r"(\d+) (?:failed|errors?)\b|\b(?:failures|errors)=(\d+)")
_PROGRESS = re.compile(r"^[.FEsxX]+(?: +\[ *\d+%\])?$")
_BROKE_OFF = re.compile(
    r"^!+ .* !+$|^INTERNALERROR>"
    r"|node down: Not properly terminated|worker '\w+' crashed|Segmentation fault|core dumped"
    r"|^Fatal Python error|^Killed$|^##\[error\]The operation was canceled"
    r"|exceeded the maximum execution time|was ended by signal \d+|could not be started: "
)


def ends_a_run(line: str) -> bool:
    """Does the line sum a test run up, or say that something broke it off?"""
    patterns = (_SUMMARY, _UNITTEST_SUMMARY, _BROKE_OFF)
    return any(pattern.search(line) for pattern in patterns)


def failed_steps(lines: Iterable[str]) -> int:
    """How many steps of a job ended with an exit code; others, such as actions, just say why."""
    return sum(1 for line in lines if _EXIT_CODE.match(line))


def unfinished(check: Check, lines: Sequence[str]) -> str:
    """Why the log of a failed check may not list everything; empty if it ran to the end.

    Not to the end: a run that was cancelled, timed out, crashed, stopped at the first failure or
    while collecting (the other tests never ran), a log with a part left out, or fewer failing
    tests in the list than in the sum.
    """
    if check.status is not CheckStatus.COMPLETED or check.conclusion not in RAN_TO_THE_END:
        return f"it ended as {check.conclusion or check.status.value}"
    broken = next((line for line in lines if _BROKE_OFF.search(line)), None)
    if broken is not None:
        return f"it was broken off: {broken.strip('! ')}"
    if CUT in lines:
        return "a part of its log is left out"
    return _bad_exit(lines) or _test_run(lines)


def _bad_exit(lines: Iterable[str]) -> str:
    codes = [int(match[1]) for line in lines if (match := _EXIT_CODE.match(line))]
    bad = [code for code in codes if code in _SHELL_CODES]
    return f"its command was not found or was killed (exit code {bad[0]})" if bad else ""


def _test_run(lines: Sequence[str]) -> str:
    sums = [line for line in lines if _SUMMARY.match(line) or _UNITTEST_SUMMARY.match(line)]
    sessions = sum(1 for line in lines if _SESSION.match(line))
    if sessions > len(sums) or (not sums and any(_PROGRESS.match(line) for line in lines)):
        return "its tests never reached their summary"
    counted = sum(int(match[1] or match[2]) for line in sums for match in _COUNTS.finditer(line))
    listed = test_lines(lines) + sum(1 for line in lines if _UNITTEST_HEADER.match(line))
    if sums and counted != listed:
        return f"its log lists {listed} of {counted} failing tests"
    return ""
