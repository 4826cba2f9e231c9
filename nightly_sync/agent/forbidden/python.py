"""Tests, and assertions anywhere, in Python: compared scope by scope. Pure."""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from nightly_sync.agent.forbidden.model import RefusalKind, clip
from nightly_sync.agent.forbidden.same import Use, same_but_names
from nightly_sync.agent.forbidden.scopes import Fact, Group, Scope, Scopes, helpers_of, read
from nightly_sync.agent.forbidden.statements import called
from nightly_sync.agent.forbidden.values import Value, Values, gave_way
from nightly_sync.agent.forbidden.weave import woven

Reason = tuple[RefusalKind, str]

# What may not go, and what may not come. A mark may do neither: CI chooses tests by marks.
_KEPT = frozenset({Group.ASSERT, Group.CHECK, Group.CASE, Group.BASE, Group.MARK, Group.HOOK})
_NEW = frozenset(
    {Group.SKIP, Group.MARK, Group.HOOK, Group.EXIT, Group.SWALLOW, Group.SHAPE, Group.REBIND}
)
_NEW_IN_NEW = frozenset({Group.SKIP, Group.HOOK})  # of a definition that was not there before
IN_CODE = frozenset({Group.ASSERT, Group.SKIP})
_SKIPPING = frozenset({Group.SKIP, Group.MARK, Group.HOOK, Group.SHAPE})
_RENAMED = frozenset({Group.ASSERT, Group.CHECK, Group.BASE, Group.SKIP})
_OVERLOADED = re.compile(r"^\s*@.*\b(?:overload|setter|getter|deleter|register)\b", re.MULTILINE)
_EMPTY = Scope("", ast.Module([], []), "")


@dataclass(frozen=True)
class Versions:
    """The scopes of one file: before and after, and, read when asked, on the sides and in the base.

    A side without the file has no scopes; one that does not parse is left out.
    """

    old: Scopes
    new: Scopes
    texts: tuple[bytes | None, ...] = ()  # of the sides
    ancestor: bytes | None = None
    helpers: frozenset[str] = frozenset()
    only: frozenset[Group] | None = None
    merging: bool = False  # an answer to a conflict: `old` is one of the sides

    @cached_property
    def sides(self) -> tuple[Scopes, ...]:
        """The scopes on each side."""
        found = (read(text or b"", self.helpers, self.only) for text in self.texts)
        return tuple(scopes for scopes in found if scopes is not None)

    @cached_property
    def base(self) -> Scopes:
        """The scopes in the base; none if it has no such file."""
        return read(self.ancestor or b"", self.helpers, self.only) or {}

    def on_sides(self, name: str) -> list[Scope]:
        """The definition of this name on each side that has it."""
        return [side[name][-1] for side in self.sides if name in side]

    def in_base(self, name: str) -> Scope:
        """The definition in the base; an empty one if there is none."""
        return self.base.get(name, (_EMPTY,))[-1]

    def taken_out(self, name: str) -> bool:
        """Did a side delete what the base had?"""
        return any(name not in side for side in self.sides) and name in self.base


def versions(
    before: bytes,
    after: bytes,
    sides: tuple[bytes | None, ...],
    base: bytes | None,
    only: frozenset[Group] | None = None,
) -> Versions | None:
    """Read a file's versions; None if `before` or `after` does not parse."""
    first = None if only else read(before)
    helpers = helpers_of(first) if first else frozenset[str]()
    old, new = read(before, helpers, only), read(after, helpers, only)
    if old is None or new is None:
        return None
    return Versions(old, new, sides, base, helpers, only)


def in_tests(found: Versions, moved: Collection[str]) -> Iterator[Reason]:
    """Whatever makes a test file check less. `moved`: tests that other changed files have now."""
    yield from removed(found, moved)
    yield from _hidden(found)
    for old, new in _pairs(found):
        lost, gained = _differences(old, new)
        yield from _loss_reasons(found, old, new, lost, gained)
        yield from _gain_reasons(found, old, new, gained)
        yield from _value_reasons(found, old, new)
    for new in _added(found):
        groups = _NEW - {Group.REBIND} if found.on_sides(new.name) else _NEW_IN_NEW
        yield from _gain_reasons(found, _EMPTY, new, new.of(groups))


def removed(found: Versions, moved: Collection[str]) -> Iterator[Reason]:
    """Tests and hooks that are gone."""
    for old in _gone(found):
        if old.name in found.new:
            continue
        if old.collected and old.body not in moved and not found.taken_out(old.name):
            yield _removed(old.name)
        elif old.of((Group.HOOK,)):
            yield RefusalKind.TEST_SKIPPED, f"the hook {old.name} is gone"


def _removed(name: str) -> Reason:
    return RefusalKind.TEST_REMOVED, f"the test {name} is gone; no test may be removed or disabled"


def in_code(found: Versions) -> Iterator[Reason]:
    """The same for code that is no test, read with `IN_CODE` only."""
    for old, new in _pairs(found):
        lost, gained = _differences(old, new)
        yield from _loss_reasons(found, old, new, lost, gained)
        yield from _gain_reasons(found, old, new, gained)
    for new in _added(found):
        yield from _gain_reasons(found, _EMPTY, new, list(new.facts))


def lost(found: Versions) -> Iterator[Reason]:
    """Tests that are gone and that a side has and none deleted: restoring one side lost them."""
    for old in _gone(found):
        known = any(old.name in side for side in found.sides)
        if old.collected and old.name not in found.new and known:
            yield from () if found.taken_out(old.name) else [_removed(old.name)]


def put_together(found: Versions) -> bool:
    """Is every function one of a side's, and every other value too?"""
    return all(_on_a_side(found, scope) for many in found.new.values() for scope in many)


def _on_a_side(found: Versions, scope: Scope) -> bool:
    sides = found.on_sides(scope.name)
    if scope.is_function:
        return any(side.body == scope.body for side in sides)
    known = Values()
    for side in sides:
        known |= side.values
    return not scope.values - known


def _gone(found: Versions) -> Iterator[Scope]:
    """Definitions that are nowhere as they were; of two equal ones, one may go.

    A new name, in the same file, is no loss as long as the test is still one.
    """
    known = {(s.name, s.body) for many in found.old.values() for s in many}
    fresh = [s for many in found.new.values() for s in many if (s.name, s.body) not in known]
    renamed = {(s.body, s.collected) for s in fresh}
    for name, many in found.old.items():
        kept = {scope.body for scope in found.new.get(name, ())}
        for old in {scope.body: scope for scope in many}.values():
            if old.body not in kept and (old.body, old.collected) not in renamed:
                yield old


def _pairs(found: Versions) -> Iterator[tuple[Scope, Scope]]:
    """Each changed definition, and what it is now."""
    for old in _gone(found):
        news = found.new.get(old.name, ())
        known = {scope.body for scope in found.old[old.name]}
        fresh = [new for new in news if new.body not in known]
        if news:
            yield old, (fresh or news)[-1]


def _hidden(found: Versions) -> Iterator[Reason]:
    """Names that are defined once more than before: the last definition hides the others."""
    for name in sorted(found.new.keys() & found.old.keys()):
        many = found.new[name]
        more = (len(many) > len(known.get(name, ())) for known in (found.old, *found.sides))
        if all(more) and not _OVERLOADED.search(many[-1].body):
            what = f"{name} is defined again, which hides the first definition"
            yield RefusalKind.TEST_REMOVED, what


def _added(found: Versions) -> Iterator[Scope]:
    """New definitions that no side has."""
    known = {scope.body for many in found.old.values() for scope in many}
    for name, many in found.new.items():
        others = {side.body for side in found.on_sides(name)}
        if name not in found.old:
            yield from (new for new in many if new.body not in others | known)


def _differences(old: Scope, new: Scope) -> tuple[list[Fact], list[Fact]]:
    """Facts that are gone, and new ones, but for those that changed in names only."""
    lost, gained = _less(old, new), _less(new, old)
    left = []
    for fact in lost:
        partner = next((item for item in gained if _same(fact, item, new.use)), None)
        if partner:
            gained.remove(partner)
        else:
            left.append(fact)
    return left, gained


def _less(mine: Scope, other: Scope) -> list[Fact]:
    known = Counter((fact.group, fact.key) for fact in other.facts)
    left = []
    for fact in mine.facts:
        known[fact.group, fact.key] -= 1
        if known[fact.group, fact.key] < 0:
            left.append(fact)
    return left


def _same(old: Fact, new: Fact, use: Use) -> bool:
    if old.group is not new.group or old.node is None or new.node is None:
        return False
    if old.group is Group.CASE:
        return _extends(old.node, new.node, use)
    if old.group not in _RENAMED:
        return False
    if old.group is Group.SKIP and called(old.node) != called(new.node):
        return False
    return same_but_names((old.guards, old.node), (new.guards, new.node), use)


def _extends(old: ast.AST, new: ast.AST, use: Use) -> bool:
    """Is a case the same, or has it more values now, for a new parameter?"""
    if not (isinstance(old, ast.Tuple | ast.List) and isinstance(new, ast.Tuple | ast.List)):
        return same_but_names(old, new, use)
    left = iter(new.elts)
    return all(any(same_but_names(mine, other, use) for other in left) for mine in old.elts)


def _loss_reasons(
    found: Versions, old: Scope, new: Scope, lost: list[Fact], gained: list[Fact]
) -> Iterator[Reason]:
    for fact in lost:
        if fact.group in _KEPT and not _loss_excused(found, new, fact, gained):
            what = f"the {fact.group} `{clip(fact.shown)}`{_where(old)}"
            yield _kind(fact), f"{what} is gone or differs in more than names"


def _loss_excused(found: Versions, new: Scope, fact: Fact, gained: list[Fact]) -> bool:
    """Is what is left all that a side has: the merge doubled it, or one side took it out?"""
    sides, left = found.on_sides(new.name), new.count(fact)
    most = max((side.count(fact) for side in sides), default=0)
    if found.merging:
        replaced = any(_took_out_of_base(found, side, fact, left) for side in sides)
        woven_or_one = _is_woven(sides, fact, gained) or _replaced_twice(found, new, fact)
        return replaced or woven_or_one
    return (most > 0 and left >= most) or any(
        side.count(fact) <= left and _took_out(found, side, fact, gained) for side in sides
    )


def _took_out_of_base(found: Versions, side: Scope, fact: Fact, left: int) -> bool:
    return side.count(fact) <= left < found.in_base(side.name).count(fact)


def _replaced_twice(found: Versions, new: Scope, fact: Fact) -> bool:
    """Did both sides replace the same facts, one for one, and has the answer all of one side's?"""
    base, sides = found.in_base(new.name).of((fact.group,)), found.on_sides(new.name)
    gone = [item for item in base if not any(side.count(item) for side in sides)]
    fresh = [[item for item in side.of((fact.group,)) if not _among(item, base)] for side in sides]
    one_for_one = len(sides) == 2 and all(len(items) == len(gone) for items in fresh)
    return one_for_one and any(all(new.count(item) for item in items) for items in fresh)


def _among(fact: Fact, facts: list[Fact]) -> bool:
    return any(item.key == fact.key for item in facts)


def _is_woven(sides: list[Scope], fact: Fact, gained: list[Fact]) -> bool:
    """Does the answer say it together with what another side says in its place?"""
    others = [item for side in sides for item in side.of((fact.group,)) if item.key != fact.key]
    mine = [new for new in gained if new.group is fact.group and new.is_under(fact)]
    return any(woven(new.node, fact.node, item.node) for new in mine for item in others)


def _took_out(found: Versions, side: Scope, fact: Fact, gained: list[Fact]) -> bool:
    in_base = found.in_base(side.name).count(fact) > side.count(fact)
    return in_base or any(item.group is fact.group and side.count(item) for item in gained)


def _gain_reasons(found: Versions, old: Scope, new: Scope, gained: list[Fact]) -> Iterator[Reason]:
    sides = found.on_sides(new.name)
    for fact in gained:
        if fact.group not in _NEW or not _matters(found, old, fact):
            continue
        if not any(_has(side, fact, new) for side in sides):
            yield _kind(fact), f"a new {fact.group}{_where(new)}: `{clip(fact.shown)}`"


def _has(side: Scope, fact: Fact, new: Scope) -> bool:
    """Is it on a side as often, under no more conditions than now?"""
    return sum(map(fact.is_stricter, side.facts)) >= new.count(fact)


def _matters(found: Versions, old: Scope, fact: Fact) -> bool:
    """A plain value is amiss only where the name had another meaning, as a test maybe."""
    if fact.group is not Group.REBIND or fact.words in old.use.chains | old.use.bound:
        return True
    return f"{old.name}.{fact.words}".removeprefix(".") in found.old


def _value_reasons(found: Versions, old: Scope, new: Scope) -> Iterator[Reason]:
    if not gave_way(old.values, new.values):
        return
    sides = [side.values for side in found.on_sides(new.name)]
    gone = gave_way(_capped(old.values, sides), new.values)
    base, gained = found.in_base(new.name).values, new.values - old.values
    bad = [
        v for v in gone if not any(_adopted(side, v, new.values, base, gained) for side in sides)
    ]
    if bad:
        shown = ", ".join(f"`{clip(text)}`" for _, text in bad[:3])
        yield RefusalKind.TEST_LOOSENED, f"expected values or inputs{_where(new)} changed: {shown}"


def _capped(values: Values, sides: list[Values]) -> Values:
    """What a merge doubled counts as often as on the side that has it most."""
    most = Values()
    for side in sides:
        most |= side
    return Values({v: min(n, most[v]) if most[v] else n for v, n in values.items()})


def _adopted(side: Values, value: Value, new: Values, base: Values, gained: Values) -> bool:
    """Did this side take the value out, or does it have all that came instead?"""
    if side[value] > new[value]:
        return False
    instead = bool(gained) and all(side[item] >= new[item] for item in gained)
    return instead or base[value] > side[value]


def _kind(fact: Fact) -> RefusalKind:
    skips = fact.group in _SKIPPING
    return RefusalKind.TEST_SKIPPED if skips else RefusalKind.TEST_LOOSENED


def _where(scope: Scope) -> str:
    return f" in {scope.name}" if scope.name else ""
