"""Audit: every import of this repository's own modules and names still finds them.

Also in files git merged cleanly: one side renames a function, the other adds a caller.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from nightly_sync import imports
from nightly_sync.audits.compare import Comparison
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.lost import Suspect, importers, suspects
from nightly_sync.audits.model import Finding, FindingKind, Parent, Severity
from nightly_sync.audits.modules import join, names
from nightly_sync.audits.statements import required_imports
from nightly_sync.imports import Import

Asked = tuple[str, str | None, str | None]
"""Module, name, folder of a relative import: an import without its place."""


@dataclass(frozen=True)
class Broken:
    """What cannot be imported any more. `merged_file`: as in `Suspect`."""

    module: str  # dotted, from the top of the repository
    file: str
    merged_file: str | None


def audit(facts: AuditFacts) -> list[Finding]:
    """Report each import that its side could satisfy and the merged tree cannot.

    Spared: imports that expect to fail (`except ImportError`), and modules that may define any
    name (`import *`, a module's `__getattr__`).
    """
    found: dict[tuple[str, int, Broken], list[Suspect]] = {}
    for suspect, line in _confirmed(facts):
        found.setdefault((suspect.importer, line, _broken(suspect)), []).append(suspect)
    return [_finding(path, line, broken, items) for (path, line, broken), items in found.items()]


def _suspects(facts: AuditFacts) -> Iterator[Suspect]:
    comparison = facts.comparison
    for parent in Parent:
        yield from suspects(comparison, parent, importers(comparison, parent))
    # A file that is the same everywhere breaks only by what both parents have.
    source, target = (suspects(comparison, parent, facts.unchanged) for parent in Parent)
    both = {_place(item) for item in source} & {_place(item) for item in target}
    yield from (item for item in (*source, *target) if _place(item) in both)


def _place(suspect: Suspect) -> tuple[str, Import]:
    return suspect.importer, suspect.item


def _confirmed(facts: AuditFacts) -> Iterator[tuple[Suspect, int]]:
    """What the syntax trees of the importer and of the module that lacks the name agree on."""
    texts = dict(facts.unchanged)
    ordered = sorted(_suspects(facts), key=lambda item: item.importer)
    for path, group in groupby(ordered, key=lambda item: item.importer):
        text = texts.get(path) or facts.comparison.text(facts.comparison.trees.merged[path]) or b""
        lines = required(path, text)
        for suspect in group:
            line = lines.get(_asked(suspect.item))
            if line is not None and _lacks(facts.comparison, suspect):
                yield suspect, line


def _asked(item: Import) -> Asked:
    return item.module, item.name, item.folder


def required(path: str, text: bytes) -> dict[Asked, int]:
    """Imports of a file that must not fail, with the line of the first."""
    tree = imports.parse(text)
    if tree is None:
        return {}
    found: dict[Asked, int] = {}
    for node in required_imports(tree):
        for item in imports.imports_of(path, ast.Module([node], [])):
            found.setdefault(_asked(item), item.line)
    return found


def _lacks(comparison: Comparison, suspect: Suspect) -> bool:
    if not suspect.merged_file or suspect.item.name is None:
        return True
    text = comparison.text(comparison.trees.merged[suspect.merged_file])
    if text is None:
        return False
    found = names(text)
    return not found.open and suspect.item.name not in found.bound


def _broken(suspect: Suspect) -> Broken:
    item = suspect.item
    module = join(item.folder or "", item.module.replace("/", ".")).replace("/", ".")
    merged = None if item.name is None else suspect.merged_file
    return Broken(module, suspect.file, merged)


def _finding(path: str, line: int, broken: Broken, items: list[Suspect]) -> Finding:
    owners = " and ".join(f"the {parent}" for parent in sorted({item.parent for item in items}))
    have = "has" if len({item.parent for item in items}) == 1 else "have"
    names_of = sorted({item.item.name for item in items if item.item.name})
    return Finding(
        severity=Severity.ERROR,
        kind=FindingKind.BROKEN_IMPORT,
        path=path,
        line=line,
        evidence=_evidence(broken, f"{owners} {have}", names_of),
    )


def _evidence(broken: Broken, owners: str, wanted: list[str]) -> str:
    if broken.merged_file is None:
        return f"imports {broken.module}: {owners} {broken.file}, the merged tree has not"
    listed = ", ".join(f"`{name}`" for name in wanted)
    merged = broken.merged_file or "package"
    return (
        f"imports {listed} from {broken.module}: {owners} that in {broken.file}, "
        f"the merged {merged} has not"
    )
