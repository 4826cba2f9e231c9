"""Did a failed check pass before on the very same commit? Then it fails by chance. Pure."""

from nightly_sync.checks.baseline import same_check
from nightly_sync.forge.base import Check, CheckStatus, Rollup


def passed_before(check: Check, rollup: Rollup) -> Check | None:
    """The newest earlier success of a check on the same commit; None without one.

    Earlier means that it had ended when this one started, so a job of the same name that runs
    beside it says nothing, nor does a result without its times. What stands in the rollup beside
    it with the same suite is another job of that name, even if the one waited for the other: only
    a result that a rerun replaced is one of its own.
    """
    beside = (other for other in rollup.checks if other.suite != check.suite)
    passed = [c for c in (*beside, *rollup.earlier) if _passed(c) and _before(c, check)]
    same = [other for other in passed if same_check(other, check)]
    return max(same, key=lambda other: str(other.completed_at), default=None)


def _passed(check: Check) -> bool:
    return check.status is CheckStatus.COMPLETED and check.conclusion == "SUCCESS"


def _before(other: Check, check: Check) -> bool:
    if other.completed_at is None or check.started_at is None:
        return False
    return other.completed_at <= check.started_at
