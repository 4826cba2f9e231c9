"""What Claude costs: tokens, turns, seconds and money, and the limits on them."""

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from nightly_sync.agent.settings import AgentSettings, Price
from nightly_sync.model import Model

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
        pairs = ((name, mine, getattr(other, name)) for name, mine in self)
        return Spent(**{name: None if None in (a, b) else a + b for name, a, b in pairs})


def priced(spent: Spent, price: Price | None) -> Spent:
    """The same with its cost in money."""
    money = None
    if price or not spent.tokens:
        money = sum(getattr(spent, kind) * each for kind, each in price or ()) / MILLION
    return spent.model_copy(update={"money": money})


class BudgetSpent(Exception):
    """A limit is reached: the conversation ends here, what was done so far stays."""


Progress = Callable[[str, str, Spent], None]
"""Hears of each addition to the bill: task, file, and the run's new total."""


@dataclass
class Meter:
    """Adds up what a run spends, by task and file, and knows its limits."""

    settings: AgentSettings
    clock: Callable[[], float] = time.monotonic
    on_progress: Progress = lambda *_: None
    _ledger: dict[tuple[str, str], Spent] = field(default_factory=dict)

    def add(self, task: str, file: str, spent: Spent) -> None:
        self._ledger[task, file] = self._ledger.get((task, file), Spent()) + spent
        self.on_progress(task, file, self.total())

    def total(self) -> Spent:
        return sum(self._ledger.values(), Spent())

    def by_task(self) -> dict[str, Spent]:
        """Each kind of task, in the order they began."""
        return self._grouped(0)

    def by_file(self) -> dict[str, Spent]:
        """Each file, in the order they began; "" for tasks about no single file."""
        return self._grouped(1)

    def _grouped(self, part: int) -> dict[str, Spent]:
        groups: dict[str, Spent] = defaultdict(Spent)
        for where, spent in self._ledger.items():
            groups[where[part]] += spent
        return dict(groups)

    @property
    def seconds_left(self) -> float:
        """Until the limit on time."""
        return self.settings.minutes * 60 - self.total().seconds

    def check(self, pause: float = 0.0) -> None:
        """Raise BudgetSpent if a limit is reached, or would be after so many seconds."""
        total, limits = self.total(), self.settings
        reached = (
            ("turns", total.turns, limits.turns),
            ("minutes", (total.seconds + pause) / 60, limits.minutes),
            ("tokens", total.tokens, limits.tokens),
            ("money", total.money or 0.0, limits.money),
        )
        for limit, used, allowed in reached:
            if allowed is not None and used >= allowed:
                raise BudgetSpent(f"the limit of {allowed:g} {limit} is reached")


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
        item = priced(timed, self.meter.settings.price)
        self.spent += item
        self.meter.add(*self._where, item)
