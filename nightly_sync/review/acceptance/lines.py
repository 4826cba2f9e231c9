"""Each side's own lines are in the answer, or somebody is named who took them out. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from nightly_sync import paths
from nightly_sync.audits.lines import Line, line_facts, normal_lines
from nightly_sync.audits.model import Parent
from nightly_sync.merge import hunks
from nightly_sync.merge.hunks import Hunk
from nightly_sync.review.acceptance.code import unveiled, veiled, veiled_comments
from nightly_sync.review.acceptance.model import HunkAnswer, HunkTask, ProblemKind, Texts, side_of
from nightly_sync.review.acceptance.removable import Missing, removable
from nightly_sync.review.harm import Objection

SHOWN = 8  # lines quoted in one problem
MIN_SHA = 7  # digits of a commit's name

_TOKEN = re.compile(rb"[\w\x80-\xff]+|[^\w\s,()\x80-\xff]")
_SHA = re.compile(rf"[0-9a-f]{{{MIN_SHA},64}}")


def problems(
    task: HunkTask, answer: HunkAnswer, texts: Texts, merged: bytes
) -> Iterator[Objection]:
    """Lines that vanish without a word, and words that name no commit."""
    every, elsewhere = list(_missing(task, texts)), _elsewhere(task, merged)
    for item in every:
        others = (line for other in every if other is not item for line in other.lines)
        gone = {line.key for line in _plain(others)}
        lost = replace(item, lines=_plain(i for i in item.lines if i.key not in elsewhere))
        yield from _faults(task, answer, lost, removable(task, lost, gone, merged))


def _missing(task: HunkTask, texts: Texts) -> Iterator[Missing]:
    """What is not in the text of its hunk; the lines are hidden."""
    versions = ([side_of(hunk, s) for hunk in task.hunks] for s in ("base", "source", "target"))
    pieces = (_pieces(task, some) for some in (*versions, texts))
    for index, (base, source, target, text) in enumerate(zip(*pieces, strict=True)):
        facts = line_facts(base, source, target, text, task.python)
        runs = list(_runs(facts.invented))
        shared = {line.key for line in facts.shared}
        for parent, other in ((Parent.TARGET, source), (Parent.SOURCE, target)):
            removed = Counter(_tokens(base)) - Counter(_tokens(other))
            own = (line for line in facts.of(parent) if line.key not in shared)
            olds = [_tokens(line) for line in base.split(b"\n")]
            lost = (line for line in own if not _woven(line, runs, removed, olds))
            yield Missing(index, parent, tuple(lost))
        yield Missing(index, None, facts.shared)


def _hidden(task: HunkTask, text: bytes) -> bytes:
    """A text to compare lines of: no comment keeps code, nor does a string in Python."""
    return veiled(text) if task.python else veiled_comments(text)


def _plain(lines: Iterable[Line]) -> tuple[Line, ...]:
    """The lines as they stand in the file."""
    return tuple(Line(i.number, unveiled(i.text), unveiled(i.key)) for i in lines)


def _pieces(task: HunkTask, texts: Sequence[bytes]) -> list[bytes]:
    """Texts that stand for the hunks, hidden as they are in the whole file."""
    whole = hunks.assemble(task.parts, lambda index, _: texts[index])
    left, found = paths.from_bytes(_hidden(task, whole)), list[bytes]()
    for part in task.parts:
        text = texts[len(found)] if isinstance(part, Hunk) else part
        length = len(paths.from_bytes(text))
        found += [paths.to_bytes(left[:length])] if isinstance(part, Hunk) else []
        left = left[length:]
    return found


def _elsewhere(task: HunkTask, merged: bytes) -> set[bytes]:
    """Lines, by normal form, that the file has as often as the side that has them most.

    A formatter may have joined or sorted them there, but for those of the base: they may be
    missing for others.
    """
    versions = [_hidden(task, text) for text in (task.base, task.source, task.target, merged)]
    base, source, target, made = versions
    facts = line_facts(base, source, target, made, task.python)
    amiss = {line.key for line in (*facts.target, *facts.source, *facts.shared)}
    old, one, two, now = (Counter(normal_lines(text, task.python)) for text in versions)
    return {
        key
        for key, count in (one | two).items()
        if now[key] >= count or (key not in amiss and key not in old)
    }


def _runs(lines: Iterable[Line]) -> Iterator[list[bytes]]:
    """The tokens of lines that follow each other."""
    run: list[bytes] = []
    for line, following in pairwise([*lines, None]):
        run += _tokens(line.text) if line else []
        if line and (following is None or following.number > line.number + 1):
            yield run
            run = []


def _tokens(text: bytes) -> list[bytes]:
    return _TOKEN.findall(text)


def _woven(
    line: Line, runs: list[list[bytes]], removed: Counter[bytes], olds: list[list[bytes]]
) -> bool:
    """Is a line part of one the answer made of both sides', but for what the other side removed?

    Not a line of one word: that may stand anywhere. One made of no line of the base in one piece.
    """
    tokens = _tokens(line.text)
    wanted = [token for token in tokens if not removed[token]]
    found = [run for run in runs if _in_order(wanted, run)] if len(tokens) > 1 and wanted else []
    whole = any(b" %b " % b" ".join(wanted) in b" %b " % b" ".join(run) for run in found)
    return whole or (bool(found) and any(_made_of(old, tokens) for old in olds))


def _made_of(old: list[bytes], new: list[bytes]) -> bool:
    """Is half of a line still there?"""
    return 0 < len(old) <= 2 * (Counter(old) & Counter(new)).total()


def _in_order(wanted: list[bytes], run: list[bytes]) -> bool:
    left = iter(run)
    return all(token in left for token in wanted)


def _faults(
    task: HunkTask, answer: HunkAnswer, missing: Missing, free: set[bytes]
) -> Iterator[Objection]:
    """What is wrong with lines that go; nothing with those that the answer names by right."""
    told = [
        (item.commit.strip().lower(), set(normal_lines(item.lines.encode(), task.python)))
        for item in answer.dropped
        if item.reason.strip()
    ]
    grouped: dict[tuple[ProblemKind, str], list[Line]] = defaultdict(list)
    for line in missing.lines:
        commit = next((commit for commit, keys in told if line.key in keys), None)
        fault = _fault(task, missing, commit, line.key in free)
        if fault:
            grouped[fault].append(line)
    for (kind, sentence), lines in grouped.items():
        shown = "\n".join(f"  {paths.from_bytes(line.text)}" for line in lines[:SHOWN])
        more = f"\n  and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
        yield Objection(kind, f"{sentence}:\n{shown}{more}", missing.hunk)


def _fault(
    task: HunkTask, missing: Missing, commit: str | None, is_free: bool
) -> tuple[ProblemKind, str] | None:
    """Why a line may not go for a commit; None if it may."""
    words = missing.words
    if commit is None:
        return ProblemKind.DROPPED, f"{words} are neither kept nor named in `dropped`"
    removers = (missing.owner.other,) if missing.owner else tuple(Parent)
    known = {touch.sha for parent in removers for touch in task.commits(parent)}
    if not _SHA.fullmatch(commit) or sum(sha.startswith(commit) for sha in known) != 1:
        sides = " or ".join(f"the {parent}" for parent in removers)
        return ProblemKind.COMMIT, (
            f"`{commit[:80]}` names no single commit of {sides} that touched this file; {words} "
            "go only if such a commit removed them"
        )
    if is_free:
        return None
    return ProblemKind.DROPPED, (
        f"{words} can be removed by no commit, as the other side has no version of them that you "
        "keep; keep them"
    )
