"""Results of a check where nothing of the sync is, as far as GitHub has them.

First on the target's last commits: those its branch pointed at, not those that merges brought along
(work in progress, the source's own commits). Only where none of them has a result, on the head
commits of pull requests that were merged into it lately.

A failed check of a pull request may be that pull request's own, or older than a repair on the
target, since a head need not hold the target's newest commits. It counts as the target's only if
the pull request's merge is among the target's commits, so that its content is there, and no other
pull request of late passed the check. A pass proves nothing about the target. Forks do not count:
their checks run without the repository's secrets. Nor do sync pull requests.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from nightly_sync.checks.baseline import conclusive, is_under_way
from nightly_sync.checks.names import UNREADABLE
from nightly_sync.forge.base import BaselineResult, Check, Rollup
from nightly_sync.forge.github.client import PAGE, Client, Wire, parse
from nightly_sync.forge.github.pulls import Pull

COMMITS = 10  # of the target that are looked at, the newest first
PULLS = 10  # merged pull requests that are looked at, the newest merge first


class _Parent(Wire):
    sha: str


class _Commit(Wire):
    sha: str
    parents: tuple[_Parent, ...] = ()


class MergedPull(Pull):
    """A pull request of a list, with what is known of its merge."""

    merged_at: datetime | None = None
    merge_commit_sha: str | None = None  # for squashes and rebases too: the target's commit


@dataclass(frozen=True)
class Line:
    """The last commits of a branch."""

    commits: tuple[str, ...]  # first parents, the newest first
    contains: frozenset[str]  # all commits that were seen on the way


class History:
    """What one repository's target and merged pull requests say; reads each commit once.

    `read` gives the rollup of a commit as it is now, `log` the log of one of its checks. A commit
    is read again only if the check in question was to be expected there.
    """

    def __init__(
        self,
        client: Client,
        read: Callable[[str], Rollup],
        log: Callable[[str, Check], str],
        target: str,
        prefix: str,
        page: int = PAGE,
    ):
        self._client = client
        self._read = read
        self._log = log
        self._target = target
        self._prefix = prefix
        self._page = page
        self._rollups: dict[str, Rollup] = {}
        self._lines: dict[str, Line] = {}
        self._merged: dict[str, list[MergedPull]] = {}

    def find(self, target_sha: str, check: Check) -> BaselineResult | None:
        """The newest result of the same check that proves something; None if there is none."""
        for sha in self._line(target_sha).commits:
            known = self._result(sha, check)
            if known:
                return self._answer(sha, known, f"the target's commit {sha[:12]}")
        return self._of_pulls(target_sha, check)

    def _of_pulls(self, target_sha: str, check: Check) -> BaselineResult | None:
        results = self._results(self._pulls(target_sha), check)
        newest = next(results, None)
        if newest is None or any(passed(known) for _, known in chain((newest,), results)):
            return None
        pull, known = newest
        return self._answer(pull.head.sha, known, f"the merged pull request #{pull.number}")

    def _results(self, pulls: list[MergedPull], check: Check) -> Iterator[tuple[MergedPull, Check]]:
        for pull in pulls:
            known = self._result(pull.head.sha, check)
            if known:
                yield pull, known

    def _answer(self, sha: str, check: Check, where: str) -> BaselineResult:
        return BaselineResult(check=check, log=self._log(sha, check), where=where, sha=sha)

    def _result(self, sha: str, check: Check) -> Check | None:
        rollup = self._rollups.get(sha)
        if rollup is None or is_under_way(rollup, check):
            rollup = self._rollups[sha] = self._read(sha)
        # What could not be read may be a newer result.
        hidden = any(item.name == UNREADABLE for item in rollup.checks)
        return None if hidden else conclusive(rollup, check)

    # What to look at

    def _line(self, sha: str) -> Line:
        if sha not in self._lines:
            self._lines[sha] = self._walked(sha)
        return self._lines[sha]

    def _walked(self, tip: str) -> Line:
        parents: dict[str, tuple[str, ...]] = {}
        commits, at = list[str](), tip
        while at and len(commits) < COMMITS:
            # GitHub lists by date, so merged commits may push first parents off a page.
            if at not in parents:
                parents |= self._parents(at)
            commits.append(at)
            at = next(iter(parents.get(at, ())), "")
        return Line(tuple(commits), frozenset(parents))

    def _parents(self, sha: str) -> dict[str, tuple[str, ...]]:
        doing = f"list the commits before {sha[:12]}"
        list_commits = self._client.api.repos.list_commits
        listed = self._client.call(list_commits, doing, sha=sha, per_page=self._page)
        commits = (parse(_Commit, item, doing) for item in listed.data)
        return {item.sha: tuple(parent.sha for parent in item.parents) for item in commits}

    def _pulls(self, target_sha: str) -> list[MergedPull]:
        if target_sha not in self._merged:
            contains = self._line(target_sha).contains
            ours = self._client.address.full_name
            self._merged[target_sha] = usable(self._closed(), contains, ours, self._prefix)
        return self._merged[target_sha]

    def _closed(self) -> list[MergedPull]:
        """Closed pull requests into the target; the last hundred that something happened to."""
        doing = f"list the pull requests merged into {self._target}"
        listed = self._client.call(
            self._client.api.pulls.list,
            doing,
            state="closed",
            base=self._target,
            sort="updated",
            direction="desc",
            per_page=self._page,
        )
        return [parse(MergedPull, item, doing) for item in listed.data]


def passed(check: Check) -> bool:
    """Did a conclusive result end well? Pure."""
    return check.conclusion == "SUCCESS"


def usable(
    closed: list[MergedPull], contains: frozenset[str], repository: str, prefix: str
) -> list[MergedPull]:
    """Those whose checks say something about a target with these commits, newest first. Pure."""
    found = [
        pull
        for pull in closed
        if pull.merged_at
        and pull.merge_commit_sha in contains
        and pull.head.repo
        and pull.head.repo.full_name.lower() == repository.lower()
        and not pull.head.ref.startswith(prefix)
    ]
    return sorted(found, key=lambda pull: str(pull.merged_at), reverse=True)[:PULLS]
