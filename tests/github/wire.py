"""HTTP on sockets: two threaded servers on loopback ports, and how a connection can break."""

import os
import socket
import struct
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from tests.github.http import Request, Response

Answer = Callable[[Request], "Outcome"]
GRACE = 5.0  # seconds to wait for the accepting thread


class Outcome:
    """What to do with a request: a response, half of it, or none. `wait` seconds before that."""

    def __init__(self, response: Response | None, cut: bool = False, wait: float = 0.0):
        self.response = response
        self.cut = cut
        self.wait = wait


class Handler(BaseHTTPRequestHandler):
    """One connection; kept open between requests as GitHub does."""

    protocol_version = "HTTP/1.1"
    # Head and body are two writes, and the second would wait 40 ms for the first's receipt.
    disable_nagle_algorithm = True
    server: "Host"

    def _serve(self) -> None:
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, path, query, headers, self._body())
        outcome = self.server.answer(request)
        if outcome.wait:
            self.server.closing.wait(outcome.wait)
        if outcome.response is None:
            self._reset()
        else:
            self._send(outcome.response, outcome.cut)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = _serve  # noqa: N815 (http.server's names)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return b"".join(iter(self._chunk, b""))
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().split(b";")[0], 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _send(self, response: Response, cut: bool) -> None:
        body = b"" if self.command == "HEAD" else response.body
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.status not in (204, 304):
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        self.wfile.flush()
        self.close_connection = self.close_connection or cut

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The Date header shows the stand-in's time, which tests can move."""
        return super().date_time_string(self.server.now() if timestamp is None else timestamp)

    def _reset(self) -> None:
        """Close at once with a reset, as a dying load balancer does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        os.close(self.connection.detach())

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing; requests are recorded elsewhere."""


class Host(ThreadingHTTPServer):
    """A server on a free loopback port; a bug in it becomes a problem, not a line on stderr."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, answer: Answer, now: Callable[[], float], problems: list[str]):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.now = now
        self.problems = problems
        self.closing = Event()
        self._thread = Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        """Not `serve_forever`, which notices an end only at its next turn; tests end often."""
        while not self.closing.is_set():
            self.handle_request()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Nobody is let in any more once it ends."""
        return not self.closing.is_set()

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep the traceback; a client that hung up is none of our business."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            self.problems.append(traceback.format_exc())

    def stop(self) -> None:
        """Stop accepting, end waits, free the port."""
        self.closing.set()
        with suppress(OSError):  # wakes the accepting thread; it may be gone already
            socket.create_connection(("127.0.0.1", self.server_address[1]), GRACE).close()
        self._thread.join(GRACE)
        self.server_close()
