"""The REST API: from a request to a response, checked on both sides against the slice."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.github import (
    auth,
    filler,
    rest_actions,
    rest_apps,
    rest_checks,
    rest_git,
    rest_issues,
    rest_pulls,
    spec,
)
from tests.github.call import Call, Handler, Reply
from tests.github.errors import ApiError, not_found
from tests.github.http import Request, Response, as_json
from tests.github.limits import Limits, exceeded
from tests.github.spec import Route
from tests.github.state import App, Repository, Token, World

HANDLERS: Mapping[str, Handler] = {
    **rest_actions.OPERATIONS,
    **rest_apps.OPERATIONS,
    **rest_checks.OPERATIONS,
    **rest_git.OPERATIONS,
    **rest_issues.OPERATIONS,
    **rest_pulls.OPERATIONS,
}
WRITES = ("post", "put", "patch", "delete")


@dataclass(frozen=True)
class Caller:
    """Whoever asks: a token, an App, or nobody."""

    token: Token | None = None
    app: App | None = None


class Rest:
    """Answers what comes below `/` or `/api/v3`."""

    def __init__(self, world: World, limits: Limits):
        self.world = world
        self.limits = limits

    def answer(self, request: Request, prefix: str) -> Response:
        """One request; `prefix` stands before the API's own paths."""
        found = spec.match(request.method, self._by_name(request.path.removeprefix(prefix)))
        if found is None:
            where = f"{request.method} {request.path}"
            self.world.problems.append(f"the slice has no operation for {where}")
            return as_json(404, not_found().body)
        route, params = found
        response = self._answer(route, params, request)
        response.operation = route.operation
        return response

    def _by_name(self, path: str) -> str:
        """A path that redirects lead to, by the repository's number, as the one by its name."""
        top, _, rest = path.removeprefix("/repositories/").partition("/")
        numbers = {str(known.id): known for known in self.world.repositories.values()}
        found = numbers.get(top) if path.startswith("/repositories/") else None
        return f"/repos/{found.full_name}/{rest}".rstrip("/") if found else path

    def _answer(self, route: Route, params: dict[str, str], request: Request) -> Response:
        caller = Caller()
        try:
            caller = self._caller(route, request)
            self._within_limits(route, caller)
            reply = self._reply(route, params, request, caller)
        except ApiError as error:
            reply = Reply(error.status, error.body, error.headers)
        return self._finish(route, request, caller, reply)

    def _caller(self, route: Route, request: Request) -> Caller:
        if "user-agent" not in request.headers:
            raise ApiError(403, "Request forbidden by administrative rules.")
        header = request.headers.get("authorization")
        if route.operation in rest_apps.BY_APP:
            return Caller(app=auth.app_of(self.world, header))
        return Caller(token=auth.token_of(self.world, header))

    def _counts(self, route: Route, caller: Caller) -> bool:
        return route.operation != "rate-limit/get" and caller.app is None

    def _within_limits(self, route: Route, caller: Caller) -> None:
        if not self._counts(route, caller):
            return
        self.limits.check_secondary()
        bucket = self.limits.bucket(caller.token, "core")
        if not bucket.remaining:
            raise ApiError(403, exceeded(caller.token))
        bucket.used += 1

    def _reply(
        self, route: Route, params: dict[str, str], request: Request, caller: Caller
    ) -> Reply:
        place = self._place(route, params, caller)
        call = Call(
            world=self.world,
            limits=self.limits,
            url=self.world.url + request.path,
            params=params,
            query=request.query,
            body=self._body(route, params, request),
            token=caller.token,
            app=caller.app,
            place=place,
        )
        if place:
            self.world.look(place)
        return HANDLERS[route.operation](call)

    def _place(self, route: Route, params: dict[str, str], caller: Caller) -> Repository | None:
        """The repository in the path, if the caller may do this to it."""
        if "owner" not in params:
            return None
        place = self.world.repository(params["owner"], params["repo"])
        if place is None:
            raise self._elsewhere(route, params)
        writes = route.method in WRITES
        if caller.app is None:
            auth.allow(caller.token, place, route.operation, writes)
        if writes and place.archived:
            raise ApiError(403, "Repository was archived so is read-only.")
        return place

    def _elsewhere(self, route: Route, params: dict[str, str]) -> ApiError:
        """Where the path of a renamed repository leads: to the same below its number."""
        owner, name = params["owner"], params["repo"]
        found = self.world.renamed.get(f"{owner}/{name}".lower())
        if found is None:
            return not_found()
        rest = route.template.partition("{repo}")[2].format(**params)
        where = {"Location": f"{self.world.url}/repositories/{found.id}{rest}"}
        status = 301 if route.method == "get" else 307
        return ApiError(status, "Moved Permanently", headers=where)

    def _body(self, route: Route, params: dict[str, str], request: Request) -> Any:
        """The JSON body after all checks; a client that breaks them has a problem."""
        try:
            body = json.loads(request.body) if request.body else {}
        except ValueError:
            raise ApiError(400, "Problems parsing JSON") from None
        problem = spec.request_problem(route, params, request.query, request.body)
        if problem:
            self.world.problems.append(f"request: {problem}")
            raise ApiError(422, f"Invalid request.\n\n{problem}")
        return body

    def _finish(self, route: Route, request: Request, caller: Caller, reply: Reply) -> Response:
        data = filler.fill_response(route, reply.status, reply.data, self.world.url)
        problem = spec.response_problem(route, reply.status, data, reply.data)
        if problem:
            self.world.problems.append(f"response: {problem}")
        response = as_json(reply.status, data, reply.headers)
        if self._counts(route, caller):
            response.resource, response.cost = "core", 1
        if request.method == "GET" and reply.status == 200:
            response = self._unless_known(request, caller, response)
        response.headers |= self.limits.headers(caller.token, "core") | _about(caller.token)
        return response

    def _unless_known(self, request: Request, caller: Caller, response: Response) -> Response:
        """304 if the client has this very answer; that costs nothing."""
        tag = f'W/"{hashlib.sha256(response.body).hexdigest()[:32]}"'
        response.headers["ETag"] = tag
        if request.headers.get("if-none-match") != tag:
            return response
        if response.cost:
            self.limits.bucket(caller.token, "core").used -= 1
        return Response(304, headers={"ETag": tag}, resource="core")


def _about(token: Token | None) -> dict[str, str]:
    found = {"X-GitHub-Media-Type": "github.v3; format=json"}
    if token and token.kind == "classic":
        found["X-OAuth-Scopes"] = ", ".join(token.scopes)
    return found
