"""Walk one path down the ladder. Pure: facts in, a draft of its plan out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from nightly_sync.config import Fallback
from nightly_sync.conflicts import RESOLVABLE, Conflict, Entry, Kind
from nightly_sync.merge import hunks, ladder
from nightly_sync.merge.markers import clear_size
from nightly_sync.merge.model import (
    Abstain,
    HunkFacts,
    HunkPlan,
    PathFacts,
    Resolution,
    Side,
    Status,
    Take,
)
from nightly_sync.merge.resolver import FileConflict, Resolved, Resolver, chosen
from nightly_sync.merge.syntax import may_be_same

_TEXT = {Kind.CONTENTS, Kind.ADD_ADD}
_RULED = RESOLVABLE | {Kind.RENAME_RENAME, Kind.FILE_LOCATION}  # by a path rule, path by path
Facts = TypeVar("Facts")


@dataclass(frozen=True)
class Draft:
    """A path's fate before its text is stored: `entry` is final, unless `text` replaces it."""

    facts: PathFacts
    rule: str
    take: Take | None
    evidence: str
    status: Status
    entry: Entry | None
    text: bytes | None = None
    hunks: tuple[HunkPlan, ...] = ()


def walk(facts: PathFacts, fallback: Fallback, resolver: Resolver | None = None) -> Draft | None:
    """The draft for a path, or None where git's own result stands."""
    conflict = facts.conflict
    if conflict and not conflict.resolvable and not _may_rule(conflict, facts):
        return _unresolved(facts, f"{_names(conflict)}: {' '.join(conflict.messages)}")
    answer = first(ladder.PATH_RULES, facts)
    if conflict is None:
        return _changed(facts, answer)
    if isinstance(answer, Resolution):
        return _whole(facts, answer)
    if not conflict.resolvable:
        return _unresolved(facts, f"{_names(conflict)}: the path rule has no answer here")
    if _TEXT & set(conflict.kinds):
        return _by_hunk(facts, conflict, fallback, resolver)
    return _whole(facts, _answer(ladder.last_path_rule(fallback)(facts)))


def first(
    rules: Sequence[Callable[[Facts], Resolution | Abstain]], facts: Facts
) -> Resolution | Abstain:
    """The first rule that can show evidence."""
    for rule in rules:
        answer = rule(facts)
        if isinstance(answer, Resolution):
            return answer
    return Abstain()


def _answer(answer: Resolution | Abstain) -> Resolution:
    if isinstance(answer, Abstain):
        raise TypeError("the last rule of a ladder never abstains")
    return answer


def _may_rule(conflict: Conflict, facts: PathFacts) -> bool:
    """Only where the rule's answer leaves no other name of the conflict in the air."""
    return facts.path_rule is not None and _RULED.issuperset(conflict.kinds)


def _names(conflict: Conflict) -> str:
    return ", ".join(conflict.kinds)


def _unresolved(facts: PathFacts, evidence: str) -> Draft:
    return Draft(facts, "none", None, evidence, Status.UNRESOLVED, facts.merged)


def _changed(facts: PathFacts, answer: Resolution | Abstain) -> Draft | None:
    """Without a conflict a rule counts only where it changes what git made."""
    if isinstance(answer, Abstain):
        return None
    draft = _whole(facts, answer)
    return None if draft.entry == facts.merged and draft.text is None else draft


def _whole(facts: PathFacts, answer: Resolution) -> Draft:
    if answer.status is Status.UNRESOLVED:
        return _unresolved(facts, answer.evidence)
    sides = {Take.SOURCE: facts.source, Take.TARGET: facts.target, Take.BASE: facts.base}
    entry = sides.get(answer.take, facts.merged if answer.take is Take.TEXT else None)
    if entry and facts.merged and facts.conflict and facts.conflict.kinds == (Kind.MODE,):
        entry = Entry(mode=entry.mode, oid=facts.merged.oid)  # the content merged cleanly
    return Draft(
        facts, answer.rule, answer.take, answer.evidence, answer.status, entry, answer.text
    )


def _by_hunk(
    facts: PathFacts, conflict: Conflict, fallback: Fallback, resolver: Resolver | None
) -> Draft:
    merged = facts.merged
    if merged is None or merged.oid not in facts.texts:
        return _unresolved(facts, "git left no text to resolve")
    try:
        segments = hunks.split(facts.texts[merged.oid], facts.marker_size)
    except ValueError as error:
        return _unresolved(facts, str(error))
    problem = _misread(facts, conflict, segments)
    if problem:
        return _unresolved(facts, problem)
    answers, whole = _answers(facts, segments, fallback, resolver)
    text = _text(facts, conflict, segments, answers) if whole is None else whole
    plans = _hunk_plans(segments, answers)
    mode = _mode(facts, conflict, fallback) if Kind.MODE in conflict.kinds else merged.mode
    return _draft(facts, plans, Entry(mode=mode, oid=merged.oid), text)


def _misread(facts: PathFacts, conflict: Conflict, segments: tuple[hunks.Segment, ...]) -> str:
    """Why the hunks cannot be what git meant, if they cannot: then nothing is guessed."""
    found = [segment for segment in segments if isinstance(segment, hunks.Hunk)]
    if not found:
        return "git reports a conflict, but its text holds no markers"
    entries = (conflict.base, conflict.target, conflict.source)
    texts = [facts.texts.get(entry.oid, b"") for entry in entries if entry]
    if clear_size(texts, (facts.marker_size,)) is None:
        return "a line of the file looks just like a conflict marker"
    return ""


def _mode(facts: PathFacts, conflict: Conflict, fallback: Fallback) -> str:
    side = conflict.target if fallback == "target" else conflict.source
    return (side or conflict.source or conflict.target or facts.merged or _REGULAR).mode


_REGULAR = Entry(mode="100644", oid="")


def _draft(facts: PathFacts, plans: tuple[HunkPlan, ...], entry: Entry, text: bytes) -> Draft:
    order = (Status.UNRESOLVED, Status.PROPOSAL, Status.SETTLED)
    status = next(kind for kind in order if any(plan.status is kind for plan in plans))
    rules = sorted({plan.rule for plan in plans})
    takes = {plan.take for plan in plans}
    evidence = (
        f"{len(plans)} conflicting hunk{'s' if len(plans) > 1 else ''}; what git merged stays"
    )
    take = takes.pop() if len(takes) == 1 else None
    open_end = status is Status.UNRESOLVED
    return Draft(
        facts, "+".join(rules), take, evidence, status, entry, None if open_end else text, plans
    )


def _answers(
    facts: PathFacts,
    segments: tuple[hunks.Segment, ...],
    fallback: Fallback,
    resolver: Resolver | None,
) -> tuple[list[Resolution], bytes | None]:
    """For each hunk: a rule's answer, else the resolver's, else the fallback's.

    Beside them the whole text, where only the resolver knows it.
    """
    every = _hunk_facts(facts.path, segments)
    ruled = {item.index: first(ladder.HUNK_RULES, item) for item in every}
    found = {at: answer for at, answer in ruled.items() if isinstance(answer, Resolution)}
    unsettled = tuple(at for at in ruled if at not in found)
    said = Resolved()
    if resolver and unsettled:
        said = resolver(FileConflict(facts, segments, found, unsettled))
    last = ladder.last_hunk_rule(fallback)
    known = {**found, **said.hunks}
    return [known.get(item.index) or _answer(last(item)) for item in every], said.text


def _hunk_facts(path: str, segments: tuple[hunks.Segment, ...]) -> list[HunkFacts]:
    sides = [_sides(segments, name) for name in ("base", "target", "source")]
    return [HunkFacts(path, index, *three) for index, three in enumerate(zip(*sides, strict=True))]


def _sides(segments: tuple[hunks.Segment, ...], name: str) -> list[Side]:
    """Every hunk of the file, seen from one side."""
    pieces = [_piece(part, name) for part in segments]
    file = b"".join(pieces)
    found, line = [], 1
    for part, piece in zip(segments, pieces, strict=True):
        end = line + piece.count(b"\n")
        if isinstance(part, hunks.Hunk):
            found.append(Side(_of(part, name), (line, end - 1), file))
        line = end
    return found


def _piece(part: hunks.Segment, name: str) -> bytes:
    """In the file around a hunk, hunks whose sides differ in more than layout are the source's.

    Mixed at will, the sides of such hunks rarely make a file that parses.
    """
    if isinstance(part, bytes):
        return part
    pairs = ((part.target, part.source), (part.base, part.target), (part.base, part.source))
    return _of(part, name if any(may_be_same(*pair) for pair in pairs) else "source")


def _of(hunk: hunks.Hunk, name: str) -> bytes:
    return {"base": hunk.base, "target": hunk.target, "source": hunk.source}[name]


def _text(
    facts: PathFacts,
    conflict: Conflict,
    segments: tuple[hunks.Segment, ...],
    answers: list[Resolution],
) -> bytes:
    text = hunks.assemble(segments, lambda index, hunk: chosen(hunk, answers[index]))
    if segments[-1] != b"":
        return text
    side = conflict.target if answers[-1].take is Take.TARGET else conflict.source
    whole = facts.texts.get(side.oid, b"\n") if side else b"\n"
    return hunks.without_added_newline(text, whole)


def _hunk_plans(
    segments: tuple[hunks.Segment, ...], answers: list[Resolution]
) -> tuple[HunkPlan, ...]:
    plans: list[HunkPlan] = []
    line = 1
    for segment in segments:
        if isinstance(segment, bytes):
            line += segment.count(b"\n")
            continue
        answer = answers[len(plans)]
        plans.append(_hunk_plan(line, segment, answer))
        line += chosen(segment, answer).count(b"\n")
    return tuple(plans)


def _hunk_plan(line: int, hunk: hunks.Hunk, answer: Resolution) -> HunkPlan:
    base, target, source = (
        len(text.splitlines()) for text in (hunk.base, hunk.target, hunk.source)
    )
    return HunkPlan(
        line=line,
        base_lines=base,
        target_lines=target,
        source_lines=source,
        take=None if answer.status is Status.UNRESOLVED else answer.take,
        rule=answer.rule,
        evidence=answer.evidence,
        status=answer.status,
    )
