"""What Claude is at, in the log of the task that asks it."""

from prefect import get_run_logger

from nightly_sync.agent.budget import Spent
from nightly_sync.paths import quote
from nightly_sync.session import Session


def follow(run: Session) -> None:
    """From now on, log each new thing Claude is asked, with the bill so far."""
    log = get_run_logger()
    told = {("", "")}

    def progress(task: str, file: str, total: Spent) -> None:
        if (task, file) in told:
            return
        told.add((task, file))
        money = "" if total.money is None else f", money {total.money:.2f}"
        log.info("Claude: %s %s (so far %d answers, %d tokens%s)",
                 task, quote(file), total.turns, total.tokens, money)  # fmt: skip

    run.assistant.progress = progress
