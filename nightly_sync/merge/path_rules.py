"""Rules `take-source`, `take-target` and `delete-wins`: the configuration names the side.

They hold for every matching path, also where git merged cleanly. A file only one side ever had
is no disagreement: it stays, whichever side the rule names.
"""

from nightly_sync.merge.model import Abstain, PathFacts, Resolution, Status, Take

_SIDES = {"take-source": Take.SOURCE, "take-target": Take.TARGET}


def resolve(facts: PathFacts) -> Resolution | Abstain:
    """Take the named side's file; its deletion too, if it once had the file."""
    rule = facts.path_rule
    if rule is None:
        return Abstain()
    take = _deletion(facts) if rule.rule == "delete-wins" else _side(facts, _SIDES.get(rule.rule))
    if take is None:
        return Abstain()
    evidence = f"{rule.rule} for {facts.pattern}" + (f": {rule.reason}" if rule.reason else "")
    return Resolution(rule=rule.rule, take=take, evidence=evidence, status=Status.SETTLED)


def _side(facts: PathFacts, side: Take | None) -> Take | None:
    if side is None:
        return None
    entry = facts.source if side is Take.SOURCE else facts.target
    if entry is not None:
        return side
    return Take.DELETE if facts.base is not None else None


def _deletion(facts: PathFacts) -> Take | None:
    deleted = facts.base is not None and not (facts.source and facts.target)
    return Take.DELETE if deleted else None
