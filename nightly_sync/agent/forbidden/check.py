"""Walk the changes of one repair through every rule. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property

from nightly_sync import imports, patterns
from nightly_sync.agent.forbidden import comments, files, lines, python, quiet, settings
from nightly_sync.agent.forbidden.model import FileChange, Policy, Refusal, RefusalKind
from nightly_sync.agent.forbidden.python import Reason
from nightly_sync.agent.forbidden.scopes import read
from nightly_sync.merge.syntax import is_python

TOO_DEEP = "not judged: too deeply nested"
_UNSEEN = (".*", "build", "dist", "node_modules", "venv", "{arch}", "*.egg", "_darcs", "CVS")
_COLLECTED = ("test_*.py", "*_test.py")  # pytest's own default


def forbidden(changes: Iterable[FileChange], policy: Policy) -> tuple[Refusal, ...]:
    """Every reason to refuse a repair; none if it may stand. `changes`: all its files."""
    every = _Changes(tuple(changes), policy)
    return tuple(refusal for change in every.changes for refusal in _judged(change, every))


def _judged(change: FileChange, every: "_Changes") -> list[Refusal]:
    """The refusals of one file; what is too deep for a syntax tree's reader is not let through."""
    try:
        return list(_refusals(change, every))
    except RecursionError:
        return [Refusal(path=change.path, kind=RefusalKind.SYNTAX, evidence=TOO_DEEP)]


@dataclass(frozen=True)
class _Changes:
    """The whole repair, as a test may move from one file to another."""

    changes: tuple[FileChange, ...]
    policy: Policy

    @cached_property
    def moved(self) -> frozenset[str]:
        """Tests that a collected file has now and had not before, by their code."""
        new = (item for item in self.changes if self._is_collected(item.path))
        return frozenset(body for item in new for body in _tests(item.after) - _tests(item.before))

    @cached_property
    def contents(self) -> frozenset[bytes]:
        """What moved from one file to another, tests and golden values only."""
        gone = {item.before for item in self.changes if item.after is None}
        fresh = (item for item in self.changes if item.before is None)
        new = {item.after for item in fresh if self._may_hold(item.path) and _seen(item.path)}
        return frozenset(text for text in gone & new if text is not None)

    def _is_collected(self, path: str) -> bool:
        return patterns.matches(path, _COLLECTED) and _seen(path) and self._has_old_folder(path)

    def _has_old_folder(self, path: str) -> bool:
        """Is it in, or below, the first folder of a test file that was there before?"""
        old = (c.path for c in self.changes if c.before is not None and self.policy.is_test(c.path))
        return path.partition("/")[0] in {name.partition("/")[0] for name in old} or "/" not in path

    def _may_hold(self, path: str) -> bool:
        return self.policy.is_test(path) or self.policy.is_golden(path)


def _seen(path: str) -> bool:
    """Does pytest look there? `_UNSEEN` is its default of `norecursedirs`."""
    return not any(fnmatchcase(part, name) for part in path.split("/") for name in _UNSEEN)


def _tests(text: bytes | None) -> set[str]:
    found = read(text or b"") or {}
    return {scope.body for many in found.values() for scope in many if scope.collected}


def _refusals(change: FileChange, every: _Changes) -> Iterator[Refusal]:
    same = change.before == change.after and change.mode_before == change.mode_after
    policy = every.policy
    if same:
        return
    if problem := files.problem(change, policy):
        yield problem
    elif policy.is_golden(change.path):
        yield from filter(None, [files.golden(change, policy, every.contents)])
    elif policy.is_settings(change.path):
        yield from settings.problems(change)
    else:
        yield from comments.problems(change)
        yield from _emptied(change, every)
        for kind, evidence in _code(change, every):
            yield Refusal(path=change.path, kind=kind, evidence=evidence)


def _emptied(change: FileChange, every: _Changes) -> Iterator[Refusal]:
    """A file that has nothing left, unless a side did that or its text is in a new file."""
    excused = change.restored or change.dropped_by_a_side or every.policy.is_test(change.path)
    if (
        change.merging
        or (change.after or b"").strip()
        or not (change.before or b"").strip()
        or excused
    ):
        return
    fresh = (item.after for item in every.changes if item.before is None)
    if change.before not in fresh:
        evidence = "the whole file is gone, and no side deleted it"
        yield Refusal(path=change.path, kind=RefusalKind.FILE_REMOVED, evidence=evidence)


def _code(change: FileChange, every: _Changes) -> Iterator[Reason]:
    is_test = every.policy.is_test(change.path)
    if change.after is None:
        yield from _deleted(change, every) if is_test else ()
    elif is_python(change.path):
        yield from _python(change, every, is_test)
        yield from quiet.problems(change, is_test)
    elif is_test and not change.restored and change.after not in every.contents:
        yield from lines.in_other_tests(change)


def _deleted(change: FileChange, every: _Changes) -> Iterator[Reason]:
    if change.dropped_by_a_side:
        return
    found = python.versions(change.before or b"", b"", change.sides, change.base)
    if is_python(change.path) and found:
        yield from python.removed(found, every.moved)
    elif change.before not in every.contents:
        yield RefusalKind.TEST_REMOVED, "a test file may not be deleted"


def _python(change: FileChange, every: _Changes, is_test: bool) -> Iterator[Reason]:
    before = change.before or b""
    found = _versions(change, before, is_test)
    if found is None:
        yield from _broken(change, is_test)
    elif not is_test:
        yield from () if change.restored else python.in_code(found)
    elif change.restored and not change.merging:
        yield from python.lost(found)
    else:
        yield from python.in_tests(found, every.moved)


def _versions(change: FileChange, before: bytes, is_test: bool) -> python.Versions | None:
    only = None if is_test else python.IN_CODE
    found = python.versions(before, change.after or b"", change.sides, change.base, only)
    return replace(found, merging=change.merging) if found else None


def _broken(change: FileChange, is_test: bool) -> Iterator[Reason]:
    """`before` or `after` does not parse: what the sides have is what counts."""
    fresh = _versions(change, b"", is_test)
    if fresh is None:
        yield from _unread(change, is_test)
    elif not is_test:
        yield from python.in_code(fresh)
    else:
        yield from _mended_test(change, fresh)


def _unread(change: FileChange, is_test: bool) -> Iterator[Reason]:
    if change.restored:
        return
    if any(imports.parse(text) for text in (change.before or b"", *change.texts)):
        yield RefusalKind.SYNTAX, "the file no longer parses"
    elif is_test:
        yield from lines.in_other_tests(change)


def _mended_test(change: FileChange, fresh: python.Versions) -> Iterator[Reason]:
    for side in change.texts:
        found = _versions(change, side, is_test=True)
        yield from python.lost(found) if found else ()
    yield from python.in_tests(fresh, ())
    if not python.put_together(fresh):
        yield from lines.in_broken_python(change)
