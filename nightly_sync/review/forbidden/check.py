"""Walk the changes of one repair through every rule. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from nightly_sync import patterns
from nightly_sync.merge.syntax import is_python
from nightly_sync.review.forbidden import comments, files, lines, python, settings, steps
from nightly_sync.review.forbidden.change import Versions
from nightly_sync.review.forbidden.model import FileChange, Policy, Refusal, RefusalKind
from nightly_sync.review.forbidden.python import Reason

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
    def contents(self) -> frozenset[bytes]:
        """What moved from one file to another as it is: golden values, and tests to other tests."""
        gone = {item.before for item in self.changes if item.after is None}
        new = {
            item.after for item in self.changes if item.before is None and self._takes(item.path)
        }
        return frozenset(text for text in gone & new if text is not None)

    def _takes(self, path: str) -> bool:
        if is_python(path) and not patterns.matches(path, _COLLECTED):
            return False
        holds = self.policy.is_test(path) or self.policy.is_golden(path)
        return holds and _seen(path) and (not is_python(path) or self._has_old_folder(path))

    def _has_old_folder(self, path: str) -> bool:
        """Is it in, or below, the first folder of a test file that was there before?"""
        old = (c.path for c in self.changes if c.before is not None and self.policy.is_test(c.path))
        return path.partition("/")[0] in {name.partition("/")[0] for name in old} or "/" not in path


def _seen(path: str) -> bool:
    """Does pytest look there? `_UNSEEN` is its default of `norecursedirs`."""
    return not any(fnmatchcase(part, name) for part in path.split("/") for name in _UNSEEN)


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
        for kind, evidence in dict.fromkeys(_code(change, every)):
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
    moved = change.before if change.after is None else change.after
    if is_test and moved in every.contents:
        return
    if change.after is None:
        if is_test and not change.dropped_by_a_side:
            yield from _deleted(change)
    elif not is_python(change.path):
        yield from () if change.restored or not is_test else lines.problems(change)
    elif after := steps.read(change.after):
        for found in _versions(change, after):
            yield from _python(change, found, is_test)
    elif not change.restored:
        yield from _unread(change, is_test)


def _deleted(change: FileChange) -> Iterator[Reason]:
    tests = [found.gone for found in _versions(change, steps.read(None) or {})]
    if not is_python(change.path) or not any(tests):
        yield RefusalKind.TEST_REMOVED, "a test file may not be deleted"
    for found in _versions(change, steps.read(None) or {}) if is_python(change.path) else ():
        yield from python.lost(found, found.gone)


def _unread(change: FileChange, is_test: bool) -> Iterator[Reason]:
    """What does not parse now may be a template that never did, or is broken."""
    if any(steps.read(text) for text in (change.before or b"", *change.texts)):
        yield RefusalKind.SYNTAX, "the file no longer parses"
    elif is_test:
        yield from lines.problems(change)


def _python(change: FileChange, found: Versions, is_test: bool) -> Iterator[Reason]:
    if not is_test:
        yield from () if change.restored else python.in_code(found)
    elif change.restored and not change.merging:
        yield from python.restored(found)
    else:
        yield from python.in_tests(found)


def _versions(change: FileChange, after: steps.Definitions) -> Iterator[Versions]:
    """The file as it was; as it is on each side, if what the merge made of it can't be read."""
    before, sides = steps.read(change.before), tuple(filter(None, map(steps.read, change.texts)))
    for old in [before] if before else sides or [steps.read(None) or {}]:
        yield Versions(
            before=old,
            after=after,
            sides=sides,
            base=steps.read(change.base),
            dropped=change.dropped_by_a_side,
            merging=change.merging,
            closed=change.merging or before is None,
            is_conftest=change.path.rpartition("/")[2] == "conftest.py",
        )
