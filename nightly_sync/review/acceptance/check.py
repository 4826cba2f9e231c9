"""Every question an answer has to pass, and the texts it puts into the file. Pure."""

import re
from collections import Counter
from collections.abc import Iterator

from nightly_sync import imports
from nightly_sync.audits.lines import normal_lines
from nightly_sync.merge import hunks
from nightly_sync.review.acceptance import file, invented, lines
from nightly_sync.review.acceptance.model import HunkAnswer, HunkTask, ProblemKind, Texts
from nightly_sync.review.forbidden import FileChange, Policy, RefusalKind, forbidden
from nightly_sync.review.forbidden.check import TOO_DEEP
from nightly_sync.review.forbidden.model import FILE
from nightly_sync.review.harm import Objection, lost_definitions

_SPARE = 4000  # characters that an answer may have beyond twice its hunk
# Longer than what quotes, headings and doctests are made of; the markers of a merge are 7 and more.
_MARKER = re.compile(rb"^(?:<{5,}|>{5,}|\|{5,}|={7,})(?=[ \r\n]|\Z)[^\n]*", re.MULTILINE)
_PLACEHOLDER = re.compile(
    rb"^[ \t]*(?:"
    rb"(?:#|//|--|/\*|<!--)[ \t]*(?:\.\.\.|\xe2\x80\xa6)[^\n]*"
    rb"|(?:#|//|--|/\*|<!--)[^\n]*\b(?:rest|remain\w*|existing|unchanged|omitted|same|as before)\b"
    rb"[^\n]*(?:\.\.\.|\xe2\x80\xa6)[^\n]*"
    rb"|<[^<>\n]*\b(?:hunk|text|code|resol\w+|placeholder|omitted)\b[^<>\n]*>"
    rb")[ \t]*\r?$",
    re.MULTILINE | re.IGNORECASE,
)
# Both sides may change the same settings: there the lines are what counts.
_NOT_ASKED = frozenset({RefusalKind.SETTINGS, RefusalKind.SYNTAX})


class Misfit(ValueError):
    """An answer that does not fit its task."""

    def __init__(self, kind: ProblemKind, sentence: str):
        super().__init__(sentence)
        self.kind = kind


def problems(task: HunkTask, answer: HunkAnswer, policy: Policy) -> tuple[Objection, ...]:
    """What is wrong with an answer; nothing if it is accepted.

    An answer that is no resolution at all is told only that, as anything else would be noise.
    """
    try:
        texts = hunk_texts(task, answer)
        return tuple(_text_problems(task, answer, texts)) or tuple(
            _file_problems(task, answer, texts, policy)
        )
    except Misfit as error:
        return (Objection(error.kind, str(error)),)
    except RecursionError:
        return (Objection(ProblemKind.SYNTAX, TOO_DEEP),)
    except UnicodeEncodeError:
        return (Objection(ProblemKind.SYNTAX, "it holds half a character, a lone surrogate"),)


def hunk_texts(task: HunkTask, answer: HunkAnswer) -> Texts:
    """What an answer puts in the place of each hunk, with the line ends of the file.

    Raises Misfit for an answer that does not fit its task.
    """
    if answer.file is not None:
        return _cut_out(task, answer, answer.file)
    given = Counter(item.hunk for item in answer.texts)
    if given != Counter(range(len(task.hunks))):
        numbers = ", ".join(map(str, sorted(given.elements()))) or "none"
        sentence = f"the hunks are 0 to {len(task.hunks) - 1}, each once; you gave {numbers}"
        raise Misfit(ProblemKind.HUNKS, sentence)
    ordered = sorted(answer.texts, key=lambda item: item.hunk)
    return tuple(_fitted(task, item.hunk, item.text.encode()) for item in ordered)


def _cut_out(task: HunkTask, answer: HunkAnswer, whole: str) -> Texts:
    if answer.texts:
        raise Misfit(ProblemKind.HUNKS, "give texts or the whole file, not both")
    found = cut(task, _with_line_ends(task, whole.encode()))
    if found is None:
        sentence = "the file differs outside of the conflicted hunks; only they may change"
        raise Misfit(ProblemKind.OUTSIDE, sentence)
    return found


def cut(task: HunkTask, whole: bytes) -> Texts | None:
    """What stands for each hunk in a whole file; None if anything else differs."""
    first, *between, last = (part for part in task.parts if isinstance(part, bytes))
    if not whole.startswith(first):
        return None
    found, left = [], whole[len(first) :]
    for text in between:
        at = left.find(text)
        if at < 0:
            return None
        found.append(left[:at])
        left = left[at + len(text) :]
    return (*found, left.removesuffix(last)) if left.endswith(last) else None


def _with_line_ends(task: HunkTask, text: bytes) -> bytes:
    """Text with \\r\\n, if no line of either side ends otherwise."""
    sides = task.target + task.source
    if b"\r\n" in sides and sides.count(b"\n") == sides.count(b"\r\n"):
        return text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return text


def _fitted(task: HunkTask, index: int, text: bytes) -> bytes:
    """Whole lines: with a last newline, unless the file ends here and neither side has one."""
    if text and not text.endswith(b"\n"):
        text += b"\n"
    text = _with_line_ends(task, text)
    is_last = index == len(task.hunks) - 1 and not task.parts[-1]
    ends = {side.endswith(b"\n") for side in (task.target, task.source)}
    return hunks.without_added_newline(text, b"") if is_last and ends == {False} else text


def _text_problems(task: HunkTask, answer: HunkAnswer, texts: Texts) -> Iterator[Objection]:
    if not answer.rationale.strip():
        yield Objection(ProblemKind.RATIONALE, "say why this is the resolution")
    for index, (hunk, text) in enumerate(zip(task.hunks, texts, strict=True)):
        sides = hunk.target + b"\n" + hunk.source
        limit = 2 * len(hunk.base + sides) + _SPARE
        if len(text) > limit:
            sentence = f"{len(text)} bytes are too many for this hunk; the limit is {limit}"
            yield Objection(ProblemKind.SIZE, sentence, index)
        if b"\0" in text or _bare_returns(text) > _bare_returns(sides):
            sentence = "it holds NUL characters or stray carriage returns"
            yield Objection(ProblemKind.LINE_ENDS, sentence, index)
        if b"\r\n" in text and b"\r\n" not in task.target + task.source:
            sentence = "no line of this file ends in a carriage return"
            yield Objection(ProblemKind.LINE_ENDS, sentence, index)
        for line in _new_matches(_MARKER, text, sides):
            yield Objection(ProblemKind.MARKER, f"`{line}` is a conflict marker", index)
        for line in _new_matches(_PLACEHOLDER, text, sides):
            sentence = f"`{line}` stands for text; write the text itself"
            yield Objection(ProblemKind.PLACEHOLDER, sentence, index)


def _bare_returns(text: bytes) -> int:
    return text.count(b"\r") - text.count(b"\r\n")


def _new_matches(pattern: re.Pattern[bytes], text: bytes, sides: bytes) -> list[str]:
    """Lines that match, but for those of a side: a heading may look like a marker."""
    known = {match[0].strip() for match in pattern.finditer(sides)}
    found = (match[0].strip() for match in pattern.finditer(text))
    return [line.decode("utf-8", "replace") for line in found if line not in known]


def _file_problems(
    task: HunkTask, answer: HunkAnswer, texts: Texts, policy: Policy
) -> Iterator[Objection]:
    merged = hunks.assemble(task.parts, lambda index, _: texts[index])
    yield from file.problems(task, merged)
    yield from lines.problems(task, answer, texts, merged)
    if task.python and imports.parse(merged):  # that it does not parse is said by `file`
        changes = [_change(task, side, merged) for side in (task.target, task.source)]
        yield from dict.fromkeys(lost_definitions(changes))
    yield from invented.problems(task, answer, texts, merged, policy)
    yield from _forbidden(task, merged, policy)
    yield from _settings(task, texts, policy)


def _forbidden(task: HunkTask, merged: bytes, policy: Policy) -> Iterator[Objection]:
    """The hard limits: for what neither side has, and in a test for what either side has too."""
    versions = (task.target, task.source) if policy.is_test(task.path) else (None,)
    changes = (_change(task, before, merged) for before in versions)
    refusals = (refusal for change in changes for refusal in forbidden((change,), policy))
    told = (
        refusal.evidence
        for refusal in refusals
        if refusal.kind not in _NOT_ASKED or refusal.evidence == TOO_DEEP
    )
    for evidence in dict.fromkeys(told):
        yield Objection(ProblemKind.FORBIDDEN, evidence)


def _change(task: HunkTask, before: bytes | None, merged: bytes) -> FileChange:
    return FileChange(
        task.path,
        before,
        merged,
        mode_before=None if before is None else FILE,
        sides=(task.target, task.source),
        base=task.base,
        merging=True,
    )


def _settings(task: HunkTask, texts: Texts, policy: Policy) -> Iterator[Objection]:
    """What says how strict the checks are is one side's, line by line, whatever the reason."""
    if not policy.is_settings(task.path):
        return
    known = {line for side in (task.target, task.source) for line in normal_lines(side, False)}
    for index, text in enumerate(texts):
        for line, key in zip(text.split(b"\n"), normal_lines(text, False), strict=True):
            if key and key not in known:
                shown = line.decode("utf-8", "replace").strip()[:200]
                sentence = f"neither side has `{shown}`, and check settings come from a side"
                yield Objection(ProblemKind.FORBIDDEN, sentence, index)
