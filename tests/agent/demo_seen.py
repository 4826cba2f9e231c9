"""A run's transcript as plain text, for people to read."""

import json
import re
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

from nightly_sync.record import RunRecord
from nightly_sync.reports.markdown import visible

SHOWN = 40  # lines of one text
WIDTH = 160  # characters of a line
_FRAME = re.compile(r'<data-[0-9a-f]{16} what="([^"]*)"[^>]*>')
_END = re.compile(r"\n</data-[0-9a-f]{16}>")


def transcript(file: Path, record: RunRecord) -> list[str]:
    """Each conversation from what was asked to how it ended, and the bill."""
    return [*_said(file), "", *_bill(record), ""]


def _said(file: Path) -> Iterator[str]:
    events = file.read_text("ascii").splitlines() if file.exists() else []
    for event in map(json.loads, events):
        yield from _EVENTS.get(event["event"], _nothing)(event)


def _nothing(_: dict[str, Any]) -> Iterator[str]:
    yield from ()


def _started(event: dict[str, Any]) -> Iterator[str]:
    about = f" {event['file']}" if event["file"] else ""
    yield from ("", f"Task {event['task']}{about}. Claude is asked:")
    yield from _block(event["opening"])


def _message(event: dict[str, Any]) -> Iterator[str]:
    for block in event["content"]:
        if block["type"] == "text":
            yield "  Claude says:"
            yield from _block(block["text"])
        elif block["type"] == "tool_use":
            yield f"  Claude calls {block['name']}:"
            yield from _block("\n".join(_input(block["input"])))


def _result(event: dict[str, Any]) -> Iterator[str]:
    word = "refuses" if event["is_error"] else "answers"
    yield f"  nightly-sync {word} ({event['tool']}):"
    yield from _block(event["text"])


def _ended(event: dict[str, Any]) -> Iterator[str]:
    why = f": {event['detail']}" if event["detail"] else ""
    yield f"  The conversation ends: {event['reason']}{why}."


_EVENTS = {"started": _started, "message": _message, "tool_result": _result, "ended": _ended}


def _input(given: dict[str, Any]) -> Iterator[str]:
    """A tool's input, a line each; an edit as what goes and what comes."""
    if {"old", "new"} <= given.keys():
        yield f"path: {given['path']}"
        lines = unified_diff(given["old"].splitlines(), given["new"].splitlines(), n=0, lineterm="")
        yield from (line for line in lines if not line.startswith(("---", "+++", "@@")))
    else:
        yield from _values("", given)


def _values(name: str, value: object) -> Iterator[str]:
    """Texts of several lines stand below their name."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(key, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(name, inner)
    elif "\n" in str(value):
        yield f"{name}:"
        yield from str(value).splitlines()
    else:
        yield f"{name}: {value}"


def _block(text: str) -> Iterator[str]:
    lines = visible(_END.sub("", _FRAME.sub(r"[\1]", text))).splitlines()
    yield from (f"    | {_short(line)}".rstrip() for line in lines[:SHOWN])
    if len(lines) > SHOWN:
        yield f"    | ... and {len(lines) - SHOWN} more lines"


def _short(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[:WIDTH]}..."


def _bill(record: RunRecord) -> Iterable[str]:
    read = record.agent_input + record.agent_cache_read + record.agent_cache_write
    return (
        f"What it cost: {record.agent_turns} answers, {read:,} tokens read, "
        f"{record.agent_output:,} written, {record.agent_seconds:.1f} s, money "
        f"{record.agent_money or 0:.3f} at the example prices of docs/claude.md.",
        f"Sent back: {record.agent_rejected}. Refused, as no task may do it: "
        f"{record.agent_refused}.",
    )
