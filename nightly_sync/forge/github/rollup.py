"""All checks of a commit: GraphQL's statusCheckRollup, page by page, as our own types.

The rollup is null while there are no checks. What cannot be read (a node the token may not see,
fewer nodes than GitHub counts) becomes a check that never ends, so that it can't pass for green.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from nightly_sync.checks.gate import GREEN
from nightly_sync.checks.names import UNREADABLE
from nightly_sync.forge.base import Check, CheckStatus, Glance, Rollup
from nightly_sync.forge.github.client import Client, Wire, parse
from nightly_sync.forge.github.refusals import GitHubError
from nightly_sync.forge.github.reply import server_time

ACTIONS = "github-actions"
_STILL = frozenset({"PENDING", "EXPECTED"})  # states of a commit status that is not over

QUERY = """
query($owner: String!, $name: String!, $oid: GitObjectID!, $after: String,
    $number: Int!, $glance: Boolean!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) @include(if: $glance) {
      closed headRefOid baseRefName labels(first: 100) { nodes { name } } }
    object(oid: $oid) { ... on Commit {
    statusCheckRollup { contexts(first: 100, after: $after) {
      totalCount pageInfo { hasNextPage endCursor }
      nodes { __typename ... on Node { id }
        ... on CheckRun { databaseId name status conclusion startedAt completedAt detailsUrl
          checkSuite { databaseId app { slug } branch { name }
            workflowRun { databaseId event url workflow { id name } } } }
        ... on StatusContext { context state description createdAt targetUrl }
      } } } } } }
  rateLimit { cost }
}
"""


class _Camel(Wire):
    """GraphQL's names in our spelling."""

    model_config = ConfigDict(alias_generator=to_camel)


class _App(_Camel):
    slug: str


class _Workflow(_Camel):
    id: str  # unlike its number, it is never null
    name: str


class _Run(_Camel):
    database_id: int | None = None
    event: str = ""
    url: str = ""
    workflow: _Workflow

    @property
    def number(self) -> int | None:
        """For REST. Its address has it too, where it is too large for GraphQL's Int."""
        last = self.url.rpartition("/")[2]
        return self.database_id or (int(last) if last.isdecimal() else None)


class _Ref(_Camel):
    name: str


class _Suite(_Camel):
    database_id: int | None = None
    app: _App | None = None
    branch: _Ref | None = None  # None too for one that is gone by now
    workflow_run: _Run | None = None

    @property
    def event(self) -> str:
        """What started it, as far as GitHub says."""
        event = self.workflow_run.event if self.workflow_run else ""
        return f"{event} {self.branch.name if self.branch else ''}".strip()


class CheckRun(_Camel):
    """A check run; for GitHub Actions its number is its job's too."""

    database_id: int | None = None
    name: str
    status: str
    conclusion: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    details_url: str | None = None
    check_suite: _Suite

    @property
    def app(self) -> str:
        """The App that made it."""
        return self.check_suite.app.slug if self.check_suite.app else ""

    def check(self) -> Check:
        """The way the gate sees it."""
        run = self.check_suite.workflow_run
        return Check(
            name=self.name,
            app=self.app,
            workflow=run.workflow.name if run else "",
            workflow_id=run.workflow.id if run else "",
            suite=str(self.check_suite.database_id or ""),
            event=self.check_suite.event,
            status=status_of(self.status),
            conclusion=self.conclusion.upper() if self.conclusion else None,
            started_at=self.started_at,
            completed_at=self.completed_at,
            url=self.details_url or "",
        )


class StatusContext(_Camel):
    """A commit status, the older kind of result; it has one time, that of its newest state."""

    context: str
    state: str
    description: str | None = None
    created_at: datetime
    target_url: str | None = None

    def check(self) -> Check:
        """The way the gate sees it: its state is the conclusion, unless it is still open."""
        state = self.state.upper()
        still = state in _STILL
        return Check(
            name=self.context,
            app="commit-status",
            status=CheckStatus.PENDING if still else CheckStatus.COMPLETED,
            conclusion=None if still else state,
            started_at=self.created_at,
            completed_at=None if still else self.created_at,
            url=self.target_url or "",
        )


def status_of(word: str) -> CheckStatus:
    """GitHub's word as ours; OTHER for one that GitHub invents after this was written."""
    known = {status.value for status in CheckStatus}
    return CheckStatus(word.upper()) if word.upper() in known else CheckStatus.OTHER


Context = CheckRun | StatusContext
Attempt = Callable[[int], int | None]


@dataclass(frozen=True)
class Found:
    """A rollup, and the numbers that logs and reruns are asked for by."""

    rollup: Rollup
    runs: dict[Check, int]  # of each check run, the earlier ones too
    said: dict[Check, str]  # descriptions of commit statuses
    workflow_runs: dict[str, int]  # by suite


def newest(contexts: Iterable[Context], attempt_of: Attempt) -> list[Context]:
    """Without the runs that a rerun in the same suite replaced. Pure, but for `attempt_of`.

    Two jobs of one name may stand in one workflow, and neither replaces the other: for GitHub
    Actions the attempts of the jobs tell. A rerun of the failed jobs is a new attempt with those
    alone, and with the jobs that need them; a job that had passed keeps its run, or gets a copy
    of it in the new attempt. For other Apps the newest run of a name counts, as GitHub itself has
    it (REST, `filter=latest`).
    """
    groups: dict[object, list[Context]] = defaultdict(list)
    for context in contexts:
        groups[context.check().key].append(context)
    return [kept for group in groups.values() for kept in _newest(group, attempt_of)]


def _newest(group: list[Context], attempt_of: Attempt) -> list[Context]:
    runs = [item for item in group if isinstance(item, CheckRun) and item.database_id is not None]
    if len(group) == 1 or len(runs) < len(group):
        return group
    if any(run.app != ACTIONS for run in runs):
        return [max(runs, key=_number)]
    attempts: dict[int, list[Context]] = defaultdict(list)
    for run in runs:
        attempt = attempt_of(_number(run))
        if attempt is None:
            return group
        attempts[attempt].append(run)
    return _last(attempts) or group


def replaced(
    contexts: Iterable[Context], kept: Iterable[Context], attempt_of: Attempt
) -> list[Context]:
    """Those that a rerun replaced, as far as that is certain. Pure, but for `attempt_of`.

    Where one attempt has two jobs of one name nobody can tell which of them ran again. `kept` is
    what `newest` left; all others have been asked for their attempts there.
    """
    counted, runs = set(map(id, kept)), list(contexts)
    gone = [item for item in runs if id(item) not in counted]
    keys = {item.check().key for item in gone}
    several = Counter(_place(i, attempt_of) for i in runs if i.check().key in keys)
    return [item for item in gone if several[_place(item, attempt_of)] == 1]


def _place(item: Context, attempt_of: Attempt) -> tuple[object, ...]:
    """Name, suite and attempt; other Apps than Actions replace each run by the next."""
    if isinstance(item, CheckRun) and item.app == ACTIONS:
        return item.check().key, attempt_of(_number(item))
    return item.check().key, id(item)


def _number(run: CheckRun) -> int:
    return run.database_id or 0


def _last(attempts: dict[int, list[Context]]) -> list[Context]:
    """The last attempt's runs of one name; none while it has not replaced every failed one."""
    *before, last = (attempts[number] for number in sorted(attempts))
    replaced = before[-1] if before else []
    failed = [run for run in replaced if run.check().conclusion not in GREEN]
    return last if len(last) >= len(failed) else []


@dataclass(frozen=True)
class _Seen:
    """All pages of a rollup."""

    contexts: list[Context]
    unread: int  # how many there are that could not be read
    at: datetime | None = None  # GitHub's own time of the first page
    pull: Glance | None = None


class Rollups:
    """Reads rollups; one GraphQL request for 100 checks."""

    def __init__(self, client: Client):
        self._client = client
        self._attempts: dict[int, int | None] = {}

    def read(self, sha: str, number: int | None = None) -> Found:
        """The rollup of a commit; without checks if there are none, or if GitHub lacks it.

        With a number it has a glance at that pull request, which costs no request.
        """
        seen = self._seen(sha, number)
        kept = newest(seen.contexts, self._attempt)
        earlier = tuple(i.check() for i in replaced(seen.contexts, kept, self._attempt))
        checks = (*(item.check() for item in kept), *_unreadable(seen.unread))
        runs = [item for item in seen.contexts if isinstance(item, CheckRun)]
        statuses = [item for item in seen.contexts if isinstance(item, StatusContext)]
        return Found(
            Rollup(sha=sha, checks=checks, earlier=earlier, at=seen.at, pull=seen.pull),
            {run.check(): run.database_id for run in runs if run.database_id},
            {item.check(): item.description or "" for item in statuses},
            _workflow_runs(runs),
        )

    def _seen(self, sha: str, number: int | None) -> _Seen:
        first = self._page(sha, None, number)
        # By their ids: what moves between two pages must not be counted twice.
        found: dict[str, Context] = {}
        total, page = 0, first.page
        while page:
            found |= {node["id"]: _context(node) for node in page.nodes or () if node}
            total, info = max(total, page.total_count), page.page_info
            page = self._page(sha, info.end_cursor).page if info.has_next_page else None
        unread = max(0, total - len(found))
        return _Seen(list(found.values()), unread, first.at, first.pull)

    def _page(self, sha: str, after: str | None, number: int | None = None) -> "_Answer":
        address, doing = self._client.address, f"read the checks of {sha[:12]}"
        names = {"owner": address.owner, "name": address.name}
        asked = {"oid": sha, "after": after, "number": number or 0, "glance": number is not None}
        reply = self._client.graphql_reply(QUERY, doing, **names, **asked)
        repository = reply.data.get("repository") or {}
        rollup = (repository.get("object") or {}).get("statusCheckRollup")
        pull = repository.get("pullRequest")
        return _Answer(
            page=parse(_Page, rollup["contexts"], doing) if rollup else None,
            at=server_time(reply.headers),
            pull=parse(_Pull, pull, doing).glance() if pull else None,
        )

    def _attempt(self, job: int) -> int | None:
        """Which attempt of its workflow run a job belongs to; never changes."""
        if job not in self._attempts:
            self._attempts[job] = self._read_attempt(job)
        return self._attempts[job]

    def _read_attempt(self, job: int) -> int | None:
        doing = f"read job {job}"
        read = self._client.api.actions.get_job_for_workflow_run
        try:
            return parse(_Job, self._client.call(read, doing, job_id=job).data, doing).run_attempt
        except GitHubError as error:
            if error.status == 404:
                return None
            raise


class _Job(Wire):
    run_attempt: int | None = None


class _PageInfo(_Camel):
    has_next_page: bool
    end_cursor: str | None = None


class _Page(_Camel):
    total_count: int
    page_info: _PageInfo
    nodes: tuple[dict[str, Any] | None, ...] | None = None


class _Label(_Camel):
    name: str


class _Labels(_Camel):
    nodes: tuple[_Label | None, ...] | None = None


class _Pull(_Camel):
    closed: bool
    head_ref_oid: str
    base_ref_name: str
    labels: _Labels | None = None

    def glance(self) -> Glance:
        """The way the flow sees it."""
        nodes = (self.labels.nodes if self.labels else None) or ()
        labels = tuple(label.name for label in nodes if label)
        head, target = self.head_ref_oid, self.base_ref_name
        return Glance(open=not self.closed, labels=labels, head=head, target=target)


@dataclass(frozen=True)
class _Answer:
    """One page of a rollup; None where there is no rollup."""

    page: _Page | None
    at: datetime | None
    pull: Glance | None


def _context(node: dict[str, Any]) -> Context:
    kind: type[CheckRun] | type[StatusContext]
    kind = CheckRun if node.get("__typename") == "CheckRun" else StatusContext
    return parse(kind, node, "read a check")


def _workflow_runs(runs: Iterable[CheckRun]) -> dict[str, int]:
    found = ((run.check().suite, run.check_suite.workflow_run) for run in runs)
    numbers = {suite: flow.number for suite, flow in found if suite and flow}
    return {suite: number for suite, number in numbers.items() if number}


def _unreadable(count: int) -> list[Check]:
    unread = Check(name=UNREADABLE, status=CheckStatus.OTHER)
    return [unread.model_copy(update={"suite": str(at)}) for at in range(count)]
