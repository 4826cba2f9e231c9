"""Checks as GitHub's GraphQL API shows them: the rollup of a commit and all below it."""

from collections.abc import Callable, Sequence
from typing import Any

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    SelectionSetNode,
    VariableNode,
)

from tests.github import render, render_checks
from tests.github.clock import stamp
from tests.github.graphql_pages import Info, Refused, Shape, connection
from tests.github.state import Account, CheckRun, Repository, Run, Status, Suite, World

_GREEN = ("SUCCESS", "NEUTRAL", "SKIPPED")


def account(world: World, who: Account) -> Shape:
    """A user or bot."""
    return {
        "__typename": "Bot" if who.kind == "Bot" else "User",
        "id": f"U_{who.id}",
        "databaseId": who.id,
        "login": who.login,
        "url": f"{world.url}/{who.login}",
    }


class Checks:
    """Checks of commits; `commit` shows one of these in turn."""

    def __init__(self, world: World, commit: Callable[[Repository, str], Shape]):
        self.world = world
        self.commit = commit

    def rollup(self, repo: Repository, sha: str, info: Info) -> Shape | None:
        """All checks of a commit; null if there are none. Reading the first page is a poll."""
        if _from_the_start(info):
            self.world.polled(repo, sha)
        runs, statuses = repo.runs_of(sha, not repo.all_attempts), repo.statuses_of(sha)
        items: list[CheckRun | Status] = [*runs, *statuses]
        if not items or sha in repo.without_rollup:
            return None

        def contexts(info: Info, **args: Any) -> Shape:
            counts = {"checkRunCount": len(runs), "statusContextCount": len(statuses)}
            shape = connection(items, lambda item: self._context(repo, item))
            return shape(info, **args) | counts

        return {
            "id": f"SCR_{sha}",
            "state": rollup_state(items),
            "commit": lambda _: self.commit(repo, sha),
            "contexts": contexts,
        }

    def _context(self, repo: Repository, item: CheckRun | Status) -> Shape:
        if isinstance(item, Status):
            return self.status(repo, item)
        return self.check_run(repo, item)

    def check_run(self, repo: Repository, run: CheckRun) -> Shape:
        """A check run."""
        url = render_checks.details_url(self.world, repo, run)
        return {
            "__typename": "CheckRun",
            "id": f"CR_{run.id}",
            "databaseId": run.id,
            "name": run.name,
            "status": run.status,
            "conclusion": run.conclusion,
            "startedAt": stamp(run.started_at),
            "completedAt": stamp(run.completed_at),
            "detailsUrl": url,
            "permalink": url,
            "url": url,
            "externalId": "",
            "isRequired": lambda _, **args: self._required(repo, run.name, args),
            "checkSuite": lambda _: self.suite(repo, run.suite),
        }

    def suite(self, repo: Repository, suite: Suite) -> Shape:
        """A check suite; `workflowRun` is null for what is not GitHub Actions."""
        shown = render.app(self.world, suite.app)
        status, conclusion = render_checks.state_of(repo, suite)
        names = {key: shown[key] for key in ("name", "slug")}
        return {
            "id": f"CS_{suite.id}",
            "databaseId": suite.id,
            "status": status,
            "conclusion": conclusion,
            "createdAt": stamp(suite.created_at),
            "updatedAt": stamp(suite.created_at),
            "url": f"{self.world.url}/{repo.full_name}/commit/{suite.sha}/checks",
            "commit": lambda _: self.commit(repo, suite.sha),
            "app": {"id": shown["node_id"], "databaseId": shown["id"], **names},
            "branch": _branch(suite.branch) if suite.branch else None,
            "workflowRun": self._run(repo, suite.run) if suite.run else None,
        }

    def _run(self, repo: Repository, run: Run) -> Shape:
        base = f"{self.world.url}/{repo.full_name}/actions"
        flow = run.workflow
        file = flow.path.rpartition("/")[2]
        return {
            "id": f"WFR_{run.id}",
            "databaseId": run.id,
            "event": run.event,
            "runNumber": run.number,
            "createdAt": stamp(run.created_at),
            "updatedAt": stamp(run.created_at),
            "url": f"{base}/runs/{run.id}",
            "workflow": {
                "id": f"W_{file}",
                "databaseId": flow.id,
                "name": flow.name,
                "url": f"{base}/workflows/{file}",
            },
        }

    def status(self, repo: Repository, status: Status) -> Shape:
        """A commit status."""
        return {
            "__typename": "StatusContext",
            "id": f"SC_{status.id}",
            "context": status.context,
            "state": status.state,
            "description": status.description,
            "targetUrl": status.target_url,
            "createdAt": stamp(status.created_at),
            "creator": account(self.world, status.creator),
            "isRequired": lambda _, **args: self._required(repo, status.context, args),
        }

    def _required(self, repo: Repository, name: str, args: Shape) -> bool:
        number, identity = args.get("pullRequestNumber"), args.get("pullRequestId")
        if number is None and identity is None:
            raise Refused("ARGUMENT_ERROR", "A pull request ID or pull request number is required")
        fits = (p for p in repo.pulls if p.number == number or f"PR_{p.id}" == identity)
        pull = next(fits, None)
        return pull is not None and name in repo.required(pull.base)


def _branch(name: str) -> Shape:
    """A branch; GitHub has null for one that is gone meanwhile, scripts give it no name."""
    return {"id": f"REF_{name}", "name": name}


def rollup_state(items: Sequence[CheckRun | Status]) -> str:
    """One word for all checks, as GitHub sums them up: red first, then pending."""
    words = {_word(item) for item in items}
    return next(
        (word for word in ("FAILURE", "ERROR", "PENDING", "EXPECTED") if word in words), "SUCCESS"
    )


def _word(item: CheckRun | Status) -> str:
    if isinstance(item, Status):
        return item.state
    if item.status != "COMPLETED":
        return "PENDING"
    return "SUCCESS" if item.conclusion in _GREEN else "FAILURE"


# Is a rollup read from its first page? Only then it counts as a poll.


def _from_the_start(info: Info) -> bool:
    return not any(
        _later(info, argument.value)
        for node in info.field_nodes
        for found in _selected(info, node.selection_set)
        if found.name.value == "contexts"
        for argument in found.arguments or ()
        if argument.name.value == "after"
    )


def _later(info: Info, value: object) -> bool:
    if isinstance(value, VariableNode):
        return info.variable_values.coerced.get(value.name.value) is not None
    return getattr(value, "value", None) is not None


def _selected(info: Info, chosen: SelectionSetNode | None) -> list[FieldNode]:
    found: list[FieldNode] = []
    for item in chosen.selections if chosen else ():
        if isinstance(item, FieldNode):
            found.append(item)
        elif isinstance(item, InlineFragmentNode):
            found += _selected(info, item.selection_set)
        elif isinstance(item, FragmentSpreadNode):
            found += _selected(info, info.fragments[item.name.value].selection_set)
    return found
