"""Whole flows with somebody in the way: the outcome, the first error and the log lines."""

import os
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from nightly_sync.errors import StopForPerson, SyncError
from nightly_sync.record import Outcome, RunRecord
from tests.support.site import Site

pytestmark = pytest.mark.usefixtures("prefect")

DELETE = """
import subprocess, sys
git = ["git", "-C", sys.argv[1]]
listed = [*git, "for-each-ref", "--format=%(refname)", "refs/heads/main2dev"]
for ref in subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split():
    subprocess.run([*git, "update-ref", "-d", ref], check=True)
"""


def _site(tmp_path: Path) -> Site:
    before: dict[str, str | bytes | None] = {"a.py": "x = 1\n", "b.py": "y = 1\n"}
    return Site(tmp_path).diverge(before, {"a.py": "x = 2\n"}, {"b.py": "y = 2\n"})


def _check(tmp_path: Path, script: str, argument: Path) -> dict[str, Any]:
    (tmp_path / "check.py").write_text(script)
    return {"name": "tests", "run": f"{sys.executable} {tmp_path / 'check.py'} {argument}"}


def test_a_branch_that_is_deleted_while_checks_run_ends_as_stopped(tmp_path: Path) -> None:
    """Reported: the run stopped, and the body went on saying Ready."""
    from flows.sync import sync

    site = _site(tmp_path)
    with pytest.raises(StopForPerson, match=r"^stopped: .* is now gone"):
        sync(site.config(checks=[_check(tmp_path, DELETE, site.origin)]))
    (pull,) = site.pulls()
    assert pull["draft"]
    assert "Stopped: a person has to look first." in pull["body"]


def test_a_workspace_that_is_deleted_under_a_run_is_the_error_that_is_told(tmp_path: Path) -> None:
    """Reported: a FileNotFoundError while the record was written hid the real error."""
    from flows.sync import sync

    site = _site(tmp_path)
    wreck = "import shutil, sys; shutil.rmtree(sys.argv[1])"
    with pytest.raises(SyncError, match="not a git repository"):
        sync(site.config(checks=[_check(tmp_path, wreck, tmp_path / "home")]))
    assert site.pulls()[0]["draft"]


def _odd_squash(site: Site) -> None:
    """A squash-merged sync on `dev`, its subject in Latin-1; git commit itself would convert it."""
    site.repo.commit("chore: nightly sync main into dev (Caf?)")
    plain = site.repo.git("cat-file", "commit", "HEAD").encode() + b"\n"
    raw = plain.replace(b"Caf?", b"Caf\xe9")
    odd = site.repo.git("hash-object", "-w", "-t", "commit", "--stdin", stdin=raw)
    site.repo.git("reset", "-q", "--hard", odd)
    site.push()


def _sent(run_id: str) -> list[str]:
    """The log lines of a flow run, as its server has them."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import LogFilter, LogFilterFlowRunId
    from prefect.logging.handlers import APILogHandler

    APILogHandler().flush()
    wanted = LogFilter(flow_run_id=LogFilterFlowRunId(any_=[UUID(run_id)]))
    with get_client(sync_client=True) as client:
        return [item.message for item in client.read_logs(wanted)]


def test_a_subject_of_odd_bytes_reaches_the_log(tmp_path: Path) -> None:
    """Reported: "--- Logging error ---" and a TypeError of orjson in place of the line."""
    from flows.sync import sync

    site = _site(tmp_path)
    _odd_squash(site)
    record = sync(site.config(checks=[], sentinel=None, no_ci=True))
    assert isinstance(record, RunRecord)
    assert record.outcome is Outcome.READY_NEEDS_LOOK
    told = [line for line in _sent(record.run_id) if "squash-merged" in line]
    assert [line.count("(Caf\\xe9)") for line in told] == [1]


def test_a_stop_over_odd_bytes_is_told_like_any_other(tmp_path: Path) -> None:
    """Found by a probe: Prefect raised UnicodeEncodeError in place of such an error."""
    from flows.sync import sync

    site = _site(tmp_path)
    _odd_squash(site)
    name = os.fsdecode(b"caf\xe9")
    site.repo.commit("Odd", {f"{name}/b": "folder\n"})
    site.push()
    site.repo.checkout("main")
    site.repo.commit("Odd", {name: "file\n"})
    site.push()
    with pytest.raises(StopForPerson, match="unresolved-conflicts"):
        sync(site.config(checks=[], sentinel=None, no_ci=True))
