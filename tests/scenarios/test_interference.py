"""People and other runs get in the way of a run: it stops, says so, and overwrites nothing.

The library's own steps on a real origin, without Prefect; the flow itself is under e2e.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from nightly_sync import ci, conclude, divergence, last_look, publish, session, stale, workspace
from nightly_sync.checks.triage import FailureGroup
from nightly_sync.ci import Watched
from nightly_sync.config import SyncConfig
from nightly_sync.errors import StopForPerson
from nightly_sync.fixers.base import Change, Fixer
from nightly_sync.forge.base import PullRequest
from nightly_sync.merge import step
from nightly_sync.merge.step import Merged
from nightly_sync.record import Outcome
from nightly_sync.repair import Head
from nightly_sync.reports.model import ReportFacts
from nightly_sync.session import Session
from nightly_sync.workspace import Busy
from tests.support.night import Scribbler
from tests.support.repo import diverged
from tests.support.site import Site

NO_CI: dict[str, Any] = {"checks": [], "sentinel": None, "no_ci": True}
RED = {"name": "tests", "run": "python -c 'raise SystemExit(1)'"}


def _site(folder: Path) -> Site:
    """Both sides change one file, and git merges it: its text is the merge's own."""
    gap = "".join(f"x{number} = {number}\n" for number in range(9))
    return Site(folder).diverge({"a.py": gap}, {"a.py": f"y = 1\n{gap}"}, {"a.py": f"{gap}z = 1\n"})


def _merged(run: Session) -> Merged:
    workspace.fetch(run.workspace, run.origin, 60)
    heads = workspace.branches(run.workspace)
    source, target = heads[run.config.source], heads[run.config.target]
    parted = divergence.check(run.workspace.repository, source, target, run.config)
    return step.merge(run, parted)


def _followed(
    run: Session, merged: Merged, pull: PullRequest, fixers: Sequence[Fixer] = ()
) -> Watched:
    head = step.head_of(run.workspace.repository, merged)
    return ci.follow(run, pull, head, fixers, lambda verdict, cost: None)


def _opened(config: SyncConfig, run_id: str = "one") -> Any:
    return session.opened(config, run_id)


def _concluded(site: Site, meanwhile: Callable[[Site, PullRequest], object]) -> ReportFacts:
    """A run where something happens after its checks ended and before it is marked ready."""
    with _opened(site.config(**NO_CI)) as run:
        merged = _merged(run)
        pull = publish.publish(run, merged)
        watched = _followed(run, merged, pull)
        meanwhile(site, pull)
        return conclude.conclude(run, pull, merged.facts, watched)


def _record(site: Site, number: int) -> Path:
    return site.folder / "origin.git.nightly-sync" / "pulls" / f"{number:04}.json"


def _edit(site: Site, number: int, **changes: Any) -> None:
    """What a person does to a pull request of the local forge."""
    file = _record(site, number)
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


# While the checks run


def _push_by_hand(site: Site, pull: PullRequest) -> None:
    site.repo.git("fetch", "-q", "origin")
    site.repo.git("checkout", "-q", "-b", "hand", pull.head)
    site.repo.commit("By hand", {"hand.py": "h = 1\n"})
    site.repo.git("push", "-q", "origin", f"hand:{pull.branch}")


def _delete(site: Site, pull: PullRequest) -> None:
    site.repo.git("push", "-q", "origin", f":{pull.branch}")


def _close(site: Site, pull: PullRequest) -> None:
    _edit(site, pull.number, open=False)


def _drop_target_commit(site: Site, pull: PullRequest) -> None:
    site.repo.git("push", "-q", "--force", "origin", "dev~1:dev")


def _delete_target(site: Site, pull: PullRequest) -> None:
    site.repo.git("push", "-q", "origin", ":dev")


@pytest.mark.parametrize(
    ("meanwhile", "words"),
    [
        (_push_by_hand, "somebody moved it"),
        (_delete, "is now gone"),
        (_close, "was closed"),
        (_drop_target_commit, "no longer holds"),
        (_delete_target, "dev is gone"),
    ],
)
def test_what_moves_while_checks_run_stops_the_run_and_the_pull_request_says_so(
    tmp_path: Path, meanwhile: Callable[[Site, PullRequest], None], words: str
) -> None:
    """Reported: the body said Ready though the run stopped; and a target that was force-pushed
    back was marked ready, although merging would have brought the dropped commits back."""
    site = _site(tmp_path)
    facts = _concluded(site, meanwhile)
    assert facts.outcome is Outcome.STOPPED
    assert words in facts.reason
    (pull,) = site.pulls()
    assert pull["draft"]
    assert "Stopped: a person has to look first." in pull["body"]
    assert "Ready" not in pull["body"]
    assert words in pull["comments"][-1]["text"]


def test_the_pull_request_never_says_ready_before_the_last_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reported: Ready was written before the last check, so a run killed there left it standing."""
    site = _site(tmp_path)
    seen: list[str] = []
    look = last_look.check

    def recorded(run: Session, pull: PullRequest, head: Head) -> None:
        seen.append(run.forge.get(pull.number).body)
        look(run, pull, head)

    monkeypatch.setattr(last_look, "check", recorded)
    assert _concluded(site, lambda *_: None).outcome is Outcome.READY
    assert ["Ready:" in body for body in seen] == [False, True]


def test_a_target_that_moved_forward_stops_nothing(tmp_path: Path) -> None:
    site = _site(tmp_path)

    def more(site: Site, pull: PullRequest) -> None:
        site.repo.commit("More on dev", {"b.py": "b = 1\n"})
        site.push()

    assert _concluded(site, more).outcome is Outcome.READY
    assert not site.pulls()[0]["draft"]


def test_a_ready_pull_request_of_an_earlier_run_becomes_a_draft_again(tmp_path: Path) -> None:
    """Reported with the above: what a rerun finds ready must not stay so when it stops."""
    site = _site(tmp_path)
    assert _concluded(site, lambda *_: None).outcome is Outcome.READY
    assert _concluded(site, _drop_target_commit).outcome is Outcome.STOPPED
    assert site.pulls()[0]["draft"]


def test_an_origin_that_forbids_rewriting_ends_the_repairs_with_a_reason(tmp_path: Path) -> None:
    """Reported: with receive.denyNonFastForwards the second repair failed the whole run, and the
    pull request kept its old text."""
    site = _site(tmp_path)
    site.repo.git("-C", str(site.origin), "config", "receive.denyNonFastForwards", "true")
    with _opened(site.config(checks=[RED])) as run:
        merged = _merged(run)
        pull = publish.publish(run, merged)
        watched = _followed(run, merged, pull, (Scribbler(),))
        facts = conclude.conclude(run, pull, merged.facts, watched)
    assert (facts.outcome, watched.rounds) == (Outcome.CI_FAILED, 1)
    assert "Origin did not take the repair (attempt 2)" in facts.reason
    (record,) = site.pulls()
    assert "did not take the repair" in record["body"]
    assert site.branches()[pull.branch] == watched.head.tip


class Overtaken(Scribbler):
    """A fixer during whose work somebody pushes to the branch."""

    def __init__(self, site: Site, pull: PullRequest):
        self.site, self.pull = site, pull

    def fix(self, failures: Sequence[FailureGroup], worktree: Path) -> Change:
        _push_by_hand(self.site, self.pull)
        return super().fix(failures, worktree)


def test_a_repair_that_somebody_overtook_stops_the_run_and_overwrites_nothing(
    tmp_path: Path,
) -> None:
    """The other side of the report: this refusal is no matter of origin's rules."""
    site = _site(tmp_path)
    with _opened(site.config(checks=[RED])) as run:
        merged = _merged(run)
        pull = publish.publish(run, merged)
        watched = _followed(run, merged, pull, (Overtaken(site, pull),))
    assert "somebody moved it" in watched.stopped
    assert watched.rounds == 0
    assert site.branches()[pull.branch] == site.repo.git("rev-parse", "hand")


# The same day again


def test_a_rerun_says_again_what_the_linters_said(tmp_path: Path) -> None:
    """Reported: the first run needed a look at a linter's failure, the second was plain ready."""
    site = _site(tmp_path)
    config = site.config(linters=[{"name": "lint", "run": "false"}], **NO_CI)
    with _opened(config) as run:
        first = _merged(run)
        publish.publish(run, first)
    with _opened(config) as run:
        second = _merged(run)
    assert second.choice is not None
    assert second.choice.resume is not None
    assert [item.name for item in second.facts.failed_tools] == ["lint"]
    assert second.facts.tools == first.facts.tools


def _published(site: Site) -> PullRequest:
    with _opened(site.config(**NO_CI)) as run:
        return publish.publish(run, _merged(run))


def test_a_rerun_leaves_a_pull_request_with_the_manual_label_alone(tmp_path: Path) -> None:
    """Reported: the label did not keep a rerun of the same day from marking it ready again."""
    site = _site(tmp_path)
    pull = _published(site)
    _edit(site, pull.number, labels=["nightly-sync/manual"])
    before = _record(site, 1).read_bytes()
    with pytest.raises(StopForPerson, match="has the label nightly-sync/manual"):
        _published(site)
    assert _record(site, 1).read_bytes() == before


def test_a_rerun_opens_no_second_pull_request_for_one_a_person_closed(tmp_path: Path) -> None:
    """Reported: the rerun of the same day opened another. Without the branch it starts anew."""
    site = _site(tmp_path)
    pull = _published(site)
    _edit(site, pull.number, open=False)
    with pytest.raises(StopForPerson, match="was closed by a person; reopen it, or delete"):
        _published(site)
    assert len(site.pulls()) == 1
    _delete(site, pull)
    assert _published(site).number == 2


def test_what_the_job_itself_closed_does_not_count_as_closed_by_a_person(tmp_path: Path) -> None:
    """The other side of the report: the source goes forward and back again, so that the first
    branch, whose pull request was replaced meanwhile, is taken up once more."""
    site = _site(tmp_path)
    first = _published(site)
    site.repo.checkout("main")
    site.repo.commit("More", {"b.py": "b = 1\n"})
    site.push()
    with _opened(site.config(**NO_CI)) as run:
        found = stale.find(run)
        stale.close(run, found, publish.publish(run, _merged(run)))
    site.repo.git("push", "-q", "--force", "origin", "main~1:main")
    again = _published(site)
    assert (again.branch, again.number) == (first.branch, 3)


# Other pairs, other users


def test_two_pairs_that_share_a_prefix_leave_each_others_pull_requests_alone(
    tmp_path: Path,
) -> None:
    """Reported: with one branch_prefix for two targets each run closed the other's."""
    site = _site(tmp_path)
    site.repo.git("push", "-q", "origin", "dev:release")
    shared = {**NO_CI, "branch_prefix": "nightly/"}
    with _opened(site.config(**shared)) as run:
        pull = publish.publish(run, _merged(run))
        assert pull.target == "dev"
        assert [item.number for item in stale.find(run)] == [pull.number]
    with _opened(site.config(target="release", **shared)) as run:
        assert stale.find(run) == ()


def test_two_runs_on_a_pair_never_overlap_whatever_their_workspaces(tmp_path: Path) -> None:
    """Reported: another `workspace`, or /r/.git for /r, gave the second run a lock of its own."""
    repo = diverged(tmp_path / "r", {"a": "1\n"}, {"a": "2\n"}, {"b": "1\n"})

    def config(spelling: str, home: str, target: str = "dev") -> SyncConfig:
        fields = {"repository": str(repo.path) + spelling, "target": target, **NO_CI}
        return SyncConfig.model_validate({**fields, "workspace": str(tmp_path / home)})

    with _opened(config("", "home")):
        for other in (config("", "elsewhere"), config("/.git", "home"), config("/.git", "third")):
            with pytest.raises(Busy, match="run one "), _opened(other, "two"):
                raise AssertionError("two runs at once")
        with _opened(config("", "home", target="release"), "another pair"):
            pass


def test_a_rerun_through_a_link_goes_on_with_the_same_branch(tmp_path: Path) -> None:
    """Reported: the digest held the spelling of `repository`, so a second branch was made."""
    site = _site(tmp_path)
    first = _published(site)
    (tmp_path / "link").symlink_to(site.origin)
    with _opened(site.config(repository=str(tmp_path / "link"), **NO_CI)) as run:
        assert publish.publish(run, _merged(run)) == first
    assert site.synced() == [first.branch]


# Branches of pull requests that are closed


def _closed(config: SyncConfig, meanwhile: Callable[[PullRequest], object]) -> tuple[str, bool]:
    """The line about a stale pull request, and whether it is still open."""
    with _opened(config) as run:
        pull = publish.publish(run, _merged(run))
        meanwhile(pull)
        (line,) = stale.close(run, (pull,), None)
        return line, run.forge.get(pull.number).open


def test_a_stale_branch_is_deleted_and_one_that_is_gone_is_fine(tmp_path: Path) -> None:
    """Reported: a branch that was gone failed the task, and the retry lost the line about it."""
    site = _site(tmp_path)
    config = site.config(delete_stale_branches=True, **NO_CI)
    for meanwhile in (lambda pull: None, lambda pull: _delete(site, pull)):
        line, still_open = _closed(config, meanwhile)
        assert line.endswith("dev has everything on main.")
        assert not still_open
        assert site.synced() == []


def test_a_stale_branch_that_origin_keeps_is_told(tmp_path: Path) -> None:
    """Reported: a branch that is checked out in origin stayed, and nothing said so."""
    repo = diverged(tmp_path / "r", {"a": "1\n"}, {"a": "2\n"}, {"b": "1\n"})
    fields = {"repository": str(repo.path), "workspace": str(tmp_path / "home"), **NO_CI}
    config = SyncConfig.model_validate({**fields, "delete_stale_branches": True})
    line, still_open = _closed(config, lambda pull: repo.checkout(pull.branch))
    assert "Its branch could not be deleted: git push" in line
    assert "\n" not in line
    assert not still_open
