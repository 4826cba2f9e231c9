"""Functions and classes that only the target had added and the merged file lacks. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nightly_sync import paths
from nightly_sync.agent.acceptance import restore_problems
from nightly_sync.agent.harm import Definition, Objection, definitions
from nightly_sync.audits.compare import Row
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.lines import normal_lines
from nightly_sync.audits.model import Parent
from nightly_sync.audits.modules import names
from nightly_sync.merge.syntax import is_python


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
    found = ((row, _lost(facts, row)) for row in facts.rows if is_python(row.path))
    return [item for _, item in found if item]


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
    wanted = [name for name in _outermost(gone) if not _removed(facts, row, gone[name])]
    return Lost(row.path, tuple(sorted(wanted)), (source, target)) if wanted else None


def _is_there(name: str, merged: bytes) -> bool:
    """Does the merged file have it, by import maybe, or lack the very class it belongs to?"""
    outer = name.rpartition(".")[0]
    known = definitions(merged)
    if outer:
        return name in known or outer not in known
    return name in known or name in names(merged).bound


def _outermost(gone: Iterable[str]) -> Iterator[str]:
    known = set(gone)
    return (name for name in known if name.rpartition(".")[0] not in known)


def _removed(facts: AuditFacts, row: Row, key: bytes) -> bool:
    """Did a commit of the source take a line, in its normal form, out of this file?"""
    commits = facts.removed.get(Parent.SOURCE, ())
    return any(item.path in row.names and key in item.lines for item in commits)


def span(node: Definition) -> tuple[int, int]:
    """First and last line, from 1, decorators included."""
    first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
    return first, node.end_lineno or node.lineno


def restored_badly(item: Lost, before: bytes, after: bytes) -> list[Objection]:
    """Whatever is wrong with a repair that had to put these definitions back, and nothing else."""
    steps = [before, *(_without(after, item.names[at:]) for at in range(1, len(item.names) + 1))]
    return [
        Objection(problem.kind, f"{paths.quote(item.path)}: {problem.sentence}")
        for at, name in enumerate(item.names)
        for problem in restore_problems(steps[at], steps[at + 1], name, item.sides)
    ]


def _without(text: bytes, some: Sequence[str]) -> bytes:
    """The text without some of its definitions."""
    known, lines = definitions(text), text.splitlines(keepends=True)
    for first, last in (span(known[name]) for name in some if name in known):
        lines[first - 1 : last] = [b""] * (last - first + 1)
    return b"".join(lines)
