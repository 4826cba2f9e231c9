"""What moved into a protected path stays where the target has it.

`protect` takes in no new file, also not one that the source renamed into the protected folder, and
not one of the target's own that git suggests to move there. Its old place would then be empty on
both ends, and the file lost.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from nightly_sync import git
from nightly_sync.merge import protect
from nightly_sync.merge.model import PathFacts, Status, Take
from nightly_sync.merge.walk import Draft


def kept_at_home(
    repo: Path,
    base: str,
    source: str,
    facts: Mapping[str, PathFacts],
    drafts: Mapping[str, Draft],
) -> dict[str, Draft]:
    """Drafts that keep the target's file at its old place, for each that `protect` turned away."""
    turned_away = [
        path
        for path, draft in drafts.items()
        if draft.rule == protect.NAME and draft.take is Take.DELETE
    ]
    if not turned_away:
        return {}
    old_names = {new: old for old, new in git.renames(repo, base, source).items()}
    pairs = (pair for new in turned_away for pair in _origins(new, drafts[new], old_names))
    return {old: _kept(facts[old], new) for new, old in pairs if _lost(old, facts, drafts)}


def _origins(new: str, draft: Draft, old_names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    conflict = draft.facts.conflict
    names = {
        *(conflict.related if conflict else ()),
        *([old_names[new]] if new in old_names else []),
    }
    return ((new, old) for old in sorted(names))


def _lost(path: str, facts: Mapping[str, PathFacts], drafts: Mapping[str, Draft]) -> bool:
    item = facts.get(path)
    if item is None or item.target is None:
        return False
    return (drafts[path].entry if path in drafts else item.merged) is None


def _kept(facts: PathFacts, new: str) -> Draft:
    evidence = f"its move to the protected {new} is not taken in: kept as on the target"
    return Draft(facts, protect.NAME, Take.TARGET, evidence, Status.SETTLED, facts.target)
