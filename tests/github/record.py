"""What was asked of the stand-in, in the order in which it was answered."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tests.github.http import Request, Response


@dataclass(frozen=True)
class Recorded:
    """One request. `kind` is rest, graphql, git, logs or none; `status` 0 means no answer."""

    kind: str
    method: str
    target: str  # path and query, as sent
    headers: Mapping[str, str]
    body: bytes
    status: int
    operation: str  # of REST, by GitHub's operation id
    resource: str
    cost: int

    def holds(self, secret: str) -> bool:
        """Whether a secret shows anywhere but in the Authorization header."""
        headers = (f"{k}: {v}" for k, v in self.headers.items() if k != "authorization")
        plain = "\n".join((self.target, *headers)).encode() + self.body
        return secret.encode() in plain


class Requests:
    """The log of all requests."""

    def __init__(self) -> None:
        self.all: list[Recorded] = []

    def add(self, kind: str, request: Request, response: Response | None) -> None:
        """Keep one request with what became of it."""
        answered = response or Response(0)
        query = f"?{request.query_string}" if request.query_string else ""
        entry = Recorded(
            kind=kind,
            method=request.method,
            target=request.path + query,
            headers=request.headers,
            body=request.body,
            status=answered.status,
            operation=answered.operation,
            resource=answered.resource,
            cost=answered.cost,
        )
        self.all.append(entry)

    def of(self, pattern: str) -> list[Recorded]:
        """Requests whose `METHOD target operation` an expression matches, or their GraphQL text."""
        wanted = re.compile(pattern, re.DOTALL)
        return [entry for entry in self.all if wanted.search(_subject(entry))]

    def cost(self, resource: str = "graphql") -> int:
        """What all requests together took of a quota."""
        return sum(entry.cost for entry in self.all if entry.resource == resource)

    def leaks(self, secret: str) -> list[Recorded]:
        """Requests that show a secret anywhere but in the Authorization header."""
        return [entry for entry in self.all if entry.holds(secret)]


def _subject(entry: Recorded) -> str:
    text = entry.body.decode(errors="replace") if entry.kind == "graphql" else ""
    return f"{entry.method} {entry.target} {entry.operation} {text}"
