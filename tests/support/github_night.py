"""A night on GitHub below the Prefect flow: the library's own steps, on the stand-in's clock.

No test waits: what a run sleeps moves that clock on. `Night` starts where the draft pull request
is open already, at the price of copying files; `whole` goes all the way.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nightly_sync import publish, session, workspace
from nightly_sync.fixers.base import Fixer
from nightly_sync.forge.base import PullRequest
from nightly_sync.merge import step
from nightly_sync.repair import Head
from nightly_sync.reports.model import ReportFacts
from nightly_sync.session import Session
from tests.github import bare
from tests.github.ci import Script
from tests.github.people import Person
from tests.github.server import GitHub
from tests.github.state import Event, Pull
from tests.support.github_site import ASK, GitHubSite
from tests.support.night import Ended as Ended
from tests.support.night import ended
from tests.support.night import followed as followed
from tests.support.night import merged as merged

POLL = 120  # seconds


@contextmanager
def opened(hub: GitHubSite, run_id: str = "run-1", **fields: Any) -> Iterator[Session]:
    """A run on the site."""
    clock = hub.github.world.clock
    config = hub.config(**{"poll_seconds": POLL, **fields})
    with session.opened(config, run_id, clock.now, sleep=clock.advance) as run:
        yield run


def whole(hub: GitHubSite, run_id: str = "run-1", **fields: Any) -> Ended:
    """A whole night."""
    with opened(hub, run_id, **fields) as run:
        return ended(run)


@dataclass(frozen=True)
class Synced:
    """A night up to the draft pull request, to start others from."""

    origin: Path  # bare, with `main`, `dev` and the sync branch
    workspace: Path  # the run's own repository
    head: Head
    facts: ReportFacts


def synced(folder: Path) -> Synced:
    """Play such a night."""
    with GitHub(folder) as github, pytest.MonkeyPatch.context() as patch:
        hub = GitHubSite(github, folder, patch)
        with opened(hub) as run:
            made = merged(run)
            publish.publish(run, made)
            place = run.workspace.repository
            for repository in (hub.repository.path, place):
                bare.pack(repository)
            return Synced(hub.repository.path, place, step.head_of(place, made), made.facts)


class Night:
    """A site whose sync branch is pushed and whose draft is open; only its checks are to come."""

    def __init__(self, github: GitHub, folder: Path, patch: pytest.MonkeyPatch, start: Synced):
        self.hub = GitHubSite(github, folder, patch, start.origin)
        self.github = github
        self.ci = github.ci
        self.clock = github.world.clock
        self.start = start
        self.branch = start.head.branch

    @property
    def pull(self) -> Pull:
        """The pull request as GitHub has it."""
        (pull,) = self.hub.repository.pulls
        return pull

    @property
    def person(self) -> Person:
        """Somebody with write access."""
        return self.hub.person

    @property
    def asked(self) -> list[str]:
        """The comments that started checks."""
        return [said for said in self.said if said.startswith("/ok to test")]

    @property
    def said(self) -> list[str]:
        """All comments on the pull request."""
        return self.hub.comments(self.pull.number)

    @property
    def tip(self) -> str:
        """Where the sync branch is."""
        return self.hub.tip(self.branch)

    def at_poll(self, number: int, action: Callable[[], object]) -> None:
        """Do something just before the checks are read for the n-th time, from 1."""
        self.ci.at_poll(number, action)

    @contextmanager
    def opened(self, **fields: Any) -> Iterator[tuple[Session, PullRequest]]:
        """A run and its pull request."""
        config = self.hub.config(**fields)
        home = workspace.home_of(config) / "repository.git"
        if not home.exists():
            shutil.copytree(self.start.workspace, home)
        with opened(self.hub, **fields) as run:
            title = config.title_for(run.started)
            yield run, run.forge.create_draft(self.branch, config.target, title, "")

    def through(self, fixers: Sequence[Fixer] | None = None, **fields: Any) -> Ended:
        """The rest of the night."""
        with self.opened(**fields) as (run, pull):
            return followed(run, pull, self.start.head, self.start.facts, fixers)

    def rerun_all(self) -> None:
        """Somebody runs all jobs of the sync branch's workflow run again."""
        jobs = tuple(self.hub.repository.runs_of(self.tip))
        suite = jobs[0].suite
        event = Event("rerun", self.hub.repository, suite.sha, suite.app, suite.branch, rerun=jobs)
        self.github.world.tell(event)

    def plays(self, *scripts: Script) -> None:
        """What CI does each time it is asked by a comment."""
        self.ci.on_comment(ASK, *scripts)
