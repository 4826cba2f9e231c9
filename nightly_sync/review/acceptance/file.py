"""Does the whole file still parse, and are its names right? Pure.

For Python the audits of a merged tree say so.
"""

import hashlib
import json
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from nightly_sync.audits import duplicates, undefined
from nightly_sync.audits.compare import Comparison, Trees, align
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.config import SyncConfig
from nightly_sync.conflicts import Entry
from nightly_sync.merge.model import MergePlan
from nightly_sync.review.acceptance.model import HunkTask, ProblemKind
from nightly_sync.review.harm import Objection

_AUDITS = (
    (ProblemKind.UNDEFINED, undefined.audit),
    (ProblemKind.DUPLICATE, duplicates.audit),
)
_MAX_YAML = 100_000  # bytes; more take seconds


def problems(task: HunkTask, merged: bytes) -> Iterator[Objection]:
    """What is wrong with the file that is wrong with neither side's."""
    fault = _fault(task, merged)
    if fault and not any(_fault(task, side) for side in (task.target, task.source)):
        sentence = f"the file is malformed, as neither side's is: {fault}"
        yield Objection(ProblemKind.SYNTAX, sentence)
    elif task.python:
        facts = _facts(task, merged)
        for kind, audit in _AUDITS:
            for found in audit(facts):
                yield Objection(kind, f"line {found.line}: {found.evidence}")


def _facts(task: HunkTask, merged: bytes) -> AuditFacts:
    """One file's merge as the audits see it; nothing is planned, nobody removed anything."""
    versions = (task.base, task.source, task.target, merged)
    oids = [hashlib.sha1(text, usedforsecurity=False).hexdigest() for text in versions]
    trees = Trees(*({task.path: Entry(mode="100644", oid=oid)} for oid in oids))
    texts = dict(zip(oids, versions, strict=True))
    plan = MergePlan(
        source="", target="", bases=("",), auto_merge_tree="", resolved_tree=None, paths=()
    )
    return AuditFacts(Comparison(trees, align(trees, {}), texts), SyncConfig(repository="."), plan)


# Of the last three, ruamel raises some for a tag that does not fit its value: `!!bool x`.
_UNREADABLE = (
    *(SyntaxError, ValueError, RecursionError, MemoryError, YAMLError),
    *(LookupError, TypeError, AttributeError),
)


def _fault(task: HunkTask, text: bytes) -> str:
    """Why it cannot be read, in one line; empty if it can, or nobody here can tell."""
    reader = _compiled if task.python else _READERS.get(task.path.rpartition(".")[2].lower(), len)
    try:
        reader(text)
    except _UNREADABLE as error:
        return " ".join(str(error).split())[:300] or type(error).__name__
    return ""


def _compiled(text: bytes) -> object:
    """Compiled, as parsing alone allows an argument that a call gives twice."""
    with warnings.catch_warnings(action="ignore"):
        return compile(text, "the file", "exec", dont_inherit=True)


def _json(text: bytes) -> object:
    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, object]]) -> None:
    """A key that stands there twice is what a bad merge leaves; the first would be lost."""
    names = Counter(name for name, _ in pairs)
    if len(names) < len(pairs):
        raise ValueError(f"the key {names.most_common(1)[0][0]!r} is there twice")


def _toml(text: bytes) -> object:
    return tomllib.loads(text.decode())


def _yaml(text: bytes) -> object:
    return list(YAML(typ="safe", pure=True).load_all(text)) if len(text) < _MAX_YAML else None


_READERS: dict[str, Callable[[bytes], object]] = {
    "json": _json,
    "toml": _toml,
    "yaml": _yaml,
    "yml": _yaml,
}
