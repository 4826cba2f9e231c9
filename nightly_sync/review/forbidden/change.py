"""One definition that changed: which steps are gone, which are new, and what excuses it. Pure."""

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property

from nightly_sync.review.forbidden.names import Names, Renames, bound, is_free, words
from nightly_sync.review.forbidden.same import compares, grants, is_simple, loosens, renames
from nightly_sync.review.forbidden.steps import (
    BASE,
    CASE,
    DECORATOR,
    ELEMENT,
    PARAMETER,
    STATEMENT,
    Definition,
    Definitions,
    Function,
    Import,
    Step,
    called,
)

_XFAILS = frozenset({"xfail", "expectedFailure"})
_SKIPS = _XFAILS | {"skip", "skipif", "skipIf", "skipUnless"}
_FIXTURES = frozenset({"tmp_path", "tmp_path_factory", "capsys", "caplog", "monkeypatch"})
_TRIES = 5_000  # to pair the steps of one block that changed; of a longer one the nearest only
_Block = tuple[int, int, tuple[Step, ...]]


@dataclass(frozen=True)
class Versions:
    """One file before and after, on the sides that can be read, and in the base."""

    before: Definitions
    after: Definitions
    sides: tuple[Definitions, ...] = ()
    base: Definitions | None = None
    dropped: bool = False  # by a side, the whole file
    merging: bool = False  # an answer to a conflict: `before` is one of the sides
    closed: bool = False  # nothing comes that no version has
    is_conftest: bool = False

    def on_sides(self, name: str) -> tuple[Definition, ...]:
        """The definition of this name on each side that has it, maybe under the base's name."""
        return tuple(item for side in self.sides for item in self.named(side, name))

    def named(self, version: Definitions | None, name: str) -> tuple[Definition, ...]:
        """The definition in one version, under the base's name if a side gave it this one."""
        known = version or {}
        return known.get(name) or known.get(self._old_names.get(name, name), ())

    @cached_property
    def _old_names(self) -> dict[str, str]:
        """What a side renamed, by the new name."""
        found = [Versions(self.base, side).renamed for side in self.sides if self.base]
        return {new: old for names in found for old, new in names.items()}

    def taken_out(self, name: str) -> bool:
        """Did a side delete what the base had?"""
        gone = self.dropped or any(name not in side for side in self.sides)
        return gone and name in (self.base or {})

    @cached_property
    def known(self) -> tuple[Names, ...]:
        """The names of every version there was, `before` first."""
        return tuple(map(Names, (self.before, *self.sides)))

    @cached_property
    def after_names(self) -> Names:
        """The names there are now."""
        return Names(self.after)

    @cached_property
    def gone(self) -> list[Definition]:
        """Definitions whose name is no longer there; of what was inside them the tests only."""
        names = self.before.keys() - self.after.keys()
        found = [item for name in sorted(names) for item in self.before[name]]
        return [d for d in found if d.collected or d.name.rpartition(".")[0] not in names]

    @cached_property
    def renamed(self) -> dict[str, str]:
        """Definitions that have another name now, as long as it is of the same use."""
        new = {d.body: d for n, many in self.after.items() if n not in self.before for d in many}
        found = ((old, new.get(old.body)) for old in self.gone)
        return {old.name: item.name for old, item in found if item and self._is_same_use(old, item)}

    def _is_same_use(self, old: Definition, new: Definition) -> bool:
        """In its class or in a new one; and nobody is left who asks for it, maybe elsewhere."""
        classes = [item.name.rpartition(".")[0] for item in (old, new)]
        stays = classes[0] == classes[1] or classes[1] not in self.before
        asked = not (old.collected or classes[0]) and old.last in self.after_names.words
        tests = {(item.collected, item.last[:4].lower() == "test") for item in (old, new)}
        return stays and not asked and len(tests) == 1

    @cached_property
    def helpers(self) -> frozenset[str]:
        """Functions and own methods that take what they took, as they are called."""
        names = (n for n, many in self.before.items() if _take(many) & _take(self.after.get(n, ())))
        return frozenset(f"self.{n.rpartition('.')[2]}" if "." in n else n for n in names)


@dataclass(frozen=True)
class Change:
    """One definition that changed, and what excuses it."""

    found: Versions
    old: Definition
    new: Definition

    @cached_property
    def sides(self) -> tuple[Definition, ...]:
        """The definition on each side that has it."""
        return self._as_read(self.found.on_sides(self.new.name))

    @cached_property
    def base(self) -> Definition | None:
        """The definition in the base."""
        return (self._as_read(self.found.named(self.found.base, self.new.name)) or (None,))[-1]

    def _as_read(self, many: tuple[Definition, ...]) -> tuple[Definition, ...]:
        if not self.new.only_assertions:
            return many
        return tuple(replace(item, only_assertions=self.new.only_assertions) for item in many)

    @cached_property
    def lost(self) -> list[Step]:
        """Steps that are gone or stand elsewhere, but for those with other names only."""
        return [step for at, step in enumerate(self.old.steps) if at not in self._partners]

    @cached_property
    def gained(self) -> list[int]:
        """New steps, by their place."""
        taken = set(self._partners.values())
        return [at for at in range(len(self.new.steps)) if at not in taken]

    @cached_property
    def _partners(self) -> dict[int, int]:
        """Old steps to new ones, in one order."""
        found: dict[int, int] = {}
        matcher = SequenceMatcher(None, self.old.keys, self.new.keys, autojunk=False)
        for tag, i, j, k, m in matcher.get_opcodes():
            if tag == "equal":
                found |= zip(range(i, j), range(k, m), strict=True)
                continue
            tries = max(1, _TRIES // (j - i or 1))
            for old in range(i, j):
                near = range(k, min(m, k + tries))
                new = next((new for new in near if self._is_same(old, new)), None)
                if new is not None:
                    found[old], k = new, new + 1
        return found | self._moved(found)

    def _moved(self, found: dict[int, int]) -> dict[int, int]:
        """Elements of a `dict` stand where they like, as long as none is there twice."""
        taken, counts = set(found.values()), Counter(map(_item_key, self.new.steps))
        free = {key: at for at, key in enumerate(self.new.keys) if at not in taken}
        return {
            at: free[step.key]
            for at, step in enumerate(self.old.steps)
            if at not in found and step.key in free
            if (name := _item_key(step)) and counts[name] == 1
        }

    def _is_same(self, at: int, to: int) -> bool:
        old, new = self.old.steps[at], self.new.steps[to]
        hidden = any(map(_may_fail, new.place)) and _sizes(old) != _sizes(new)
        if hidden or old.word != new.word or old.word in (DECORATOR, BASE):
            return False
        if isinstance(old.node, Import) and any(map(_may_fail, new.place)):
            return False  # one that fails is not seen
        pairs = renames(old.parts, new.parts, self._granted)
        return pairs is not None and self._renames.accept(pairs)

    @cached_property
    def _renames(self) -> Renames:
        renamed = frozenset(self.found.renamed.items())
        return Renames(self.old, self.new, self.found.known, self.found.after_names, renamed)

    @cached_property
    def _granted(self) -> frozenset[str]:
        """In an answer to a conflict, a call may be woven of what both sides give to it."""
        sides = self.sides if self.found.merging else ()
        return self.found.helpers.union(item for side in sides for item in grants(side.node))

    def may_go(self, step: Step) -> bool:
        """A skip; what a side took out of the base; what the merge doubled or both replaced."""
        if step.word == DECORATOR and called(step.node) in _SKIPS:
            return True
        left, on_sides = _count(step, self.new), [_count(step, side) for side in self.sides]
        if left < _count(step, self.base) and (self.found.dropped or self._taken_out(step, left)):
            return True
        if self.found.merging:
            return self._replaced_twice(step)
        most = max(on_sides, default=0)
        return 0 < most <= left or (most == 0 and self.is_on_a_side)

    @property
    def is_on_a_side(self) -> bool:
        """Has a side the definition just as it is now?"""
        return any(self.new.keys == side.keys for side in self.sides)

    def _taken_out(self, step: Step, left: int) -> bool:
        """Did a side take it out of the base, and is all there that the side put in?"""
        sides = (side for side in self.sides if _count(step, side) <= left)
        return any(not self._put_in(step, side) - Counter(self.new.keys) for side in sides)

    def _put_in(self, step: Step, side: Definition) -> Counter[str]:
        """Steps of the same kind that a side has and the base has not."""
        return _like(step, side) - _like(step, self.base)

    @cached_property
    def _replacements(self) -> list[list[_Block]]:
        return [_replaced(self.base, side) for side in self.sides]

    def _replaced_twice(self, step: Step) -> bool:
        """Did both sides put as much or more for the same of the base, and is the other's here?"""
        blocks = self._replacements
        for start, end, mine in (block for side in blocks for block in side):
            if step.key in map(_key, mine):
                others = [b for side in blocks for b in side if b[0] < end and start < b[1]]
                theirs = [item for block in others for item in block[2] if block[2] is not mine]
                enough = len(theirs) >= len(mine) and _checks(theirs) >= _checks(mine)
                if enough and set(map(_key, theirs)) <= set(self.new.keys):
                    return True
        return False

    def may_come(self, at: int) -> bool:
        """What a version has just there, and the few things that nobody need have."""
        olds = self._as_read(self.found.named(self.found.before, self.new.name))
        if any(_stands(self.new.keys, at, known) for known in (self.old, *olds, *self.sides)):
            return True
        step = self.new.steps[at]
        if self.found.closed or any(_may_fail(item) for item in step.place):
            return False
        if step.word == PARAMETER:
            return self._is_new_parameter(step.node)
        new = step.word == STATEMENT and not self.found.is_conftest and self._is_new(step.node)
        return new or (step.word == CASE and step.node is not None and is_simple(step.node))

    def _is_new_parameter(self, node: ast.AST | None) -> bool:
        """A name that nothing in the definition speaks of, with a plain default."""
        plain = _is_literal(node.value) if isinstance(node, ast.NamedExpr) else self._is_known(node)
        name = called(node.target if isinstance(node, ast.NamedExpr) else node)
        used = any(name in words(version.node) for version in (self.old, *self.sides))
        return plain and not used and name != "request"

    def _is_known(self, node: ast.AST | None) -> bool:
        """A fixture of pytest's, or one of the file's: another may skip the test."""
        marks = {called(step.node) for step in self.new.steps if step.word == DECORATOR}
        known = any(called(node) in names.bound for names in self.found.known)
        return known or called(node) in _FIXTURES or not (self.new.collected or "fixture" in marks)

    def _is_new(self, node: ast.AST | None) -> bool:
        """One more assertion of values; a constant under a free name, of a variable too."""
        if isinstance(self.new.node, ast.ClassDef):
            return False
        match node:
            case ast.Assert(test=test, msg=None):
                may_fail = _XFAILS & self.found.after_names.words
                return self.new.collected and is_simple(test) and not may_fail
            case ast.Import(names=[alias]) | ast.ImportFrom(names=[alias]):
                name = (alias.asname or alias.name).partition(".")[0]
                return bool(self.new.name) and name not in words(self.old.node)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                return _is_literal(value) and is_free(name, self.found.known)
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id=root), attr=attr)], value=value
            ):
                free = is_free(attr, self.found.known) and not loosens(attr)
                variables = bound(self.old.node) - {self.old.last} if self.old.name else set()
                return free and _is_literal(value) and root in variables
        return False


def _take(many: Sequence[Definition]) -> set[str]:
    """The parameters of functions."""
    return {ast.dump(item.node.args) for item in many if isinstance(item.node, Function)}


def _may_fail(step: Step) -> bool:
    """Does an early failure go unseen in it: a `try`, a handler, `with raises(...)`?"""
    if isinstance(step.node, ast.With | ast.AsyncWith):
        return any(compares(called(item.context_expr)) for item in step.node.items)
    return isinstance(step.node, ast.Try | ast.TryStar | ast.ExceptHandler)


def _item_key(step: Step) -> str:
    """The key of one element of a `dict`; empty for all else."""
    node = step.node if step.word == ELEMENT else None
    key = node.keys[0] if isinstance(node, ast.Dict) else None
    return ast.dump(key) if key else ""


def _sizes(step: Step) -> list[int]:
    calls = (item for item in ast.walk(step.node or ast.Pass()) if isinstance(item, ast.Call))
    return [len(call.args) + len(call.keywords) for call in calls]


def _is_literal(node: ast.AST) -> bool:
    parts = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.UnaryOp, ast.unaryop)
    return all(isinstance(item, (*parts, ast.Load)) for item in ast.walk(node))


def _count(step: Step, definition: Definition | None) -> int:
    return len(definition.places.get(step.key, ())) if definition else 0


def _like(step: Step, definition: Definition | None) -> Counter[str]:
    """The steps of the same kind in a definition."""
    steps = definition.steps if definition else ()
    return Counter(s.key for s in steps if (s.word, type(s.node)) == (step.word, type(step.node)))


def _replaced(base: Definition | None, side: Definition) -> list[_Block]:
    """Where a side differs from the base: from and to there, and what the side has instead."""
    keys = base.keys if base else ()
    opcodes = SequenceMatcher(None, keys, side.keys, autojunk=False).get_opcodes()
    return [(i, j, side.steps[k:m]) for tag, i, j, k, m in opcodes if tag != "equal"]


def _checks(steps: Sequence[Step]) -> int:
    """How many of them assert, or call what compares."""
    values = [getattr(step.node, "value", None) for step in steps]
    calls = sum(isinstance(value, ast.Call) and compares(called(value)) for value in values)
    return calls + sum(isinstance(step.node, ast.Assert) for step in steps)


def _key(step: Step) -> str:
    return step.key


def _stands(keys: tuple[str, ...], at: int, known: Definition) -> bool:
    """Has a version the step, with all around it on the side where it is here?"""
    places = known.places
    return any(
        all(places[key][0] < place for key in keys[:at] if key in places)
        and all(places[key][-1] > place for key in keys[at + 1 :] if key in places)
        for place in places.get(keys[at], ())
    )
