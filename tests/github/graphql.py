"""The GraphQL API: executed by graphql-core over the slice of GitHub's own schema.

What a schema cannot say is here: who may ask, page sizes, errors with a type, and the cost.
"""

import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLSchema,
    build_schema,
    execute_sync,
    extend_schema,
    parse,
    validate,
)

from tests.github import auth
from tests.github.errors import ApiError
from tests.github.graphql_pages import Refused
from tests.github.graphql_shapes import Answers
from tests.github.http import Request, Response, as_json
from tests.github.limits import Limits, exceeded
from tests.github.state import FUTURE, Token, World

FILE = Path(__file__).parent / "schema.graphql"
OPEN_ENDED = ("CheckConclusionState", "CheckStatusState", "StatusState")
COST = 1  # points; GitHub rounds the connections of a query to hundreds, and ours stay below


@cache
def schema() -> GraphQLSchema:
    """The slice, and in enums of checks one word that GitHub might add some day."""
    added = " ".join(f"extend enum {name} {{ {FUTURE} }}" for name in OPEN_ENDED)
    return extend_schema(build_schema(FILE.read_text()), parse(added))


@lru_cache(maxsize=500)
def checked(query: str) -> DocumentNode | list[GraphQLError]:
    """A query after GitHub's schema was asked whether it allows it."""
    try:
        document = parse(query)
    except GraphQLError as error:
        return [error]
    return validate(schema(), document) or document


class GraphQL:
    """Answers `POST /graphql`."""

    def __init__(self, world: World, limits: Limits):
        self.world = world
        self.limits = limits

    def answer(self, request: Request) -> Response:
        """One query or mutation; whatever it comes to, GitHub answers 200."""
        try:
            token = self._token(request)
        except ApiError as error:
            return as_json(error.status, error.body)
        try:
            self.limits.check_secondary()
        except ApiError as error:
            return as_json(error.status, error.body, self._quota(token) | error.headers)
        bucket = self.limits.bucket(token, "graphql")
        if not bucket.remaining:
            return self._finish(token, {"errors": [_out_of_points(token)]}, 0)
        bucket.used += COST
        return self._finish(token, self._result(request, token), COST)

    def _token(self, request: Request) -> Token:
        token = auth.token_of(self.world, request.headers.get("authorization"))
        if token is None:
            raise ApiError(401, "This endpoint requires you to be authenticated.")
        return token

    def _result(self, request: Request, token: Token) -> dict[str, Any]:
        try:
            asked = json.loads(request.body)
            query = str(asked["query"])
        except (ValueError, KeyError, TypeError):
            self.world.problems.append("graphql: the body is not JSON with a query")
            return {"errors": [{"message": "A query attribute must be specified."}]}
        for repository in self.world.repositories.values():
            self.world.look(repository)
        document = checked(query)
        if isinstance(document, list):
            return self._shown(ExecutionResult(None, document))
        root = Answers(self.world, self.limits, token).root()
        variables, name = asked.get("variables") or {}, asked.get("operationName")
        return self._shown(execute_sync(schema(), document, root, None, variables, name))

    def _shown(self, result: ExecutionResult) -> dict[str, Any]:
        """GitHub's layout: the type stands beside the message; no data if the query was bad."""
        shown: dict[str, Any] = {}
        if result.data is not None:
            shown["data"] = result.data
        if result.errors:
            shown["errors"] = [self._error(error) for error in result.errors]
        return shown

    def _error(self, error: GraphQLError) -> dict[str, Any]:
        shown: dict[str, Any] = dict(error.formatted)
        if isinstance(error.original_error, Refused):
            return {"type": error.original_error.kind, **shown}
        # Anything else is a query that GitHub's schema does not allow, or a bug in here.
        self.world.problems.append(f"graphql: {error.message}")
        return shown

    def _quota(self, token: Token) -> dict[str, str]:
        return self.limits.headers(token, "graphql")

    def _finish(self, token: Token, data: dict[str, Any], cost: int) -> Response:
        response = as_json(200, data, self._quota(token))
        response.resource, response.cost = "graphql", cost
        return response


def _out_of_points(token: Token) -> dict[str, str]:
    return {"type": "RATE_LIMIT", "code": "graphql_rate_limit", "message": exceeded(token)}
