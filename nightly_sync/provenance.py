"""What every commit of ours says about where it came from: trailers, read back on resume."""

import re

from nightly_sync.config import SyncConfig
from nightly_sync.model import Model

SCHEMA = 1


class Provenance(Model):
    """The inputs a sync was made from; the same three mean the same sync."""

    source: str
    target: str
    config: str  # SyncConfig.digest()


_NAMES = {
    "source": "Nightly-Sync-Source",
    "target": "Nightly-Sync-Target",
    "config": "Nightly-Sync-Config",
}
_TRAILER = re.compile(r"^\s*Nightly-Sync-(Source|Target|Config): ([0-9a-f]{12,64})\s*$", re.M)
FIX = "Nightly-Sync-Fix-Of"


def merge_message(title: str, made_from: Provenance, config: SyncConfig) -> str:
    """The merge commit's message: title, what was merged, trailers."""
    text = (
        f"Merge {config.source} ({made_from.source[:12]}) "
        f"into {config.target} ({made_from.target[:12]})."
    )
    values = made_from.model_dump()
    trailers = [f"{name}: {values[key]}" for key, name in _NAMES.items()]
    return "\n".join((title, "", text, "", *trailers, *_signed(config))) + "\n"


def fix_message(summary: str, details: tuple[str, ...], merge: str, config: SyncConfig) -> str:
    """The rolling fix commit's message; `details`, one line each, say what was repaired."""
    lines = [f"- {line}" for line in details]
    return "\n".join((summary, "", *lines, "", f"{FIX}: {merge}", *_signed(config))) + "\n"


def _signed(config: SyncConfig) -> tuple[str, ...]:
    who = config.committer
    return (f"Signed-off-by: {who.name} <{who.email}>",) if config.sign_off else ()


def parse(message: str) -> Provenance | None:
    """Read the trailers back, wherever a squash may have put them; None unless all are there."""
    found = {key.lower(): value for key, value in _TRAILER.findall(message)}
    return Provenance.model_validate(found) if len(found) == len(_NAMES) else None


def fix_of(message: str) -> str | None:
    """The merge commit a fix commit belongs to."""
    match = re.search(rf"^{FIX}: ([0-9a-f]{{40,64}})$", message, re.M)
    return match[1] if match else None


def fixes(message: str) -> tuple[str, ...]:
    """The lines of a fix commit that say what it repairs."""
    lines = (line for line in message.splitlines() if line.startswith("- "))
    return tuple(line.removeprefix("- ") for line in lines)
