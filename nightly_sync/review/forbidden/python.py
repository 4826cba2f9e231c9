"""Tests, and assertions anywhere, in Python: compared definition by definition. Pure.

A definition of the repair is laid beside the same one of the merge, step by step: `change` tells
what of it may go and come. Here is what holds for the file as a whole.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from nightly_sync.review.forbidden.change import Change, Versions
from nightly_sync.review.forbidden.model import RefusalKind, clip
from nightly_sync.review.forbidden.names import bound, import_problems, imports_of, is_free
from nightly_sync.review.forbidden.steps import (
    DECORATOR,
    Definition,
    Import,
    Step,
    called,
    dotted,
    walk,
)

Reason = tuple[RefusalKind, str]

_SKIPPING = re.compile(
    r"^_?(?:pytest|unittest)\b.*(?:skip|xfail|exit|fixture|hook|patch)|\b[sS]kip(?:Test|ped)$"
)
_SILENCES = re.compile(
    r"\bskip(?:if|unless|test)?\b|importorskip|xfail|pytestmark|\.mark\b|__test__|collect_ignore|yield",
    re.IGNORECASE,
)
_OVERLOADS = frozenset({"overload", "setter", "getter", "deleter", "register"})


def in_tests(found: Versions) -> Iterator[Reason]:
    """Whatever makes a test file check less."""
    yield from lost(found, found.gone)
    for problem in import_problems(found.after_names, found.known, found.is_conftest):
        yield RefusalKind.TEST_SKIPPED, problem
    for name, many in found.after.items():
        if name not in found.before and not found.on_sides(name):
            yield from _new(found, name)
        else:
            yield from _defined_again(found, name)
            for old, new in _pairs(found, name, many):
                yield from _changed(found, old, new)


def lost(found: Versions, gone: Iterable[Definition]) -> Iterator[Reason]:
    """Definitions that are gone, that no side took out and that have no other name now."""
    for old in gone:
        if old.name not in found.renamed and not found.taken_out(old.name):
            kind = RefusalKind.TEST_REMOVED if old.collected else RefusalKind.TEST_LOOSENED
            kind = RefusalKind.TEST_SKIPPED if old.last.startswith("pytest_") else kind
            what = "test" if old.collected else "definition"
            yield kind, f"the {what} `{old.name}` is gone, and no side took it out"


def restored(found: Versions) -> Iterator[Reason]:
    """The file is one side's now: tests that are gone, and that a side has and none deleted."""
    yield from lost(found, (d for d in found.gone if d.collected and found.on_sides(d.name)))


def _new(found: Versions, name: str) -> Iterator[Reason]:
    """A name that no version has: only that of a definition that had another one."""
    outer, last = name.rpartition(".")[0], name.rpartition(".")[2]
    if outer and outer not in found.before and not found.on_sides(outer):
        return  # told of with what it is in
    new = found.after[name][-1]
    test = new.collected or isinstance(new.node, ast.ClassDef)
    test = test and not any(last in names.words for names in found.known)
    if name not in found.renamed.values() or not (test or is_free(last, found.known)):
        yield RefusalKind.TEST_SKIPPED, f"`{name}` is new; write no tests and helpers of your own"


def _defined_again(found: Versions, name: str) -> Iterator[Reason]:
    many = found.after[name]
    if len(many) == 1:
        return
    known = [version.get(name, ()) for version in (found.before, *found.sides)]
    more = len(many) > max(map(len, known))
    lasts = {items[-1].keys for items in known if items}
    older = {item.keys for items in known for item in items} - lasts
    marks = {called(item) for item in getattr(many[-1].node, "decorator_list", ())}
    if (more and not marks & _OVERLOADS) or many[-1].keys in older:
        yield RefusalKind.TEST_REMOVED, f"`{name}` is defined again, which hides the first one"


def _pairs(
    found: Versions, name: str, many: tuple[Definition, ...]
) -> Iterator[tuple[Definition, Definition]]:
    """Each definition that changed, as it was, or as a side has what was lost, and as it is."""
    olds = found.named(found.before, name) or found.on_sides(name)[:1]
    texts = [(old.text, old.place) for old in olds]
    if all(new.text for new in many) and texts == [(new.text, new.place) for new in many]:
        return  # most definitions
    kept = {old.keys for old in olds} & {new.keys for new in many}
    news = [new for new in many if new.keys not in kept]
    left = {old.keys: old for old in olds if old.keys not in kept}
    yield from ((old, (news or many)[-1]) for old in left.values())
    if olds:
        yield from ((olds[-1], new) for new in (news[:-1] if left else news))


def _changed(found: Versions, old: Definition, new: Definition) -> Iterator[Reason]:
    change, where = Change(found, old, new), f" in {new.name}" if new.name else ""
    if found.closed and not found.merging and new.name and change.is_on_a_side:
        return  # of a file that could not be read, a whole definition is a side's
    for step in change.lost:
        if not change.may_go(step):
            moved = step.key in new.keys
            what = "no longer stands where it was" if moved else "is gone, and no side took it out"
            yield _kind(step, new), f"`{clip(step.shown)}`{where} {what}"
    for at in change.gained:
        step = new.steps[at]
        if not change.may_come(at):
            yield _kind(step, new), f"a new `{clip(step.shown)}`{where}, and no side has it there"


def _kind(step: Step, new: Definition) -> RefusalKind:
    """It may not run at all, if it is skipped, marked or defined another way; else it says less."""
    head = step.word == DECORATOR or step.word.startswith("in ") or step.word.endswith("Def")
    if head or new.last.startswith("pytest_") or _SILENCES.search(step.shown):
        return RefusalKind.TEST_SKIPPED
    return RefusalKind.TEST_LOOSENED


def in_code(found: Versions) -> Iterator[Reason]:
    """The same for code that is no test: its assertions stay, and nothing in it skips a test."""
    for name, many in found.after.items():
        for old, new in _pairs(found, name, many):
            if not any(new.keys == side.keys for side in found.on_sides(name)):
                yield from _lost_assertions(found, old, new)
    known = [_silencers(names.tree) for names in found.known]
    for text, count in _silencers(found.after_names.tree).items():
        if count > max(silencers[text] for silencers in known):
            yield RefusalKind.TEST_SKIPPED, f"`{clip(text)}` is new, and decides over tests"


def _lost_assertions(found: Versions, old: Definition, new: Definition) -> Iterator[Reason]:
    before, after = (replace(item, only_assertions=True) for item in (old, new))
    change = Change(found, before, after)
    for step in change.lost:
        if not change.may_go(step):
            what = f"`{clip(step.shown)}` in {old.name or 'the module'} is gone"
            yield RefusalKind.TEST_LOOSENED, f"{what}, and no side took it out"


def _silencers(tree: ast.AST) -> Counter[str]:
    """What skips a test, and names that the test runner looks for."""
    nodes = [node for node in walk(tree) if isinstance(node, Import)]
    paths = [text for node in nodes for pair in imports_of(node) for text in pair]
    used = [dotted(node) or "" for node in ast.walk(tree)]
    hooks = [name for name in (*bound(tree), *paths) if name.startswith("pytest_")]
    return Counter([*hooks, *(text for text in (*used, *paths) if _SKIPPING.search(text))])
