"""What the names of a file are, which new ones may come, and what one may be renamed to. Pure."""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from nightly_sync.review.forbidden.same import BUILTINS, Pair, compares
from nightly_sync.review.forbidden.steps import (
    Defined,
    Definition,
    Definitions,
    Import,
    dotted,
    walk,
)

HERE = "made here"
# What runs tests, and the interpreter: no part of it stands for another.
_RUNNERS = sys.stdlib_module_names | {"pytest", "_pytest", "pluggy", "hypothesis", "mock", "nose"}
# What pytest, unittest and Python look for by its name.
_RESERVED = re.compile(
    r"^(?:__\w+__|test\w*|pytestmark|pytest_\w*|collect_ignore\w*|load_tests|set_?up\w*|tear_?down\w*|run)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Names:
    """The names of one version of a file."""

    definitions: Definitions

    @property
    def tree(self) -> ast.AST:
        """The whole file."""
        return self.definitions[""][0].node

    @cached_property
    def imported(self) -> dict[str, set[str]]:
        """Names to what is imported under them, as dotted paths."""
        found: dict[str, set[str]] = {}
        for node in (node for node in walk(self.tree) if isinstance(node, Import)):
            for name, path in imports_of(node):
                found.setdefault(name, set()).add(path)
        return found

    @cached_property
    def made(self) -> set[str]:
        """Names that the module's own code binds and does not import."""
        nodes = [step.node for step in self.definitions[""][0].steps]
        found = {name for node in nodes if node for name in bound(node)}
        return found | {name for name in self.definitions if name and "." not in name}

    @cached_property
    def roots(self) -> set[str]:
        """What every chain of names in the file starts with."""
        return {chain.partition(".")[0] for chain in chains(self.tree)}

    @cached_property
    def words(self) -> set[str]:
        """Every name in the file."""
        return words(self.tree)

    @cached_property
    def bound(self) -> set[str]:
        """What the file binds anywhere and does not import; a parameter may be a fixture."""
        return bound(self.tree)

    def origins(self, name: str) -> set[str]:
        """The packages a name is from, or that it is made here; nothing if it is not bound."""
        found = {path.split(".")[0] or "." for path in self.imported.get(name, ())}
        return found | ({HERE} if name in self.made else set())


def imports_of(node: Import) -> Iterator[tuple[str, str]]:
    """Each name that an import binds, and the path of what it is bound to."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield alias.asname or alias.name, f"{module}.{alias.name}"
        else:
            root = alias.name.partition(".")[0]
            yield alias.asname or root, alias.name if alias.asname else root


def bound(node: ast.AST) -> set[str]:
    """Names that a piece of code binds, in whichever way."""
    found = set()
    for item in ast.walk(node):
        if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load):
            found.add(item.id)
        elif isinstance(item, ast.arg):
            found.add(item.arg)
        elif isinstance(item, Defined | ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            found.add(item.name or "")
    return found - {""}


def words(node: ast.AST) -> set[str]:
    """Every name in a piece of code, read or bound, an attribute's too, and strings of one word."""
    found = set()
    for item in ast.walk(node):
        values = [getattr(item, name, None) for name in ("id", "attr", "arg", "name", "asname")]
        values += [item.value] if isinstance(item, ast.Constant) else []
        found |= {value for value in values if isinstance(value, str)}
    return found


def chains(node: ast.AST) -> set[str]:
    """Every chain of names in a piece of code."""
    return set(filter(None, map(dotted, ast.walk(node))))


def is_free(name: str, known: Sequence[Names]) -> bool:
    """Is a name spoken of in no version of the file, and by nobody else?"""
    used = name in BUILTINS or any(name in names.words for names in known)
    return not used and not _RESERVED.search(name)


def import_problems(after: Names, known: Sequence[Names], is_conftest: bool) -> Iterator[str]:
    """New imports that give a name another meaning, and tests that are imported no more."""
    packages = {item for names in known for name in names.imported for item in names.origins(name)}
    for name, paths in after.imported.items():
        new = (p for p in paths if not any(p in names.imported.get(name, ()) for names in known))
        for path in new:
            problem = _problem(name, path, after, known)
            if is_conftest and not after.origins(name) <= packages:
                problem = "brings a package that no side's conftest.py has"
            if problem:
                yield f"the new import of `{path}` {problem}"
    everywhere = set.intersection(*(set(names.imported) for names in known)) if known else set()
    for name in everywhere - after.imported.keys():
        if name == "*" or _RESERVED.search(name):
            yield f"the import of `{name}` is gone"


def _problem(name: str, path: str, after: Names, known: Sequence[Names]) -> str:
    package, last = path.split(".")[0] or ".", path.rpartition(".")[2]
    before = set[str]().union(*(names.origins(name) for names in known))
    aliases = {p.rpartition(".")[2] for names in known for p in names.imported.get(name, ())}
    if last == "*" or "conftest" in path or _RESERVED.search(name):
        return "takes names that tests, pytest or Python give a meaning"
    taken = name in BUILTINS or any(name in names.bound for names in (after, *known))
    if (before or taken) and package not in before:
        return f"gives `{name}` another meaning"
    if len(after.imported[name]) > 1:
        return f"gives `{name}` two meanings"
    if any(path in paths for other, paths in after.imported.items() if other != name):
        return "gives it a second name"
    if name not in {last, package} | ({name} if last in aliases or "." not in path else set()):
        return f"hides it behind `{name}`"
    return ""


@dataclass(frozen=True)
class Renames:
    """What the names of one definition are called now, as far as it has been read."""

    old: Definition
    new: Definition
    known: tuple[Names, ...]  # of the file before, and of the sides
    after: Names
    definitions: frozenset[Pair]  # that have another name now
    taken: dict[str, str] = field(default_factory=dict)  # new names to old ones

    def accept(self, pairs: list[Pair]) -> bool:
        """May these names change like this, with all that changed before? Remembers them."""
        changed = {(old, new) for old, new in pairs if old != new and not old.startswith("=")}
        fresh = {(old, new) for old, new in changed if self.taken.get(new) != old}
        names = [*self.taken.items(), *((new, old) for old, new in fresh)]
        single = all(len(set(some)) == len(names) for some in zip(*names, strict=True))
        good = single and all(self._may(old, new) for old, new in fresh)
        if good:
            self.taken.update({new: old for old, new in fresh})
        return good

    @cached_property
    def _locals(self) -> set[str]:
        return bound(self.new.node) if self.new.name else set()

    @cached_property
    def _old_locals(self) -> set[str]:
        return bound(self.old.node) if self.old.name else set()

    @cached_property
    def _words(self) -> set[str]:
        return words(self.old.node)

    @cached_property
    def _chains(self) -> set[str]:
        return chains(self.new.node)

    def _may(self, old: str, new: str) -> bool:
        root, other = old.partition(".")[0], new.partition(".")[0]
        if old.startswith("+"):
            return not (new in self._words or new in BUILTINS or _RESERVED.search(new))
        if any(f"{chain}.".startswith(f"{old}.") for chain in self._chains):
            return False  # the old name is still used
        if root == other:
            return self._is_other_name(old, new) and not _RUNNERS & self.after.origins(root)
        same_end = old.rpartition(".")[2] == new.rpartition(".")[2]
        return self._is_same_root(root, other) and (same_end or self._is_other_name(old, new))

    def _is_other_name(self, old: str, new: str) -> bool:
        """Is the new name unknown here so far, unless a side put it for the old one?"""
        last, other = old.rpartition(".")[2], new.rpartition(".")[2]
        if "." in old and any(last in chain.split(".")[1:] for chain in self._chains):
            return False
        said = any(other in side.words and last not in side.words for side in self.known)
        return (
            (other not in self.known[0].words or said) and not compares(old) and not compares(new)
        )

    def _is_same_root(self, old: str, new: str) -> bool:
        """Is a variable still one, and an import still from the package it was from?"""
        if old in self._old_locals or new in self._locals:
            return new in self._locals and old not in self._locals and new not in self._words
        origins, others = self.known[0].origins(old), self.after.origins(new)
        if (old, new) in self.definitions:
            return True
        other_use = old in self.after.imported and new in self.known[0].imported
        known = other_use or (not others and new in self.known[0].roots)
        return origins == others and not others & {*_RUNNERS, HERE} and not known
