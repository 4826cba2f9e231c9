"""Git over smart HTTP: the real `git http-backend`, behind GitHub's rules for tokens.

Refusals of branch protection come from a pre-receive hook (`receive_hook.py`). git reports them
as "pre-receive hook declined"; here that is replaced by the words GitHub uses.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from tests.github import auth, bare
from tests.github.errors import ApiError
from tests.github.http import Request, Response
from tests.github.state import Repository, Token, World

PATTERN = re.compile(
    r"/(?P<owner>[^/]+)/(?P<name>[^/]+?)(?:\.git)?/(?P<rest>info/refs|git-(?:upload|receive)-pack)"
)
PUSH = "git-receive-pack"
DECLINED = b"pre-receive hook declined"
HOOK = Path(__file__).with_name("receive_hook.py")
_REALM = {"WWW-Authenticate": 'Basic realm="GitHub"'}
_HEADERS = {"content-type": "CONTENT_TYPE", "content-encoding": "HTTP_CONTENT_ENCODING"}


class Denied(Exception):
    """A refusal that git shows after `remote:`."""

    def __init__(self, status: int, text: str):
        super().__init__(text)
        self.status = status


def install_hook(path: Path) -> None:
    """Put the hook into a bare repository; it does nothing for pushes that come another way."""
    hook = path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    command = shlex.join([sys.executable, "-I", "-S", str(HOOK)])
    hook.write_text(f'#!/bin/sh\n[ -n "$STAND_IN_POLICY" ] || exit 0\nexec {command}\n')
    hook.chmod(0o755)


class GitHttp:
    """Answers what git asks of `/owner/name.git`."""

    def __init__(self, world: World, root: Path):
        self.world = world
        self.root = root

    def answer(self, request: Request) -> Response:
        """One request of git."""
        found = PATTERN.fullmatch(request.path)
        pushes = PUSH in f"{request.path} {request.query_string}"
        try:
            if found is None:
                raise Denied(404, "Not Found")
            token = self._token(request)
            repository = self._repository(found["owner"], found["name"], token, pushes)
        except Denied as denied:
            headers = _REALM if denied.status == 401 else {}
            kind = {"Content-Type": "text/plain; charset=utf-8"}
            return Response(denied.status, f"{denied}\n".encode(), {**kind, **headers})
        return self._served(request, repository, token, found["rest"])

    def _token(self, request: Request) -> Token | None:
        try:
            return auth.token_of(self.world, request.headers.get("authorization"))
        except ApiError:
            raise Denied(401, "Invalid username or token.") from None

    def _repository(self, owner: str, name: str, token: Token | None, pushes: bool) -> Repository:
        found = self.world.repository(owner, name)
        if token is None and (pushes or found is None or found.private):
            raise Denied(401, "No anonymous write access." if pushes else "Repository not found.")
        if found is None or not auth.visible(token, found):
            raise Denied(404, "Repository not found.")
        if pushes and token:
            self._may_push(found, token)
        return found

    def _may_push(self, repository: Repository, token: Token) -> None:
        if not auth.holds(token, "contents:write"):
            name = f"{repository.full_name}.git"
            raise Denied(403, f"Permission to {name} denied to {token.account.login}.")
        if repository.archived:
            raise Denied(403, "This repository was archived so it is read-only.")

    def _served(
        self, request: Request, repository: Repository, token: Token | None, rest: str
    ) -> Response:
        with tempfile.TemporaryDirectory(dir=self.root) as folder:
            reasons = Path(folder) / "reasons.json"
            extra = self._cgi(request, repository, token, rest, reasons)
            response = _run(request.body, extra)
            if reasons.exists():
                response.body = reworded(response.body, json.loads(reasons.read_text()))
        if rest == PUSH:
            repository.broken_pushes = max(0, repository.broken_pushes - 1)
            self.world.look(repository, token)
        return response

    def _cgi(
        self,
        request: Request,
        repository: Repository,
        token: Token | None,
        rest: str,
        reasons: Path,
    ) -> dict[str, str]:
        sent = {
            name: request.headers[key] for key, name in _HEADERS.items() if key in request.headers
        }
        user = {"REMOTE_USER": token.account.login} if token else {}
        return {
            **sent,
            **user,
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
            "PATH_INFO": f"/{repository.path.relative_to(self.root)}/{rest}",
            "QUERY_STRING": request.query_string,
            "REQUEST_METHOD": request.method,
            "CONTENT_LENGTH": str(len(request.body)),
            "STAND_IN_REASONS": str(reasons),
            "STAND_IN_POLICY": json.dumps(self._policy(repository, token)),
        }

    def _policy(self, repository: Repository, token: Token | None) -> dict[str, object]:
        passed: dict[str, list[str]] = {}
        for run in repository.check_runs:
            if run.conclusion == "SUCCESS":
                passed.setdefault(run.suite.sha, []).append(run.name)
        return {
            "rules": [asdict(rule) for rule in repository.protections],
            "workflows": token is not None and auth.holds(token, "workflows:write"),
            "kind": token.kind if token else "",
            "passed": passed,
            "broken": repository.broken_pushes,
            "url": f"{self.world.url}/{repository.full_name}",
        }


def _run(body: bytes, extra: Mapping[str, str]) -> Response:
    done = subprocess.run(
        ["git", "http-backend"],
        input=body,
        capture_output=True,
        env=bare.environment(extra),
        check=True,
    )
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    pairs = (line.partition(": ") for line in head.decode("latin-1").split("\r\n"))
    headers = {name: value for name, _, value in pairs}
    status = int(headers.pop("Status", "200").split()[0])
    return Response(status, content, headers)


def reworded(body: bytes, reasons: Mapping[str, str]) -> bytes:
    """The answer to a push with GitHub's reasons in the report of refused refs."""
    report, out, placed = b"", b"", False
    packets = list(_packets(body))
    for packet in packets:
        report += packet[1:] if packet[:1] == b"\x01" else b""
    changed = b"".join(_packet(_reason(line, reasons)) for line in _packets(report))
    for packet in packets:
        if packet[:1] != b"\x01":
            out += _packet(packet)
        elif not placed:
            out, placed = out + _packet(b"\x01" + changed), True
    return out


def _reason(line: bytes, reasons: Mapping[str, str]) -> bytes:
    """`ng <ref> pre-receive hook declined`, in other words."""
    if not line.startswith(b"ng ") or DECLINED not in line:
        return line
    ref = line.split(b" ")[1]
    text = reasons.get(os.fsdecode(ref), DECLINED.decode())
    return b"ng " + ref + b" " + text.encode() + b"\n"


def _packets(stream: bytes) -> Iterator[bytes]:
    """Packets of git's wire format; a flush is empty."""
    while stream:
        size = int(stream[:4], 16)
        yield stream[4:size] if size else b""
        stream = stream[max(size, 4) :]


def _packet(payload: bytes) -> bytes:
    return b"%04x%s" % (len(payload) + 4, payload) if payload else b"0000"
