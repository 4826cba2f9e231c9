"""Is a piece of code made of two others, with all that either says and nothing else? Pure."""

import ast
from collections.abc import Iterable

Keywords = dict[str | None, ast.keyword]


def woven(new: object, one: object, two: object) -> bool:
    """Are two versions of an expression both in the new one?

    Where they are equal the new one is; where they differ, it is a call with the keywords of both.
    """
    if _text(one) == _text(two):
        return _text(new) == _text(one)
    if not type(new) is type(one) is type(two):
        return False
    if isinstance(new, ast.Call) and isinstance(one, ast.Call) and isinstance(two, ast.Call):
        return _calls(new, one, two)
    if isinstance(new, list) and isinstance(one, list) and isinstance(two, list):
        return len(new) == len(one) == len(two) and all(
            woven(*three) for three in zip(new, one, two, strict=True)
        )
    return isinstance(new, ast.AST) and all(
        woven(*(getattr(node, field, None) for node in (new, one, two))) for field in new._fields
    )


def _calls(new: ast.Call, one: ast.Call, two: ast.Call) -> bool:
    same = woven(new.func, one.func, two.func) and woven(new.args, one.args, two.args)
    made, mine, other = map(_keywords, (new.keywords, one.keywords, two.keywords))
    return (
        same
        and made.keys() == mine.keys() | other.keys()
        and all(
            woven(item, mine.get(k) or other[k], other.get(k) or mine[k])
            for k, item in made.items()
        )
    )


def _keywords(found: Iterable[ast.keyword]) -> Keywords:
    return {item.arg: item for item in found}


def _text(node: object) -> str:
    if isinstance(node, list):
        return repr([_text(item) for item in node])
    return ast.dump(node) if isinstance(node, ast.AST) else repr(node)
