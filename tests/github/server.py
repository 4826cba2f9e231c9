"""The stand-in for GitHub: one object that tests start, fill, script and look at.

    with GitHub(tmp_path) as github:
        repo = github.repository("acme/widgets")
        token = github.token()
        github.ci.on_comment(r"/ok to test (\\w+)", [Act("tests"), Act("gate", after=1)])

REST is served below `/` and `/api/v3`, GraphQL at `/graphql` and `/api/graphql`, git at
`/acme/widgets.git`, logs on a port of their own.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from urllib.parse import urlsplit

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.github import bare, git_http
from tests.github.auth import permissions_of
from tests.github.ci import CI
from tests.github.faults import Fault, Faults
from tests.github.git_http import GitHttp
from tests.github.graphql import GraphQL
from tests.github.http import Request, Response
from tests.github.limits import Limits
from tests.github.people import Person
from tests.github.record import Requests
from tests.github.rest import Rest
from tests.github.state import App, Protection, Repository, Token, Workflow, World
from tests.github.wire import Host, Outcome

GHES = "/api/v3"
GRAPHQL = ("/graphql", "/api/graphql")
APP_PERMISSIONS: Mapping[str, str] = {
    "actions": "write",
    "checks": "read",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "read",
    "workflows": "write",
}
ERROR_PAGE = b"<html><head><title>Unicorn!</title></head><body>502 Bad Gateway</body></html>"


@dataclass(frozen=True)
class AppKey:
    """What a GitHub App's client is configured with."""

    id: int
    installation: int
    private_key: str  # PEM


class GitHub:
    """A GitHub of one's own, on loopback ports."""

    def __init__(self, folder: Path):
        self._root = folder / "github"
        self._root.mkdir(parents=True)
        self.world = World()
        self.limits = Limits(self.world.clock)
        self.faults = Faults()
        self.requests = Requests()
        self.ci = CI(self.world)
        self._rest = Rest(self.world, self.limits)
        self._graphql = GraphQL(self.world, self.limits)
        self._git = GitHttp(self.world, self._root)
        self._host = Host(self._answer, self._now, self.problems)
        self._logs = Host(self._log, self._now, self.problems)
        self.world.url, self.world.logs_url = self._host.url, self._logs.url

    def __enter__(self) -> "GitHub":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving."""
        self._host.stop()
        self._logs.stop()

    # Where things are

    @property
    def url(self) -> str:
        """The host: REST as on github.com, with GraphQL at `/graphql`."""
        return self.world.url

    @property
    def ghes_url(self) -> str:
        """REST as on GitHub Enterprise Server, with GraphQL at `/api/graphql`."""
        return self.world.url + GHES

    def git_url(self, repository: Repository, token: str = "") -> str:
        """The clone URL; with a token in it only for what plays a person in a test."""
        parts = urlsplit(self.world.url)
        user = f"x-access-token:{token}@" if token else ""
        return f"{parts.scheme}://{user}{parts.netloc}/{repository.full_name}.git"

    @property
    def problems(self) -> list[str]:
        """Requests GitHub's description does not allow, and bugs of the stand-in; want none."""
        return self.world.problems

    # Filling it

    def repository(
        self, full_name: str = "acme/widgets", branch: str = "main", private: bool = False
    ) -> Repository:
        """An empty repository; push to `path` or to `git_url`."""
        owner, _, name = full_name.partition("/")
        path = self._root / owner / f"{name}.git"
        bare.init(path, branch)
        git_http.install_hook(path)
        who = self.world.account(owner, "Organization")
        made = Repository(self.world.id(), who, name, path, branch, self.world.clock.now(), private)
        self.world.repositories[full_name] = made
        return made

    def rename(self, repository: Repository, full_name: str) -> None:
        """Rename or transfer a repository; the API's old paths lead to the new name from then."""
        old, (owner, _, name) = repository.full_name, full_name.partition("/")
        del self.world.repositories[old]
        repository.owner, repository.name = self.world.account(owner, "Organization"), name
        self.world.repositories[full_name] = self.world.renamed[old.lower()] = repository

    def token(
        self,
        scopes: tuple[str, ...] = ("repo", "workflow"),
        login: str = "sync-bot",
        expires_in: float | None = None,
        triggers: bool = True,
    ) -> str:
        """A classic token. `triggers=False` starts no workflows, like a workflow's own token."""
        text = f"ghp_{token_hex(18)}"
        held = permissions_of(scopes)
        return self._keep(
            Token(text, self.world.account(login), "classic", held, scopes), expires_in, triggers
        )

    def fine_grained(
        self,
        permissions: Mapping[str, str],
        login: str = "sync-bot",
        expires_in: float | None = None,
    ) -> str:
        """A fine-grained token, such as `{"contents": "write", "pull_requests": "write"}`."""
        text = f"github_pat_{token_hex(30)}"
        held = {"metadata": "read", **permissions}
        return self._keep(
            Token(text, self.world.account(login), "fine-grained", held), expires_in, True
        )

    def _keep(self, token: Token, expires_in: float | None, triggers: bool) -> str:
        token.triggers = triggers
        if expires_in is not None:
            token.expires_at = self.world.clock.now() + timedelta(seconds=expires_in)
        self.world.tokens[token.text] = token
        return token.text

    def expire(self, token: str = "") -> None:
        """End a token's life now; without one, that of all installation tokens."""
        for text, known in self.world.tokens.items():
            if text == token or (not token and known.kind == "installation"):
                known.expires_at = self.world.clock.now()

    def exhaust(self, token: str, resource: str = "core", seconds: float = 3600) -> None:
        """Use up a token's quota; it comes back after so many seconds."""
        self.limits.exhaust(self.world.tokens[token], resource, seconds)

    def outage(self, seconds: float, pattern: str = "") -> None:
        """From now on every request that matches fails, until the clock has moved on so far."""
        self.faults.fail_until(self.world.clock.passed(seconds), pattern)

    def app(
        self, slug: str = "sync-app", permissions: Mapping[str, str] = APP_PERMISSIONS
    ) -> AppKey:
        """A GitHub App, installed everywhere; its bot is `slug[bot]`."""
        key = _key(slug)
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        world, bot = self.world, self.world.account(f"{slug}[bot]", "Bot")
        app = App(world.id(), slug, slug, bot, public, world.id(), permissions, world.clock.now())
        world.apps.append(app)
        return AppKey(app.id, app.installation, private.decode())

    def workflow(
        self, repository: Repository, name: str, file: str, dispatch: bool = True
    ) -> Workflow:
        """A workflow that can be dispatched; others appear when a script names them."""
        path = f".github/workflows/{file}"
        made = Workflow(self.world.id(), name, path, dispatch, self.world.clock.now())
        repository.workflows.append(made)
        return made

    def protect(self, repository: Repository, rule: Protection) -> None:
        """Add a rule to a repository's branches."""
        repository.protections.append(rule)

    def person(self, repository: Repository, login: str = "alice") -> Person:
        """Somebody who works there too; a collaborator."""
        if login not in repository.collaborators:
            repository.collaborators = (*repository.collaborators, login)
        return Person(self.world, repository, login)

    # Serving

    def _now(self) -> float:
        return self.world.clock.now().timestamp()

    def _answer(self, request: Request) -> Outcome:
        text = request.body.decode(errors="replace") if request.path in GRAPHQL else ""
        return self._through(request, f"{_line(request)} {text}", self._kind(request))

    def _log(self, request: Request) -> Outcome:
        return self._through(request, f"LOGS {_line(request)}", "logs")

    def _kind(self, request: Request) -> str:
        if request.path in GRAPHQL:
            return "graphql"
        return "git" if git_http.PATTERN.fullmatch(request.path) else "rest"

    def _through(self, request: Request, subject: str, kind: str) -> Outcome:
        """A request past the faults that wait for it."""
        faults = self.faults.take(subject)
        _act(faults, "before")
        wait = sum(fault.seconds for fault in faults)
        kinds = {fault.kind for fault in faults}
        response: Response | None
        if "reset" in kinds:
            response = None
        elif "status" in kinds:
            status = next(fault.status for fault in faults if fault.kind == "status")
            response = Response(status, ERROR_PAGE, {"Content-Type": "text/html"})
        else:
            response = self._done(request, kind)
            _act(faults, "after")
        if "lost" in kinds:
            response = None
        self.requests.add(kind, request, response)
        return Outcome(response, cut="cut" in kinds, wait=wait)

    def _done(self, request: Request, kind: str) -> Response:
        if kind == "git":
            return self._git.answer(request)
        with self.world.lock:
            if kind == "logs":
                return self._log_text(request)
            if kind == "graphql":
                return self._graphql.answer(request)
            prefix = GHES if request.path.startswith(f"{GHES}/") else ""
            return self._rest.answer(request, prefix)

    def _log_text(self, request: Request) -> Response:
        """A job's log. The address is signed, so a token has no business here."""
        if "authorization" in request.headers:
            self.problems.append("a token was sent to the host of the logs")
            return Response(400, b"InvalidAuthenticationInfo")
        found = re.fullmatch(r"/(\d+)", request.path)
        runs = [run for repo in self.world.repositories.values() for run in repo.check_runs]
        log = next((run.log for run in runs if found and run.id == int(found[1])), None)
        if log is None:
            return Response(404, b"BlobNotFound")
        return Response(200, log, {"Content-Type": "text/plain; charset=utf-8"})


@cache
def _key(slug: str) -> rsa.RSAPrivateKey:
    """An App's key, made once a process: that takes a tenth of a second."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _line(request: Request) -> str:
    query = f"?{request.query_string}" if request.query_string else ""
    return f"{request.method} {request.path}{query}"


def _act(faults: list[Fault], kind: str) -> None:
    for fault in faults:
        if fault.kind == kind and fault.action:
            fault.action()
