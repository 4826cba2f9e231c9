"""Every question an answer has to pass, and the file it makes. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from nightly_sync.agent.acceptance import file, invented, lines
from nightly_sync.agent.acceptance.model import HunkAnswer, HunkTask, Problem, ProblemKind
from nightly_sync.agent.forbidden import FileChange, Policy, RefusalKind, forbidden
from nightly_sync.agent.forbidden.check import TOO_DEEP
from nightly_sync.agent.forbidden.model import FILE
from nightly_sync.audits.lines import normal_lines
from nightly_sync.merge import hunks
from nightly_sync.merge.hunks import Hunk

Texts = tuple[bytes, ...]
"""The answer's text for each hunk, in order."""

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


def problems(
    task: HunkTask, answer: HunkAnswer, policy: Policy | None = None
) -> tuple[Problem, ...]:
    """What is wrong with an answer; nothing if it is accepted.

    With a policy, its hard limits hold too. An answer that is no resolution at all is told only
    that, as anything else would be noise.
    """
    texts = _texts(task, answer)
    if isinstance(texts, Problem):
        return (texts,)
    found = tuple(_text_problems(task, answer, texts))
    if found:
        return found
    try:
        return _judged(task, answer, texts, policy)
    except RecursionError:
        return (Problem(kind=ProblemKind.SYNTAX, sentence=TOO_DEEP),)


def _judged(
    task: HunkTask, answer: HunkAnswer, texts: Texts, policy: Policy | None
) -> tuple[Problem, ...]:
    merged = _joined(task, texts)
    return (
        *file.problems(task, merged),
        *lines.problems(task, answer, texts, merged),
        *invented.problems(task, answer, texts, merged, policy),
        *(_forbidden(task, merged, policy) if policy else ()),
        *(_settings(task, texts, policy) if policy else ()),
    )


def assemble(task: HunkTask, answer: HunkAnswer) -> bytes:
    """The file an answer makes: nothing outside of the hunks can differ.

    Raises ValueError for an answer that does not fit its task.
    """
    return _joined(task, hunk_texts(task, answer))


def hunk_texts(task: HunkTask, answer: HunkAnswer) -> Texts:
    """What an answer puts in the place of each hunk.

    Raises ValueError for an answer that does not fit its task.
    """
    found = _texts(task, answer)
    if isinstance(found, Problem):
        raise ValueError(found.sentence)
    return found


def cut(task: HunkTask, whole: bytes) -> Texts | None:
    """What stands for each hunk in a whole file; None if anything else differs."""
    fixed = [b""]
    for part in task.parts:
        if isinstance(part, Hunk):
            fixed.append(b"")
        else:
            fixed[-1] += part
    first, *rest = fixed
    if not rest or len(whole) < len(first) + len(rest[-1]):
        return None
    if not (whole.startswith(first) and whole.endswith(rest[-1])):
        return None
    inner, found, at = whole[len(first) : len(whole) - len(rest[-1])], [], 0
    for text in rest[:-1]:
        end = inner.find(text, at)
        if end < 0:
            return None
        found.append(inner[at:end])
        at = end + len(text)
    return (*found, inner[at:])


def _texts(task: HunkTask, answer: HunkAnswer) -> Texts | Problem:
    """The answer's texts, with the line ends of the file."""
    if answer.file is not None:
        return _cut_out(task, answer)
    given = Counter(item.hunk for item in answer.texts)
    if given != Counter(range(len(task.hunks))):
        numbers = ", ".join(map(str, sorted(given.elements()))) or "none"
        return Problem(
            kind=ProblemKind.HUNKS,
            sentence=f"the hunks are 0 to {len(task.hunks) - 1}, each once; you gave {numbers}",
        )
    ordered = sorted(answer.texts, key=lambda item: item.hunk)
    return tuple(_fitted(task, item.hunk, item.text.encode()) for item in ordered)


def _cut_out(task: HunkTask, answer: HunkAnswer) -> Texts | Problem:
    text = (answer.file or "").encode()
    found = cut(task, _with_line_ends(task, text))
    if answer.texts:
        return Problem(kind=ProblemKind.HUNKS, sentence="give texts or the whole file, not both")
    return found or Problem(
        kind=ProblemKind.OUTSIDE,
        sentence="the file differs outside of the conflicted hunks; only they may change",
    )


def _with_line_ends(task: HunkTask, text: bytes) -> bytes:
    """Text with \\r\\n, if no line of either side ends otherwise."""
    sides = task.target + task.source
    if b"\r\n" in sides and sides.count(b"\n") == sides.count(b"\r\n"):
        return text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return text


def _fitted(task: HunkTask, index: int, text: bytes) -> bytes:
    """Whole lines: with a last newline, unless the file ends here and neither side has one."""
    text = _with_line_ends(task, text)
    if text and not text.endswith(b"\n"):
        text += _with_line_ends(task, b"\n")
    is_last = index == len(task.hunks) - 1 and not task.parts[-1]
    ends = {side.endswith(b"\n") for side in (task.target, task.source)}
    return hunks.without_added_newline(text, b"") if is_last and ends == {False} else text


def _joined(task: HunkTask, texts: Texts) -> bytes:
    return hunks.assemble(task.parts, lambda index, _: texts[index])


def _text_problems(task: HunkTask, answer: HunkAnswer, texts: Texts) -> Iterator[Problem]:
    if not answer.rationale.strip():
        yield Problem(kind=ProblemKind.RATIONALE, sentence="say why this is the resolution")
    for index, (hunk, text) in enumerate(zip(task.hunks, texts, strict=True)):
        for kind, sentence in _one_text(task, hunk, text):
            yield Problem(kind=kind, sentence=sentence, hunk=index)


def _one_text(task: HunkTask, hunk: Hunk, text: bytes) -> Iterator[tuple[ProblemKind, str]]:
    limit = 2 * len(hunk.base + hunk.target + hunk.source) + _SPARE
    if len(text) > limit:
        yield (
            ProblemKind.SIZE,
            f"{len(text)} bytes are too many for this hunk; the limit is {limit}",
        )
    if b"\0" in text or text.count(b"\r") > text.count(b"\r\n") + _bare_returns(hunk):
        yield ProblemKind.LINE_ENDS, "it holds NUL characters or stray carriage returns"
    if b"\r\n" in text and b"\r\n" not in task.target + task.source:
        yield ProblemKind.LINE_ENDS, "no line of this file ends in a carriage return"
    sides = hunk.target + b"\n" + hunk.source
    for line in _new_matches(_MARKER, text, sides):
        yield ProblemKind.MARKER, f"`{line}` is a conflict marker"
    for line in _new_matches(_PLACEHOLDER, text, sides):
        yield ProblemKind.PLACEHOLDER, f"`{line}` stands for text; write the text itself"


def _bare_returns(hunk: Hunk) -> int:
    sides = hunk.target + hunk.source
    return sides.count(b"\r") - sides.count(b"\r\n")


def _new_matches(pattern: re.Pattern[bytes], text: bytes, sides: bytes) -> Sequence[str]:
    """Lines that match, but for those of a side: a heading may look like a marker."""
    known = {match[0].strip() for match in pattern.finditer(sides)}
    found = (match[0].strip() for match in pattern.finditer(text))
    return [line.decode("utf-8", "replace") for line in found if line not in known]


def _forbidden(task: HunkTask, merged: bytes, policy: Policy) -> Iterator[Problem]:
    """The hard limits: for what neither side has, and in a test for what either side has too."""
    changes = [_change(task, None, merged)]
    if policy.is_test(task.path):
        changes = [_change(task, side, merged) for side in (task.target, task.source)]
    refusals = (refusal for change in changes for refusal in forbidden((change,), policy))
    told = (
        refusal.evidence
        for refusal in refusals
        if refusal.kind not in _NOT_ASKED or refusal.evidence == TOO_DEEP
    )
    for evidence in dict.fromkeys(told):
        yield Problem(kind=ProblemKind.FORBIDDEN, sentence=evidence)


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


def _settings(task: HunkTask, texts: Texts, policy: Policy) -> Iterator[Problem]:
    """What says how strict the checks are is one side's, line by line, whatever the reason."""
    if not policy.is_settings(task.path):
        return
    known = {line for side in (task.target, task.source) for line in normal_lines(side, False)}
    for index, text in enumerate(texts):
        for line, key in zip(text.split(b"\n"), normal_lines(text, False), strict=True):
            if key and key not in known:
                shown = line.decode("utf-8", "replace").strip()[:200]
                sentence = f"neither side has `{shown}`, and check settings come from a side"
                yield Problem(kind=ProblemKind.FORBIDDEN, sentence=sentence, hunk=index)
