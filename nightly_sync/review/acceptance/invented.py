"""Names, numbers and decisions that are nowhere but in the answer. Pure."""

import builtins
import keyword
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator

from nightly_sync import patterns
from nightly_sync.paths import from_bytes
from nightly_sync.review.acceptance.code import tokens
from nightly_sync.review.acceptance.model import HunkAnswer, HunkTask, ProblemKind, Texts
from nightly_sync.review.forbidden import Policy
from nightly_sync.review.harm import Objection

_PROSE = ("*.md", "*.rst", "*.txt", "!CMakeLists.txt")
_WORD = re.compile(r"\d(?:[eE][+-]\d|[\w.])*|\w+")
_COMMENT = re.compile(r"(?:^|\s)(?:#|//).*")
_LANGUAGE = frozenset((*dir(builtins), *keyword.kwlist, *keyword.softkwlist, "self", "cls"))
# Words that decide whether other code runs, and to what end.
_DECIDES = frozenset(
    {
        *(
            "if",
            "elif",
            "else",
            "for",
            "while",
            "try",
            "except",
            "finally",
            "with",
            "lambda",
            "del",
        ),
        *("return", "raise", "continue", "break", "pass", "yield", "not", "and", "or"),
        *("def", "class"),
    }
)


def problems(
    task: HunkTask, answer: HunkAnswer, texts: Texts, merged: bytes, policy: Policy
) -> Iterator[Objection]:
    """What is new without a reason; in a test, no reason makes up for a new number."""
    if patterns.matches(task.path, _PROSE):
        return
    reasons = {name for name, reason in answer.invented.items() if reason.strip()}
    fixed = policy.is_test(task.path)
    sides = (task.base, task.target, task.source)
    quotable = (*sides, *(part for part in task.parts if isinstance(part, bytes)))
    known = {word for text in quotable for word in _WORD.findall(from_bytes(text))}
    if task.python:
        known |= {word for text in sides for word in _names(text)}
        yield from _decisions(task, merged, reasons)
    for word in sorted({*_new_words(task, texts, merged)} - known - _LANGUAGE):
        if fixed and word[0].isdigit():
            sentence = f"`{word}` is on neither side, and a test's numbers come from a side"
            yield Objection(ProblemKind.INVENTED, sentence)
        elif word not in reasons:
            sentence = f"`{word}` is on neither side; keep to what is, or say why in `invented`"
            yield Objection(ProblemKind.INVENTED, sentence)


def _decisions(task: HunkTask, merged: bytes, reasons: set[str]) -> Iterator[Objection]:
    """Control flow that there is more of now than a side has, or than both have added."""
    versions = (task.base, task.target, task.source, merged)
    base, target, source, made = (Counter(_names(text)) for text in versions)
    for word in sorted(_DECIDES - reasons):
        if made[word] > max(target[word], source[word], target[word] + source[word] - base[word]):
            sentence = f"there is a new `{word}`; keep to what a side has, or say why in `invented`"
            yield Objection(ProblemKind.INVENTED, sentence)


def _new_words(task: HunkTask, texts: Texts, merged: bytes) -> Iterable[str]:
    """What the answer says; comments say nothing, nor do Python's strings."""
    if task.python:
        return _names(merged)
    return (word for text in texts for word in _WORD.findall(_COMMENT.sub("", from_bytes(text))))


def _names(text: bytes) -> list[str]:
    """Names and numbers outside of strings and comments; none if it is no Python."""
    return [item.string for item in tokens(text) if item.type in (tokenize.NAME, tokenize.NUMBER)]
