"""Rule `protect`: the path equals the target's, whatever the source did; new files go."""

from nightly_sync.merge.model import Abstain, PathFacts, Resolution, Status, Take

NAME = "protect"


def resolve(facts: PathFacts) -> Resolution | Abstain:
    """Take the target's file, or none where the target has none."""
    if facts.path_rule is None or facts.path_rule.rule != NAME:
        return Abstain()
    take = Take.TARGET if facts.target else Take.DELETE
    what = "kept as on the target" if facts.target else "not on the target, so not taken in"
    evidence = f"protected by {facts.pattern}: {what}"
    return Resolution(rule=NAME, take=take, evidence=evidence, status=Status.SETTLED)
