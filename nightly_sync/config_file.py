"""The YAML side of SyncConfig: one file in, a config or one readable error out.

An error names file, line and key (`deployments/x.yaml:14: rules[2].paths[0]: ...`). Plain values
are handed on as the text that stands in the file, so that a branch `1.10` is not read as the
number 1.1; the model turns text into numbers and booleans where it wants them.
"""

import difflib
import re
import typing
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from nightly_sync import paths
from nightly_sync.config import Contradiction, Loc, SyncConfig, dotted
from nightly_sync.errors import ConfigError
from nightly_sync.model import Model

_TAG = "tag:yaml.org,2002:"
_SCALARS = {_TAG + name for name in ("str", "int", "float", "bool", "timestamp")}
_REASONS = {
    "missing": "this key is required",
    "string_type": "needs text",
    "string_too_short": "is empty",
    "tuple_type": "needs a list",
    "model_type": "needs keys of its own",
    "float_type": "needs a number",
    "float_parsing": "needs a number",
    "greater_than": "needs a number above 0",
    "greater_than_equal": "needs a number that is not negative",
    "int_type": "needs a whole number",
    "int_parsing": "needs a whole number",
    "bool_type": "needs true or false",
    "bool_parsing": "needs true or false",
}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_MANY = 8  # keys; more are looked up rather than read in an error
_SHOWN = 40  # characters of a wrong value worth repeating


@dataclass(frozen=True)
class Problem:
    """One thing wrong with the file. `line` counts from 1; `loc` is empty for the file itself."""

    line: int
    loc: Loc
    reason: str


def load(file: Path) -> SyncConfig:
    """The config in `file`; ConfigError, naming file, line and key, if it cannot be used."""
    document, text = _Document(), _read(file)
    try:
        root = _compose(text)
        value = document.value(root, ()) if root else {}
    except (MarkedYAMLError, ReaderError, RecursionError) as error:
        raise _error(file, [_broken(error, text)]) from error
    if not isinstance(value, dict):
        raise _error(file, [Problem(1, (), "a config is a list of `key: value` lines")])
    try:
        config = SyncConfig.model_validate(value)
    except ValidationError as error:
        found = (_problem(item, document.lines) for each in error.errors() for item in _flat(each))
        raise _error(file, [*document.problems, *found]) from error
    if document.problems:
        raise _error(file, document.problems)
    return config


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{_shown(file)}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise _error(file, [Problem(line, (), "is not UTF-8 text")]) from error


def _compose(text: str) -> Node | None:
    with warnings.catch_warnings():  # a reused anchor is legal YAML
        warnings.simplefilter("ignore")
        root: Node | None = YAML().compose(text)
    return root


def _broken(error: MarkedYAMLError | ReaderError | RecursionError, text: str) -> Problem:
    """Broken YAML, in the parser's own words."""
    if isinstance(error, ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return Problem(line, (), f"holds a character that YAML refuses: {error.character:#04x}")
    if isinstance(error, RecursionError):
        return Problem(1, (), "is nested too deeply")
    mark = error.problem_mark or error.context_mark
    words = ", ".join(part for part in (error.context, error.problem) if part)
    return Problem(mark.line + 1 if mark else 1, (), f"is not YAML: {words}")


class _Document:
    """Turns YAML nodes into plain values and remembers where each stood.

    `lines`: of each mapping's key and each list's item, by place. `problems`: what plain values
    cannot show, such as a key that is given twice.
    """

    def __init__(self) -> None:
        self.lines: dict[Loc, int] = {(): 1}
        self.problems: list[Problem] = []
        self._values: dict[int, object] = {}

    def value(self, node: Node, loc: Loc) -> object:
        """The node as str, None, list or dict. An alias is read once, at its anchor."""
        if id(node) not in self._values:
            self._values[id(node)] = None  # what an alias to its own parent gets
            self._values[id(node)] = self._fresh(node, loc)
        return self._values[id(node)]

    def _fresh(self, node: Node, loc: Loc) -> object:
        if isinstance(node, MappingNode):
            return self._mapping(node, loc)
        if isinstance(node, SequenceNode):
            return [self._item(item, (*loc, at)) for at, item in enumerate(node.value)]
        return self._scalar(node, loc)

    def _item(self, node: Node, loc: Loc) -> object:
        self.lines[loc] = node.start_mark.line + 1
        return self.value(node, loc)

    def _mapping(self, node: MappingNode, loc: Loc) -> dict[str, object]:
        result: dict[str, object] = {}
        for key, value in node.value:
            name = _printable(str(key.value)) if isinstance(key, ScalarNode) else "?"
            place = (*loc, name)
            if name in result:
                reason = f"is given twice, first in line {self.lines[place]}"
                self.problems.append(Problem(key.start_mark.line + 1, place, reason))
                continue
            self.lines[place] = key.start_mark.line + 1
            result[name] = self.value(value, place)
        return result

    def _scalar(self, node: Node, loc: Loc) -> str | None:
        tag = str(node.tag)
        if tag == f"{_TAG}null":
            return None
        if tag not in _SCALARS:
            reason = f"the YAML tag {tag.removeprefix(_TAG)!r} has no meaning here"
            self.problems.append(Problem(node.start_mark.line + 1, loc, reason))
        text = str(node.value)
        if _LONE_SURROGATE.search(text):
            reason = "holds half a character (a lone surrogate)"
            self.problems.append(Problem(node.start_mark.line + 1, loc, reason))
        return text


def _flat(error: ErrorDetails) -> Iterator[tuple[Loc, str]]:
    """Place and reason of each thing one of pydantic's errors says."""
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, Contradiction):
        yield from ((clash.loc, clash.reason) for clash in cause.clashes)
    else:
        yield error["loc"], str(cause) if cause else _reason(error)


def _reason(error: ErrorDetails) -> str:
    kind, value = error["type"], error["input"]
    if kind == "extra_forbidden":
        return f"unknown key{_suggestion(error['loc'])}"
    if kind == "literal_error":
        return f"needs one of {error['ctx']['expected']}{_given(value)}"
    return f"{_REASONS[kind]}{_given(value)}" if kind in _REASONS else error["msg"]


def _given(value: object) -> str:
    if value is None:
        return ", but nothing stands there"
    if isinstance(value, str) and value:
        return f", not {value[:_SHOWN]!r}{'...' if len(value) > _SHOWN else ''}"
    return ""


def _suggestion(loc: Loc) -> str:
    known = _keys_beside(loc)
    near = difflib.get_close_matches(str(loc[-1]).lower(), known, n=1)
    if near:
        return f", did you mean {near[0]!r}?"
    return f"; known here: {', '.join(known)}" if len(known) <= _MANY else " (see docs/config.md)"


def _keys_beside(loc: Loc) -> list[str]:
    """The keys the model knows where `loc` stands."""
    model: type[Model] = SyncConfig
    for part in loc[:-1]:
        if isinstance(part, str):
            model = nested_model(model.model_fields[part].annotation) or model
    return list(model.model_fields)


def nested_model(annotation: object) -> type[Model] | None:
    """The model inside a field's type, such as `PathRule` in `tuple[PathRule, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    inner = (nested_model(item) for item in typing.get_args(annotation))
    return next((model for model in inner if model), None)


def _problem(found: tuple[Loc, str], lines: Mapping[Loc, int]) -> Problem:
    """With the line of the nearest place that stands in the file."""
    loc, reason = found
    nearest = next(loc[:end] for end in range(len(loc), -1, -1) if loc[:end] in lines)
    return Problem(lines[nearest], loc, reason)


def _error(file: Path, problems: Iterable[Problem]) -> ConfigError:
    """The first problem, by line, and how many more there are."""
    first, *others = sorted(problems, key=lambda problem: problem.line)
    key = f" {dotted(first.loc)}:" if first.loc else ""
    more = f" (and {len(others)} more)" if others else ""
    return ConfigError(_printable(f"{_shown(file)}:{first.line}:{key} {first.reason}{more}"))


def _printable(text: str) -> str:
    """What a value quoted from the file may hold must not stop the error from being printed."""
    return text.encode("utf-8", "backslashreplace").decode()


def _shown(file: Path) -> str:
    return paths.printable(str(file))
