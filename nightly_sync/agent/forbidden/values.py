"""The constants in a piece of code, and whether one gave way to another. Pure."""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator

Value = tuple[str, str]
"""The keyword a constant is given to (or where else it stands), and its text."""
Values = Counter[Value]

PLAIN, LISTED = "", "[]"  # places that are no keyword's
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_OPERATORS = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
# Calls that take the name of something as text.
_NAMING = frozenset(
    {
        *("patch", "object", "dict", "setattr", "getattr", "hasattr", "delattr", "import_module"),
        *("usefixtures", "getfixturevalue", "setitem", "delitem"),
    }
)
_SPEAKING = frozenset({"print", "debug", "info"})  # nobody compares what they are given
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_LOOSENS = re.compile(
    r"tol|^(?:eps|epsilon|rel|abs|delta|places|decimal|precision|threshold|strict|exact\w*|msg)$"
    r"|equal_nan|^check_|^(?:ignore|skip|allow|exclude)"
)


def loosens(keyword: str) -> bool:
    """Is this the name of an argument that says how close is close enough?"""
    return _LOOSENS.search(keyword) is not None


def values(
    node: ast.AST,
    place: str = PLAIN,
    operators: bool = False,
    without: Collection[ast.AST | None] = (),
) -> Iterator[Value]:
    """Every constant below a node, not below those of `without`; operators too, if asked for.

    Names that a call takes as text are no constants.
    """
    if node in without:
        return
    if isinstance(node, ast.Constant):
        yield place, repr(node.value)
    elif isinstance(node, ast.Call) and _last(node.func) in _SPEAKING:
        return
    elif isinstance(node, _OPERATORS):
        if operators or isinstance(node, ast.USub):
            yield place, type(node).__name__
    else:
        inner = _place(node, place)
        for child in _children(node):
            yield from values(child, inner, operators, without)


def _place(node: ast.AST, place: str) -> str:
    if isinstance(node, ast.keyword):
        return f"{node.arg}="
    return LISTED if isinstance(node, _DISPLAYS) and place == PLAIN else place


def _children(node: ast.AST) -> Iterator[ast.AST]:
    names: list[ast.expr] = []
    if isinstance(node, ast.Call) and _last(node.func) in _NAMING:
        names = [item for item in node.args[:2] if _is_name(item)]
    return (child for child in ast.iter_child_nodes(node) if child not in names)


def _is_name(node: ast.expr) -> bool:
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def gave_way(old: Values, new: Values) -> list[Value]:
    """Values of `old` that are gone, or that another one replaced.

    Values may be added, move between arguments, and go with a keyword they were given to, unless
    that keyword loosens. What stands alone or in a list may be what a result is compared with.
    """
    lost, gained = old - new, new - old
    both = {place for place, _ in lost} & {place for place, _ in gained}
    swapped = [value for value in lost if value[0] in both - {PLAIN}]
    if swapped:
        return swapped
    lost, gained = _without_moves(lost, gained)
    if PLAIN in {place for place, _ in gained}:
        return list(lost)
    return [value for value in lost if value[0] in (PLAIN, LISTED) or _loosened(value, gained)]


def _loosened(value: Value, gained: Values) -> bool:
    return bool(gained) and loosens(value[0].removesuffix("="))


def _without_moves(lost: Values, gained: Values) -> tuple[Values, Values]:
    left = Counter(text for _, text in lost.elements())
    came = Counter(text for _, text in gained.elements())
    return _less(lost, left & came), _less(gained, left & came)


def _less(found: Values, moved: Counter[str]) -> Values:
    rest, taken = Values(), Counter(moved)
    for value in found.elements():
        if taken[value[1]] > 0:
            taken[value[1]] -= 1
        else:
            rest[value] += 1
    return rest
