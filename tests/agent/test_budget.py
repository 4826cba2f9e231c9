"""What is spent adds up, by task and file, and limits are noticed."""

from random import Random
from typing import Any

import pytest

from nightly_sync.agent.budget import Account, BudgetSpent, Meter, Spent, priced
from nightly_sync.agent.settings import AgentSettings, Price

PRICE = Price(input=4, output=20, cache_read=0.4, cache_write=5)
TOKENS = Spent(input=1_000_000, output=100_000, cache_read=10_000_000, cache_write=200_000)


class Clock:
    """Seconds, moved by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def meter(**settings: Any) -> Meter:
    return Meter(AgentSettings(**settings), Clock())


def test_money_is_tokens_times_their_four_prices() -> None:
    assert priced(TOKENS, PRICE).money == pytest.approx(4 + 2 + 4 + 1)


def test_without_a_price_money_is_unknown_and_stays_so() -> None:
    known, unknown = priced(TOKENS, PRICE), priced(TOKENS, None)
    assert unknown.money is None
    assert (known + unknown).money is None
    assert priced(Spent(seconds=3), None).money == 0


def test_adding_is_commutative_associative_and_starts_at_nothing() -> None:
    random = Random(1)

    def some() -> Spent:
        money = random.choice((None, float(random.randrange(9))))
        numbers = {name: random.randrange(9) for name in ("input", "output", "turns", "retries")}
        return Spent(**numbers, cache_read=random.randrange(9), money=money)

    for _ in range(200):
        a, b, c = some(), some(), some()
        assert a + b == b + a
        assert (a + b) + c == a + (b + c)
        assert a + Spent() == a


def test_totals_are_kept_by_task_file_and_run() -> None:
    bill = meter()
    bill.add("resolve", "a.py", Spent(input=1))
    bill.add("resolve", "b.py", Spent(input=2))
    bill.add("repair", "a.py", Spent(input=4))
    assert {task: spent.input for task, spent in bill.by_task().items()} == {
        "resolve": 3,
        "repair": 4,
    }
    assert {file: spent.input for file, spent in bill.by_file().items()} == {"a.py": 5, "b.py": 2}
    assert bill.total().input == 7


def test_progress_is_told_with_each_addition() -> None:
    heard: list[tuple[str, str, int]] = []
    bill = Meter(
        AgentSettings(), Clock(), lambda task, file, total: heard.append((task, file, total.input))
    )
    bill.add("resolve", "a.py", Spent(input=1))
    bill.add("fix", "", Spent(input=2))
    assert heard == [("resolve", "a.py", 1), ("fix", "", 3)]


def test_an_account_takes_the_time_between_its_entries() -> None:
    clock = Clock()
    bill = Meter(AgentSettings(prices={"opus": PRICE}), clock)
    clock.now = 100
    account = Account(bill, "resolve", "a.py")
    clock.now = 103
    account.add(Spent(output=1_000_000))
    clock.now = 110
    account.add(Spent())
    assert (account.spent.seconds, account.spent.money) == (10, 20)
    assert bill.by_file()["a.py"] == account.spent


@pytest.mark.parametrize(
    ("settings", "spent", "limit"),
    [
        ({"turns": 5}, Spent(turns=5), "turns"),
        ({"minutes": 2}, Spent(seconds=120), "minutes"),
        ({"tokens": 10}, Spent(input=1, output=2, cache_read=3, cache_write=4), "tokens"),
        ({"money": 1.5, "prices": {"opus": PRICE}}, Spent(money=1.5), "money"),
    ],
)
def test_a_limit_that_is_reached_is_named(
    settings: dict[str, Any], spent: Spent, limit: str
) -> None:
    bill = meter(**settings)
    bill.check()
    bill.add("resolve", "", spent)
    with pytest.raises(BudgetSpent, match=rf"the limit of [\d.]+ {limit} is reached"):
        bill.check()


def test_just_below_every_limit_nothing_is_said() -> None:
    bill = meter(turns=5, minutes=2, tokens=10, money=1.5, prices={"opus": PRICE})
    bill.add("resolve", "", Spent(turns=4, seconds=119, input=9, money=1.49))
    bill.check()
    bill.check(pause=0.5)
    with pytest.raises(BudgetSpent, match="minutes"):
        bill.check(pause=1)


def test_no_limit_of_tokens_or_money_is_no_limit() -> None:
    bill = meter()
    bill.add("resolve", "", Spent(input=10**12, money=10.0**9))
    bill.check()
