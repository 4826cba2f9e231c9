"""Does removing any single condition of the gate make a test fail?

Run it from the top of the checkout:

    uv run python tests/mutate_gate.py

It takes `nightly_sync/checks/gate.py` apart condition by condition (an `if` that always or never
holds, an operand of `and`/`or` dropped, a filter dropped, a `not` dropped, `<` for `<=` and the
other way round, what is added or taken away left out, a word of a set or a part of a key dropped),
puts each mutant in place of the gate in `tests/unit/test_gate.py`, and runs the tests there until
one fails, the one that failed last first. It prints the mutants that no test noticed and exits 1 if
there are any. `tests/unit/test_gate_mutants.py` runs it as a test.

Only the function (or class, or constant) with the change is made anew, in a copy of the gate that
nothing else uses; that takes a hundredth of the time that a new module takes.
"""

import ast
import importlib.util
import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GATE = ROOT / "nightly_sync" / "checks" / "gate.py"
TESTS = ROOT / "tests" / "unit" / "test_gate.py"
Edit = tuple[str, Callable[[ast.AST], None]]
Case = Callable[[], object]


@dataclass(frozen=True)
class Mutant:
    """One change of the gate: where, what, and the changed part of it."""

    line: int
    change: str
    code: CodeType

    def __str__(self) -> str:
        return f"gate.py:{self.line}: no test notices: {self.change}"


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of the source, one change each."""
    for part in ast.parse(source).body:
        for node in list(ast.walk(part)):
            for change, edit in _edits(node):
                with _edited(node, edit):
                    yield Mutant(_line(node), change, _compiled(part))


@contextmanager
def _edited(node: ast.AST, edit: Callable[[ast.AST], None]) -> Iterator[None]:
    """The node with a change, and as it was afterwards."""
    before = dict(vars(node))
    vars(node).update({key: [*v] for key, v in before.items() if isinstance(v, list)})
    edit(node)
    yield
    vars(node).update(before)


def _compiled(part: ast.stmt) -> CodeType:
    tree = ast.Module([part], type_ignores=[])
    return compile(ast.fix_missing_locations(tree), "gate_mutant", "exec")


def _line(node: ast.AST) -> int:
    """Where it is; a comprehension has no line of its own."""
    return int(getattr(node.iter if isinstance(node, ast.comprehension) else node, "lineno", 0))


def _edits(node: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.If() | ast.IfExp():
            yield from _fixed(node)
        case ast.BoolOp():
            yield from ((said, _both(edit)) for said, edit in _dropped("values", node.values))
        case ast.comprehension():
            yield from _dropped("ifs", node.ifs)
        case ast.Set() | ast.Tuple():
            yield from itertools.chain(_dropped("elts", node.elts, _is_word), _blanked(node.elts))
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
    """A conclusion, or a place of the verdict."""
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id not in ("VerdictKind", "check")
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _blanked(items: list[ast.expr]) -> Iterator[Edit]:
    """A part of a key, made the same for every check."""
    for at, item in enumerate(items):
        if isinstance(item, ast.Attribute) and ast.unparse(item.value) == "check":
            yield f"without `{ast.unparse(item)}`", _blank(at)


def _blank(at: int) -> Callable[[Any], None]:
    def edit(node: Any) -> None:
        node.elts[at] = ast.Constant("")

    return edit


def _set_test(value: bool) -> Callable[[Any], None]:
    def edit(node: Any) -> None:
        node.test = ast.Constant(value)

    return edit


def _drop(field: str, at: int) -> Callable[[Any], None]:
    def edit(node: Any) -> None:
        del getattr(node, field)[at]

    return edit


def _both(edit: Callable[[Any], None]) -> Callable[[Any], None]:
    def again(node: Any) -> None:
        edit(node)
        node.values = [*node.values, node.values[-1]]  # a single one is none that Python takes

    return again


def _at_equality(node: Any) -> None:
    node.ops = [ast.LtE() if isinstance(node.ops[0], ast.Lt) else ast.Lt()]


def _first_part(node: Any) -> None:
    # What is taken from itself leaves nothing, of numbers, of times and of sets.
    node.right = ast.BinOp(node.right, ast.Sub(), node.right)


def _affirm(node: Any) -> None:
    node.op = ast.UAdd()
    node.operand = ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])


def load(file: Path, name: str) -> ModuleType:
    """A module of a file, under a name that no import uses."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pydantic looks its annotations up there
    spec.loader.exec_module(module)
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


def survives(code: CodeType, gate: ModuleType, cases: list[Case]) -> bool:
    """Do all tests pass on the mutant? The gate is as it was afterwards."""
    before, call = dict(vars(gate)), cases[0]
    try:
        exec(code, vars(gate))
        for call in cases:
            call()
    # Any failure kills a mutant, a crash as much as a failed assertion.
    except Exception:  # noqa: BLE001
        cases.remove(call)
        cases.insert(0, call)
        return False
    finally:
        vars(gate).update(before)
    return True


def survivors() -> tuple[list[Mutant], int]:
    """The mutants that no test notices, and how many there are in all.

    Raises what a test raises that fails on the unchanged gate.
    """
    gate, tests = load(GATE, "gate_mutant"), load(TESTS, "gate_tests")
    vars(tests)["gate"] = gate
    cases = calls(tests)
    for call in cases:
        call()
    tried = [(m, survives(m.code, gate, cases)) for m in mutants(GATE.read_text("utf-8"))]
    return [mutant for mutant, survived in tried if survived], len(tried)


def main() -> int:
    """Print the survivors; 1 if there are any."""
    found, count = survivors()
    for mutant in found:
        sys.stdout.write(f"{mutant}\n")
    sys.stdout.write(f"{count - len(found)} of {count} mutants noticed\n")
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
