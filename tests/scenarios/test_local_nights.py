"""Whole nights on the local forge without Prefect: outcomes that the library alone decides.

A real origin and real checks; the flow that puts the same steps together is under e2e.
"""

from pathlib import Path
from typing import Any

from nightly_sync.record import Outcome, RunRecord
from tests.support import night
from tests.support.site import OK, Site

SLOW = {"a.py": "x = 1\n", "b.py": "y = 1\n"}


def _sync(site: Site, run_id: str = "run-1", **fields: Any) -> RunRecord:
    return night.played(site.config(**fields), run_id)


def _site(tmp_path: Path) -> Site:
    return Site(tmp_path).diverge({**SLOW}, {"a.py": "x = 2\n"}, {"b.py": "y = 2\n"})


def test_proposals_end_ready_with_something_to_look_at(tmp_path: Path) -> None:
    record = _sync(Site(tmp_path).diverge({**SLOW}, {"a.py": "x = 2\n"}, {"a.py": "x = 3\n"}))
    assert (record.outcome, record.proposals) == (Outcome.READY_NEEDS_LOOK, 1)
    assert record.conflicts == {"contents": 1}


def test_a_failure_the_target_knows_is_pre_existing_and_never_green(tmp_path: Path) -> None:
    site = _site(tmp_path)
    fails = "import sys; sys.exit('FAILED tests/test_old.py::test_old - boom')"
    checks = [OK, {"name": "old", "run": f'python -c "{fails}"'}]
    record = _sync(site, checks=checks)
    assert record.outcome is Outcome.PRE_EXISTING_ONLY
    assert record.checks_pre_existing == 1
    assert site.pulls()[0]["draft"]


def test_a_failure_that_says_nothing_proves_nothing(tmp_path: Path) -> None:
    """Red on the target too, but silent: two silences are no equal signatures."""
    checks = [OK, {"name": "old", "run": "python -c 'raise SystemExit(1)'"}]
    assert _sync(_site(tmp_path), checks=checks).outcome is Outcome.CI_FAILED


def test_pre_existing_failures_may_be_accepted_by_the_config(tmp_path: Path) -> None:
    site = _site(tmp_path)
    fails = "import sys; sys.exit('FAILED tests/test_old.py::test_old - boom')"
    checks = [OK, {"name": "old", "run": f'python -c "{fails}"'}]
    record = _sync(site, checks=checks, accept_pre_existing=True)
    assert record.outcome is not Outcome.CI_FAILED
    assert record.checks_pre_existing == 1
    assert not site.pulls()[0]["draft"]


def test_an_audit_error_keeps_the_draft_although_checks_pass(tmp_path: Path) -> None:
    twice = "def f():\n    return 1\n"
    gap = "".join(f"x{number} = {number}\n" for number in range(20))
    site = Site(tmp_path).diverge({"a.py": gap}, {"a.py": twice + gap}, {"a.py": gap + twice})
    record = _sync(site)
    assert record.outcome is Outcome.DRAFT_FINDINGS
    assert record.findings == {"duplicate-definition": 1}
    assert site.pulls()[0]["draft"]


def test_a_rerun_with_new_commits_replaces_the_first(tmp_path: Path) -> None:
    site = _site(tmp_path)
    first = _sync(site)
    site.repo.checkout("main")
    site.repo.commit("More (#3)", {"c.py": "z = 1\n"})
    site.push()
    second = _sync(site, "run-2")
    assert second.sync_branch == f"{first.sync_branch}-2"
    old, new = site.pulls()
    assert (old["open"], new["open"]) == (False, True)
    assert site.branches()[first.sync_branch] == first.head_sha


def test_a_pull_request_with_the_manual_label_is_left_alone(tmp_path: Path) -> None:
    site = _site(tmp_path)
    _sync(site, labels=["hands-off"])
    site.repo.checkout("main")
    site.repo.commit("More (#3)", {"c.py": "z = 1\n"})
    site.push()
    _sync(site, "run-2", manual_label="hands-off")
    assert [pull["open"] for pull in site.pulls()] == [True, True]


def test_a_repair_by_the_formatter_turns_red_checks_green(tmp_path: Path) -> None:
    """The source's new file fails the style check; the configured formatter mends it."""
    site = Site(tmp_path).diverge({**SLOW}, {"new.py": "z=1\n"}, {"b.py": "y = 2\n"})
    style = (
        "import pathlib, sys\n"
        "bad = [p for p in pathlib.Path().glob('*.py') if '=1' in p.read_text()]\n"
        "[print(f'would reformat {p}') for p in bad]\n"
        "sys.exit(bool(bad))\n"
    )
    mend = (
        "import pathlib, sys\n"
        "for p in map(pathlib.Path, sys.argv[1:]):\n"
        "    p.write_text(p.read_text().replace('=1', ' = 1'))\n"
    )
    (tmp_path / "style.py").write_text(style)
    (tmp_path / "mend.py").write_text(mend)
    record = _sync(
        site,
        checks=[{"name": "black", "run": f"python {tmp_path / 'style.py'}"}],
        formatters=[{"name": "mend", "run": f"python {tmp_path / 'mend.py'}"}],
    )
    assert (record.outcome, record.fix_rounds) == (Outcome.READY_NEEDS_LOOK, 1)
    site.repo.git("fetch", "-q", "origin")
    assert site.repo.git("show", f"{record.head_sha}:new.py") == "z = 1"
    assert (
        site.repo.git(
            "rev-list", "--count", f"{record.head_sha}^2..{record.head_sha}^1", check=False
        )
        == ""
    )


def test_no_ci_must_be_said(tmp_path: Path) -> None:
    site = _site(tmp_path)
    record = _sync(site, checks=[], sentinel=None, no_ci=True)
    assert record.outcome is Outcome.READY
