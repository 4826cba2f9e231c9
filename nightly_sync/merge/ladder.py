"""The ladder: for each path and hunk, the first rule that can show evidence decides.

A new rule is one module and one line here.
"""

from nightly_sync.config import Fallback
from nightly_sync.merge import deletion, fallback, formatting, path_rules, protect
from nightly_sync.merge.model import HunkRule, Rule

PATH_RULES: tuple[Rule, ...] = (
    protect.resolve,
    path_rules.resolve,
    deletion.resolve,
    formatting.resolve,
)
HUNK_RULES: tuple[HunkRule, ...] = (formatting.resolve_hunk,)


def last_path_rule(name: Fallback) -> Rule:
    """What decides a path that can only be taken whole."""
    return fallback.for_path(name)


def last_hunk_rule(name: Fallback) -> HunkRule:
    """What decides a hunk."""
    return fallback.for_hunk(name)
