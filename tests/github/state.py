"""What the stand-in remembers. Plain records; the rules are in the modules that serve them.

Heads of branches are never remembered: they are read from the bare repositories, so a push counts
whichever way it came.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from threading import RLock
from typing import Any, Literal

from tests.github import bare
from tests.github.clock import Clock

HEADS = "refs/heads/"
FUTURE = "FUTURE_VALUE"
"""A conclusion, status or state that no client knows yet."""
TokenKind = Literal["classic", "fine-grained", "installation"]


@dataclass(frozen=True)
class Account:
    """A user, a bot or an organization."""

    id: int
    login: str
    kind: str = "User"


@dataclass
class Token:
    """A known token. `permissions` are GitHub's names (`pull_requests`) and `read` or `write`."""

    text: str
    account: Account
    kind: TokenKind
    permissions: Mapping[str, str]
    scopes: tuple[str, ...] = ()  # of a classic token
    expires_at: datetime | None = None
    triggers: bool = True  # False: starts no workflows, like the token of a workflow itself


@dataclass(frozen=True)
class App:
    """A GitHub App that may be installed; `public_key` is PEM."""

    id: int
    slug: str
    name: str
    account: Account
    public_key: bytes
    installation: int
    permissions: Mapping[str, str]
    created_at: datetime


@dataclass(frozen=True)
class Protection:
    """Rules for the branches that match a pattern. `ruleset`: the newer kind, GH013."""

    branch: str
    ruleset: bool = False
    required_checks: tuple[str, ...] = ()
    strict: bool = False
    pull_request: bool = False  # changes must be made through one
    signatures: bool = False
    force_push: bool = False  # whether history may be rewritten


@dataclass
class Label:
    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass
class Comment:
    id: int
    number: int
    author: Account
    body: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class Edit:
    """One entry in the history of a text: the whole text after it."""

    id: int
    at: datetime
    text: str


@dataclass
class Pull:
    """A pull request; `head_sha` is what it was when last looked at while open."""

    id: int
    number: int
    author: Account
    title: str
    body: str | None
    head: str
    base: str
    head_sha: str
    base_sha: str
    draft: bool
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None
    merged_at: datetime | None = None
    merged_by: Account | None = None
    merge_commit_sha: str | None = None  # where the base was moved to when it was merged
    labels: list[str] = field(default_factory=list)
    reviewers: list[str] = field(default_factory=list)
    head_repository: str = ""  # another repository's name if it comes from a fork
    edits: list[Edit] = field(default_factory=list)  # of the body, oldest first

    @property
    def open(self) -> bool:
        """Neither closed nor merged."""
        return self.closed_at is None

    def write(self, body: str | None, world: "World") -> None:
        """Replace the body. The first edit brings the original text into the history too."""
        if not self.edits:
            self.edits.append(Edit(world.id(), self.created_at, self.body or ""))
        self.edits.append(Edit(world.id(), world.clock.now(), body or ""))
        self.body, self.updated_at = body, world.clock.now()


@dataclass(frozen=True)
class Workflow:
    id: int
    name: str
    path: str  # `.github/workflows/ci.yml`
    dispatch: bool  # it has the workflow_dispatch trigger
    created_at: datetime


@dataclass
class Run:
    """A workflow run; its jobs are the check runs of its suite."""

    id: int
    number: int
    workflow: Workflow
    event: str
    branch: str
    created_at: datetime
    attempt: int = 1


@dataclass
class Suite:
    id: int
    app: str  # slug
    sha: str
    branch: str
    created_at: datetime
    run: Run | None = None


@dataclass(frozen=True)
class Annotation:
    path: str
    line: int
    message: str
    level: str = "failure"


@dataclass
class CheckRun:
    """A check run, and for GitHub Actions also a job. Words are GraphQL's, upper case."""

    id: int
    suite: Suite
    name: str
    status: str = "QUEUED"
    conclusion: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    log: bytes | None = None
    attempt: int = 1
    annotations: tuple[Annotation, ...] = ()
    origin: Any = None  # what a script keeps about it, for a rerun


@dataclass
class Status:
    """A commit status, what GraphQL calls a StatusContext."""

    id: int
    sha: str
    context: str
    state: str  # ERROR, EXPECTED, FAILURE, PENDING, SUCCESS
    creator: Account
    created_at: datetime
    description: str | None = None
    target_url: str | None = None


@dataclass
class Repository:
    """A repository with its bare git directory."""

    id: int
    owner: Account
    name: str
    path: Path
    default_branch: str
    created_at: datetime
    private: bool = False
    archived: bool = False
    drafts: bool = True  # whether its plan has draft pull requests
    broken_pushes: int = 0  # how many of the next pushes end in an error of GitHub's own
    collaborators: tuple[str, ...] = ()
    labels: list[Label] = field(default_factory=list)
    pulls: list[Pull] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    workflows: list[Workflow] = field(default_factory=list)
    suites: list[Suite] = field(default_factory=list)
    check_runs: list[CheckRun] = field(default_factory=list)
    statuses: list[Status] = field(default_factory=list)
    protections: list[Protection] = field(default_factory=list)
    without_rollup: set[str] = field(default_factory=set)  # commits whose rollup is null
    all_attempts: bool = False  # whether rollups also have the runs that a rerun replaced
    seen: dict[str, str] = field(default_factory=dict)  # refs when last looked at

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner.login}/{self.name}"

    def branches(self) -> dict[str, str]:
        """Branches as they are now, by name."""
        found = bare.refs(self.path)
        return {k.removeprefix(HEADS): v for k, v in found.items() if k.startswith(HEADS)}

    def pull(self, number: int) -> Pull | None:
        """The pull request of a number."""
        return next((pull for pull in self.pulls if pull.number == number), None)

    def label(self, name: str) -> Label | None:
        """A label; names do not tell upper from lower case."""
        return next((item for item in self.labels if item.name.lower() == name.lower()), None)

    def workflow(self, key: str) -> Workflow | None:
        """A workflow by id or by file name."""
        fits = (w for w in self.workflows if key in (str(w.id), w.path.rpartition("/")[2], w.path))
        return next(fits, None)

    def protecting(self, branch: str, ruleset: bool) -> list[Protection]:
        """The rules of one kind that hold for a branch."""
        rules = (rule for rule in self.protections if rule.ruleset is ruleset)
        return [rule for rule in rules if fnmatchcase(branch, rule.branch)]

    def required(self, branch: str) -> set[str]:
        """Names of the checks that a branch demands, by whatever kind of rule."""
        rules = (rule for rule in self.protections if fnmatchcase(branch, rule.branch))
        return {name for rule in rules for name in rule.required_checks}

    def runs_of(self, sha: str, latest: bool = True) -> list[CheckRun]:
        """Check runs of a commit; the newest of each name and suite unless all are asked for."""
        found = [run for run in self.check_runs if run.suite.sha == sha]
        if not latest:
            return found
        return list({(run.suite.id, run.name): run for run in found}.values())

    def statuses_of(self, sha: str) -> list[Status]:
        """The newest status of each context."""
        newest = {status.context: status for status in self.statuses if status.sha == sha}
        return list(newest.values())


@dataclass(frozen=True)
class Event:
    """Something that may start CI.

    `kind` is push, pull_request, comment, dispatch, label or rerun; `name` is the branch, the
    action, the text, the workflow file, the label, or the check's name, in this order.
    """

    kind: str
    repository: Repository
    sha: str
    name: str
    branch: str = ""
    pull: Pull | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    rerun: tuple[CheckRun, ...] = ()


class World:
    """Everything there is, behind one lock."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.clock = Clock()
        self.url = ""  # of the API's host, without a slash at the end
        self.logs_url = ""
        self.accounts: dict[str, Account] = {}
        self.tokens: dict[str, Token] = {}
        self.apps: list[App] = []
        self.repositories: dict[str, Repository] = {}
        self.renamed: dict[str, Repository] = {}  # by the old name, lower case
        self.problems: list[str] = []  # broken promises of a client, or of the stand-in
        self.listeners: list[Callable[[Event], None]] = []
        self.pollers: list[Callable[[Repository, str], None]] = []
        self._ids: Iterator[int] = itertools.count(1001)

    def id(self) -> int:
        """A number that nothing else has."""
        return next(self._ids)

    def account(self, login: str, kind: str = "User") -> Account:
        """An account, made if need be."""
        return self.accounts.setdefault(login, Account(self.id(), login, kind))

    def repository(self, owner: str, name: str) -> Repository | None:
        """A repository by name; upper and lower case are the same."""
        wanted = f"{owner}/{name}".lower()
        fits = (r for r in self.repositories.values() if r.full_name.lower() == wanted)
        return next(fits, None)

    def tell(self, event: Event, by: Token | None = None) -> None:
        """Pass an event on, unless the token that caused it starts no workflows."""
        if by is not None and not by.triggers:
            return
        for listener in self.listeners:
            listener(event)

    def polled(self, repository: Repository, sha: str) -> None:
        """Somebody is about to read the checks of a commit from the start."""
        for poller in self.pollers:
            poller(repository, sha)

    def look(self, repository: Repository, by: Token | None = None) -> None:
        """Notice what was pushed since the last look: move pull requests, start CI."""
        with self.lock:
            before, now = repository.seen, bare.refs(repository.path)
            repository.seen = now
            for ref in sorted(before.keys() | now.keys()):
                if ref.startswith(HEADS) and before.get(ref) != now.get(ref):
                    self._moved(repository, ref.removeprefix(HEADS), now.get(ref), by)

    def _moved(
        self, repository: Repository, branch: str, sha: str | None, by: Token | None
    ) -> None:
        pulls = [p for p in repository.pulls if p.open and not p.head_repository]
        for pull in pulls:
            if branch == pull.head:
                self._head_moved(pull, sha)
            elif (
                branch == pull.base
                and sha
                and bare.is_ancestor(repository.path, pull.head_sha, sha)
            ):
                pull.merged_at = pull.closed_at = pull.updated_at = self.clock.now()
                pull.merge_commit_sha = sha
        if sha is None:
            return
        self.tell(Event("push", repository, sha, branch, branch), by)
        for pull in pulls:
            if pull.open and pull.head == branch:
                event = Event("pull_request", repository, sha, "synchronize", branch, pull)
                self.tell(event, by)

    def _head_moved(self, pull: Pull, sha: str | None) -> None:
        pull.updated_at = self.clock.now()
        if sha is None:
            pull.closed_at = pull.updated_at
        else:
            pull.head_sha = sha
