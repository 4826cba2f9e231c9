"""Every small change of one kind to a whole test file, not only those somebody thought of."""

import ast
from collections.abc import Iterator

from nightly_sync.review.forbidden import FileChange, Policy, Refusal, forbidden
from tests.review.test_forbidden import TEST

ASIDE = ("Tests of the model.", "the shape is off", "three")  # docstring, message, name of a case
SETUP = ("size, expected",)  # names of parameters
SWAPS = {ast.Eq: ast.NotEq(), ast.Gt: ast.GtE()}


def refusals(tree: ast.Module) -> tuple[Refusal, ...]:
    """Why a changed tree, written out anew, is refused."""
    after = ast.unparse(ast.fix_missing_locations(tree)).encode()
    return forbidden([FileChange("tests/test_model.py", TEST.encode(), after)], Policy())


def nodes(kind: type[ast.AST]) -> Iterator[tuple[ast.Module, ast.AST]]:
    """A fresh tree for each node of a kind, and that node."""
    total = sum(isinstance(node, kind) for node in ast.walk(ast.parse(TEST)))
    for at in range(total):
        tree = ast.parse(TEST)
        yield tree, [node for node in ast.walk(tree) if isinstance(node, kind)][at]


def another(value: object) -> str | float:
    """A value of the same type."""
    return f"{value}x" if isinstance(value, str) else 7.25


def test_the_file_written_out_anew_is_no_change() -> None:
    assert refusals(ast.parse(TEST)) == ()


def test_no_constant_can_change() -> None:
    seen = 0
    for tree, node in nodes(ast.Constant):
        assert isinstance(node, ast.Constant)
        if node.value not in (*ASIDE, *SETUP):
            node.value = another(node.value)
            assert refusals(tree), ast.unparse(tree)
            seen += 1
    assert seen > 25


def test_no_comparison_can_change() -> None:
    for tree, node in nodes(ast.Compare):
        assert isinstance(node, ast.Compare)
        node.ops = [SWAPS[type(op)] for op in node.ops]
        assert refusals(tree)


def test_no_side_of_a_comparison_can_become_the_other() -> None:
    for tree, node in nodes(ast.Compare):
        assert isinstance(node, ast.Compare)
        node.left = node.comparators[0]
        assert refusals(tree)


def test_no_condition_can_be_negated() -> None:
    for kind in (ast.Assert, ast.If):
        for tree, node in nodes(kind):
            assert isinstance(node, ast.Assert | ast.If)
            node.test = ast.UnaryOp(ast.Not(), node.test)
            assert refusals(tree)


def test_no_block_of_a_test_can_be_emptied_or_left_early() -> None:
    for kind in (ast.FunctionDef, ast.For, ast.If):
        for early in ([], [ast.Return()]):
            for tree, node in nodes(kind):
                assert isinstance(node, ast.FunctionDef | ast.For | ast.If)
                if isinstance(node, ast.FunctionDef) and node.name == "width":
                    continue  # a fixture, which checks nothing
                node.body = [*early, *node.body] if early else [ast.Pass()]
                assert refusals(tree), ast.unparse(node)


def test_no_call_that_checks_can_lose_an_argument() -> None:
    for tree, node in nodes(ast.Call):
        assert isinstance(node, ast.Call)
        text = ast.unparse(node.func)
        if node.args and any(word in text for word in ("assert", "close", "raises", "approx")):
            node.args.pop()
            assert refusals(tree), text


def test_no_definition_can_go() -> None:
    for at, node in enumerate(ast.parse(TEST).body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and "test" in node.name.lower():
            tree = ast.parse(TEST)
            del tree.body[at]
            assert refusals(tree)
