"""Scriptable CI: what happens after a push, a comment, a dispatch, a label or a rerun.

Nothing here sleeps. Scripts move on when somebody reads the checks of their commit: that is one
poll. The first poll after a trigger sees how a script begins; each later poll moves it one step
first. A script is a sequence of `Act` and `External`, or a generator function over a `Stage`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fnmatch import fnmatchcase

from tests.github.logs import dressed
from tests.github.state import (
    FUTURE,
    Annotation,
    CheckRun,
    Comment,
    Event,
    Repository,
    Run,
    Status,
    Suite,
    Workflow,
    World,
)

ACTIONS = "github-actions"
NEVER = 10**9  # polls
REACTION = 1.0  # seconds between a trigger and what it starts
__all__ = ["ACTIONS", "CI", "FUTURE", "NEVER", "Act", "External", "Script", "Stage"]


@dataclass(frozen=True)
class Act:
    """One check from its start to its end; `after`, `queued` and `running` count polls.

    `suite` tells apart checks of one name in one workflow. A `workflow` such as `CI@more.yml` is
    another file that names itself `CI`. `rerun` is what a rerun does, to a
    skipped job too; without it the same happens again. A log that is text is dressed up the way
    Actions does it.
    """

    name: str
    conclusion: str | None = "SUCCESS"
    log: str | bytes = "ok"
    app: str = ACTIONS
    workflow: str = "CI"
    suite: str = ""
    after: int = 0
    queued: int = 0
    running: int = 1
    annotations: tuple[Annotation, ...] = ()
    rerun: "Act | None" = None


@dataclass(frozen=True)
class External:
    """One commit status; `after` and `pending` count polls."""

    context: str
    state: str = "SUCCESS"
    creator: str = "ci-service"
    after: int = 0
    pending: int = 1
    description: str | None = None
    target_url: str | None = None


@dataclass
class Stage:
    """What a script may do: checks and statuses on the commit of its event."""

    world: World
    event: Event
    _suites: dict[tuple[str, str, str], Suite] = field(default_factory=dict)

    @property
    def repository(self) -> Repository:
        """Where the event happened."""
        return self.event.repository

    def suite(self, app: str = ACTIONS, workflow: str = "CI", key: str = "") -> Suite:
        """The suite of an app, and for Actions of a workflow; made when first asked for."""
        place = (app, workflow if app == ACTIONS else "", key)
        if place not in self._suites:
            self._suites[place] = self._new_suite(app, workflow)
        return self._suites[place]

    def _new_suite(self, app: str, workflow: str) -> Suite:
        world, event, now = self.world, self.event, self.world.clock.now()
        branch = _branch(event)
        suite = Suite(world.id(), app, event.sha, branch, now)
        if app == ACTIONS:
            found = named(world, self.repository, workflow)
            number = 1 + sum(s.run is not None for s in self.repository.suites)
            kind = {"dispatch": "workflow_dispatch", "label": "pull_request"}.get(event.kind)
            trigger = kind or ("push" if event.kind != "pull_request" else event.kind)
            suite.run = Run(world.id(), number, found, trigger, branch, now)
        self.repository.suites.append(suite)
        return suite

    def check(self, name: str, suite: Suite | None = None, attempt: int = 1) -> CheckRun:
        """A new check run, queued."""
        run = CheckRun(self.world.id(), suite or self.suite(), name, attempt=attempt)
        self.repository.check_runs.append(run)
        return run

    def start(self, run: CheckRun) -> None:
        """Queued to running."""
        run.status, run.started_at = "IN_PROGRESS", self.world.clock.now()

    def finish(self, run: CheckRun, conclusion: str | None, log: str | bytes = "ok") -> None:
        """Running to completed, with a log if it is a job."""
        run.started_at = run.started_at or self.world.clock.now()
        run.status, run.conclusion = "COMPLETED", conclusion
        run.completed_at = self.world.clock.now()
        if run.suite.run:
            failed = conclusion == "FAILURE"
            run.log = dressed(log, run.completed_at, failed) if isinstance(log, str) else log

    def status(self, context: str, state: str, creator: str = "ci-service") -> Status:
        """A new commit status; the newest of a context counts."""
        now, who = self.world.clock.now(), self.world.account(creator, "Bot")
        status = Status(self.world.id(), self.event.sha, context, state, who, now)
        self.repository.statuses.append(status)
        return status


Play = Iterator[None]
Script = Sequence[Act | External] | Callable[[Stage], Play]


def _branch(event: Event) -> str:
    """Whom a comment asks, copies the head to a branch of this name: copy-pr-bot does so."""
    asked = event.kind == "comment" and event.pull
    return f"pull-request/{event.pull.number}" if asked and event.pull else event.branch


def named(world: World, repository: Repository, name: str) -> Workflow:
    """The workflow of a name or of `NAME@FILE`, made if need be."""
    shown, _, given = name.partition("@")
    file = f".github/workflows/{given or re.sub(r'[^a-z0-9]+', '-', shown.lower()) + '.yml'}"
    known = (w for w in repository.workflows if w.name == shown)
    found = next((w for w in known if not given or w.path == file), None)
    if found is None:
        found = Workflow(world.id(), shown, file, False, world.clock.now())
        repository.workflows.append(found)
    return found


def _act(stage: Stage, act: Act) -> Play:
    for _ in range(act.after):
        yield
    run = stage.check(act.name, stage.suite(act.app, act.workflow, act.suite))
    yield from _through(stage, act, run)


def _through(stage: Stage, act: Act, run: CheckRun) -> Play:
    run.origin = act
    for _ in range(act.queued):
        yield
    stage.start(run)
    for _ in range(act.running):
        yield
    stage.finish(run, act.conclusion, act.log)
    run.annotations = act.annotations


def _external(stage: Stage, act: External) -> Play:
    for _ in range(act.after):
        yield
    states = ["PENDING"] * bool(act.pending) + [act.state]
    for at, state in enumerate(states):
        status = stage.status(act.context, state, act.creator)
        status.description, status.target_url = act.description, act.target_url
        for _ in range(act.pending if at + 1 < len(states) else 0):
            yield


def _again(stage: Stage, old: CheckRun) -> Play:
    """A rerun: a new check run in the same suite, under the same name."""
    act = old.origin if isinstance(old.origin, Act) else Act(old.name)
    act = act.rerun or replace(act, after=0)
    attempt = old.suite.run.attempt if old.suite.run else old.attempt + 1
    for _ in range(act.after):
        yield
    yield from _through(stage, act, stage.check(old.name, old.suite, attempt))


@dataclass
class _Show:
    """A script at work on one commit."""

    sha: str
    plays: list[Play]
    polls: int = 0

    def step(self) -> None:
        """One step of every play; those that are over drop out."""
        self.plays = [play for play in self.plays if next(play, self) is not self]


@dataclass
class _Rule:
    kind: str
    fits: Callable[[Event], bool]
    scripts: Sequence[Script]
    used: int = 0

    def next(self) -> Script:
        """The next script; the last one is played again and again."""
        self.used += 1
        return self.scripts[min(self.used, len(self.scripts)) - 1]


class CI:
    """Rules that tell which script an event plays. Later rules do not hide earlier ones."""

    def __init__(self, world: World):
        self.world = world
        self.poll_seconds = 2.0  # how far a poll moves the stand-in's clock
        self.polls = 0
        self.polls_of: dict[str, int] = {}  # by commit
        self._rules: list[_Rule] = []
        self._shows: list[_Show] = []
        self._due: list[tuple[int, Callable[[], object]]] = []
        world.listeners.append(self._happened)
        world.pollers.append(self._poll)

    def _on(self, kind: str, fits: Callable[[Event], bool], scripts: Sequence[Script]) -> None:
        self._rules.append(_Rule(kind, fits, scripts))

    def on_push(self, branch: str, *scripts: Script) -> None:
        """The n-th push to a branch that matches the glob plays the n-th script."""
        self._on("push", lambda event: fnmatchcase(event.name, branch), scripts)

    def on_pull_request(self, action: str, *scripts: Script) -> None:
        """`opened`, `synchronize`, `ready_for_review` or `converted_to_draft`."""
        self._on("pull_request", lambda event: event.name == action, scripts)

    def on_comment(self, pattern: str, *scripts: Script) -> None:
        """A comment that the expression matches; its first group, if any, must be the head SHA."""
        self._on("comment", lambda event: self._asked(event, re.compile(pattern)), scripts)

    def on_dispatch(self, file: str, *scripts: Script) -> None:
        """A workflow_dispatch of a file name such as `ci.yml`; see `GitHub.workflow`."""
        self._on("dispatch", lambda event: event.name == file, scripts)

    def on_label(self, name: str, *scripts: Script) -> None:
        """A label that a pull request got."""
        self._on("label", lambda event: event.name == name, scripts)

    def on_rerun(self, *scripts: Script) -> None:
        """Instead of what each check's own `rerun` says."""
        self._on("rerun", lambda event: True, scripts)

    def play(self, repository: Repository, sha: str, script: Script, branch: str = "") -> None:
        """Play a script on a commit at once, without a trigger."""
        self._begin(Event("push", repository, sha, branch, branch), script)

    def past(
        self, repository: Repository, sha: str, acts: Sequence[Act], seconds: float = 3600
    ) -> list[CheckRun]:
        """Checks that ended so many seconds ago, as from an earlier trigger."""
        stage = Stage(self.world, Event("push", repository, sha, "", ""))
        then, made = self.world.clock.now() - timedelta(seconds=seconds), []
        for act in acts:
            suite = stage.suite(act.app, act.workflow, act.suite)
            run = stage.check(act.name, suite)
            run.origin = act
            stage.finish(run, act.conclusion, act.log)
            run.started_at = run.completed_at = suite.created_at = then
            if suite.run:
                suite.run.created_at = then
            made.append(run)
        return made

    def at_poll(self, number: int, action: Callable[[], object]) -> None:
        """Do something just before the n-th poll (of any commit, from 1) is answered."""
        self._due.append((number, action))

    def _asked(self, event: Event, pattern: re.Pattern[str]) -> bool:
        found = pattern.search(event.name)
        if found is None:
            return False
        if not found.groups() or found[1] == event.sha:
            return True
        self._complain(event, found[1])
        return False

    def _complain(self, event: Event, sha: str) -> None:
        """What a bot says that was asked to test something else than the head."""
        if event.pull:
            now, bot = self.world.clock.now(), self.world.account("copy-pr-bot[bot]", "Bot")
            text = f"`{sha}` is not the full SHA of the latest commit of this pull request."
            note = Comment(self.world.id(), event.pull.number, bot, text, now, now)
            event.repository.comments.append(note)

    def _happened(self, event: Event) -> None:
        scripts = [
            rule.next() for rule in self._rules if rule.kind == event.kind and rule.fits(event)
        ]
        if event.kind == "rerun":
            for suite in {id(run.suite): run.suite for run in event.rerun}.values():
                if suite.run:
                    suite.run.attempt += 1
            if not scripts:
                self._begin(event, lambda stage: _together(stage, event.rerun))
        for script in scripts:
            self._begin(event, script)

    def _begin(self, event: Event, script: Script) -> None:
        self.world.clock.advance(REACTION)
        stage = Stage(self.world, event)
        plays = [script(stage)] if callable(script) else [_play(stage, act) for act in script]
        show = _Show(event.sha, plays)
        show.step()
        self._shows.append(show)

    def _poll(self, _: Repository, sha: str) -> None:
        self.polls += 1
        self.polls_of[sha] = self.polls_of.get(sha, 0) + 1
        self.world.clock.advance(self.poll_seconds)
        due = [action for at, action in self._due if at == self.polls]
        for action in due:
            action()
        for show in [show for show in self._shows if show.sha == sha]:
            if show.polls:
                show.step()
            show.polls += 1


def _play(stage: Stage, act: Act | External) -> Play:
    return _external(stage, act) if isinstance(act, External) else _act(stage, act)


def _together(stage: Stage, runs: Sequence[CheckRun]) -> Play:
    plays = [_again(stage, run) for run in runs]
    while plays:
        plays = [play for play in plays if next(play, stage) is not stage]
        yield
