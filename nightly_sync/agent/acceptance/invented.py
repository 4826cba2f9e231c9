"""Names and numbers that are nowhere but in the answer. Pure."""

import builtins
import io
import keyword
import re
import tokenize
from collections.abc import Iterable, Iterator

from nightly_sync import patterns
from nightly_sync.agent.acceptance.model import HunkAnswer, HunkTask, Problem, ProblemKind
from nightly_sync.agent.forbidden import Policy
from nightly_sync.paths import from_bytes

_PROSE = ("*.md", "*.rst", "*.txt", "!CMakeLists.txt")
_WORD = re.compile(r"\d[\w.]*|\w+")
_COMMENT = re.compile(r"(?:^|\s)(?:#|//).*")
_LANGUAGE = frozenset((*dir(builtins), *keyword.kwlist, *keyword.softkwlist, "self", "cls"))


def problems(
    task: HunkTask,
    answer: HunkAnswer,
    texts: tuple[bytes, ...],
    merged: bytes,
    policy: Policy | None,
) -> Iterator[Problem]:
    """Names and numbers without a reason; in a test, no reason makes up for a new number."""
    if patterns.matches(task.path, _PROSE):
        return
    reasons = {name for name, reason in answer.invented.items() if reason.strip()}
    fixed = policy is not None and policy.is_test(task.path)
    known = {word for text in task.known for word in _words(task, text)}
    for word in sorted(set(_new_words(task, texts, merged)) - known - _LANGUAGE):
        if fixed and word[0].isdigit():
            sentence = f"`{word}` is on neither side, and a test's numbers come from a side"
            yield Problem(kind=ProblemKind.INVENTED, sentence=sentence)
        elif word not in reasons:
            sentence = f"`{word}` is on neither side; keep to what is, or say why in `invented`"
            yield Problem(kind=ProblemKind.INVENTED, sentence=sentence)


def _new_words(task: HunkTask, texts: tuple[bytes, ...], merged: bytes) -> Iterable[str]:
    """What the answer says, beside what was there; comments say nothing, nor do Python's strings.

    That a file is no Python is said elsewhere.
    """
    if task.python:
        return _python_words(merged) or ()
    return (word for text in texts for word in _WORD.findall(_COMMENT.sub("", from_bytes(text))))


def _words(task: HunkTask, text: bytes) -> Iterator[str]:
    """All that may be quoted of a text."""
    yield from _WORD.findall(from_bytes(text))
    yield from (_python_words(text) or ()) if task.python else ()


def _python_words(text: bytes) -> list[str] | None:
    """Names and numbers outside of strings and comments; None if it is no Python."""
    try:
        tokens = list(tokenize.tokenize(io.BytesIO(text).readline))
    except (tokenize.TokenError, SyntaxError, ValueError, LookupError):
        return None
    return [token.string for token in tokens if token.type in (tokenize.NAME, tokenize.NUMBER)]
