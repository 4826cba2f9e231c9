"""Records as GitHub's GraphQL API shows them.

Each becomes a dictionary; a value that costs something is a function, called when it is asked
for. A function of a field with arguments gets them as keywords.
"""

from typing import Any

from tests.github import auth, bare, render
from tests.github.clock import stamp
from tests.github.graphql_checks import Checks, account
from tests.github.graphql_pages import Info, Refused, Shape, connection
from tests.github.limits import Limits
from tests.github.state import Edit, Event, Label, Pull, Repository, Token, World


class Answers:
    """Everything one caller may read and do."""

    def __init__(self, world: World, limits: Limits, token: Token):
        self.world = world
        self.limits = limits
        self.token = token
        self.checks = Checks(world, self.commit)

    def root(self) -> Shape:
        """What queries and mutations start from."""
        return {
            "viewer": lambda _: account(self.world, self.token.account),
            "rateLimit": self._rate_limit,
            "repository": self._repository,
            "node": self._node,
            "markPullRequestReadyForReview": lambda _, **args: self._draft(args["input"], False),
            "convertPullRequestToDraft": lambda _, **args: self._draft(args["input"], True),
        }

    def _rate_limit(self, _: Info, **__: Any) -> Shape:
        bucket = self.limits.bucket(self.token, "graphql")
        return {
            "cost": 1,
            "nodeCount": 0,
            "limit": bucket.limit,
            "remaining": bucket.remaining,
            "used": bucket.used,
            "resetAt": stamp(bucket.reset),
        }

    def _repository(self, _: Info, **args: Any) -> Shape:
        found = self.world.repository(args["owner"], args["name"])
        if found is None or not auth.visible(self.token, found):
            name = f"{args['owner']}/{args['name']}"
            message = f"Could not resolve to a Repository with the name '{name}'."
            raise Refused("NOT_FOUND", message)
        return self.repository(found)

    def _pull_of(self, identity: str) -> tuple[Repository, Pull]:
        for repo in self.world.repositories.values():
            for pull in repo.pulls:
                if f"PR_{pull.id}" == identity and auth.visible(self.token, repo):
                    return repo, pull
        message = f"Could not resolve to a node with the global id of '{identity}'"
        raise Refused("NOT_FOUND", message)

    def _node(self, _: Info, **args: Any) -> Shape:
        """Pull requests and repositories; no test needs another."""
        for repo in self.world.repositories.values():
            if f"R_{repo.id}" == args["id"] and auth.visible(self.token, repo):
                return self.repository(repo)
        return self.pull(*self._pull_of(args["id"]))

    def _draft(self, asked: Shape, draft: bool) -> Shape:
        """Draft to ready or back; a pull request that is so already stays so."""
        repo, pull = self._pull_of(asked["pullRequestId"])
        self._demand_write(repo)
        if not pull.open:
            raise Refused("UNPROCESSABLE", "Pull request is closed")
        if draft and not repo.drafts:
            raise Refused("UNPROCESSABLE", "Draft pull requests are not supported here")
        if pull.draft != draft:
            pull.draft, pull.updated_at = draft, self.world.clock.now()
            action = "converted_to_draft" if draft else "ready_for_review"
            event = Event("pull_request", repo, pull.head_sha, action, pull.head, pull)
            self.world.tell(event, self.token)
        mutation = asked.get("clientMutationId")
        return {"clientMutationId": mutation, "pullRequest": self.pull(repo, pull)}

    def _demand_write(self, repo: Repository) -> None:
        if repo.archived:
            raise Refused("FORBIDDEN", "Repository was archived so is read-only.")
        if auth.holds(self.token, "pull_requests:write"):
            return
        if self.token.kind == "classic":
            message = "Your token has not been granted the required scopes to execute this query."
            raise Refused("INSUFFICIENT_SCOPES", message)
        raise Refused("FORBIDDEN", str(auth.refusal(self.token)))

    def repository(self, repo: Repository) -> Shape:
        """A repository."""
        shown = render.repository(self.world, repo, self.token)
        held = shown["permissions"]
        level = "ADMIN" if held["admin"] else "WRITE" if held["push"] else "READ"
        return {
            "__typename": "Repository",
            "id": shown["node_id"],
            "databaseId": repo.id,
            "name": repo.name,
            "nameWithOwner": repo.full_name,
            "owner": account(self.world, repo.owner),
            "isArchived": repo.archived,
            "isPrivate": repo.private,
            "url": shown["html_url"],
            "viewerPermission": level,
            "pullRequest": lambda info, **args: self._pull(repo, args["number"]),
            "pullRequests": lambda info, **args: self._pulls(repo, info, args),
            "object": lambda info, **args: self._object(repo, args),
        }

    def _pull(self, repo: Repository, number: int) -> Shape:
        found = repo.pull(number)
        if found is None:
            message = f"Could not resolve to a PullRequest with the number of {number}."
            raise Refused("NOT_FOUND", message)
        return self.pull(repo, found)

    def _pulls(self, repo: Repository, info: Info, args: Shape) -> Shape:
        states, labels = args.get("states"), set(args.get("labels") or ())
        found = [
            pull
            for pull in repo.pulls
            if (not states or _state(pull) in states)
            and args.get("headRefName") in (None, pull.head)
            and args.get("baseRefName") in (None, pull.base)
            and (not labels or labels & set(pull.labels))
        ]
        down = (args.get("orderBy") or {}).get("direction") == "DESC"
        return connection(found[:: -1 if down else 1], lambda p: self.pull(repo, p))(info, **args)

    def _object(self, repo: Repository, args: Shape) -> Shape | None:
        sha = bare.resolve(repo.path, args.get("oid") or args.get("expression") or "")
        return self.commit(repo, sha) if sha else None

    def pull(self, repo: Repository, pull: Pull) -> Shape:
        """A pull request."""
        url = f"{self.world.url}/{repo.full_name}/pull/{pull.number}"
        return {
            "__typename": "PullRequest",
            "id": f"PR_{pull.id}",
            "databaseId": pull.id,
            "number": pull.number,
            "url": url,
            "title": pull.title,
            "body": pull.body or "",
            "state": _state(pull),
            "isDraft": pull.draft,
            "closed": not pull.open,
            "merged": pull.merged_at is not None,
            "createdAt": stamp(pull.created_at),
            "updatedAt": stamp(pull.updated_at),
            "closedAt": stamp(pull.closed_at),
            "author": account(self.world, pull.author),
            "headRefName": pull.head,
            "headRefOid": pull.head_sha,
            "baseRefName": pull.base,
            "baseRefOid": pull.base_sha,
            "isCrossRepository": bool(pull.head_repository),
            "repository": lambda _: self.repository(repo),
            "labels": connection([x for n in pull.labels if (x := repo.label(n))], _label),
            "commits": lambda info, **args: self._commits(repo, pull, info, args),
            "statusCheckRollup": lambda info: self.checks.rollup(repo, pull.head_sha, info),
            "userContentEdits": connection(pull.edits[::-1], _edit),
        }

    def _commits(self, repo: Repository, pull: Pull, info: Info, args: Shape) -> Shape:
        def shape(sha: str) -> Shape:
            return {"id": f"PRC_{sha}", "commit": self.commit(repo, sha)}

        return connection(bare.between(repo.path, pull.base_sha, pull.head_sha), shape)(
            info, **args
        )

    def commit(self, repo: Repository, sha: str) -> Shape:
        """A commit."""
        facts = bare.commit(repo.path, sha)
        return {
            "__typename": "Commit",
            "id": f"C_{sha}",
            "oid": sha,
            "url": f"{self.world.url}/{repo.full_name}/commit/{sha}",
            "message": facts.message,
            "messageHeadline": facts.message.partition("\n")[0],
            "committedDate": facts.committer.date,
            "statusCheckRollup": lambda info: self.checks.rollup(repo, sha, info),
        }


def _state(pull: Pull) -> str:
    return "MERGED" if pull.merged_at else "OPEN" if pull.open else "CLOSED"


def _edit(edit: Edit) -> Shape:
    return {"id": f"UCE_{edit.id}", "diff": edit.text, "editedAt": stamp(edit.at)}


def _label(label: Label) -> Shape:
    return {"id": f"LA_{label.id}", "name": label.name}
