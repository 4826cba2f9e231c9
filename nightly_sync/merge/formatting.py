"""Rule `formatting`: one side changed only the formatting, so the other side's text stands.

For a whole file or one hunk. Evidence: equal syntax trees, equal comments.
"""

from collections.abc import Callable

from nightly_sync.conflicts import Kind
from nightly_sync.merge.model import (
    Abstain,
    HunkFacts,
    PathFacts,
    Resolution,
    Status,
    Take,
)
from nightly_sync.merge.syntax import is_python, same_code, same_hunk

NAME = "formatting"
_TEXT_KINDS = {Kind.CONTENTS, Kind.ADD_ADD}
_BASE, _TARGET, _SOURCE = Take.BASE, Take.TARGET, Take.SOURCE


def resolve(facts: PathFacts) -> Resolution | Abstain:
    """A whole file; abstains unless both sides are Python text."""
    conflict = facts.conflict
    if not is_python(facts.path) or conflict is None or not _TEXT_KINDS.issuperset(conflict.kinds):
        return Abstain()
    entries = {_BASE: conflict.base, _TARGET: conflict.target, _SOURCE: conflict.source}
    texts = {side: facts.texts.get(entry.oid) for side, entry in entries.items() if entry}

    def same(left: Take, right: Take) -> bool:
        one, two = texts.get(left), texts.get(right)
        return one is not None and two is not None and same_code(one, two)

    return _decide(same)


def resolve_hunk(facts: HunkFacts) -> Resolution | Abstain:
    """One hunk, judged inside its file, as a hunk alone rarely parses."""
    if not is_python(facts.path):
        return Abstain()

    def same(left: Take, right: Take) -> bool:
        one, two = facts.side(left), facts.side(right)
        return same_hunk(one.file, two.file, (one.span, two.span), (one.text, two.text))

    return _decide(same)


def _decide(same: Callable[[Take, Take], bool]) -> Resolution | Abstain:
    if same(_TARGET, _SOURCE):
        return _answer(_SOURCE, "both sides have equal syntax trees and comments")
    if same(_BASE, _TARGET):
        return _answer(_SOURCE, "the target changed only the formatting of the base")
    if same(_BASE, _SOURCE):
        return _answer(_TARGET, "the source changed only the formatting of the base")
    return Abstain()


def _answer(take: Take, evidence: str) -> Resolution:
    return Resolution(rule=NAME, take=take, evidence=evidence, status=Status.SETTLED)
