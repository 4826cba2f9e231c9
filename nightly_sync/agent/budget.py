"""What Claude costs: tokens, turns, seconds and money, and the limits on them."""

import time
from collections import defaultdict
from collections.abc import Callable
from threading import Lock
from typing import Literal

from nightly_sync.agent.settings import AgentSettings, Price
from nightly_sync.model import Model

Limit = Literal["turns", "minutes", "tokens", "money"]
MILLION = 1_000_000


class Spent(Model):
    """What something cost; two of them add up.

    `input` is without what the cache held. `money` is None where no price is known.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    turns: int = 0
    retries: int = 0  # requests that brought no whole answer
    seconds: float = 0.0
    money: float | None = 0.0

    @property
    def read(self) -> int:
        """Tokens the model was given: with one request, the length of the conversation."""
        return self.input + self.cache_read + self.cache_write

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.read + self.output

    def __add__(self, other: "Spent") -> "Spent":
        known = None not in (self.money, other.money)
        return Spent(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            turns=self.turns + other.turns,
            retries=self.retries + other.retries,
            seconds=self.seconds + other.seconds,
            money=(self.money or 0.0) + (other.money or 0.0) if known else None,
        )


def priced(spent: Spent, price: Price | None) -> Spent:
    """The same with its cost in money."""
    return spent.model_copy(update={"money": _cost(spent, price)})


def _cost(spent: Spent, price: Price | None) -> float | None:
    if not spent.tokens:
        return 0.0
    if price is None:
        return None
    return (
        spent.input * price.input
        + spent.output * price.output
        + spent.cache_read * price.cache_read
        + spent.cache_write * price.cache_write
    ) / MILLION


class BudgetSpent(Exception):
    """A limit is reached: the conversation ends here, what was done so far stays."""

    def __init__(self, limit: Limit, allowed: float):
        super().__init__(f"the limit of {allowed:g} {limit} is reached")
        self.limit = limit


def _ignore(task: str, file: str, total: Spent) -> None:
    """Progress that nobody follows."""


class Meter:
    """Adds up what a run spends, by task and file, and knows its limits. For several threads.

    `on_progress` hears of each addition: task, file, and the run's new total.
    """

    def __init__(
        self,
        settings: AgentSettings,
        clock: Callable[[], float] = time.monotonic,
        on_progress: Callable[[str, str, Spent], None] = _ignore,
    ):
        self.clock = clock
        self._settings = settings
        self._on_progress = on_progress
        self._ledger: dict[tuple[str, str], Spent] = {}
        self._lock = Lock()

    def add(self, task: str, file: str, spent: Spent) -> None:
        """Put it on the bill."""
        with self._lock:
            before = self._ledger.get((task, file), Spent())
            self._ledger[task, file] = before + spent
        self._on_progress(task, file, self.total())

    def price(self, spent: Spent) -> Spent:
        """The same with its cost at the model's price."""
        return priced(spent, self._settings.price)

    def total(self) -> Spent:
        """The whole run."""
        with self._lock:
            return sum(self._ledger.values(), Spent())

    def by_task(self) -> dict[str, Spent]:
        """Each kind of task, in the order they began."""
        return self._grouped(0)

    def by_file(self) -> dict[str, Spent]:
        """Each file, in the order they began; "" for tasks about no single file."""
        return self._grouped(1)

    def _grouped(self, part: int) -> dict[str, Spent]:
        groups: dict[str, Spent] = defaultdict(Spent)
        with self._lock:
            for where, spent in self._ledger.items():
                groups[where[part]] += spent
        return dict(groups)

    def check(self, pause: float = 0.0) -> None:
        """Raise BudgetSpent if a limit is reached, or would be after so many seconds."""
        total, limits = self.total(), self._settings
        reached: tuple[tuple[Limit, float, float | None], ...] = (
            ("turns", total.turns, limits.turns),
            ("minutes", (total.seconds + pause) / 60, limits.minutes),
            ("tokens", total.tokens, limits.tokens),
            ("money", total.money or 0.0, limits.money),
        )
        for limit, used, allowed in reached:
            if allowed is not None and used >= allowed:
                raise BudgetSpent(limit, allowed)


class Account:
    """The bill of one conversation: each addition takes the time since the last one."""

    def __init__(self, meter: Meter, task: str, file: str):
        self.meter = meter
        self.spent = Spent()
        self._where = task, file
        self._since = meter.clock()

    def add(self, spent: Spent) -> None:
        """Put it on the bill, with its cost and the time it took."""
        now = self.meter.clock()
        timed = spent.model_copy(update={"seconds": now - self._since})
        self._since = now
        item = self.meter.price(timed)
        self.spent += item
        self.meter.add(*self._where, item)
