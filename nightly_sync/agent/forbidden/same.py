"""Is a piece of code the same as before but for names? Pure.

What a merge repair may do to an assertion: use the new name of what one side renamed, and call a
function by its new signature. Constants, operators and structure stay. A rename must be one: two
names stay two, and the old one is used no more. What compares (`equal`, `approx`, every builtin)
keeps its name and its arguments.
"""

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nightly_sync.agent.forbidden.values import Values, gave_way, loosens, values

Pair = tuple[str, str]
"""A name and what stands in its place; `=x` is a keyword, `.x` an attribute of an expression."""

_BUILTINS = frozenset(dir(builtins))
_COMPARES = re.compile(
    r"assert|almost|approx|^(?:is|all)_?close|^(?:array_|all_)?equal|issubset|match|contains"
    r"|^(?:raises|warns|deprecated_call|fail|eq|ne|lt|le|gt|ge)$",
    re.IGNORECASE,
)
_UNSEEN = ("ctx", "kind", "type_comment")


class _Different(Exception):
    """The two pieces differ in more than names."""


def dotted(node: ast.AST) -> str | None:
    """`a.b.c` for such a chain of names, None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def compares(name: str) -> bool:
    """Does a function of this name compare, so that neither it nor its arguments may change?"""
    last = name.rpartition(".")[2]
    return last in _BUILTINS or _COMPARES.search(last) is not None


@dataclass(frozen=True)
class Use:
    """What is used where the new code stands: chains of names, and the variables bound there."""

    chains: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()


def same_but_names(old: object, new: object, use: Use) -> bool:
    """Are two trees, or lists of trees, equal but for renames?"""
    try:
        pairs = list(_pairs(old, new))
    except _Different:
        return False
    forth, back = dict(pairs), {new_name: old_name for old_name, new_name in pairs}
    if len(set(pairs)) != len(forth) or len(forth) != len(back):
        return False
    return all(_is_rename(*pair, use) for pair in forth.items() if pair[0] != pair[1])


def _is_rename(old: str, new: str, use: Use) -> bool:
    """May `new` be another name of what was `old`?"""
    if old.startswith("="):
        return loosens(old[1:]) or not loosens(new[1:])
    root, last = old.partition(".")[0], old.rpartition(".")[2]
    if root in use.bound and root != new.partition(".")[0]:
        return False  # another variable
    if any(f"{chain}.".startswith(f"{old}.") for chain in use.chains):
        return False
    if last == new.rpartition(".")[2]:
        return True  # imported another way
    other_use = "." in old and any(last in chain.split(".")[1:] for chain in use.chains)
    return not (other_use or compares(old) or compares(new))


def _pairs(old: object, new: object) -> Iterator[Pair]:
    """Names that stand in each other's place. Raises _Different."""
    names = _name(old), _name(new)
    if names[0] and names[1]:
        yield names[0], names[1]
    elif type(old) is not type(new):
        raise _Different
    elif isinstance(old, ast.Constant) and isinstance(new, ast.Constant):
        _must(repr(old.value) == repr(new.value))  # 1, 1.0 and True are equal, their text is not
    elif isinstance(old, ast.Call) and isinstance(new, ast.Call):
        yield from _call_pairs(old, new)
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple):
        _must(len(old) == len(new))
        for pair in zip(old, new, strict=True):
            yield from _pairs(*pair)
    elif isinstance(old, ast.AST):
        yield from _field_pairs(old, new)
    else:
        _must(old == new)


def _must(condition: bool) -> None:
    if not condition:
        raise _Different


def _name(node: object) -> str | None:
    return dotted(node) if isinstance(node, ast.AST) else None


def _field_pairs(old: ast.AST, new: object) -> Iterator[Pair]:
    if isinstance(old, ast.Compare):
        _must(_says_nothing(old) or not _says_nothing(new))
    for field in (name for name in old._fields if name not in _UNSEEN):
        mine, other = getattr(old, field, None), getattr(new, field, None)
        if isinstance(mine, str) and isinstance(other, str):
            sign = "=" if isinstance(old, ast.keyword) else "."
            yield sign + mine, sign + other
        else:
            yield from _pairs(mine, other)


def _says_nothing(node: object) -> bool:
    """`x == x`"""
    return isinstance(node, ast.Compare) and ast.dump(node.left) in map(ast.dump, node.comparators)


def _call_pairs(old: ast.Call, new: ast.Call) -> Iterator[Pair]:
    yield from _pairs(old.func, new.func)
    same_count = len(old.args) == len(new.args) and len(old.keywords) == len(new.keywords)
    if compares(_callee(old)):
        _must(same_count and _keywords(old) == _keywords(new))
    if same_count:
        yield from _pairs(old.args, new.args)
        yield from _pairs(_ordered(old, new), _ordered(new, old))
    else:
        _must(_new_signature(old, new))


def _keywords(call: ast.Call) -> set[str | None]:
    return {item.arg for item in call.keywords}


def _ordered(call: ast.Call, other: ast.Call) -> list[ast.keyword]:
    """Keywords that both calls have, by name, then the others as they stand."""
    names = _keywords(other)
    common = [item for item in call.keywords if item.arg in names]
    rest = [item for item in call.keywords if item.arg not in names]
    return [*sorted(common, key=lambda item: item.arg or ""), *rest]


def _callee(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func) or ""


def _new_signature(old: ast.Call, new: ast.Call) -> bool:
    """May the arguments be those of a new signature?

    One that had a name may go; none gives way to another, and none comes that loosens.
    """
    had, has = _keywords(old), _keywords(new)
    if len(new.args) + len(new.keywords) < len(old.args) + len(had & has):
        return False
    if any(loosens(name) for name in has - had if name):
        return False
    return not gave_way(_arguments(old), _arguments(new))


def _arguments(call: ast.Call) -> Values:
    return Values(v for item in (*call.args, *call.keywords) for v in values(item, operators=True))
