"""What the demo is made of: traps, the stories that set them, and the site they end up in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nightly_sync.audits.model import FindingKind
from nightly_sync.config import SyncConfig
from nightly_sync.demo.history import Content
from nightly_sync.record import Outcome

Files = Mapping[str, Content]


@dataclass(frozen=True)
class Trap:
    """One thing a merge can get wrong, and how a sync has to answer it."""

    name: str
    shows: str  # one sentence for the reader of the report
    path: str
    rule: str | None = None  # in the plan; None: git merged cleanly, no rule spoke
    findings: tuple[FindingKind, ...] = ()


@dataclass(frozen=True)
class Step:
    """One commit of a branch."""

    subject: str
    files: Files


@dataclass(frozen=True)
class Story:
    """Traps, what has to be there before the branches part, and each branch's commits since."""

    traps: tuple[Trap, ...]
    base: Files = field(default_factory=dict)  # in the first commit
    shared: tuple[Step, ...] = ()  # commits both branches have
    main: tuple[Step, ...] = ()
    dev: tuple[Step, ...] = ()


@dataclass(frozen=True)
class DemoSite:
    """A demo that was built: run `config`, then `check` what came of the traps."""

    origin: Path  # a bare repository
    config: SyncConfig
    traps: tuple[Trap, ...]
    verdict: Outcome  # how a whole run has to end


def edited(text: str, *changes: tuple[str, str]) -> str:
    """The text with each (old, new) replaced; ValueError unless `old` occurs exactly once."""
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"{old!r} occurs {text.count(old)} times in the text to edit")
        text = text.replace(old, new)
    return text
