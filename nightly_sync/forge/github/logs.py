"""Logs of checks: those of Actions jobs from another host, of other checks what they say.

GitHub answers with the signed address of a storage host. No token goes there. The text keeps its
byte order mark, colours and timestamps: triage takes them off.
"""

from collections import deque
from collections.abc import Iterable

import httpx2

from nightly_sync.checks.logs import CUT
from nightly_sync.forge.base import Check
from nightly_sync.forge.github.auth import http_client
from nightly_sync.forge.github.client import Client, Wire, parse
from nightly_sync.forge.github.refusals import GitHubError
from nightly_sync.forge.github.rollup import ACTIONS, Found

SHOWN = 2 * 1024 * 1024  # bytes of a log handed on, from its end
READ = 256 * 1024 * 1024  # bytes read at most; a log beyond that is not worth the traffic
GONE = (404, 410)  # not written yet, or deleted after the retention time


class _Output(Wire):
    title: str | None = None
    summary: str | None = None
    text: str | None = None


class _Run(Wire):
    output: _Output


class _Annotation(Wire):
    path: str | None = None
    start_line: int | None = None
    annotation_level: str | None = None
    message: str | None = None

    def line(self) -> str:
        """The way compilers write it, which triage reads."""
        return f"{self.path}:{self.start_line}: {self.annotation_level}: {self.message}"


class Logs:
    """Reads logs; `http` is the client for the storage host, without any credentials."""

    def __init__(self, client: Client, http: httpx2.Client | None = None, shown: int = SHOWN):
        self._client = client
        self._http = http or http_client(follow_redirects=True)
        self._shown = shown

    def read(self, found: Found, check: Check) -> str:
        """The text of a check of this rollup; "" if there is none (any more)."""
        number = found.runs.get(check)
        if number is None:
            return found.said.get(check, "")
        log = self._job(number) if check.app == ACTIONS else ""
        return log or self._output(number)

    def _job(self, job: int) -> str:
        doing = f"download the log of job {job}"
        try:
            return self._client.download(f"actions/jobs/{job}/logs", doing, self._fetch)
        except GitHubError as error:
            if error.status in GONE:
                return ""
            raise

    def _fetch(self, address: str) -> str:
        with self._http.stream("GET", address) as response:
            response.raise_for_status()
            return tail(response.iter_bytes(), self._shown)

    def _output(self, number: int) -> str:
        """What a check run shows: title, summary, text, and its notes on lines."""
        doing, checks = f"read check {number}", self._client.api.checks
        run = parse(_Run, self._client.call(checks.get, doing, check_run_id=number).data, doing)
        notes = self._client.pages(checks.list_annotations, doing, check_run_id=number)
        lines = [parse(_Annotation, note, doing).line() for note in notes]
        output = run.output
        return "\n".join(filter(None, (output.title, output.summary, output.text, *lines)))


def tail(chunks: Iterable[bytes], limit: int, most: int = READ) -> str:
    """The end of a stream, at most `limit` bytes, with a mark if something is left out. Pure."""
    kept: deque[bytes] = deque()
    size = total = 0
    for chunk in chunks:
        kept.append(chunk)
        size, total = size + len(chunk), total + len(chunk)
        while size - len(kept[0]) >= limit:
            size -= len(kept.popleft())
        if total > most:
            kept.append(f"\n{CUT}\n".encode())
            break
    return _text(b"".join(kept), limit, total)


def _text(data: bytes, limit: int, total: int) -> str:
    if total <= limit:
        return data.decode("utf-8", "replace")
    whole_lines = data[-limit:].decode("utf-8", "replace").partition("\n")[2]
    return f"{CUT}\n{whole_lines}"
