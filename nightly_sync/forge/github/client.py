"""Requests to GitHub: one connection, patience, paging, and what it costs.

Built on ghapi's generated operations over one HTTP client. ghapi retries only connections, and
never stops paging lists that come in an envelope, so retries and paging are here.
"""

import random
import time
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import cache
from math import inf
from types import SimpleNamespace
from typing import Any, TypeVar

import httpx2
from ghapi.core import APIError, GhApi
from pydantic import BaseModel, ConfigDict, ValidationError

from nightly_sync.forge.base import Cost
from nightly_sync.forge.github.address import Address
from nightly_sync.forge.github.auth import AGENT, TIMEOUT, TokenAuth, Tokens, http_client
from nightly_sync.forge.github.refusals import (
    GitHubError,
    gave_up,
    is_renamed,
    led_away,
    moved,
    refusal,
)
from nightly_sync.forge.github.reply import MOVED, Kind, Reply, Trouble, Waits, kind_of, message_of

GROUPS = ("actions", "checks", "git", "issues", "pulls", "repos")  # of ghapi's operations
PAGE = 100  # the most GitHub gives
KNOWN = 64  # answers kept for their ETag
PATIENCE = 900.0  # seconds of pauses before a broken way is given up; whoever polls goes on
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_LIMITED = ("RATE_LIMIT", "RATE_LIMITED")
_HICCUPS = ("something went wrong while executing", "timedout", "timeout", "internal")
Operation = Callable[..., Any]


class Wire(BaseModel):
    """Base of what is read from GitHub's answers: the fields we need, whatever else there is."""

    model_config = ConfigDict(frozen=True, extra="ignore")


W = TypeVar("W", bound=Wire)


@cache
def _generated() -> Any:
    """All of ghapi's operations. Over a second of work, so it is done once a process."""
    # Without credentials of its own: it would take GITHUB_TOKEN from the environment.
    make: Any = GhApi
    return make(authenticate=False, sync=True)


def build_api(address: Address) -> Any:
    """ghapi's client for a repository, of the groups that we use. Any, since it has no types."""
    transport = copy(_generated().transport)
    groups = {name: _Group(_generated().groups[name], transport, address) for name in GROUPS}
    return SimpleNamespace(transport=transport, **groups)


class _Group:
    """Some of the operations, each bound to one repository when it is first asked for.

    As copies, so that no other address sees them.
    """

    def __init__(self, operations: Any, transport: Any, address: Address):
        self._operations = operations
        self._transport = transport
        self._address = address

    def __getattr__(self, name: str) -> Any:
        bound = copy(getattr(self._operations, name))
        bound.client, bound.base_url = self._transport, self._address.api
        bound.defaults = {"owner": self._address.owner, "repo": self._address.name}
        setattr(self, name, bound)
        return bound


class Client:
    """Asks GitHub, for one repository. Not for two threads at once."""

    def __init__(
        self,
        address: Address,
        tokens: Tokens,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        patience: float = PATIENCE,
        timeout: httpx2.Timeout = TIMEOUT,
        left: Callable[[], float] = lambda: inf,
    ):
        """`left` are the seconds that remain of the run's own time; no limit is waited for longer.

        Hiccups are waited for `patience` seconds at most, also after the run's time is over.
        """
        self.address = address
        self._tokens = tokens
        self._sleep = sleep
        self._jitter = jitter
        self._patience = patience
        self._left = left
        # A renamed repository is redirected, and git would follow too: by then it may be another.
        self.http = http_client(timeout, auth=TokenAuth(tokens), headers=AGENT)
        self.api = build_api(address)
        self.api.transport.client = self.http
        self.api.transport.retries = 0
        self.cost = Cost()
        self._known: dict[object, tuple[str, Reply]] = {}

    def close(self) -> None:
        """Close the connection."""
        self.http.close()

    # REST

    def call(
        self,
        operation: Operation,
        doing: str,
        done: Callable[[], Reply | None] | None = None,
        **args: Any,
    ) -> Reply:
        """Carry out one of ghapi's operations, with patience.

        `doing` completes "could not ...". For what must not happen twice, `done` looks whether a
        try without an answer was carried out all the same. Raises GitHubError.
        """
        return self._patiently(doing, lambda: self._once(operation, args), done)

    def get(self, operation: Operation, doing: str, **args: Any) -> Reply:
        """Read something that is read often: an answer that did not change costs nothing."""
        key = (operation, tuple(sorted(args.items())))
        tag, before = self._known.pop(key, ("", None))
        if before is None:
            reply = self.call(operation, doing, **args)
        else:
            reply = self.call(operation, doing, headers_={"If-None-Match": tag}, **args)
            if reply.status == 304:
                reply = replace(before, headers={**before.headers, **reply.headers})
        self._keep(key, reply)
        return reply

    def _keep(self, key: object, reply: Reply) -> None:
        tag = reply.headers.get("etag", "")
        if tag:
            self._known[key] = (tag, reply)
        while len(self._known) > KNOWN:
            del self._known[next(iter(self._known))]

    def pages(self, operation: Operation, doing: str, envelope: str = "", **args: Any) -> list[Any]:
        """All items of a list, 100 a page: by the Link header, or by the total of an envelope."""
        items: list[Any] = []
        for page in range(1, 10_000):
            reply = self.call(operation, doing, per_page=PAGE, page=page, **args)
            found = reply.data[envelope] if envelope else reply.data
            items += found
            more = len(items) < reply.data["total_count"] if envelope else reply.has_next
            if not more or not found:
                break
        return items

    def delete(self, path: str, doing: str) -> None:
        """Delete what is at a path below the repository; the path is quoted already.

        For names with a slash, which ghapi's own operations would send as two steps of the path.
        """
        url = f"{self.address.api}/repos/{self.address.full_name}/{path}"
        self._patiently(doing, lambda: self._once_delete(url))

    def _once_delete(self, url: str) -> Reply | Trouble:
        self._count(rest=1)
        return self._sent("DELETE", url)

    def token(self) -> str:
        """A token that is valid now, for git; as patient as everything else."""
        return str(self._patiently("get a token", self._once_token).data)

    def _once_token(self) -> Reply | Trouble:
        try:
            return Reply(200, self._tokens.token(), {})
        except httpx2.HTTPStatusError as error:
            return _trouble(error.response)
        except httpx2.RequestError as error:
            return _broken(error)

    def download(self, path: str, doing: str, fetch: Callable[[str], str]) -> str:
        """What GitHub keeps on another host; `path` is below the repository.

        `fetch` gets the signed address from the redirect, must not use this client, and may
        raise the HTTP library's errors: then all is tried again with a new address.
        """
        return str(self._patiently(doing, lambda: self._once_elsewhere(path, fetch)).data)

    def _once_elsewhere(self, path: str, fetch: Callable[[str], str]) -> Reply | Trouble:
        url = f"{self.address.api}/repos/{self.address.full_name}/{path}"
        self._count(rest=1)
        try:
            response = self.http.get(url, follow_redirects=False)
            trouble = _trouble(response)
            if not response.has_redirect_location or is_renamed(trouble, self.address.api):
                return trouble
            return Reply(200, fetch(response.headers["location"]), _headers(response))
        except httpx2.HTTPStatusError as error:
            return _elsewhere(error.response.status_code)
        except httpx2.RequestError as error:
            return _broken(error)

    # GraphQL

    def graphql(self, query: str, doing: str, **variables: Any) -> Any:
        """The data of a query or mutation; raises GitHubError for any error in the answer."""
        return self.graphql_reply(query, doing, **variables).data

    def graphql_reply(self, query: str, doing: str, **variables: Any) -> Reply:
        """The same with its headers, which tell GitHub's own time."""
        body = {"query": query, "variables": variables}
        return self._patiently(doing, lambda: self._once_graphql(body))

    def _once_graphql(self, body: Mapping[str, Any]) -> Reply | Trouble:
        self._count(graphql=1)
        reply = self._sent("POST", self.address.graphql, body)
        return self._read(reply) if isinstance(reply, Reply) and reply.data else reply

    def _read(self, reply: Reply) -> Reply | Trouble:
        data = reply.data.get("data") or {}
        rate = data.get("rateLimit") or {}
        self._count(points=int(rate.get("cost") or 0))
        self._quota(reply)
        errors = reply.data.get("errors") or ()
        return _graphql_trouble(errors, reply) if errors else replace(reply, data=data)

    # Inside

    def _sent(self, method: str, url: str, body: object = None) -> Reply | Trouble:
        """A request that none of ghapi's operations makes."""
        try:
            return _reply(self.api.transport.request(method, url, json=body, raw=True))
        except httpx2.HTTPStatusError as error:
            return _trouble(error.response)
        except httpx2.RequestError as error:
            return _broken(error)

    def _once(self, operation: Operation, args: dict[str, Any]) -> Reply | Trouble:
        try:
            answer = _reply(operation(raw_=True, **args))
        except APIError as error:
            answer = _of_api_error(error)
        unchanged = answer.status == 304
        self._count(rest=0 if unchanged or not answer.status else 1, unchanged=int(unchanged))
        self._quota(answer)
        return answer

    def _patiently(
        self,
        doing: str,
        once: Callable[[], Reply | Trouble],
        done: Callable[[], Reply | None] | None = None,
    ) -> Reply:
        waits = Waits()
        while isinstance(answer := once(), Trouble):
            if kind_of(answer) is Kind.REFUSED:
                raise self._refused(doing, answer)
            waits = waits.then(answer, self._jitter())
            if not waits.within(self._patience, self._left()):
                raise gave_up(doing, answer)
            self._wait(waits.pause)
            found = done() if done and answer.uncertain else None
            if found is not None:
                return found
        return answer

    def _refused(self, doing: str, trouble: Trouble) -> GitHubError:
        if trouble.status not in MOVED:
            return refusal(doing, trouble)
        if is_renamed(trouble, self.address.api):
            return moved(doing, self._new_name(), self.address.url)
        return led_away(doing, trouble, self.address.api)

    def _new_name(self) -> str:
        """What a renamed repository is called now; "" if GitHub does not say."""
        url = f"{self.address.api}/repos/{self.address.full_name}"
        self._count(rest=1)
        try:
            response = self.http.get(url, follow_redirects=True)
            return str(response.json()["full_name"])
        except (httpx2.RequestError, ValueError, LookupError, TypeError):
            return ""

    def _wait(self, seconds: float) -> None:
        self._count(waited=seconds)
        self._sleep(seconds)

    def _count(self, **more: Any) -> None:
        added = {name: getattr(self.cost, name) + value for name, value in more.items()}
        self.cost = replace(self.cost, **added)

    def _quota(self, answer: Reply | Trouble) -> None:
        left = answer.headers.get("x-ratelimit-remaining", "")
        if left.isdecimal():
            self.cost = replace(self.cost, left=int(left))


def parse(kind: type[W], data: Any, doing: str) -> W:
    """GitHub's JSON as our own type; GitHubError if it is not as GitHub describes it."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise GitHubError(
            f"could not {doing}: GitHub's answer is not as described ({where}: {first['msg']})"
        ) from None


def _headers(response: httpx2.Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


def _reply(response: httpx2.Response) -> Reply | Trouble:
    if response.status_code == 204:
        return Reply(response.status_code, None, _headers(response))
    try:
        return Reply(response.status_code, response.json(), _headers(response))
    except ValueError:
        # A proxy's page in place of an answer.
        return Trouble(0, "an answer that is not JSON", _headers(response), uncertain=True)


def _of_api_error(error: APIError) -> Reply | Trouble:
    response = error.response
    if response is None:
        cause = error.__cause__
        return _broken(cause if isinstance(cause, Exception) else error)
    if response.status_code == 304:
        return Reply(304, None, _headers(response))
    return _trouble(response)


def _trouble(response: httpx2.Response) -> Trouble:
    try:
        message, details = message_of(response.json())
    except ValueError:
        message, details = "", ()
    status = response.status_code
    words = message or response.reason_phrase
    return Trouble(status, words, _headers(response), details, uncertain=status >= 500)


def _broken(error: Exception) -> Trouble:
    """What happened to the connection. Not the library's text, which may quote an address."""
    if isinstance(error, httpx2.TimeoutException):
        words = "it did not answer in time"
    else:
        words = "the connection failed" if isinstance(error, _NEVER_SENT) else "the answer was cut"
    return Trouble(0, words, uncertain=not isinstance(error, _NEVER_SENT))


def _elsewhere(status: int) -> Trouble:
    """What the other host says: it is gone, or (the address ran out, say) ask for a new address."""
    if status in (404, 410):
        return Trouble(status, "the storage host does not have it")
    return Trouble(0, f"the storage host answered {status}")


def _graphql_trouble(errors: Any, reply: Reply) -> Trouble:
    kinds = {str(error.get("type", "")).upper() for error in errors}
    said = tuple(str(error.get("message", "")) for error in errors)
    if kinds & set(_LIMITED) or any("rate limit" in text.lower() for text in said):
        return Trouble(200, said[0], reply.headers, said[1:], limited=True)
    hiccup = any(word in text.lower() for text in said for word in _HICCUPS)
    words = " ".join((*sorted(kinds - {""}), said[0]))
    return Trouble(500 if hiccup else 200, words, reply.headers, said[1:], uncertain=hiccup)
