"""What a merge lost of the target's functions and classes, and whether it was put back. Pure."""

import ast
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nightly_sync import imports, paths
from nightly_sync.audits.compare import Row
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.lines import normal_lines
from nightly_sync.audits.model import Parent
from nightly_sync.audits.modules import names
from nightly_sync.merge.syntax import is_python
from nightly_sync.review.acceptance import ProblemKind
from nightly_sync.review.acceptance.code import tokens
from nightly_sync.review.harm import Definition, Objection, defined, definitions, span

_IMPORTS = (ast.Import, ast.ImportFrom)
Found = tuple[ProblemKind, str]


@dataclass(frozen=True)
class Lost:
    """Definitions to put back into one merged file. `sides`: the file on source and target."""

    path: str
    names: tuple[str, ...]  # `name` or `Class.method`, sorted
    sides: tuple[bytes, bytes]

    @property
    def text(self) -> bytes:
        """The definitions as the target wrote them."""
        target = self.sides[1]
        known, lines = definitions(target), target.splitlines(keepends=True)
        spans = (span(known[name]) for name in self.names)
        return b"\n".join(b"".join(lines[first - 1 : last]) for first, last in spans)


def lost(facts: AuditFacts) -> list[Lost]:
    """What the audits call dropped lines of the target, where these are whole definitions.

    Not what the source has too, what a commit of the source took out of the file as well, or what
    was a part of a class that is gone with all its parts.
    """
    found = (_lost(facts, row) for row in facts.rows if is_python(row.path))
    return [item for item in found if item]


def _lost(facts: AuditFacts, row: Row) -> Lost | None:
    known = facts.comparison
    dropped = {line.key for line in known.lines_of(row).target}
    merged = known.text(row.merged)
    if not dropped or merged is None:
        return None
    base, source, target = (known.text(e) or b"" for e in (row.base, row.source, row.target))
    has, keys = {*definitions(base), *definitions(source)}, normal_lines(target, python=True)
    gone = {
        name: keys[node.lineno - 1]
        for name, node in definitions(target).items()
        if name not in has and keys[node.lineno - 1] in dropped and not _is_there(name, merged)
    }
    outermost = (name for name in gone if name.rpartition(".")[0] not in gone)
    wanted = [name for name in outermost if not _removed(facts, row, gone[name])]
    return Lost(row.path, tuple(sorted(wanted)), (source, target)) if wanted else None


def _is_there(name: str, merged: bytes) -> bool:
    """Does the merged file have it, by import maybe, or lack the very class it belongs to?"""
    outer = name.rpartition(".")[0]
    known = definitions(merged)
    if outer:
        return name in known or outer not in known
    return name in known or name in names(merged).bound


def _removed(facts: AuditFacts, row: Row, key: bytes) -> bool:
    """Did a commit of the source take a line, in its normal form, out of this file?"""
    commits = facts.removed.get(Parent.SOURCE, ())
    return any(item.path in row.names and key in item.lines for item in commits)


def restored_badly(item: Lost, before: bytes, after: bytes) -> list[Objection]:
    """What is wrong with a repair that had to put these definitions back; nothing if it holds.

    It may insert them as a side has them, with that side's comments, and imports that a side has;
    every other line stays as it was.
    """
    old, new = imports.parse(before), imports.parse(after)
    if old is None or new is None:
        found: list[Found] = [(ProblemKind.SYNTAX, "the file has to parse")]
    else:
        added = [node for name, node in defined(new) if name in item.names]
        found = [
            *_definition_problems(item, old, new),
            *_import_problems(item, old, new),
            *_line_problems(item, _rest(before, old, []), _rest(after, new, added)),
        ]
    return [Objection(kind, f"{paths.quote(item.path)}: {sentence}") for kind, sentence in found]


def _definition_problems(item: Lost, old: ast.Module, new: ast.Module) -> Iterator[Found]:
    had, has, sides = dict(defined(old)), list(defined(new)), list(map(definitions, item.sides))
    for name in item.names:
        known = {_made(side[name]) for side in sides if name in side}
        mine = [_made(node) for other, node in has if other == name]
        if name in had:
            yield ProblemKind.OUTSIDE, f"`{name}` was there already"
        elif len(mine) != 1:
            kind = ProblemKind.DUPLICATE if mine else ProblemKind.UNDEFINED
            yield kind, f"`{name}` is defined {len(mine)} times, not once"
        if not known.issuperset(mine):
            yield ProblemKind.INVENTED, f"`{name}` is not as either side has it; restore that"


def _made(node: Definition) -> tuple[str, int]:
    """What it is, and how deep it stands: not in a block that nobody enters."""
    return ast.dump(node), node.col_offset


def _import_problems(item: Lost, old: ast.Module, new: ast.Module) -> Iterator[Found]:
    had, has = _imported(old), _imported(new)
    known = had.union(*(_imported(tree) for text in item.sides if (tree := imports.parse(text))))
    for statement in sorted(had - has):
        yield ProblemKind.DROPPED, f"`{statement}` was there and is no longer"
    for statement in sorted(has - known):
        yield ProblemKind.INVENTED, f"neither side has `{statement}`"


def _imported(tree: ast.Module) -> set[str]:
    """All that is imported, each by a statement of its own."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {ast.unparse(ast.Import([alias])) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            single = (ast.ImportFrom(node.module, [alias], node.level) for alias in node.names)
            found |= set(map(ast.unparse, single))
    return found


def _rest(text: bytes, tree: ast.Module, added: Sequence[ast.stmt]) -> list[str]:
    """The lines without imports, what was put back, and those that are blank outside of strings."""
    found = [node for node in ast.walk(tree) if isinstance(node, _IMPORTS)]
    spans = map(span, (*found, *added))
    gone = {number for first, last in spans for number in range(first, last + 1)}
    blank = {item.start[0] for item in tokens(text) if item.type == tokenize.NL}
    return [
        line
        for at, line in enumerate(paths.from_bytes(text).split("\n"), 1)
        if at not in gone and (line.strip() or at not in blank)
    ]


def _line_problems(item: Lost, old: list[str], new: list[str]) -> Iterator[Found]:
    """All else is as it was, but for comments of the sides."""
    known = set(old)
    sides = {line for text in item.sides for line in paths.from_bytes(text).split("\n")}
    comments = {line for line in sides if line.lstrip().startswith("#")}
    after = [line for line in new if line in known or line not in comments]
    if old != after:
        strange = next((line.strip() for line in after if line not in known), "")
        what = f", not `{strange[:200]}`" if strange else ""
        names = ", ".join(f"`{name}`" for name in item.names)
        whose = "its" if len(item.names) == 1 else "their"
        yield ProblemKind.OUTSIDE, f"only {names} and {whose} imports may be added{what}"
