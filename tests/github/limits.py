"""Rate limits: the hourly quota, and the secondary limit that comes with quota left."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.github.clock import Clock
from tests.github.errors import ApiError
from tests.github.state import Token

HOUR = timedelta(hours=1)
QUOTA = {"core": 5000, "graphql": 5000}
ANONYMOUS = 60
SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)


@dataclass
class Bucket:
    """One caller's quota of one resource."""

    limit: int
    reset: datetime
    used: int = 0

    @property
    def remaining(self) -> int:
        """Requests or points that are left."""
        return max(0, self.limit - self.used)


@dataclass
class Limits:
    """All quotas. `exhaust` and `slow_down` are what tests use."""

    clock: Clock
    early: int = 0  # requests that came before a secondary limit was over
    telling: bool = True  # whether a secondary limit says how long it lasts
    endless: bool = False  # whether it never ends
    _buckets: dict[tuple[str, str], Bucket] = field(default_factory=dict)
    _until: datetime | None = None
    _retry_after: int = 0

    def bucket(self, token: Token | None, resource: str) -> Bucket:
        """The caller's quota, new if the hour is over."""
        key = (token.account.login if token else "", resource)
        now, found = self.clock.now(), self._buckets.get(key)
        if found is None or found.reset <= now:
            found = Bucket(QUOTA[resource] if token else ANONYMOUS, now + HOUR)
            self._buckets[key] = found
        return found

    def exhaust(self, token: Token, resource: str = "core", seconds: float = 3600) -> None:
        """Leave nothing of a quota for so many seconds."""
        bucket = self.bucket(token, resource)
        bucket.used, bucket.reset = bucket.limit, self.clock.now() + timedelta(seconds=seconds)

    def slow_down(self, retry_after: int) -> None:
        """Start a secondary limit; whoever asks too early starts it again."""
        self._retry_after = retry_after
        self._until = self.clock.now() + timedelta(seconds=retry_after)

    def check_secondary(self) -> None:
        """Raise 403 while a secondary limit lasts."""
        if self._until is None or (self.clock.now() >= self._until and not self.endless):
            self._until = None
            return
        self.early += 1
        self.slow_down(self._retry_after)
        told = {"Retry-After": str(self._retry_after)} if self.telling else {}
        raise ApiError(403, SECONDARY, headers=told)

    def headers(self, token: Token | None, resource: str) -> dict[str, str]:
        """The quota as every answer shows it."""
        bucket = self.bucket(token, resource)
        return {
            "X-RateLimit-Limit": str(bucket.limit),
            "X-RateLimit-Remaining": str(bucket.remaining),
            "X-RateLimit-Used": str(bucket.used),
            "X-RateLimit-Reset": str(int(bucket.reset.timestamp())),
            "X-RateLimit-Resource": resource,
        }


def exceeded(token: Token | None) -> str:
    """What a caller without quota hears."""
    who = f"user ID {token.account.id}" if token else "127.0.0.1"
    return f"API rate limit exceeded for {who}."
