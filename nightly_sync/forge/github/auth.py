"""Who the job is for GitHub: a token from somewhere, or a GitHub App's installation.

Tokens live in closures and private fields of plain classes: no repr, no log and no exception
shows one.
"""

import ssl
from collections.abc import Callable, Generator
from datetime import UTC, datetime, timedelta
from functools import cache
from threading import Lock
from typing import Any, Protocol

import httpx2
import jwt

from nightly_sync.errors import ConfigError
from nightly_sync.forge.github.address import Address
from nightly_sync.forge.github.refusals import is_renamed, led_away, moved, refusal
from nightly_sync.forge.github.reply import MOVED, Kind, Trouble, kind_of, message_of, server_time

EARLY = timedelta(minutes=5)  # an installation token is replaced this long before its end
NEVER = datetime.min.replace(tzinfo=UTC)
SIGNED_FOR = timedelta(minutes=9)  # GitHub takes 10 at most
SKEW = timedelta(seconds=60)  # GitHub's own advice for clocks that differ
TIMEOUT = httpx2.Timeout(30, connect=10)
AGENT = {"User-Agent": "nightly-sync", "X-GitHub-Api-Version": "2022-11-28"}


@cache
def _trusted() -> ssl.SSLContext:
    """The certificates that we trust; reading them takes longer than a request."""
    return httpx2.create_ssl_context()


def http_client(timeout: httpx2.Timeout = TIMEOUT, **settings: Any) -> httpx2.Client:
    """An HTTP client with time limits."""
    return httpx2.Client(verify=_trusted(), timeout=timeout, **settings)


class Tokens(Protocol):
    """Where tokens come from."""

    def token(self) -> str:
        """A token that should work now."""

    def renew(self, rejected: str) -> bool:
        """GitHub rejected this token; is there another one now?"""


class ReadTokens:
    """Tokens that something else keeps: an environment variable, a secret block."""

    def __init__(self, read: Callable[[], str]):
        self._read = read

    def token(self) -> str:
        """Whatever is there now."""
        return self._read()

    def renew(self, rejected: str) -> bool:
        """Whether it was replaced meanwhile."""
        return self._read() != rejected


class AppTokens:
    """Installation tokens of a GitHub App, for one repository, renewed before they end."""

    def __init__(
        self,
        address: Address,
        app_id: str,
        private_key: str,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        http: httpx2.Client | None = None,
    ):
        self._address = address
        self._app_id = app_id
        self._key = private_key
        self._clock = clock
        self._http = http or http_client(headers=AGENT)
        self._skew = timedelta()  # what our clock lacks to GitHub's, once it complained
        self._installation = 0
        self._current = ""
        self._good_until = NEVER
        self._lock = Lock()

    def token(self) -> str:
        """A token with at least some minutes to live.

        Raises ConfigError for a key that signs nothing, GitHubError if the App may not, and the
        HTTP library's errors if GitHub cannot be reached.
        """
        with self._lock:
            if self._now() >= self._good_until:
                self._fetch()
            return self._current

    def renew(self, rejected: str) -> bool:
        """Forget the rejected token; the next one is new."""
        with self._lock:
            if self._current == rejected:
                self._good_until = NEVER
        return True

    def _fetch(self) -> None:
        repository = f"/repos/{self._address.full_name}/installation"
        if not self._installation:
            self._installation = int(str(self._ask("GET", repository)["id"]))
        path = f"/app/installations/{self._installation}/access_tokens"
        made = self._ask("POST", path, {"repositories": [self._address.name]})
        self._current = str(made["token"])
        self._good_until = datetime.fromisoformat(str(made["expires_at"])) - EARLY

    def _ask(self, method: str, path: str, body: object = None) -> dict[str, object]:
        response = self._send(method, path, body)
        if _blames_the_clock(response) and (now := server_time(response.headers)):
            self._skew = now - self._clock()
            response = self._send(method, path, body)
        if response.is_success:
            answer: dict[str, object] = response.json()
            return answer
        raise self._failure(response)

    def _send(self, method: str, path: str, body: object) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self._signed()}"}
        return self._http.request(method, f"{self._address.api}{path}", headers=headers, json=body)

    def _now(self) -> datetime:
        """GitHub's time, as far as known."""
        return self._clock() + self._skew

    def _signed(self) -> str:
        now = self._now()
        claims = {"iat": now - SKEW, "exp": now + SIGNED_FOR, "iss": self._app_id}
        try:
            return jwt.encode(claims, self._key, algorithm="RS256")
        except (ValueError, TypeError, jwt.PyJWTError):
            raise ConfigError("the GitHub App's private key is no RSA key in PEM form") from None

    def _failure(self, response: httpx2.Response) -> Exception:
        """A refusal as a sentence; what may pass as the HTTP library's error, to be tried again."""
        message, details = message_of(_json(response))
        headers = {name.lower(): value for name, value in response.headers.items()}
        trouble = Trouble(response.status_code, message, headers, details)
        doing = "get a token for the GitHub App (is it installed on the repository?)"
        if kind_of(trouble) is not Kind.REFUSED:
            return httpx2.HTTPStatusError(message, request=response.request, response=response)
        if trouble.status == 401:
            return ConfigError("GitHub does not know this App, or its private key is another one")
        if is_renamed(trouble, self._address.api):
            return moved(doing, "", self._address.url)
        if trouble.status in MOVED:
            return led_away(doing, trouble, self._address.api)
        return refusal(doing, trouble)


def _blames_the_clock(response: httpx2.Response) -> bool:
    """Did GitHub find the times in the signed claims wrong? Its words name `exp` or `iat`."""
    said = message_of(_json(response))[0] if response.status_code == 401 else ""
    return "('exp')" in said or "('iat')" in said


def _json(response: httpx2.Response) -> object:
    try:
        return response.json()
    except ValueError:
        return None


class TokenAuth(httpx2.Auth):
    """Puts the token on each request, and a new one after a 401, once."""

    def __init__(self, tokens: Tokens):
        self._tokens = tokens

    def auth_flow(
        self, request: httpx2.Request
    ) -> Generator[httpx2.Request, httpx2.Response, None]:
        """The HTTP library's hook around a request."""
        token = self._tokens.token()
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code == 401 and self._tokens.renew(token):
            request.headers["Authorization"] = f"Bearer {self._tokens.token()}"
            yield request
