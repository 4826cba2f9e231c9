"""The hidden marker in a pull request's body: the state that the next worker reads.

Whatever people write around our part of the body stays.
"""

import json
import re

from pydantic import ValidationError

from nightly_sync.model import Model

SCHEMA = 1
BEGIN = "<!-- nightly-sync:begin -->"
END = "<!-- nightly-sync:end -->"
_OPEN = "<!-- nightly-sync"
_JSON_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "--": "-\\u002d"}
# A forge may hand lines back with CR LF.
_LINE = re.compile(r"^<!-- nightly-sync: (\{.*\}) -->[ \t]*\r?$", re.MULTILINE)
_BLOCK = re.compile(
    rf"^{re.escape(BEGIN)}[ \t]*\r?$.*?^{re.escape(END)}[ \t]*\r?$", re.MULTILINE | re.DOTALL
)
_LONE = re.compile(rf"^(?:{re.escape(BEGIN)}|{re.escape(END)})[ \t]*\r?\n?", re.MULTILINE)


class Marker(Model):
    """What a sync was made from: enough to tell whether a rerun may go on with it."""

    schema_version: int = SCHEMA
    source: str  # SHA
    target: str  # SHA
    config: str  # SyncConfig.digest()


def render(marker: Marker) -> str:
    """One line of HTML comment that no value can end early: the JSON holds no `>` and no `--`."""
    data = json.dumps(marker.model_dump(mode="json"), sort_keys=True)
    for unsafe, escaped in _JSON_ESCAPES.items():
        data = data.replace(unsafe, escaped)
    return f"<!-- nightly-sync: {data} -->"


def parse(body: str) -> Marker | None:
    """The marker of a body, our own part first; None if there is none that can be read."""
    block = _BLOCK.search(body)
    lines = _LINE.findall(f"{block[0] if block else ''}\n{body}")
    markers = (_read(line) for line in lines)
    return next((marker for marker in markers if marker is not None), None)


def _read(data: str) -> Marker | None:
    try:
        marker = Marker.model_validate_json(data)
    except ValidationError:
        return None
    return marker if marker.schema_version == SCHEMA else None


def wrap(marker: Marker, text: str) -> str:
    """Our part of a body: marker and text between begin and end.

    Text that quotes such a marker (a diff of this very file) must not pass for one.
    """
    quoted = text.replace(_OPEN, _OPEN.replace(" ", "\u200b"))
    return f"{BEGIN}\n{render(marker)}\n\n{quoted}\n\n{END}"


def replace_between(body: str, ours: str) -> str:
    """The body with our part (from `wrap`) in place of the old one.

    Without a whole old part ours goes on top, and all that was there is taken to be people's.
    """
    block = _BLOCK.search(body)
    if block:
        return body[: block.start()] + ours + body[block.end() :]
    rest = _LONE.sub("", body)
    return f"{ours}\n\n{rest}" if rest.strip() else ours


def around(body: str) -> str:
    """What people wrote: the body without our part."""
    return _BLOCK.sub("", body, count=1)
