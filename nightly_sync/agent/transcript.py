"""What was said, as JSON lines: one event a line, written at once."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

HIDDEN = "***"


def _now() -> datetime:
    return datetime.now(UTC)


class Transcript:
    """Appends events to a file; for several threads. Without a path, nothing is kept.

    Pure ASCII, so that bytes no encoding knows survive as escapes. What stands in `secrets` is
    replaced wherever it turns up.
    """

    def __init__(
        self,
        path: Path | None = None,
        secrets: tuple[str, ...] = (),
        now: Callable[[], datetime] = _now,
    ):
        self.path = path
        self._secrets = tuple(json.dumps(secret)[1:-1] for secret in secrets if secret)
        self._now = now
        self._lock = Lock()

    def write(self, event: str, task: str, file: str, **facts: Any) -> None:
        """One line: when, what, for which task and file, and the facts."""
        if self.path is None:
            return
        head = {"at": self._now().isoformat(), "event": event, "task": task, "file": file}
        line = self._hidden(json.dumps({**head, **facts}))
        with self._lock, self.path.open("a", encoding="ascii") as out:
            out.write(f"{line}\n")

    def _hidden(self, line: str) -> str:
        for secret in self._secrets:
            line = line.replace(secret, HIDDEN)
        return line
