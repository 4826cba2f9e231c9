"""Does removing any single condition of the gate make a test fail?

Run it from the top of the checkout:

    uv run python tests/mutate_gate.py

It takes `nightly_sync/checks/gate.py` apart condition by condition (an `if` that always or never
holds, an operand of `and`/`or` dropped, a filter dropped, a `not` dropped, `<` for `<=` and the
other way round, what is added or taken away left out, a word of a set or a part of a key dropped),
puts each mutant in place of the gate in `tests/unit/test_gate.py`, and runs the tests there until
one fails. It prints the mutants that no test noticed and exits 1 if there are any.
`tests/unit/test_gate_mutants.py` runs it as a test.
"""

import ast
import importlib.util
import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GATE = ROOT / "nightly_sync" / "checks" / "gate.py"
TESTS = ROOT / "tests" / "unit" / "test_gate.py"


@dataclass(frozen=True)
class Mutant:
    """One change of the gate: where, what, and the changed source."""

    line: int
    change: str
    tree: ast.Module


Edit = tuple[str, Callable[[ast.AST], None]]


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of the source, one change each."""
    for position, node in enumerate(ast.walk(ast.parse(source))):
        for change, edit in _edits(node):
            changed = ast.parse(source)  # quicker than a copy
            edit(next(itertools.islice(ast.walk(changed), position, None)))
            yield Mutant(_line(node), change, ast.fix_missing_locations(changed))


def _line(node: ast.AST) -> int:
    """Where it is; a comprehension has no line of its own."""
    return int(getattr(node.iter if isinstance(node, ast.comprehension) else node, "lineno", 0))


def _edits(node: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.If() | ast.IfExp():
            yield from _fixed(node)
        case ast.BoolOp():
            yield from _dropped("values", node.values)
        case ast.comprehension():
            yield from _dropped("ifs", node.ifs)
        case ast.Set() | ast.Tuple():
            yield from _dropped("elts", node.elts, _is_word)
        case ast.Compare(ops=[ast.Lt() | ast.LtE()]):
            yield f"`{ast.unparse(node)}` the other way at equality", _at_equality
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            yield f"`{ast.unparse(node)}` without its second part", _first_part
        case ast.UnaryOp(op=ast.Not()):
            yield f"without the not of `{ast.unparse(node)}`", _affirm


def _fixed(node: ast.If | ast.IfExp) -> Iterator[Edit]:
    for value in (True, False):
        yield f"`{ast.unparse(node.test)}` always {value}", _set_test(value)


def _dropped(
    field: str, items: list[ast.expr], wanted: Callable[[ast.expr], bool] = bool
) -> Iterator[Edit]:
    for at, item in enumerate(items):
        if wanted(item):
            yield f"without `{ast.unparse(item)}`", _drop(field, at)


def _is_word(node: ast.expr) -> bool:
    """A conclusion, a place of the verdict, or a part of a key."""
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id != "VerdictKind"
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _set_test(value: bool) -> Callable[[Any], None]:
    def edit(node: Any) -> None:
        node.test = ast.Constant(value)

    return edit


def _drop(field: str, at: int) -> Callable[[Any], None]:
    def edit(node: Any) -> None:
        del getattr(node, field)[at]

    return edit


def _at_equality(node: Any) -> None:
    node.ops = [ast.LtE() if isinstance(node.ops[0], ast.Lt) else ast.Lt()]


def _first_part(node: Any) -> None:
    # What is taken from itself leaves nothing, of numbers, of times and of sets.
    node.right = ast.BinOp(node.right, ast.Sub(), node.right)


def _affirm(node: Any) -> None:
    node.op = ast.UAdd()
    node.operand = ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])


def load(code: ast.Module | str, name: str) -> ModuleType:
    """A module made of code, under a name that no import uses."""
    module = ModuleType(name)
    sys.modules[name] = module  # pydantic looks its annotations up there
    exec(compile(code, name, "exec"), module.__dict__)
    return module


def calls(tests: ModuleType) -> list[Callable[[], object]]:
    """Every test of the module, parametrised ones once a case."""
    functions = [item for name, item in vars(tests).items() if name.startswith("test_")]
    return [call for function in functions for call in _cases(function)]


def _cases(function: Callable[..., object]) -> Iterator[Callable[[], object]]:
    marks = [mark.args for mark in getattr(function, "pytestmark", ())]
    for combination in itertools.product(*(_arguments(*mark) for mark in marks)):
        yield _bound(function, {key: item for part in combination for key, item in part.items()})


def _bound(function: Callable[..., object], given: dict[str, object]) -> Callable[[], object]:
    return lambda: function(**given)


def _arguments(names: Any, values: Any) -> list[dict[str, object]]:
    if isinstance(names, str):
        return [{names: value} for value in values]
    return [dict(zip(names, value, strict=True)) for value in values]


def survives(mutant: Mutant, tests: ModuleType, cases: list[Callable[[], object]]) -> bool:
    """Do all tests pass on the mutant?"""
    try:
        vars(tests)["gate"] = load(mutant.tree, "gate_mutant")
        for call in cases:
            call()
    # Any failure kills a mutant, a crash as much as a failed assertion.
    except Exception:  # noqa: BLE001
        return False
    return True


def main() -> int:
    """Print the survivors; 1 if there are any, or if the unchanged gate fails its tests."""
    spec = importlib.util.spec_from_file_location("gate_tests", TESTS)
    assert spec is not None
    assert spec.loader is not None
    tests = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tests)
    cases = calls(tests)
    source = GATE.read_text(encoding="utf-8")
    if not survives(Mutant(0, "none", ast.parse(source)), tests, cases):
        sys.stdout.write("the unchanged gate fails its tests\n")
        return 1
    tried = list(mutants(source))
    survivors = [mutant for mutant in tried if survives(mutant, tests, cases)]
    for mutant in survivors:
        sys.stdout.write(f"gate.py:{mutant.line}: no test notices: {mutant.change}\n")
    sys.stdout.write(f"{len(tried) - len(survivors)} of {len(tried)} mutants noticed\n")
    return 1 if survivors or not tried else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
