"""Rule `fallback`: no evidence; the configured side, as a proposal, or a stop for a person."""

from collections.abc import Callable

from nightly_sync.config import Fallback
from nightly_sync.merge.model import HunkFacts, PathFacts, Resolution, Status, Take

NAME = "fallback"


def for_path(fallback: Fallback) -> Callable[[PathFacts], Resolution]:
    """The rule for what can only be taken whole: binaries, symlinks, submodules, deletions."""

    def resolve(facts: PathFacts) -> Resolution:
        if fallback == "stop":
            return _stop()
        entry = facts.source if fallback == "source" else facts.target
        return _take(Take(fallback) if entry else Take.DELETE, f"taken whole from the {fallback}")

    return resolve


def for_hunk(fallback: Fallback) -> Callable[[HunkFacts], Resolution]:
    """The rule for one hunk; what git merged around it stays."""

    def resolve(facts: HunkFacts) -> Resolution:
        if fallback == "stop":
            return _stop()
        return _take(Take(fallback), f"no rule has evidence; the {fallback}'s lines")

    return resolve


def _stop() -> Resolution:
    evidence = "no rule has evidence, and the configured fallback is to stop"
    return Resolution(rule=NAME, take=Take.BASE, evidence=evidence, status=Status.UNRESOLVED)


def _take(take: Take, evidence: str) -> Resolution:
    return Resolution(rule=NAME, take=take, evidence=evidence, status=Status.PROPOSAL)
