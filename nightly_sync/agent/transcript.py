"""What was said, as JSON lines: one event a line, written at once."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

HIDDEN = "***"
_now = partial(datetime.now, UTC)


class Transcript:
    """Appends events to a file. Without a path, nothing is kept.

    Pure ASCII, so that bytes no encoding knows survive as escapes. A `secret` is replaced wherever
    it turns up.
    """

    def __init__(
        self,
        path: Path | None = None,
        secret: str = "",
        now: Callable[[], datetime] = _now,
    ):
        self.path = path
        self._secret = json.dumps(secret)[1:-1]
        self._now = now

    def write(self, event: str, task: str, file: str, **facts: Any) -> None:
        """One line: when, what, for which task and file, and the facts."""
        if self.path is None:
            return
        head = {"at": self._now().isoformat(), "event": event, "task": task, "file": file}
        line = json.dumps({**head, **facts})
        if self._secret:
            line = line.replace(self._secret, HIDDEN)
        with self.path.open("a", encoding="ascii") as out:
            out.write(f"{line}\n")
