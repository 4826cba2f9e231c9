"""The whole flow on the GitHub stand-in: HTTP, git over HTTP, scripted CI, people in the way."""

import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Timer

import pytest

from nightly_sync.errors import StopForPerson
from nightly_sync.record import Outcome, RunRecord
from tests.github.ci import NEVER, Act
from tests.github.state import Pull
from tests.support.forking import Ended, Forking
from tests.support.github_site import ASK, GATE, GREEN, LINES, RED, VARIABLE, GitHubSite
from tests.support.kept import kept_by_prefect

pytestmark = pytest.mark.usefixtures("prefect")

MEND = """
import pathlib, sys
for file in map(pathlib.Path, sys.argv[1:]):
    file.write_text(file.read_text().replace("=1", " = 1"))
"""
LIMIT = 0.02  # minutes; the real clock runs


def _sync(hub: GitHubSite, **fields: object) -> RunRecord:
    from flows.sync import sync

    record = sync(hub.config(**fields))
    assert isinstance(record, RunRecord)
    return record


def _pull(hub: GitHubSite) -> Pull:
    (pull,) = hub.repository.pulls
    return pull


def _asked(hub: GitHubSite) -> list[str]:
    return [said for said in hub.comments(_pull(hub).number) if said.startswith("/ok to test")]


def _is_draft_that_says(hub: GitHubSite, words: str) -> None:
    pull = _pull(hub)
    assert pull.draft
    assert pull.open
    assert words in (pull.body or "")
    assert words in hub.comments(pull.number)[-1]


def test_everything_green_ends_ready(hub: GitHubSite) -> None:
    hub.github.ci.on_comment(ASK, GREEN)
    record = _sync(hub, labels=["sync"])
    pull = _pull(hub)
    assert (record.outcome, pull.draft, pull.open) == (Outcome.READY, False, True)
    assert pull.head_sha == record.head_sha == hub.tip(pull.head)
    assert pull.labels == ["sync"]
    ask, summary = hub.comments(pull.number)
    assert ask == f"/ok to test {record.head_sha}"
    assert "Checks passed" in summary


def test_red_then_mended_then_green_ends_ready(hub: GitHubSite, tmp_path: Path) -> None:
    hub.repo.checkout("main")
    hub.repo.commit("Unformatted (#3)", {"new.py": "z=1\n"})
    hub.push()
    (tmp_path / "mend.py").write_text(MEND)
    style = [Act("style", "FAILURE", log="would reformat new.py"), Act(GATE, "FAILURE", after=1)]
    hub.github.ci.on_comment(ASK, style, GREEN)
    mend = {"name": "mend", "run": f"python {tmp_path / 'mend.py'}"}
    # The merged files are formatted once already; only what CI complains about afterwards counts.
    record = _sync(hub, formatters=[{**mend, "paths": ["*.py"]}])
    assert (record.outcome, record.fix_rounds) == (Outcome.READY_NEEDS_LOOK, 1)
    assert hub.repo.git("--git-dir", str(hub.repository.path), "show",
                        f"{record.head_sha}:new.py") == "z = 1"  # fmt: skip
    first, second = _asked(hub)
    assert first != second == f"/ok to test {record.head_sha}"


def test_queued_for_ever_ends_at_the_time_limit(hub: GitHubSite) -> None:
    hub.github.ci.on_comment(ASK, [Act("tests"), Act(GATE, queued=NEVER)])
    record = _sync(hub, time_limit_minutes=LIMIT)
    assert record.outcome is Outcome.CI_TIME_LIMIT
    _is_draft_that_says(hub, "The time limit was reached.")


def test_a_skipped_sentinel_is_not_green(hub: GitHubSite) -> None:
    hub.github.ci.on_comment(ASK, [Act("tests"), Act(GATE, "SKIPPED", running=0)])
    assert _sync(hub).outcome is Outcome.BLOCKED
    _is_draft_that_says(hub, f"{GATE} (SKIPPED)")


def test_a_rollup_that_stays_null_is_ci_that_never_started(hub: GitHubSite) -> None:
    hub.github.ci.on_comment(ASK, GREEN)
    gone = hub.repository.without_rollup
    hub.github.ci.at_poll(1, lambda: gone.update(hub.repository.branches().values()))
    record = _sync(hub, grace_minutes=LIMIT)
    assert record.outcome is Outcome.CI_NOT_STARTED
    _is_draft_that_says(hub, f"Never started: {GATE}")


def test_a_push_by_a_person_stops_the_run_and_stays(hub: GitHubSite) -> None:
    hub.github.ci.on_comment(ASK, [Act("tests", running=3), Act(GATE, after=3)])
    pushed: list[str] = []

    def push() -> None:
        pushed.append(hub.person.push(hub.synced()[0], {"mine.py": "m = 1\n"}))

    hub.github.ci.at_poll(2, push)
    with pytest.raises(StopForPerson, match="stopped: "):
        _sync(hub)
    pull = _pull(hub)
    assert pull.draft
    assert hub.tip(pull.head) == pushed[0]
    _is_draft_that_says(hub, "Stopped: a person has to look first.")


def test_a_token_that_ends_is_replaced_by_the_one_that_is_there_now(
    hub: GitHubSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.github.ci.on_comment(ASK, GREEN)

    def rotate() -> None:
        monkeypatch.setenv(VARIABLE, hub.github.token())
        hub.github.expire(hub.token)

    hub.github.ci.at_poll(2, rotate)
    assert _sync(hub).outcome is Outcome.READY


def test_an_apps_token_that_ends_is_renewed(
    hub: GitHubSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = hub.github.app()
    monkeypatch.setenv("NIGHTLY_SYNC_APP_KEY", app.private_key)
    monkeypatch.delenv(VARIABLE)
    hub.github.ci.on_comment(ASK, GREEN)
    hub.github.ci.at_poll(2, hub.github.expire)
    access = {"app_id": str(app.id), "app_key": "env:NIGHTLY_SYNC_APP_KEY"}
    assert _sync(hub, github=access).outcome is Outcome.READY


def test_an_outage_while_polling_is_waited_out(hub: GitHubSite) -> None:
    hub.github.ci.on_comment(ASK, GREEN)
    hub.github.ci.at_poll(2, lambda: hub.github.faults.fail("POST .*graphql", 2, status=502))
    assert _sync(hub).outcome is Outcome.READY


def _to_the_run(hub: GitHubSite, number: signal.Signals) -> Callable[[], None]:
    """Sends a signal to the run that holds the lock."""

    def send() -> None:
        (lock,) = (hub.folder / "home").glob("*/lock")
        os.kill(json.loads(lock.read_text())["pid"], number)

    return send


def _run_apart(hub: GitHubSite, apart: Forking, **fields: object) -> Ended:
    file = hub.folder / "config.yaml"
    file.write_text(json.dumps(hub.fields(**fields)))  # JSON is YAML
    return apart.run("nightly_sync", "run", "--config", str(file))


def test_a_run_killed_while_polling_is_taken_up_and_asks_for_nothing_twice(
    hub: GitHubSite, apart: Forking
) -> None:
    hub.github.ci.on_comment(ASK, [Act("tests", running=5), Act(GATE, after=5)])
    hub.github.ci.at_poll(3, _to_the_run(hub, signal.SIGKILL))
    assert _run_apart(hub, apart).returncode == -signal.SIGKILL
    assert _pull(hub).draft
    pushed = hub.tip(_pull(hub).head)
    record = _sync(hub)
    assert (record.outcome, record.head_sha) == (Outcome.READY, pushed)
    assert _asked(hub) == [f"/ok to test {pushed}"]
    assert hub.synced() == [_pull(hub).head]


def test_a_cancelled_run_stops_within_seconds(hub: GitHubSite, apart: Forking) -> None:
    """The signal is what a worker sends to a run that is cancelled; it waits for its next look."""
    hub.github.ci.on_comment(ASK, [Act("tests", running=NEVER), Act(GATE, after=NEVER)])
    sent: list[float] = []

    def cancel() -> None:
        sent.append(time.monotonic())
        _to_the_run(hub, signal.SIGTERM)()

    hub.github.ci.at_poll(1, Timer(1, cancel).start)
    assert _run_apart(hub, apart, poll_seconds=600).returncode != 0
    assert time.monotonic() - sent[0] < 20
    assert _pull(hub).draft


def _arguments() -> str:
    """The arguments of every process of this machine."""
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # ended meanwhile
            lines.append(file.read_text(errors="replace"))
    return "\n".join(lines)


def test_the_token_is_seen_nowhere(hub: GitHubSite, tmp_path: Path) -> None:
    """In no file, log, artifact, address or argument, and in no command's environment."""
    hub.github.ci.on_comment(ASK, RED)
    (tmp_path / "spy.py").write_text(
        "import os, pathlib\n"
        f"pathlib.Path({str(tmp_path / 'seen')!r}).write_text(repr(dict(os.environ)))\n"
    )
    arguments: list[str] = []
    for service in ("git-upload-pack", "git-receive-pack", "graphql"):
        hub.github.faults.before(service, lambda: arguments.append(_arguments()))
    spy = {"name": "spy", "run": f"python {tmp_path / 'spy.py'}"}
    for branch, text in (("main", f"a = 1\n{LINES}"), ("dev", f"{LINES}z = 1\n")):
        hub.repo.checkout(branch)
        hub.repo.commit(f"Also on {branch} (#3)", {"both.py": text})
    hub.push()
    record = _sync(hub, formatters=[spy])
    assert "PATH" in (tmp_path / "seen").read_text()
    assert "git-remote-http" in "".join(arguments)
    texts = [file.read_text(errors="replace") for file in tmp_path.rglob("*") if file.is_file()]
    assert [text for text in (*texts, *arguments) if hub.token in text] == []
    assert hub.token not in kept_by_prefect(record.run_id)
    assert hub.github.requests.leaks(hub.token) == []
