"""Each side's own lines are in the answer, or somebody is named who took them out. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from nightly_sync import paths
from nightly_sync.agent.acceptance.model import Dropped, HunkAnswer, HunkTask, Problem, ProblemKind
from nightly_sync.agent.acceptance.removable import Made, lost_definitions, removable
from nightly_sync.agent.acceptance.spoken import spoken
from nightly_sync.audits.lines import Line, LineFacts, line_facts, normal_lines
from nightly_sync.audits.model import Parent
from nightly_sync.merge.hunks import Hunk

SHOWN = 8  # lines quoted in one problem
MIN_SHA = 7  # digits of a commit's name

_TOKEN = re.compile(rb"\w+|[^\w\s,()]")
_SHA = re.compile(rf"[0-9a-f]{{{MIN_SHA},64}}")


@dataclass(frozen=True)
class _Missing:
    """Lines that are not in the answer; `owner` has them, both sides if that is None."""

    hunk: int
    owner: Parent | None
    lines: tuple[Line, ...]

    @property
    def words(self) -> str:
        """Whose they are."""
        return f"only the {self.owner} has" if self.owner else "both sides have"

    @property
    def removers(self) -> tuple[Parent, ...]:
        """The sides whose commits may have removed them."""
        return (self.owner.other,) if self.owner else tuple(Parent)


def problems(
    task: HunkTask, answer: HunkAnswer, texts: tuple[bytes, ...], merged: bytes
) -> Iterator[Problem]:
    """Lines that vanish without a word, and words that name no commit.

    Of Python, what is run is looked at once more by itself: a comment keeps no code.
    """
    found = list(_problems(task, answer, texts, merged))
    if not found and task.python:
        found = list(_problems(*_spoken(task, answer, texts)))
    yield from found
    for name in lost_definitions(task, merged):
        sentence = f"`{name}` is defined on one side and nowhere in the answer; keep it"
        yield Problem(kind=ProblemKind.DROPPED, sentence=sentence)


def _problems(
    task: HunkTask, answer: HunkAnswer, texts: tuple[bytes, ...], merged: bytes
) -> Iterator[Problem]:
    whole = line_facts(task.base, task.source, task.target, merged, task.python)
    for index, (hunk, text) in enumerate(zip(task.hunks, texts, strict=True)):
        every = list(_missing(task, index, hunk, text))
        for missing in every:
            lost = [line for line in missing.lines if not _elsewhere(task, line, whole, merged)]
            named = {line: _entry(task, line, answer.dropped) for line in lost}
            yield from _unnamed(missing, [line for line in lost if named[line] is None])
            entries = (entry for entry in named.values() if entry is not None)
            unknown = list(_unknown(task, missing, dict.fromkeys(e.commit for e in entries)))
            yield from unknown or _unremovable(
                task, missing, named, Made(text, merged, _others(every, missing))
            )


def _spoken(
    task: HunkTask, answer: HunkAnswer, texts: tuple[bytes, ...]
) -> tuple[HunkTask, HunkAnswer, tuple[bytes, ...], bytes]:
    """The same question, with blanks for comments and lone strings."""
    bases, targets, sources = (
        _blanked(task, tuple(getattr(hunk, side) for hunk in task.hunks))
        for side in ("base", "target", "source")
    )
    made = _blanked(task, texts)
    fresh = iter(zip(bases[1], targets[1], sources[1], strict=True))
    parts = tuple(Hunk(*next(fresh)) if isinstance(p, Hunk) else p for p in task.parts)
    base, target, source = map(spoken, (task.base, task.target, task.source))
    dropped = tuple(
        item.model_copy(update={"lines": paths.from_bytes(_each_spoken(item.lines))})
        for item in answer.dropped
    )
    told = answer.model_copy(update={"dropped": dropped})
    said = replace(task, parts=parts, base=base, target=target, source=source)
    return said, told, made[1], made[0]


def _blanked(task: HunkTask, texts: tuple[bytes, ...]) -> tuple[bytes, tuple[bytes, ...]]:
    """The file that texts make for the hunks, and those texts, with blanks."""
    given = iter(texts)
    pieces = [next(given) if isinstance(part, Hunk) else part for part in task.parts]
    whole = spoken(b"".join(pieces))
    lines, at, found = whole.split(b"\n"), 0, []
    for part, piece in zip(task.parts, pieces, strict=True):
        end = at + piece.count(b"\n")
        if isinstance(part, Hunk):
            last = b"" if piece.endswith(b"\n") or not piece else lines[end]
            found.append(b"".join(line + b"\n" for line in lines[at:end]) + last)
        at = end
    return whole, tuple(found)


def _each_spoken(lines: str) -> bytes:
    return b"\n".join(spoken(line.strip().encode()) for line in lines.split("\n"))


def _missing(task: HunkTask, index: int, hunk: Hunk, text: bytes) -> Iterator[_Missing]:
    facts = line_facts(hunk.base, hunk.source, hunk.target, text, task.python)
    runs = list(_runs(facts.invented))
    shared = {line.key for line in facts.shared}
    for parent in Parent:
        other = hunk.source if parent is Parent.TARGET else hunk.target
        removed = Counter(_tokens(hunk.base)) - Counter(_tokens(other))
        lines = (line for line in facts.of(parent) if line.key not in shared)
        yield _Missing(index, parent, tuple(i for i in lines if not _woven(i, runs, removed)))
    yield _Missing(index, None, facts.shared)


def _runs(lines: Iterable[Line]) -> Iterator[list[bytes]]:
    """The tokens of lines that follow each other."""
    ordered = list(lines)
    run: list[bytes] = []
    for line, following in pairwise([*ordered, None]):
        run += _tokens(line.text) if line else []
        if line and (following is None or following.number > line.number + 1):
            yield run
            run = []


def _tokens(text: bytes) -> list[bytes]:
    return _TOKEN.findall(text)


def _woven(line: Line, runs: list[list[bytes]], removed: Counter[bytes]) -> bool:
    """Is a line part of one the answer made of both sides', but for what the other side removed?

    Not a line of one word: that may stand anywhere.
    """
    tokens = _tokens(line.text)
    wanted = [token for token in tokens if not removed[token]]
    return len(tokens) > 1 and bool(wanted) and any(_in_order(wanted, run) for run in runs)


def _in_order(wanted: list[bytes], run: list[bytes]) -> bool:
    left = iter(run)
    return all(token in left for token in wanted)


def _elsewhere(task: HunkTask, line: Line, whole: LineFacts, merged: bytes) -> bool:
    """Is the line in another place of the file, as often as on the side that has it most?"""
    key = line.key
    sides = (task.target, task.source)
    most = max(normal_lines(side, task.python).count(key) for side in sides)
    if normal_lines(merged, task.python).count(key) >= most > 0:
        return True
    # A formatter may have joined or sorted it there. Lines of the base may be missing for others.
    amiss = {item.key for item in (*whole.target, *whole.source, *whole.shared)}
    return key not in amiss and key not in normal_lines(task.base, task.python)


def _entry(task: HunkTask, line: Line, dropped: tuple[Dropped, ...]) -> Dropped | None:
    """Where the answer speaks of a line, with a reason."""
    speaking = (item for item in dropped if item.reason.strip())
    return next(
        (item for item in speaking if line.key in normal_lines(item.lines.encode(), task.python)),
        None,
    )


def _unnamed(missing: _Missing, lines: list[Line]) -> Iterator[Problem]:
    if lines:
        shown = "\n".join(f"  {paths.from_bytes(line.text)}" for line in lines[:SHOWN])
        more = f"\n  and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
        yield Problem(
            kind=ProblemKind.DROPPED,
            hunk=missing.hunk,
            sentence=f"lines that {missing.words} are neither kept nor named in `dropped`:\n"
            f"{shown}{more}",
        )


def _unknown(task: HunkTask, missing: _Missing, commits: Iterable[str]) -> Iterator[Problem]:
    known = [touch for parent in missing.removers for touch in task.commits(parent)]
    sides = " or ".join(f"the {parent}" for parent in missing.removers)
    for commit in commits:
        sha = commit.strip().lower()
        matching = {touch.sha for touch in known if touch.sha.startswith(sha)}
        if not _SHA.fullmatch(sha) or len(matching) != 1:
            yield Problem(
                kind=ProblemKind.COMMIT,
                hunk=missing.hunk,
                sentence=f"`{commit[:80]}` names no single commit of {sides} that touched this "
                f"file; lines that {missing.words} go only if such a commit removed them",
            )


def _others(every: list[_Missing], missing: _Missing) -> frozenset[bytes]:
    return frozenset(line.key for item in every if item is not missing for line in item.lines)


def _unremovable(
    task: HunkTask,
    missing: _Missing,
    named: dict[Line, Dropped | None],
    made: Made,
) -> Iterator[Problem]:
    """Lines that no commit can have removed, whatever is said of them."""
    free: frozenset[bytes] = frozenset()
    if missing.owner:
        free = removable(task, task.hunks[missing.hunk], missing.owner, made)
    bad = [line for line, entry in named.items() if entry is not None and line.key not in free]
    if bad:
        shown = "\n".join(f"  {paths.from_bytes(line.text)}" for line in bad[:SHOWN])
        yield Problem(
            kind=ProblemKind.DROPPED,
            hunk=missing.hunk,
            sentence=f"lines that {missing.words} can be removed by no commit, as the other side "
            f"has no version of them that you keep; keep them:\n{shown}",
        )
