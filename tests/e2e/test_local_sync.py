"""Whole flows on the local forge, with a real origin and real checks.

Outcomes that the library alone decides are under scenarios, in test_local_nights.py.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from nightly_sync.errors import Exit, StopForPerson
from nightly_sync.record import Outcome, RunRecord
from tests.support import night
from tests.support.kept import artifact_keys
from tests.support.site import Site

pytestmark = pytest.mark.usefixtures("prefect")

SLOW = {"a.py": "x = 1\n", "b.py": "y = 1\n"}


def _sync(site: Site, **fields: Any) -> RunRecord:
    from flows.sync import sync

    record = sync(site.config(**fields))
    assert isinstance(record, RunRecord)
    return record


def _before(site: Site) -> RunRecord:
    """What an earlier night left."""
    return night.played(site.config(), "before")


def _site(tmp_path: Path) -> Site:
    return Site(tmp_path).diverge({**SLOW}, {"a.py": "x = 2\n"}, {"b.py": "y = 2\n"})


def _conflicted(tmp_path: Path) -> Site:
    return Site(tmp_path).diverge({**SLOW}, {"a.py": "x = 2\n"}, {"a.py": "x = 3\n"})


def test_a_clean_sync_ends_ready(tmp_path: Path) -> None:
    site = _site(tmp_path)
    before = site.branches()
    record = _sync(site)
    assert record.outcome is Outcome.READY
    (pull,) = site.pulls()
    assert (pull["open"], pull["draft"], pull["branch"]) == (True, False, record.sync_branch)
    assert re.fullmatch(r"main2dev/\d\d_\d\d_\d{4}", record.sync_branch)
    after = site.branches()
    assert after.pop(record.sync_branch) == record.head_sha
    assert after == before
    site.repo.git("fetch", "-q", "origin")
    parents = site.repo.git("rev-parse", f"{record.head_sha}^1", f"{record.head_sha}^2")
    assert parents.split() == [before["dev"], before["main"]]


def test_nothing_to_do_pushes_nothing_and_closes_what_is_left_over(tmp_path: Path) -> None:
    site = _site(tmp_path)
    first = _before(site)
    site.repo.git("fetch", "-q", "origin")
    site.repo.git("merge", "-q", "--ff-only", first.head_sha)
    site.push("dev")
    before = site.branches()
    assert _sync(site).outcome is Outcome.NOTHING_TO_DO
    assert site.branches() == before
    assert [pull["open"] for pull in site.pulls()] == [False]


def test_a_failing_check_keeps_the_draft_and_says_why(tmp_path: Path) -> None:
    site = _site(tmp_path)
    code = "import a, b; assert (a.x, b.y) != (2, 2), 'both'"
    record = _sync(site, checks=[{"name": "tests", "run": f'python -c "{code}"'}])
    assert record.outcome is Outcome.CI_FAILED
    (pull,) = site.pulls()
    assert pull["draft"]
    assert "AssertionError" in pull["body"]


def test_an_unresolved_conflict_stops_before_anything_is_pushed(tmp_path: Path) -> None:
    site = Site(tmp_path).diverge({"x": ""}, {"a": "file\n"}, {"a/b": "folder\n"})
    before = site.branches()
    with pytest.raises(StopForPerson, match="unresolved-conflicts"):
        _sync(site)
    assert site.branches() == before
    assert site.pulls() == []


def test_a_rerun_with_the_same_inputs_resumes_and_opens_nothing_twice(tmp_path: Path) -> None:
    site = _site(tmp_path)
    first, second = _before(site), _sync(site)
    assert (second.head_sha, second.sync_branch) == (first.head_sha, first.sync_branch)
    assert len(site.pulls()) == 1
    assert second.outcome is Outcome.READY


def test_somebody_elses_commit_on_the_branch_stops_the_run_and_stays(tmp_path: Path) -> None:
    site = _site(tmp_path)
    first = _before(site)
    site.repo.git("fetch", "-q", "origin")
    site.repo.git("checkout", "-q", "-b", "hand", first.head_sha)
    by_hand = site.repo.commit("By hand", {"hand.py": "h = 1\n"})
    site.repo.git("push", "-q", "origin", f"hand:{first.sync_branch}")
    with pytest.raises(StopForPerson, match="is not ours"):
        _sync(site)
    assert site.branches()[first.sync_branch] == by_hand
    assert [pull["open"] for pull in site.pulls()] == [True]


def test_a_reverted_sync_stops(tmp_path: Path) -> None:
    site = _site(tmp_path)
    merge = site.repo.merge("main")
    site.repo.git("revert", "-m1", "--no-edit", merge)
    site.push()
    with pytest.raises(StopForPerson, match="was reverted"):
        _sync(site)
    assert site.synced() == []


def test_the_run_leaves_its_artifacts_under_stable_keys(tmp_path: Path) -> None:
    site = _conflicted(tmp_path)
    keys = artifact_keys(_sync(site).run_id)
    kinds = ("report", "conflicts", "diff-stats", "metrics", "ci-progress")
    for kind in kinds:
        assert any(key.startswith(f"{kind}-origin-main-dev-") for key in keys), (kind, keys)


def test_a_prefect_server_that_is_gone_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reported: `run` with an unreachable PREFECT_API_URL ended in a traceback of 60 lines."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    from nightly_sync import cli

    file = tmp_path / "x.json"
    file.write_text(json.dumps(_site(tmp_path).fields()))
    monkeypatch.setattr("sys.argv", ["nightly-sync", "run", "--config", str(file)])
    monkeypatch.setattr(cli, "_prefect_defaults", lambda: None)  # it changes the environment
    gone = temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"})
    with gone, pytest.raises(SystemExit) as ended:
        cli.main()
    told = capsys.readouterr().err
    assert ended.value.code == Exit.FAILED
    assert "no Prefect server answers at http://127.0.0.1:9/api" in told
    assert "Traceback" not in told
