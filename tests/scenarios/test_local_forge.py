"""The local forge on real repositories, with real commands in real processes.

Checks that have to be caught at work wait for a named pipe, so nothing here depends on timing.
"""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import BaseModel

from nightly_sync import git
from nightly_sync.checks.gate import Expectations, judge, run_of
from nightly_sync.checks.logs import CUT
from nightly_sync.checks.triage import triage
from nightly_sync.config import CheckCommand, SyncConfig
from nightly_sync.errors import ConfigError, StopForPerson, SyncError, Unreachable
from nightly_sync.forge import local_files
from nightly_sync.forge.base import Check, CheckStatus, Forge, Glance
from nightly_sync.forge.local import LocalForge, state_folder
from nightly_sync.forge.local_attempts import Attempts, read_end
from nightly_sync.forge.local_ci import SCRATCH_PREFIX, log_file
from nightly_sync.forge.local_ci import main as run_ci
from tests.support.repo import TestRepo

BRANCH = "main2dev/30_11_2026"
PATIENCE = 30.0  # seconds a test waits for a check before it fails


@dataclass(frozen=True)
class Site:
    """A person's clone, the origin it pushes to, and our workspace."""

    clone: TestRepo
    origin: Path
    workspace: Path
    head: str
    target: str

    def forge(self, *checks: CheckCommand, repository: str = "") -> LocalForge:
        """A forge as one process of ours would make it."""
        return LocalForge(self.config(*checks, repository=repository), self.workspace)

    def config(self, *checks: CheckCommand, repository: str = "") -> SyncConfig:
        """What the forge has to know."""
        return SyncConfig(repository=repository or str(self.origin), checks=checks)

    def push_more(self) -> str:
        """Someone else's commit on the sync branch."""
        sha = self.clone.commit("From someone else", {"extra.txt": "x\n"})
        self.clone.git("push", "-q", str(self.origin), f"HEAD:refs/heads/{BRANCH}")
        return sha


def build(folder: Path, bare: bool = True) -> Site:
    """`dev` with a.txt, and the sync branch, which adds b.txt."""
    clone = TestRepo(folder / "clone", branch="dev")
    target = clone.commit("Base", {"a.txt": "a\n"})
    clone.branch(BRANCH)
    head = clone.commit("Merge main", {"b.txt": "b\n"})
    clone.checkout("dev")
    origin = folder / ("origin.git" if bare else "origin")
    clone.git("clone", "-q", *(["--bare"] if bare else []), str(clone.path), str(origin))
    clone.checkout(BRANCH)
    clone.git("push", "-q", str(origin), f"HEAD:refs/heads/{BRANCH}")
    workspace = folder / "workspace"
    git.init_bare(workspace)
    git.run(workspace, "fetch", "-q", str(origin), "+refs/heads/*:refs/remotes/origin/*")
    return Site(clone, origin, workspace, head, target)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A bare origin; temp folders of the checks go where the test can look at them."""
    (tmp_path / "temp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    return build(tmp_path)


def command(name: str, code: str, **fields: float) -> CheckCommand:
    """A check that runs Python."""
    return CheckCommand(name=name, run=f"{sys.executable} -c '{code}'", **fields)


def finished(forge: LocalForge, sha: str) -> dict[str, Check]:
    """The checks of a commit once they all have ended."""
    deadline = datetime.now(UTC) + timedelta(seconds=PATIENCE)
    while not (checks := forge.rollup(sha).checks) or any(c.status != "COMPLETED" for c in checks):
        assert datetime.now(UTC) < deadline, checks
        forge.wait(sha, PATIENCE)
    return {check.name: check for check in checks}


def runner_gone(site: Site, forge: LocalForge, sha: str) -> None:
    """Wait until the newest runner has cleaned up and ended."""
    attempt = Attempts(state_folder(str(site.origin)) / "ci" / sha).newest()
    assert attempt is not None
    while attempt.alive:
        forge.rollup(sha)
        forge.wait(sha, 0.05)


@dataclass(frozen=True)
class Held:
    """A check that is at work until it is told to end."""

    folder: Path

    @property
    def check(self) -> CheckCommand:
        """It reports its process and its runner's through one pipe and waits for another."""
        says = f'open("{self.folder}/started", "w").write(f"{{os.getpid()}} {{os.getppid()}}")'
        return command("held", f'import os; {says}; open("{self.folder}/go").read()')

    def await_start(self) -> tuple[int, int]:
        """Wait until it is at work; its process id and its runner's."""
        check, runner = (self.folder / "started").read_text().split()
        return int(check), int(runner)

    def release(self) -> None:
        """Let it end."""
        (self.folder / "go").write_text("go")


@pytest.fixture
def held(tmp_path: Path) -> Held:
    """A check to be caught at work."""
    os.mkfifo(tmp_path / "started")
    os.mkfifo(tmp_path / "go")
    return Held(tmp_path)


# Pull requests


@pytest.mark.parametrize("bare", [True, False])
@pytest.mark.parametrize("as_url", [True, False])
def test_a_draft_is_kept_beside_a_bare_or_plain_origin(
    tmp_path: Path, bare: bool, as_url: bool
) -> None:
    site = build(tmp_path, bare)
    repository = site.origin.as_uri() if as_url else str(site.origin)
    forge: Forge = site.forge(repository=repository)
    made = forge.create_draft(BRANCH, "dev", "chore: sync", "The body\n")
    assert (made.number, made.draft, made.open, made.head) == (1, True, True, site.head)
    records = Path(f"{site.origin}.nightly-sync") / "pulls"
    assert sorted(item.name for item in records.iterdir()) == ["0001.json", "0001.md"]
    assert made.url == str(records / "0001.md")
    assert "The body" in (records / "0001.md").read_text()
    assert site.forge(repository=repository).get(1) == made


def test_the_head_is_read_from_origin_not_remembered(site: Site) -> None:
    forge = site.forge()
    forge.create_draft(BRANCH, "dev", "t", "b")
    newer = site.push_more()
    assert forge.get(1).head == newer
    assert forge.open_pull_requests("main2dev/")[0].head == newer
    site.clone.git("push", "-q", str(site.origin), f":refs/heads/{BRANCH}")
    assert forge.get(1).head == site.head


def test_only_open_pull_requests_below_the_prefix_are_listed(site: Site) -> None:
    forge = site.forge()
    for branch in ("main2dev/a", "main2dev/b", "other/c"):
        site.clone.git("push", "-q", str(site.origin), f"HEAD:refs/heads/{branch}")
        forge.create_draft(branch, "dev", "t", "b")
    forge.close(1, "Replaced by 2.")
    assert [item.branch for item in forge.open_pull_requests("main2dev/")] == ["main2dev/b"]


def test_comments_labels_and_closing_delete_nothing(site: Site) -> None:
    forge = site.forge()
    forge.create_draft(BRANCH, "dev", "t", "old body")
    forge.add_labels(1, ("sync", "big"))
    forge.add_labels(1, ("big", "new"))
    forge.comment(1, "First words")
    forge.revise_body(1, lambda old: old.replace("old", "new"))
    forge.close(1, "Nothing left to do")
    found = forge.get(1)
    assert (found.open, found.labels, found.body) == (False, ("sync", "big", "new"), "new body")
    page = Path(found.url).read_text()
    assert page.index("new body") < page.index("First words") < page.index("Nothing left to do")
    assert BRANCH in git.remote_branches(site.workspace, git.Remote(str(site.origin)))


def test_two_processes_that_open_a_draft_at_once_get_the_same_one(site: Site) -> None:
    def create(number: int) -> int:
        return site.forge().create_draft(BRANCH, "dev", f"title {number}", "b").number

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(create, range(8))) == {1}
    assert len(site.forge().open_pull_requests("")) == 1


def test_a_closed_pull_request_does_not_stand_in_the_way_of_a_new_one(site: Site) -> None:
    forge = site.forge()
    forge.create_draft(BRANCH, "dev", "t", "b")
    forge.close(1, "Stale")
    assert forge.create_draft(BRANCH, "dev", "t", "b").number == 2
    assert forge.create_draft(BRANCH, "dev", "t", "b").number == 2


def test_a_draft_for_a_branch_that_was_not_pushed_is_refused(site: Site) -> None:
    with pytest.raises(SyncError, match="has no branch main2dev/never: push it first"):
        site.forge().create_draft("main2dev/never", "dev", "t", "b")


def test_ready_only_at_the_head_this_run_left(site: Site) -> None:
    """The lease of mark_ready: a commit somebody pushed meanwhile was never checked."""
    forge = site.forge()
    forge.create_draft(BRANCH, "dev", "t", "b")
    forge.mark_ready(1, site.head)
    assert not forge.get(1).draft
    forge.mark_draft(1)
    newer = site.push_more()
    with pytest.raises(StopForPerson, match=f"is at {newer[:12]}, not at {site.head[:12]}"):
        forge.mark_ready(1, site.head)
    assert forge.get(1).draft
    with pytest.raises(StopForPerson):
        forge.trigger_ci(1, site.head)


def test_a_push_while_it_is_marked_ready_makes_it_a_draft_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    forge = site.forge()
    forge.create_draft(BRANCH, "dev", "t", "b")
    real = local_files.write_model
    pushed: list[str] = []

    def push_then_write(path: Path, model: BaseModel) -> None:
        real(path, model)
        if not pushed:
            pushed.append(site.push_more())

    monkeypatch.setattr("nightly_sync.forge.local_records.write_model", push_then_write)
    with pytest.raises(StopForPerson):
        forge.mark_ready(1, site.head)
    assert forge.get(1).draft


def test_a_closed_pull_request_is_not_marked_ready(site: Site) -> None:
    forge = site.forge()
    forge.create_draft(BRANCH, "dev", "t", "b")
    forge.close(1, "Stale")
    with pytest.raises(StopForPerson, match="was closed"):
        forge.mark_ready(1, site.head)


@pytest.mark.parametrize("damage", ["", "{", '{"number": 1}', "half"])
def test_a_damaged_record_is_named_and_never_replaced(site: Site, damage: str) -> None:
    forge = site.forge()
    forge.create_draft(BRANCH, "dev", "t", "b")
    file = state_folder(str(site.origin)) / "pulls" / "0001.json"
    broken = file.read_text()[:40] if damage == "half" else damage
    file.write_text(broken)
    for call in (
        lambda: forge.create_draft(BRANCH, "dev", "t", "b"),
        lambda: forge.open_pull_requests(""),
        lambda: forge.comment(1, "x"),
    ):
        with pytest.raises(SyncError, match=r"0001\.json is damaged"):
            call()
    assert file.read_text() == broken


def test_a_record_under_another_number_is_damaged(site: Site) -> None:
    site.forge().create_draft(BRANCH, "dev", "t", "b")
    file = state_folder(str(site.origin)) / "pulls" / "0001.json"
    file.rename(file.with_name("0002.json"))
    with pytest.raises(SyncError, match="not the record of pull request 2"):
        site.forge().get(2)


def test_a_write_that_was_cut_short_leaves_the_record_as_it_was(site: Site) -> None:
    forge = site.forge()
    made = forge.create_draft(BRANCH, "dev", "t", "b")
    pulls = state_folder(str(site.origin)) / "pulls"
    (pulls / ".0001.json.abc123").write_text('{"num')
    assert forge.get(1) == made
    assert forge.create_draft(BRANCH, "dev", "t", "b") == made


def test_a_full_or_closed_disk_is_one_readable_sentence(tmp_path: Path) -> None:
    with pytest.raises(SyncError, match="could not be written"):
        local_files.write_atomic(tmp_path / "no such folder" / "x", "")
    with pytest.raises(SyncError, match="could not be opened"):
        local_files.is_held(tmp_path / "no such folder" / "lock")
    with pytest.raises(SyncError, match="could not be read"):
        local_files.stamp(tmp_path / "no such file")
    (tmp_path / "file").write_text("")
    with pytest.raises(SyncError, match="could not be made"):
        local_files.make_folder(tmp_path / "file" / "below")


def test_a_pull_request_that_was_never_made_is_said_so(site: Site) -> None:
    with pytest.raises(SyncError, match="There is no pull request 7"):
        site.forge().get(7)


@pytest.mark.parametrize("repository", ["https://example.com/x.git", "git@host:x", "/no/such/dir"])
def test_a_repository_that_is_not_on_this_machine_is_refused(repository: str) -> None:
    with pytest.raises(ConfigError, match="no folder on this machine"):
        state_folder(repository)


def test_the_records_lie_beside_the_repository_never_inside(tmp_path: Path) -> None:
    (tmp_path / "plain" / ".git").mkdir(parents=True)
    assert state_folder(f"{tmp_path}/plain/.git").name == "plain.nightly-sync"
    assert state_folder(f"{tmp_path}/plain/") == tmp_path / "plain.nightly-sync"


def test_every_spelling_of_a_repository_has_the_same_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reported: a symlink had records of its own, and `..` put them inside the worktree."""
    repo = TestRepo(tmp_path / "plain")
    (tmp_path / "link").symlink_to(repo.path)
    (repo.path / "sub").mkdir()
    monkeypatch.chdir(repo.path / "sub")
    ways = ("..", "../.git", str(tmp_path / "link"), f"file://{tmp_path}/link/.git", "../sub/..")
    assert {state_folder(way) for way in ways} == {tmp_path / "plain.nightly-sync"}


def test_who_closed_a_pull_request_is_known(site: Site) -> None:
    """Reported: a rerun opened a second pull request after a person had closed the first."""
    forge = site.forge()
    forge.create_draft(BRANCH, "dev", "t", "b")
    assert forge.closed_pull_request(BRANCH) is None
    forge.close(1, "Replaced by 2.")
    assert forge.closed_pull_request(BRANCH) is None
    forge.create_draft(BRANCH, "dev", "t", "b")
    file = state_folder(str(site.origin)) / "pulls" / "0002.json"
    file.write_text(file.read_text().replace('"open": true', '"open": false'))
    found = forge.closed_pull_request(BRANCH)
    assert found is not None
    assert (found.number, found.open) == (2, False)


# Checks


def test_checks_really_run_on_a_checkout_of_the_head(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PREFECT_API_KEY", "secret")
    here = "import os,pathlib,sys; e=os.environ; "
    clean = 'bad=[n for n in e if n[:4]=="GIT_" or n[:7]=="PREFECT" or n=="PYTHONPATH"]; '
    forge = site.forge(
        command(
            "Files & more",
            'import pathlib; print(sorted(p.name for p in pathlib.Path().glob("?.txt")))',
        ),
        command("clean", f'{here}{clean}sys.exit(bad or e["CI"] != "true")'),
        CheckCommand(name="repository", run="git log --format=%s -1 HEAD"),
        command("fails", 'import sys; print("FAILED t.py::t"); sys.exit(3)'),
        CheckCommand(name="missing", run="no-such-command --flag"),
        command("slow", "import threading; threading.Event().wait()", timeout_seconds=0.3),
        command("signal", "import os; os.kill(os.getpid(), 9)"),
    )
    forge.create_draft(BRANCH, "dev", "t", "b")
    triggered = forge.trigger_ci(1, site.head)
    checks = finished(forge, site.head)
    monkeypatch.delenv("GIT_DIR")

    assert {name: check.conclusion for name, check in checks.items()} == {
        "Files & more": "SUCCESS",
        "clean": "SUCCESS",
        "repository": "SUCCESS",
        "fails": "FAILURE",
        "missing": "FAILURE",
        "slow": "TIMED_OUT",
        "signal": "FAILURE",
    }
    for check in checks.values():
        assert check.started_at is not None
        assert check.completed_at is not None
        assert triggered <= check.started_at <= check.completed_at
        assert Path(check.url).read_text() == forge.log(site.head, check)
    assert "['a.txt', 'b.txt']" in forge.log(site.head, checks["Files & more"])
    assert "Merge main" in forge.log(site.head, checks["repository"])
    assert forge.log(site.head, checks["fails"]).splitlines()[1:] == [
        "FAILED t.py::t",
        "##[error]Process completed with exit code 3.",
    ]
    missing = forge.log(site.head, checks["missing"])
    assert "The command 'no-such-command' could not be started: No such file" in missing
    assert triage(checks["missing"], missing).kind == "infrastructure"
    assert "took over 0.3 s and was stopped" in forge.log(site.head, checks["slow"])
    assert "ended by signal 9" in forge.log(site.head, checks["signal"])
    runner_gone(site, forge, site.head)
    assert not list((tmp_path / "temp").iterdir()), "checkouts are removed"
    assert len(git.run(site.workspace, "worktree", "list").text.splitlines()) == 1


def test_the_same_gate_judges_what_the_local_forge_says(site: Site) -> None:
    forge = site.forge(command("tests", "pass"))
    forge.create_draft(BRANCH, "dev", "t", "b")
    wanted = Expectations(
        head_sha=site.head,
        triggered_at=forge.trigger_ci(1, site.head),
        grace=timedelta(minutes=1),
        sentinel="tests",
    )
    assert judge(forge.rollup(site.head), wanted, datetime.now(UTC)).kind == "running"
    finished(forge, site.head)
    assert judge(forge.rollup(site.head), wanted, datetime.now(UTC)).kind == "green"


def test_a_runner_killed_at_work_leaves_cancelled_checks_and_can_be_started_again(
    site: Site, held: Held, tmp_path: Path
) -> None:
    checks = (held.check, command("quick", "pass"))
    forge = site.forge(*checks)
    forge.create_draft(BRANCH, "dev", "t", "b")
    first = forge.trigger_ci(1, site.head)
    check_pid, runner_pid = held.await_start()
    assert forge.rollup(site.head).checks[0].status is CheckStatus.IN_PROGRESS

    assert site.forge(*checks).trigger_ci(1, site.head) == first, "joined"

    os.kill(runner_pid, signal.SIGKILL)
    assert finished(forge, site.head)["held"].conclusion == "CANCELLED"
    assert [item.name[: len(SCRATCH_PREFIX)] for item in (tmp_path / "temp").iterdir()] == [
        SCRATCH_PREFIX
    ]
    os.kill(check_pid, signal.SIGKILL)

    second = forge.trigger_ci(1, site.head)
    assert second > first
    held.await_start()
    held.release()
    ended = finished(forge, site.head).values()
    assert {(check.conclusion, check.suite) for check in ended} == {("SUCCESS", "2")}
    attempts = state_folder(str(site.origin)) / "ci" / site.head
    assert sorted(item.name for item in attempts.iterdir()) == ["1", "2"]
    runner_gone(site, forge, site.head)
    assert not list((tmp_path / "temp").iterdir()), "the killed runner's checkouts are swept"


def test_a_killed_flow_takes_no_check_with_it(site: Site, held: Held) -> None:
    script = (
        "import os, sys; from pathlib import Path; from nightly_sync.config import SyncConfig; "
        "from nightly_sync.forge.local import LocalForge; "
        "config = SyncConfig.model_validate_json(sys.argv[1]); "
        "LocalForge(config, Path(sys.argv[2])).trigger_ci(1, sys.argv[3]); "
        "os.killpg(0, 9)"
    )
    forge = site.forge(held.check)
    forge.create_draft(BRANCH, "dev", "t", "b")
    words = [site.config(held.check).model_dump_json(), str(site.workspace), site.head]
    flow = subprocess.run(
        [sys.executable, "-c", script, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (flow.returncode, flow.stdout) == (-signal.SIGKILL, b"")
    held.await_start()
    held.release()
    assert finished(forge, site.head)["held"].conclusion == "SUCCESS"


def test_other_checks_in_the_config_start_a_run_of_their_own(site: Site, held: Held) -> None:
    before = site.forge(held.check)
    before.create_draft(BRANCH, "dev", "t", "b")
    before.trigger_ci(1, site.head)
    held.await_start()
    after = site.forge(command("new", "pass"))
    after.trigger_ci(1, site.head)
    assert set(finished(after, site.head)) == {"new"}
    held.release()


def flaky(folder: Path) -> CheckCommand:
    """A check that fails the first time."""
    flag = folder / "flag"
    code = f'import pathlib; p = pathlib.Path("{flag}"); seen = p.exists(); p.touch(); assert seen'
    return command("flaky", code)


def test_failed_checks_run_again_and_nothing_of_the_first_run_is_lost(
    site: Site, tmp_path: Path
) -> None:
    forge = site.forge(command("lint", 'print("first")'), flaky(tmp_path))
    forge.create_draft(BRANCH, "dev", "t", "b")
    since = forge.trigger_ci(1, site.head)
    first = finished(forge, site.head)
    failed = first["flaky"]
    when = forge.rerun(1, site.head, (failed,))
    assert when is not None
    wanted = Expectations(
        head_sha=site.head,
        triggered_at=since,
        grace=timedelta(minutes=1),
        sentinel="flaky",
        rerun=frozenset({run_of(failed)}),
        rerun_at=when,
    )
    second = finished(forge, site.head)
    assert list(second) == ["lint", "flaky"]
    assert second["lint"] == first["lint"]
    again = second["flaky"]
    assert (again.conclusion, again.suite) == ("SUCCESS", "2")
    assert again.started_at is not None
    assert since < when <= again.started_at
    rollup = forge.rollup(site.head)
    assert rollup.earlier == (failed,)
    assert judge(rollup, wanted, datetime.now(UTC)).kind == "green"
    assert "AssertionError" in forge.log(site.head, failed)
    assert "first" in forge.log(site.head, second["lint"])
    assert Path(failed.url).read_text() == forge.log(site.head, failed)


def test_a_rerun_at_work_is_joined_with_the_results_that_stand(site: Site, held: Held) -> None:
    forge = site.forge(command("lint", "pass"), held.check)
    forge.create_draft(BRANCH, "dev", "t", "b")
    since = forge.trigger_ci(1, site.head)
    _, runner = held.await_start()
    while forge.rollup(site.head).checks[0].status is not CheckStatus.COMPLETED:
        forge.wait(site.head, PATIENCE)
    os.kill(runner, signal.SIGKILL)
    first = finished(forge, site.head)
    held.release()
    assert forge.rerun(1, site.head, (first["held"],))
    held.await_start()
    joined = forge.trigger_ci(1, site.head)
    assert first["lint"].started_at is not None
    assert since <= joined <= first["lint"].started_at
    lint, again = forge.rollup(site.head).checks
    assert (lint, again.suite) == (first["lint"], "2")
    held.release()


def test_nothing_runs_again_while_a_check_is_at_work(site: Site, held: Held) -> None:
    forge = site.forge(held.check, command("fails", "assert 0"))
    forge.create_draft(BRANCH, "dev", "t", "b")
    forge.trigger_ci(1, site.head)
    held.await_start()
    while (failed := forge.rollup(site.head).checks[1]).status is not CheckStatus.COMPLETED:
        forge.wait(site.head, PATIENCE)
    with pytest.raises(Unreachable, match="held did not end"):
        forge.rerun(1, site.head, (failed,))
    held.release()
    finished(forge, site.head)


def test_what_the_newest_run_does_not_have_cannot_run_again(site: Site) -> None:
    forge = site.forge(command("fails", "assert 0"))
    forge.create_draft(BRANCH, "dev", "t", "b")
    failed = Check(name="fails", status=CheckStatus.COMPLETED, conclusion="FAILURE")
    assert forge.rerun(1, site.head, (failed,)) is None
    forge.trigger_ci(1, site.head)
    known = finished(forge, site.head)["fails"]
    assert forge.rerun(1, site.head, ()) is None
    assert forge.rerun(1, site.head, (known, failed)) is None
    assert site.forge(command("fails", "pass")).rerun(1, site.head, (known,)) is None
    attempts = state_folder(str(site.origin)) / "ci" / site.head
    assert [item.name for item in attempts.iterdir()] == ["1"]
    site.push_more()
    with pytest.raises(StopForPerson):
        forge.rerun(1, site.head, (known,))


def test_without_checks_the_rollup_stays_empty(site: Site) -> None:
    forge = site.forge()
    forge.create_draft(BRANCH, "dev", "t", "b")
    forge.trigger_ci(1, site.head)
    rollup = forge.rollup(site.head)
    assert (rollup.sha, rollup.checks, rollup.earlier) == (site.head, (), ())
    assert forge.log(site.head, Check(name="x", status=CheckStatus.QUEUED)) == ""


def test_a_look_at_the_checks_tells_its_time_and_what_became_of_the_pull_request(
    site: Site,
) -> None:
    forge = site.forge()
    number = forge.create_draft(BRANCH, "dev", "t", "b").number
    before = datetime.now(UTC)
    assert forge.rollup(site.head).pull is None
    rollup = forge.rollup(site.head, number)
    assert rollup.at
    assert before <= rollup.at <= datetime.now(UTC)
    assert rollup.pull == Glance(open=True, target="dev")
    forge.add_labels(number, ("mine",))
    forge.close(number, "why")
    closed = Glance(open=False, labels=("mine",), target="dev")
    assert forge.rollup(site.head, number).pull == closed


def test_wait_ends_with_its_time_when_nothing_moves(site: Site) -> None:
    forge = site.forge()
    forge.rollup(site.head)
    start = datetime.now(UTC)
    forge.wait(site.head, 0.05)
    assert timedelta(seconds=0.05) <= datetime.now(UTC) - start < timedelta(seconds=5)


def test_wait_ends_as_soon_as_a_check_moves(site: Site, held: Held) -> None:
    forge = site.forge(held.check)
    forge.create_draft(BRANCH, "dev", "t", "b")
    forge.trigger_ci(1, site.head)
    held.await_start()
    forge.rollup(site.head)
    held.release()
    start = datetime.now(UTC)
    forge.wait(site.head, 10 * PATIENCE)
    assert datetime.now(UTC) - start < timedelta(seconds=PATIENCE)


def test_a_second_runner_on_one_folder_gives_way(site: Site, held: Held) -> None:
    forge = site.forge(held.check)
    forge.create_draft(BRANCH, "dev", "t", "b")
    forge.trigger_ci(1, site.head)
    held.await_start()
    job = state_folder(str(site.origin)) / "ci" / site.head / "1" / "job.json"
    assert run_ci([str(job)]) == 1
    held.release()
    assert finished(forge, site.head)["held"].conclusion == "SUCCESS"


def test_the_baseline_runs_the_check_on_the_untouched_target_once(
    site: Site, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    code = f'import pathlib; print(pathlib.Path("b.txt").exists()); open("{count}", "a").write("x")'
    check_command = command("tests", f"{code}; assert 0")
    head_check = Check(name="tests", status=CheckStatus.COMPLETED, conclusion="FAILURE")
    for _ in range(2):
        found = site.forge(check_command).baseline(site.target, head_check)
        assert found is not None
        assert (found.check.name, found.check.conclusion) == ("tests", "FAILURE")
        assert "False" in found.log.splitlines()
        assert "AssertionError" in found.log
        assert found.where == f"the untouched target {site.target[:12]}"
    assert count.read_text() == "x"
    assert site.forge().rollup(site.target).checks == (), "a baseline is no run of the target's CI"


def test_a_baseline_that_cannot_be_had_is_none(site: Site) -> None:
    forge = site.forge(command("tests", "pass"))
    other = Check(name="other", status=CheckStatus.COMPLETED)
    assert forge.baseline(site.target, other) is None
    assert forge.baseline("0" * 40, other.model_copy(update={"name": "tests"})) is None


def test_a_commit_that_cannot_be_checked_out_is_a_startup_failure(site: Site) -> None:
    forge = site.forge(command("tests", "pass"))
    forge.create_draft(BRANCH, "dev", "t", "b")
    newer = site.push_more()
    forge.trigger_ci(1, newer)
    check = finished(forge, newer)["tests"]
    assert check.conclusion == "STARTUP_FAILURE"
    assert "##[error]The commit could not be checked out" in forge.log(newer, check)


def test_a_damaged_rollup_is_named(site: Site) -> None:
    forge = site.forge(command("tests", "pass"))
    forge.create_draft(BRANCH, "dev", "t", "b")
    forge.trigger_ci(1, site.head)
    finished(forge, site.head)
    (state_folder(str(site.origin)) / "ci" / site.head / "1" / "rollup.json").write_text("{")
    with pytest.raises(SyncError, match=r"rollup\.json is damaged"):
        forge.rollup(site.head)


def test_a_long_log_is_read_from_its_end_and_marked(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text("".join(f"line {number}\n" for number in range(100)))
    assert read_end(log, 20) == f"{CUT}\nline 98\nline 99\n"
    assert read_end(log, 2000).startswith("line 0\n")


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "Lint", "a/b", "x" * 300, "", ".", "ü ß", "runner.out"]
)
def test_every_check_name_has_a_log_of_its_own(name: str) -> None:
    others = {log_file(Path("ci"), other) for other in ("lint", "a-b", "passwd", "x")}
    file = log_file(Path("ci"), name)
    assert file.parent == Path("ci")
    assert file.suffix == ".log"
    assert len(file.name) < 100
    assert file not in others
