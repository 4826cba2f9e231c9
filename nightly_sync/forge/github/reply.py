"""What came back from GitHub, and how long to wait before the next try. Pure.

The rules for waiting are those of GitHub's REST guide ("Best practices": retry-after first, then
x-ratelimit-reset, else at least a minute and exponentially more, and an end after some tries).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

RETRYABLE = frozenset({408, 425, 429})
MOVED = frozenset({301, 302, 303, 307, 308})  # redirects; those of logs are followed elsewhere
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds between tries when the way is broken
LIMIT_PAUSE, LONGEST_LIMIT = 60.0, 3900.0  # seconds; a quota is reset within the hour
_LIMIT_WORDS = ("rate limit", "abuse detection")


@dataclass(frozen=True)
class Reply:
    """A usable answer: plain JSON and lower-case headers."""

    status: int
    data: Any
    headers: Mapping[str, str]

    def date(self) -> datetime:
        """The server's own time of the answer, in whole seconds."""
        return server_time(self.headers) or datetime.now(UTC)

    @property
    def has_next(self) -> bool:
        """Whether the Link header names a next page."""
        return 'rel="next"' in self.headers.get("link", "")


@dataclass(frozen=True)
class Trouble:
    """No usable answer. `status` is 0 if there was none at all."""

    status: int
    words: str  # GitHub's message, or what happened to the connection
    headers: Mapping[str, str] = field(default_factory=dict)
    details: tuple[str, ...] = ()  # the list of a 422
    uncertain: bool = False  # what was asked may have been done all the same
    limited: bool = False  # GraphQL says so with status 200


class Kind(StrEnum):
    """What to do about trouble."""

    LIMIT = "limit"  # wait as long as GitHub asks
    RETRY = "retry"  # soon again
    REFUSED = "refused"  # asking again changes nothing


def kind_of(trouble: Trouble) -> Kind:
    """A limit, a hiccup or a refusal."""
    if trouble.limited or (trouble.status in (403, 429) and _speaks_of_limits(trouble)):
        return Kind.LIMIT
    if trouble.status in RETRYABLE or trouble.status == 0 or trouble.status >= 500:
        return Kind.RETRY
    return Kind.REFUSED


def _speaks_of_limits(trouble: Trouble) -> bool:
    headers, words = trouble.headers, trouble.words.lower()
    if "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0":
        return True
    return any(word in words for word in _LIMIT_WORDS)


def limit_pause(trouble: Trouble, tries: int) -> float:
    """Seconds until a limit is over, as GitHub says; `tries` counts from 0."""
    told = _told(trouble)
    return min(LIMIT_PAUSE * float(2**tries), LONGEST_LIMIT) if told is None else told


def _told(trouble: Trouble) -> float | None:
    """The seconds that GitHub asks for; None if it does not."""
    headers = trouble.headers
    after = headers.get("retry-after", "")
    if after.isdecimal():
        return float(after) + 1
    reset, now = headers.get("x-ratelimit-reset", ""), server_time(headers)
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal() and now:
        # Both are the server's own time, so that a wrong clock here does not matter.
        return max(0.0, int(reset) - now.timestamp()) + 1
    return None


def retry_pause(trouble: Trouble, tries: int, jitter: float) -> float:
    """Seconds before the next try: doubled each time, and spread, so that runs do not meet.

    `jitter` is a random number from 0 to 1. A Retry-After (503) is obeyed.
    """
    after = trouble.headers.get("retry-after", "")
    if after.isdecimal():
        return float(after) + 1
    ceiling = min(FIRST_PAUSE * float(2 ** min(tries, 10)), LONGEST_PAUSE)
    return ceiling * (0.5 + jitter / 2)


@dataclass(frozen=True)
class Waits:
    """What one request has waited for so far, in seconds."""

    tries: int = 0
    pause: float = 0.0  # the newest
    chosen: float = 0.0  # all those whose length was ours to choose
    asked: float = 0.0  # all those that a limit's answer named

    def then(self, trouble: Trouble, jitter: float) -> "Waits":
        """With the pause before the next try."""
        asked, chosen = 0.0, 0.0
        if kind_of(trouble) is Kind.RETRY:
            chosen = pause = retry_pause(trouble, self.tries, jitter)
        else:
            pause = limit_pause(trouble, self.tries)
            asked, chosen = (0.0, pause) if _told(trouble) is None else (pause, 0.0)
        return Waits(self.tries + 1, pause, self.chosen + chosen, self.asked + asked)

    def within(self, patience: float, left: float) -> bool:
        """Is the newest pause still worth it? `left` is what remains of the run's own time.

        Of what GitHub asks for, as much as a quota takes to come back; of our own, `patience`.
        """
        short = self.pause <= max(left, LONGEST_PAUSE)
        return short and self.chosen <= patience and self.asked <= LONGEST_LIMIT


def server_time(headers: Mapping[str, str]) -> datetime | None:
    """The Date header, None without a usable one."""
    try:
        return parsedate_to_datetime(headers.get("date", "")).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def message_of(data: Any) -> tuple[str, tuple[str, ...]]:
    """GitHub's message, and the messages or codes of its list of errors."""
    if not isinstance(data, dict):
        return "", ()
    errors = data.get("errors")
    listed = errors if isinstance(errors, list) else []
    return str(data.get("message") or ""), tuple(_detail(item) for item in listed)


def _detail(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error)
    said = error.get("message")
    return str(said) if said else f"{error.get('field', 'a field')}: {error.get('code', 'invalid')}"
