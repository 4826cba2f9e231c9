"""Is a piece of code the same as before but for names? Pure.

What a merge repair may do to a statement: use the new name of what one side renamed, and call a
function by its new signature. Constants, operators and structure stay. One name has one new name,
and what compares (`equal`, `approx`, every builtin) keeps its name and its arguments.
"""

import ast
import builtins
import re
from collections.abc import Collection, Iterator

from nightly_sync.review.forbidden.steps import Import, called, dotted

Pair = tuple[str, str]
"""A name and what stands in its place; `=x` is a keyword, `.x` an attribute of an expression.

`+x` stands for nothing: the name is one more.
"""
Arguments = dict[str | None, ast.expr]
Granted = Collection[str]
"""Arguments that a side gives to a function, by `grants`, and functions whose arguments stay."""

BUILTINS = frozenset(dir(builtins))
_METHODS = frozenset(name for kind in (str, list, dict, set) for name in dir(kind))
_COMPARES = re.compile(
    r"assert|almost|approx|^(?:is|all)_?close|^(?:array_|all_)?equal|issubset|match|contains"
    r"|^(?:skip(?:if|unless|test)?|importorskip|xfail|_?exit|abort|quit|kill)$|^pytest_"
    r"|^(?:raises|warns|deprecated_call|fail|suppress|eq|ne|lt|le|gt|ge)$",
    re.IGNORECASE,
)
_CATCH = ("raises", "warns", "suppress", "assertRaises", "assertRaisesRegex", "assertWarns")
_LOOSENS = re.compile(
    r"tol|^(?:eps|epsilon|rel|abs|delta|places|decimal|precision|threshold|strict|exact\w*|msg)$"
    r"|equal_nan|^check|^(?:ignore|skip|allow|exclude|out|wraps|side_effect|return_value)"
    r"|^(?:raise|fail|expect|verif|validat|assert)|differen|margin|slack|fuzz|^(?:auto)?spec(?:_set)?$"
)
_UNSEEN = ("ctx", "kind", "type_comment")
_SIMPLE = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Starred),
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Subscript, ast.Slice, ast.Load),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
)


class _Different(Exception):
    """The two pieces differ in more than names."""


def compares(name: str) -> bool:
    """Does it compare, or end a test, so that neither it nor its arguments may change?"""
    last = name.rpartition(".")[2]
    return last in BUILTINS or last in _METHODS or _COMPARES.search(last) is not None


def loosens(keyword: str) -> bool:
    """Is this the name of an argument that says how close is close enough, or fakes something?"""
    return _LOOSENS.search(keyword) is not None


def is_simple(node: ast.AST) -> bool:
    """Does an expression only read: no calls, no bindings, nothing that is worked out later?"""
    return all(isinstance(item, _SIMPLE) for item in ast.walk(node))


def grants(node: ast.AST) -> Iterator[str]:
    """Every named argument in a piece of code, with the call without names that it is given to."""
    for call in (item for item in ast.walk(node) if isinstance(item, ast.Call)):
        yield from (_grant(call, item.arg, item.value) for item in call.keywords)


def _grant(call: ast.Call, name: str | None, value: ast.expr) -> str:
    given = ast.dump(ast.Call(call.func, call.args, []))
    return f"{given} {name} {ast.dump(value)}"


def renames(old: object, new: object, granted: Granted = ()) -> list[Pair] | None:
    """The names in two equal pieces, each with what stands in its place; None if more differs."""
    try:
        pairs = list(_Reader(granted).pairs(old, new))
    except _Different:
        return None
    forth, back = dict(pairs), {new_name: old_name for old_name, new_name in pairs}
    keywords = all(loosens(a) or not loosens(b) for a, b in pairs if a.startswith("="))
    return pairs if keywords and len(set(pairs)) == len(forth) == len(back) else None


def _must(condition: bool) -> None:
    if not condition:
        raise _Different


class _Reader:
    """Walks two trees side by side. Its methods raise _Different."""

    def __init__(self, granted: Granted):
        self._granted = granted

    def pairs(self, old: object, new: object) -> Iterator[Pair]:
        """Names that stand in each other's place."""
        names = _name(old), _name(new)
        if names[0] and names[1]:
            yield names[0], names[1]
        elif type(old) is not type(new):
            raise _Different
        elif isinstance(old, list | tuple) and isinstance(new, list | tuple):
            _must(len(old) == len(new))
            for mine, other in zip(old, new, strict=True):
                yield from self.pairs(mine, other)
        elif isinstance(old, ast.AST) and isinstance(new, ast.AST):
            yield from self._nodes(old, new)
        else:
            _must(old == new)

    def _nodes(self, old: ast.AST, new: ast.AST) -> Iterator[Pair]:
        if isinstance(old, ast.Constant) and isinstance(new, ast.Constant):
            _must(repr(old.value) == repr(new.value))  # 1, 1.0 and True are equal, not their text
        elif isinstance(old, ast.ExceptHandler) or called(old) in _CATCH:
            _must(ast.dump(old) == ast.dump(new))  # another error may be a wider one
        elif isinstance(old, ast.Call) and isinstance(new, ast.Call):
            yield from self._calls(old, new)
        elif isinstance(old, ast.Assign) and isinstance(new, ast.Assign):
            yield from self._assignments(old, new)
        elif isinstance(old, Import) and isinstance(new, Import):  # where from, the names judge
            names = ([item.asname or item.name for item in node.names] for node in (old, new))
            yield from zip(*names, strict=True)
        else:
            _must(_says_nothing(old) or not _says_nothing(new))
            for field in (name for name in old._fields if name not in _UNSEEN):
                yield from self._fields(getattr(old, field, None), getattr(new, field, None))

    def _fields(self, old: object, new: object) -> Iterator[Pair]:
        if isinstance(old, str) and isinstance(new, str):
            yield f".{old}", f".{new}"
        else:
            yield from self.pairs(old, new)

    def _calls(self, old: ast.Call, new: ast.Call) -> Iterator[Pair]:
        yield from self.pairs(old.func, new.func)
        fixed = called(old) != "dict" and compares(called(old))
        fixed = fixed or _name(old.func) in self._granted
        mine, other = _keywords(old), _keywords(new)
        for name in mine.keys() & other.keys():
            yield from self.pairs(mine.pop(name), other.pop(name))
        for name in [name for name in other if _grant(new, name, other[name]) in self._granted]:
            del other[name]
        _must(None not in (mine | other) and not (fixed and (mine or other)))
        if fixed or self._alike(old.args, new.args):
            yield from self.pairs(old.args, new.args)
        else:
            _still_given(old.args, new.args, other)
            _must(len(new.args) <= len(old.args) or not mine)
        yield from _other_keywords(mine, other)

    def _alike(self, old: object, new: object) -> bool:
        try:
            return all(True for _ in self.pairs(old, new))
        except _Different:
            return False

    def _assignments(self, old: ast.Assign, new: ast.Assign) -> Iterator[Pair]:
        """A function may return more now: `x = f()` becomes `x, y = f()` or `x = f()[0]`."""
        value, is_call = new.value, isinstance(old.value, ast.Call)
        if is_call and isinstance(value, ast.Subscript):
            _must(isinstance(getattr(value.slice, "value", None), int))
            value = value.value
        yield from self.pairs(old.value, value)
        mine, other = _targets(old), _targets(new)
        if is_call and len(mine) < len(other):
            left = iter(other)
            _must(all(item in left for item in mine))  # in their order
            yield from ((f"+{name}", name) for name in other if name not in mine)
        else:
            yield from self.pairs(old.targets, new.targets)


def _name(node: object) -> str | None:
    return dotted(node) if isinstance(node, ast.AST) else None


def _says_nothing(node: object) -> bool:
    """`x == x`"""
    return isinstance(node, ast.Compare) and ast.dump(node.left) in map(ast.dump, node.comparators)


def _targets(node: ast.Assign) -> list[str]:
    """What it binds; nothing if that is more than names."""
    found = [item for target in node.targets for item in getattr(target, "elts", [target])]
    names = [item.id for item in found if isinstance(item, ast.Name)]
    return names if len(names) == len(found) and len(node.targets) == 1 else []


def _keywords(call: ast.Call) -> Arguments:
    return {item.arg: item.value for item in call.keywords}


def _still_given(old: list[ast.expr], new: list[ast.expr], named: Arguments) -> None:
    """All positional arguments are still there, by place or by a name; what is more is simple."""
    left = [ast.dump(item) for item in new]
    more = {ast.dump(item) for item in new if is_simple(item)}
    for item in map(ast.dump, old):
        if item in left:
            _must(more.issuperset(left[: left.index(item)]))
            left = left[left.index(item) + 1 :]
        else:
            name = next((name for name, value in named.items() if ast.dump(value) == item), "")
            _must(name != "" and not loosens(str(name)))
            del named[name]
    _must(more.issuperset(left))


def _other_keywords(gone: Arguments, came: Arguments) -> Iterator[Pair]:
    """Keywords may get another name, go and come, but for those that loosen."""
    values = {ast.dump(value): name for name, value in came.items()}
    for name, value in gone.items():
        other = values.pop(ast.dump(value), None)
        _must(other is not None or not loosens(str(name)))
        if other is not None:
            del came[other]
            yield f"={name}", f"={other}"
    _must(all(is_simple(value) and not loosens(str(name)) for name, value in came.items()))
