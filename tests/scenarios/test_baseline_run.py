"""Whether a check fails without us: the forge's history, a command, CI on a throw-away branch."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from nightly_sync import baseline_run, divergence, git
from nightly_sync.baseline_run import find, root, sweep
from nightly_sync.checks.baseline import Classification, NoBaseline, classify
from nightly_sync.checks.triage import Failure, triage
from nightly_sync.config import SyncConfig
from nightly_sync.errors import Unreachable
from nightly_sync.forge.base import BaselineResult, Check, CheckStatus
from nightly_sync.forge.local import LocalForge
from nightly_sync.refnames import branch_problem
from nightly_sync.session import Session
from nightly_sync.workspace import REFSPEC, Workspace
from tests.github.ci import NEVER, Act
from tests.github.client import BRANCH, Site
from tests.github.conftest import github as github  # three fixtures
from tests.github.conftest import site as site
from tests.github.conftest import source as source
from tests.github.forge_support import make_rig
from tests.github.state import Protection
from tests.support.site import Site as LocalSite

LOG = "FAILED test_old.py::test_old - assert 1 == 2"
RED = Act("tests", "FAILURE", log=LOG)
BY_COMMAND = "by the configured command"
ROOT = "nightly-sync-baseline/main/dev/"
PATTERN = "nightly-sync-baseline/*"
BY_BRANCH: dict[str, Any] = {
    "baseline": {"branch": True, "minutes": 60},
    "grace_minutes": 10,
    "poll_seconds": 300,
}
Open = Callable[..., Session]


def _failure(log: str = LOG, **fields: Any) -> Failure:
    flow = {"app": "github-actions", "workflow": "CI", "workflow_id": "W_ci.yml"}
    given = {"name": "tests", "conclusion": "FAILURE", **flow}
    check = Check.model_validate({"status": CheckStatus.COMPLETED, **given, **fields})
    return triage(check, log)


def _command(run: str, **fields: Any) -> dict[str, Any]:
    return {"baseline": {"commands": [{"name": "tests", "run": run, **fields}]}}


def _python(code: str) -> str:
    return f"python -c '{code}'"


@pytest.fixture
def opened(site: Site, tmp_path: Path) -> Open:
    """Opens runs on the site; they share a workspace, and each has a folder of its own."""
    url = site.github.git_url(site.repository)
    repository = tmp_path / "home" / "repository.git"
    git.init_bare(repository)
    git.fetch(repository, git.Remote(str(site.repository.path)), REFSPEC, 60)

    def open_run(name: str = "one", patience: float = 3600, **settings: Any) -> Session:
        rig = make_rig(site, patience=patience, **settings)
        config = SyncConfig.model_validate({"repository": url, **settings})
        folder = tmp_path / "home" / "runs" / name
        place = Workspace(home=tmp_path / "home", repository=repository, origin=url, run=folder)
        clock = site.github.world.clock.now
        return Session(config, place, rig.forge, rig.forge.origin(), name, clock(), clock)

    return open_run


def _dev(site: Site) -> str:
    return site.tip("dev")


def _name(site: Site) -> str:
    return ROOT + _dev(site)[:12]


def _thrown_away(site: Site) -> list[str]:
    return sorted(name for name in site.repository.branches() if name.startswith("nightly-sync-"))


def _looked(run: Session, site: Site, failure: Failure | None = None) -> Classification:
    failure = failure or _failure()
    return classify(failure, find(run, _dev(site), failure))


def _why(run: Session, site: Site, failure: Failure | None = None) -> str:
    found = find(run, _dev(site), failure or _failure())
    assert isinstance(found, NoBaseline)
    return found.why


# History


def test_what_the_forge_knows_costs_nothing_more(site: Site, opened: Open) -> None:
    site.github.ci.past(site.repository, _dev(site), [RED])
    run = opened(**_command(_python("raise SystemExit(1)")))
    result = _looked(run, site)
    assert result.pre_existing
    assert f"the target's commit {_dev(site)[:12]}" in result.evidence
    assert not run.workspace.run.exists()


def test_without_an_opt_in_nothing_more_is_tried(site: Site, opened: Open) -> None:
    assert _why(opened(), site) == "the forge has no result of tests that would tell"
    assert _thrown_away(site) == []


# A command


def test_a_command_runs_on_the_untouched_target_and_its_log_is_kept(
    site: Site, opened: Open
) -> None:
    code = f'import os; print(sorted(os.listdir(".")), os.environ["CI"]); raise SystemExit("{LOG}")'
    run = opened(**_command(_python(code)))
    found = find(run, _dev(site), _failure())
    assert isinstance(found, BaselineResult)
    assert "['a', 'c'] true" in found.log
    log = run.workspace.run / "baseline" / _dev(site)[:12] / "tests.log"
    assert log.read_text() == found.log
    result = classify(_failure(), found)
    assert (result.pre_existing, result.url) == (True, str(log))
    assert f"the untouched target {_dev(site)[:12]}, by the configured command" in result.evidence


def test_a_command_that_passes_makes_the_failure_ours(site: Site, opened: Open) -> None:
    result = _looked(opened(**_command(_python("pass"))), site)
    assert not result.pre_existing
    assert result.evidence.startswith("It passes on the untouched target")


def test_a_command_runs_once_a_run(site: Site, opened: Open, tmp_path: Path) -> None:
    count = tmp_path / "count"
    code = f'open("{count}", "a").write("x"); raise SystemExit("{LOG}")'
    run = opened(**_command(_python(code)))
    first, second = _looked(run, site), _looked(run, site)
    assert first == second
    assert count.read_text() == "x"
    _looked(opened("two", **_command(_python(code))), site)
    assert count.read_text() == "xx"


def test_what_a_killed_try_left_is_no_part_of_the_log(site: Site, opened: Open) -> None:
    run = opened(**_command(_python("raise SystemExit(1)")))
    log = run.workspace.run / "baseline" / _dev(site)[:12] / "tests.log"
    log.parent.mkdir(parents=True)
    log.write_text(LOG)
    found = find(run, _dev(site), _failure())
    assert isinstance(found, BaselineResult)
    assert LOG not in found.log


def test_a_command_that_takes_too_long_proves_nothing(site: Site, opened: Open) -> None:
    forever = _python("import time; time.sleep(60)")
    why = _why(opened(**_command(forever, timeout_seconds=0.3)), site)
    assert "the command for it on the target ended as TIMED_OUT" in why


def test_a_command_that_is_missing_proves_nothing(site: Site, opened: Open) -> None:
    result = _looked(opened(**_command("no-such-command-anywhere")), site)
    assert not result.pre_existing
    assert "could not be started" in result.evidence


def test_a_command_stands_for_its_own_check_only(site: Site, opened: Open) -> None:
    run = opened(**_command(_python(f'raise SystemExit("{LOG}")')))
    assert "command" not in _why(run, site, _failure(name="other"))


@pytest.mark.parametrize("log", ["it broke", "E: Failed to fetch http://deb.debian.org/x"])
def test_nothing_costly_is_tried_for_what_no_comparison_proves(
    site: Site, opened: Open, log: str
) -> None:
    run = opened(**_command(_python("raise SystemExit(1)")))
    assert not _looked(run, site, _failure(log)).pre_existing
    assert not run.workspace.run.exists()


def test_a_result_on_the_target_that_does_not_tell_is_not_the_last_word(
    site: Site, opened: Open
) -> None:
    site.github.ci.past(site.repository, _dev(site), [Act("tests", "FAILURE", log="it broke")])
    assert _looked(opened(**_command(_python(f'raise SystemExit("{LOG}")'))), site).pre_existing
    told = _looked(opened("two"), site)
    assert not told.pre_existing
    assert "no line of its log says what failed" in told.evidence


def test_a_command_gets_no_more_time_than_the_run_has_left(site: Site, opened: Open) -> None:
    """Reported: it was waited for up to its own limit, whatever the run's."""
    run = opened(time_limit_minutes=1, **_command(_python("import time; time.sleep(60)")))
    soon = replace(run, clock=lambda: run.started + timedelta(seconds=59.6))
    assert "ended as TIMED_OUT" in _why(soon, site)
    late = replace(run, clock=lambda: run.started + timedelta(seconds=60))
    assert "no time was left to run the command for it" in _why(late, site)


# The commit that we merged into, and older ones


@pytest.fixture
def moved(site: Site) -> str:
    """An older commit of the target, where the check failed; nobody tested the newest."""
    older = _dev(site)
    site.github.ci.past(site.repository, older, [RED])
    site.github.person(site.repository).push("dev", {"x": "1"})
    return older


def test_a_failure_on_an_older_commit_is_not_the_last_word(
    site: Site, moved: str, opened: Open
) -> None:
    """Reported: it ended the search, though the command could have tested the newest."""
    result = _looked(opened(**_command(_python("pass"))), site)
    assert not result.pre_existing
    passes = f"It passes on the untouched target {_dev(site)[:12]}, {BY_COMMAND}."
    older = f" Less telling is the result on the target's commit {moved[:12]} (http"
    assert result.evidence.startswith(passes + older)


def test_the_newest_commit_is_tested_rather_than_an_older_one_believed(
    site: Site, moved: str, opened: Open
) -> None:
    found = find(opened(**_command(_python(f'raise SystemExit("{LOG}")'))), _dev(site), _failure())
    assert isinstance(found, BaselineResult)
    assert (found.sha, BY_COMMAND in found.where) == (_dev(site), True)
    site.github.ci.on_push(PATTERN, [RED])
    by_branch = _looked(opened("two", **BY_BRANCH), site)
    assert "on a throw-away branch" in by_branch.evidence
    assert f"Less telling is the result on the target's commit {moved[:12]}" in by_branch.evidence


@pytest.mark.parametrize("settings", [{}, _command("no-such-command-anywhere")])
def test_an_older_commit_tells_where_the_newest_cannot(
    site: Site, moved: str, opened: Open, settings: dict[str, Any]
) -> None:
    result = _looked(opened(**settings), site)
    assert result.pre_existing
    assert f"the target's commit {moved[:12]}" in result.evidence
    assert result.url.startswith("http")


def test_what_ci_said_of_the_newest_commit_is_believed_first(
    site: Site, moved: str, opened: Open
) -> None:
    site.github.ci.past(site.repository, _dev(site), [Act("tests")])
    result = _looked(opened(**_command(_python(f'raise SystemExit("{LOG}")'))), site)
    assert result.evidence == f"It passes on the target's commit {_dev(site)[:12]}."


# A throw-away branch


def test_a_push_to_a_throw_away_branch_tells_and_the_branch_goes(site: Site, opened: Open) -> None:
    site.github.ci.on_push(PATTERN, [RED])
    seen: list[str] = []
    site.github.ci.at_poll(4, lambda: seen.extend(_thrown_away(site)))
    result = _looked(opened(**BY_BRANCH), site)
    assert result.pre_existing
    assert f"the untouched target {_dev(site)[:12]}, on a throw-away branch" in result.evidence
    assert result.url.startswith("http")
    assert seen == [_name(site)]
    assert _thrown_away(site) == []


def test_a_workflow_is_dispatched_on_the_throw_away_branch(site: Site, opened: Open) -> None:
    site.github.workflow(site.repository, "CI", "ci.yml")
    site.github.ci.on_dispatch("ci.yml", [Act("tests")])
    trigger = {"kind": "workflow", "text": "ci.yml"}
    result = _looked(opened(**BY_BRANCH, trigger=trigger), site)
    assert result.evidence.startswith("It passes on the untouched target")
    assert len(site.github.requests.of("dispatches")) == 1
    assert _thrown_away(site) == []


@pytest.mark.parametrize("kind", ["comment", "label"])
def test_a_trigger_that_needs_a_pull_request_makes_no_branch(
    site: Site, opened: Open, kind: str
) -> None:
    why = _why(opened(**BY_BRANCH, trigger={"kind": kind, "text": "run ci"}), site)
    assert f"no throw-away branch was made, since a trigger of kind {kind} needs" in why
    assert site.github.requests.of("git-receive-pack") == []


def test_ci_that_is_at_work_on_the_target_is_joined(site: Site, opened: Open) -> None:
    acts = [Act("build", running=2), Act("tests", "FAILURE", log=LOG, after=2)]
    site.github.ci.play(site.repository, _dev(site), acts)
    result = _looked(opened(**BY_BRANCH), site)
    assert result.pre_existing
    assert "throw-away" not in result.evidence
    assert site.github.requests.of("git-receive-pack") == []


def test_a_branch_stays_while_other_checks_are_at_work_and_serves_them_too(
    site: Site, opened: Open
) -> None:
    site.github.ci.on_push(PATTERN, [RED, Act("slow", "FAILURE", log=LOG, running=5)])
    run = opened(**BY_BRANCH)
    assert _looked(run, site).pre_existing
    assert _thrown_away(site) == [_name(site)]
    assert _looked(run, site, _failure(name="slow")).pre_existing
    assert _thrown_away(site) == []
    assert len(site.github.requests.of("POST .*git-receive-pack")) == 2  # made once, deleted once


def test_a_check_that_ci_does_not_run_there_is_given_up_after_the_grace_period(
    site: Site, opened: Open
) -> None:
    site.github.ci.on_push(PATTERN, [Act("lint", running=0)])
    run = opened(**BY_BRANCH)
    assert "ended without a result of it" in _why(run, site)
    waited = run.clock() - run.started
    assert 600 <= waited.total_seconds() < 1200
    assert _thrown_away(site) == []
    for name in ("tests", "another"):
        assert "ended without a result of it" in _why(run, site, _failure(name=name))
    assert (run.clock() - run.started - waited).total_seconds() < 60
    assert len(site.github.requests.of("POST .*git-receive-pack")) == 2


@pytest.mark.parametrize(
    ("settings", "minutes"), [({}, 60), ({"time_limit_minutes": 30}, 30)], ids=["its own", "run's"]
)
def test_a_check_that_never_ends_is_waited_for_up_to_a_limit(
    site: Site, opened: Open, settings: dict[str, Any], minutes: int
) -> None:
    site.github.ci.on_push(PATTERN, [Act("tests", running=NEVER)])
    run = opened(**BY_BRANCH, **settings)
    assert "did not end in time" in _why(run, site)
    assert minutes * 60 <= (run.clock() - run.started).total_seconds() < (minutes + 6) * 60
    assert _thrown_away(site) == [_name(site)]
    assert sweep(run) == []
    assert _thrown_away(site) == []


def test_a_run_that_died_leaves_a_branch_that_the_next_one_replaces(
    site: Site, opened: Open
) -> None:
    person = site.github.person(site.repository)
    older = _dev(site)
    person.branch(_name(site), older)
    newer = person.push("dev", {"x": "1"})
    person.branch(_name(site), newer)
    run = opened(**BY_BRANCH)
    git.fetch(run.workspace.repository, git.Remote(str(site.repository.path)), REFSPEC, 60)
    site.github.ci.on_push(PATTERN, [RED])
    assert _looked(run, site).pre_existing
    assert _thrown_away(site) == []


def test_an_outage_ends_the_look_and_the_next_one_goes_on(site: Site, opened: Open) -> None:
    site.github.ci.on_push(PATTERN, [Act("tests", "FAILURE", log=LOG, running=2)])
    run = opened(patience=1, **BY_BRANCH)
    site.github.ci.at_poll(4, lambda: site.github.faults.fail("POST .*graphql", times=3))
    with pytest.raises(Unreachable):
        _looked(run, site)
    assert _thrown_away(site) == [_name(site)]
    again = opened(**BY_BRANCH)
    assert _looked(replace(again, started=run.started), site).pre_existing
    assert len(site.github.requests.of("POST .*git-receive-pack")) == 2
    assert _thrown_away(site) == []


def test_a_push_that_is_refused_is_told_and_ends_nothing(site: Site, opened: Open) -> None:
    site.github.protect(site.repository, Protection(PATTERN, pull_request=True))
    why = _why(opened(**BY_BRANCH), site)
    assert "the throw-away branch did not work: GitHub refused the push" in why


def test_a_dispatch_that_is_refused_is_told_and_leaves_no_branch(site: Site, opened: Open) -> None:
    site.github.workflow(site.repository, "CI", "ci.yml", dispatch=False)
    why = _why(opened(**BY_BRANCH, trigger={"kind": "workflow", "text": "ci.yml"}), site)
    assert "workflow_dispatch" in why
    assert _thrown_away(site) == []


def test_a_branch_in_the_way_of_the_name_is_told(site: Site, opened: Open) -> None:
    site.github.person(site.repository).branch("nightly-sync-baseline", "dev")
    assert "git cannot hold both" in _why(opened(**BY_BRANCH), site)
    assert _thrown_away(site) == ["nightly-sync-baseline"]


# Sweeping


def test_a_sweep_takes_this_pairs_branches_that_are_where_their_names_say(
    site: Site, opened: Open
) -> None:
    person = site.github.person(site.repository)
    old = site.tip("main")
    person.branch(ROOT + old[:12], old)
    kept = [
        _name(site),  # somebody committed to it
        f"nightly-sync-baseline/other/dev/{old[:12]}",
        f"{ROOT}notes",
        f"nightly-sync-baseline/main/dev2/{old[:12]}",
    ]
    for name in kept:
        person.branch(name, old)
    person.push(_name(site), {"mine": "1"})
    before = set(site.repository.branches())
    assert sweep(opened(**BY_BRANCH)) == []
    assert before - set(site.repository.branches()) == {ROOT + old[:12]}


def test_a_sweep_never_ends_a_run(site: Site, opened: Open) -> None:
    run, person = opened(**BY_BRANCH), site.github.person(site.repository)
    person.branch(_name(site), "dev")
    site.github.faults.before(
        "POST .*git-receive-pack", lambda: person.push(_name(site), {"mine": "1"})
    )
    (said,) = sweep(run)
    assert said.startswith(f"The throw-away branch {_name(site)} could not be deleted: ")
    site.github.faults.fail("GET .*info/refs", times=5)
    (said,) = sweep(run)
    assert said.startswith("Throw-away branches could not be deleted: ")
    assert _thrown_away(site) == [_name(site)]


def test_no_throw_away_branch_is_taken_for_a_sync_branch(site: Site, opened: Open) -> None:
    config = opened().config
    name = root(config) + "1a2b3c4d5e6f"
    assert name == f"{ROOT}1a2b3c4d5e6f"
    assert branch_problem(name) == ""
    assert not name.startswith(config.prefix())
    names = ["main", "dev", name]
    assert divergence.check_branches(names, config, BRANCH) is None


def test_the_local_forge_has_no_ci_on_branches(tmp_path: Path) -> None:
    site = LocalSite(tmp_path).diverge({"a": "1\n"}, {"b": "2\n"}, {"c": "3\n"})
    config = site.config(baseline={"branch": True})
    forge = LocalForge(config, site.origin)
    run_folder = tmp_path / "run"
    place = Workspace(
        home=tmp_path, repository=site.origin, origin=str(site.origin), run=run_folder
    )
    clock = baseline_run.Started.model_validate({"at": "2026-11-30T03:00:00Z"}).at
    run = Session(config, place, forge, forge.origin(), "one", clock, lambda: clock)
    found = find(run, site.branches()["dev"], _failure(name="unheard of"))
    assert isinstance(found, NoBaseline)
    assert "this forge runs no CI on a throw-away branch" in found.why
    assert sweep(run) == []
