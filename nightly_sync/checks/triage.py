"""What broke? A failed check and its log in, one failure with a signature out; then the groups.

Pure. The signature is equal for the same failure on any machine and any commit, and differs as
soon as the set of failing tests, messages or errors does.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import reduce

from nightly_sync.checks.endings import ends_a_run, failed_steps, unfinished
from nightly_sync.checks.items import FailureKind, Item, annotations, items_of
from nightly_sync.checks.logs import lines_of, stable, without_root
from nightly_sync.forge.base import Check
from nightly_sync.model import Model

EXCERPT_LINES = 60
EXCERPT_COLUMNS = 400
ITEMS = 1000  # kept; the signature is made of all
AGGREGATE_LINES = 60  # a job that only reports on others says little

_RANK = tuple(FailureKind)
_STRONGEST = (FailureKind.TEST, FailureKind.COMPILE, FailureKind.IMPORT, FailureKind.LINT)


class Failure(Model):
    """One failed check, understood as far as its log goes."""

    check: Check
    kind: FailureKind
    signature: str  # kind, colon, 16 hex digits; empty if the log gives nothing to compare
    title: str  # one line
    items: tuple[str, ...] = ()  # sorted; the same on every machine; doubles kept
    roots: tuple[str, ...] = ()  # missing modules (`pkg.mod`) and names (`pkg.mod:name`), sorted
    excerpt: str = ""  # the log's own lines that matter
    unfinished: str = ""  # why the items may not be all there is; empty if the check ran to the end
    aggregate: bool = False  # it only says that other jobs failed
    steps: int = 0  # that ended with an exit code, as far as the log says


class FailureGroup(Model):
    """Failures with one root: one finding. An aggregate's group is never debugged itself."""

    kind: FailureKind
    title: str
    failures: tuple[Failure, ...]
    aggregate: bool = False
    baseline: tuple[str, ...] = ()  # how these checks fare without the merge, a sentence each

    @property
    def checks(self) -> tuple[str, ...]:
        """Names of the checks it fails."""
        return tuple(failure.check.name for failure in self.failures)


def triage(check: Check, log: str) -> Failure:
    """What a failed check's log says went wrong."""
    everything = without_root(lines_of(log))
    lines = [line for line in everything if not _NOISE.match(line)]
    found = items_of(lines)
    steps = failed_steps(everything)
    texts = _texts(found, lines, steps)
    aggregate = not found and _is_aggregate(lines)
    kind = _kind(check, found)
    return Failure(
        check=check,
        kind=kind,
        signature=f"{kind}:{_digest(texts)}" if texts else "",
        title=_title(kind, found, lines),
        items=texts[-ITEMS:],
        roots=tuple(sorted({item.root for item in found if item.root})),
        excerpt=_excerpt(lines, {item.line for item in found}),
        unfinished=unfinished(check, everything) or ("" if texts else "the log says nothing"),
        aggregate=aggregate,
        steps=steps,
    )


def group(failures: Iterable[Failure]) -> list[FailureGroup]:
    """One group a root, the gravest kind first, aggregates last.

    Broken imports belong together where they miss the same module or name, everything else where
    the signatures are equal.
    """
    failures = list(failures)
    start: list[list[Failure]] = []
    gathered = reduce(_gather, (item for item in failures if not item.aggregate), start)
    groups = sorted((_grouped(members) for members in gathered), key=lambda g: _RANK.index(g.kind))
    aggregates = [_grouped([item]) for item in failures if item.aggregate]
    return groups + aggregates


def _gather(groups: list[list[Failure]], failure: Failure) -> list[list[Failure]]:
    """Add a failure to the groups it shares a root with, which thereby become one."""
    same = [members for members in groups if any(_one_root(failure, item) for item in members)]
    rest = [members for members in groups if members not in same]
    return [*rest, [*(item for members in same for item in members), failure]]


def _one_root(left: Failure, right: Failure) -> bool:
    if left.kind is not right.kind:
        return False
    if left.kind is FailureKind.IMPORT and set(left.roots) & set(right.roots):
        return True
    return bool(left.signature) and left.signature == right.signature


def _grouped(members: Sequence[Failure]) -> FailureGroup:
    first = members[0]
    return FailureGroup(
        kind=first.kind, title=first.title, failures=tuple(members), aggregate=first.aggregate
    )


# Lines that a runner adds around every failure.
_NOISE = re.compile(
    r"^##\[(?:command|group|endgroup|debug|section)\]"
    r"|^##\[error\]Process completed with exit code \d+\.?$"
    r"|^$"
)
_EXCEPTION = re.compile(r"^(?:E\s+)?(?:\w+\.)*\w*(?:Error|Exception|Exit)\b(?:: .*)?$")
_MATTERS = re.compile(r"^##\[error\]|^ +--> .*:\d+:\d+$|^E  +\S|^(?:fatal|error|Error|ERROR)\b")
_AGGREGATE = re.compile(
    r"(?i)\b(?:some|one or more|not all|required|needed|upstream)\b.{0,30}\b(?:jobs?|workflows?)\b"
    r"|\bfailed jobs?\b|\bjobs? (?:have |has |were |was |did )?(?:failed|cancelled|not succe)"
    r"|\bneeds\.[\w*-]+\.result\b|\"result\": \"(?:failure|cancelled)\""
)


def _kind(check: Check, items: Sequence[Item]) -> FailureKind:
    if check.conclusion == "TIMED_OUT":
        return FailureKind.TIMEOUT
    if not items:
        return FailureKind.UNKNOWN
    kinds = {item.kind for item in items if not item.bare} or {FailureKind.TEST}
    return next((kind for kind in _STRONGEST if kind in kinds), FailureKind.INFRASTRUCTURE)


def _texts(found: Sequence[Item], lines: Sequence[str], steps: int) -> tuple[str, ...]:
    """All that is compared: what is understood must not hide what another step says.

    A step of no known pattern still leaves its annotations and its exit code.
    """
    several = [f"{steps} failing steps"] if steps > 1 else []
    if not found:
        return (*_all_lines(lines), *several)
    taken = {item.line for item in found}
    rest = annotations(line for line in lines if line not in taken)
    return tuple(sorted((*(item.text for item in found), *rest, *several)))


def _all_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """A log that no pattern knows is its own description."""
    return tuple(text for line in lines if (text := stable(line)))


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode("utf-8", "replace")).hexdigest()[:16]


def _title(kind: FailureKind, items: Sequence[Item], lines: Sequence[str]) -> str:
    if kind is FailureKind.TIMEOUT:
        return "It took too long and was stopped."
    roots = sorted({item.root for item in items if item.root})
    if kind is FailureKind.IMPORT and roots:
        return f"Broken import: {', '.join(roots)}"
    texts = list(dict.fromkeys(item.text for item in items if item.kind is kind))
    if not texts:
        return stable(_last_telling(lines))[:EXCERPT_COLUMNS] or "The log says nothing."
    more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
    return f"{texts[0][:EXCERPT_COLUMNS]}{more}"


def _last_telling(lines: Sequence[str]) -> str:
    telling = [line for line in lines if _MATTERS.match(line) or _EXCEPTION.match(line)]
    return (telling or list(lines) or [""])[-1].removeprefix("##[error]")


def _excerpt(lines: Sequence[str], wanted: set[str]) -> str:
    shown = [line for line in lines if line in wanted or _is_telling(line)]
    chosen = shown[:EXCERPT_LINES] or lines[-EXCERPT_LINES // 2 :]
    return "\n".join(line[:EXCERPT_COLUMNS] for line in chosen)


def _is_telling(line: str) -> bool:
    return bool(_MATTERS.match(line) or _EXCEPTION.match(line)) or ends_a_run(line)


def _is_aggregate(lines: Sequence[str]) -> bool:
    return len(lines) <= AGGREGATE_LINES and any(_AGGREGATE.search(line) for line in lines)
