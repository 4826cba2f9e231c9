"""A plain client for the stand-in's own tests, and a repository that has something to sync."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from tests.github import bare
from tests.github.server import GitHub
from tests.github.state import Repository
from tests.support.repo import TestRepo, diverged

_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # one that reads no certificates
BRANCH = "main2dev/01_02_2030"
ROLLUP = """
query($owner: String!, $name: String!, $oid: GitObjectID!, $after: String) {
  repository(owner: $owner, name: $name) { object(oid: $oid) { ... on Commit {
    statusCheckRollup { state contexts(first: 100, after: $after) {
      totalCount pageInfo { hasNextPage endCursor }
      nodes { __typename
        ... on CheckRun { name status conclusion startedAt completedAt databaseId
          checkSuite { databaseId createdAt app { slug }
            workflowRun { databaseId event workflow { name } } } }
        ... on StatusContext { context state createdAt }
      } } } } } }
  rateLimit { cost remaining resetAt }
}
"""


@dataclass(frozen=True)
class Site:
    """A served repository; `head` is the tip of BRANCH, a merge of `main` into `dev`."""

    github: GitHub
    repository: Repository
    head: str
    client: "Client"  # with a classic token, on the paths of GitHub Enterprise Server

    @property
    def token(self) -> str:
        """The client's token."""
        return self.client.token

    def open_pull(self, **more: Any) -> Any:
        """A draft pull request from BRANCH to `dev`."""
        fields = {"title": "Sync", "body": "text", "head": BRANCH, "base": "dev", "draft": True}
        return self.client.post("pulls", fields | more).json()

    def tip(self, branch: str) -> str:
        """Where a branch is."""
        return self.repository.branches()[branch]


def history(folder: Path) -> TestRepo:
    """A repository with `main`, `dev` and BRANCH, for sites to start from."""
    repo = diverged(folder, {"a": "1\n"}, {"b": "2\n"}, {"c": "3\n"})
    repo.branch(BRANCH)
    repo.merge("main")
    bare.pack(repo.path)
    return repo


def make_site(github: GitHub, source: Path) -> Site:
    """A site with all branches of a repository."""
    repository = github.repository()
    bare.take(repository.path, source)
    client = Client(github.ghes_url, github.token())
    return Site(github, repository, repository.branches()[BRANCH], client)


class Client:
    """REST and GraphQL with as little help as possible."""

    def __init__(self, url: str, token: str = "", repository: str = "acme/widgets"):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.http = httpx2.Client(headers=headers, timeout=10, trust_env=False, verify=_NO_TLS)
        self.token = token
        self.url = url
        self.base = f"{url}/repos/{repository}"

    def get(self, path: str = "", **query: Any) -> httpx2.Response:
        """GET below the repository."""
        return self.http.get(f"{self.base}/{path}".rstrip("/"), params=query)

    def post(self, path: str, body: object = None) -> httpx2.Response:
        """POST below the repository."""
        return self.http.post(f"{self.base}/{path}", json=body)

    def patch(self, path: str, body: object) -> httpx2.Response:
        """PATCH below the repository."""
        return self.http.patch(f"{self.base}/{path}", json=body)

    def delete(self, path: str) -> httpx2.Response:
        """DELETE below the repository."""
        return self.http.delete(f"{self.base}/{path}")

    def graphql(self, query: str, **variables: Any) -> Any:
        """A query or mutation; returns the whole answer."""
        url = f"{self.url.removesuffix('/v3')}/graphql"
        return self.http.post(url, json={"query": query, "variables": variables}).json()

    def rollup(self, oid: str, after: str | None = None) -> Any:
        """The rollup of a commit, or None."""
        names = {"owner": "acme", "name": "widgets"}
        answer = self.graphql(ROLLUP, oid=oid, after=after, **names)
        return answer["data"]["repository"]["object"]["statusCheckRollup"]

    def checks(self, oid: str) -> dict[str, tuple[str, str | None]]:
        """Status and conclusion by name; a commit status has its state as both."""
        rollup = self.rollup(oid) or {"contexts": {"nodes": []}}
        return dict(map(_brief, rollup["contexts"]["nodes"]))


def _brief(node: Mapping[str, Any]) -> tuple[str, tuple[str, str | None]]:
    if node["__typename"] == "StatusContext":
        return node["context"], (node["state"], node["state"])
    return node["name"], (node["status"], node["conclusion"])
