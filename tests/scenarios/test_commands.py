"""Commands are run as real processes; those that must not end wait for a pipe, not for a time."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from nightly_sync import commands
from nightly_sync.checks.logs import CUT
from nightly_sync.commands import CommandResult, command_environment, run_command, run_on_files
from nightly_sync.errors import SyncError

FOREVER = "import threading; threading.Event().wait()"


def python(code: str, folder: Path, timeout: float = 30, log: Path | None = None) -> CommandResult:
    """Run a line of Python."""
    return run_command([sys.executable, "-c", code], folder, timeout, log)


def gone(pid: int) -> bool:
    """Does a process that is no child of ours die within moments?"""
    deadline = time.monotonic() + 10
    while _state(pid) not in "ZX":
        if time.monotonic() > deadline:
            return False
        os.sched_yield()
    return True


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def test_both_streams_come_in_order_and_go_to_the_log(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text("before\n")
    code = "import os; os.write(1, b'one\\n'); os.write(2, b'two\\n'); os.write(1, b'\\xff\\n')"
    result = python(code, tmp_path, log=log)
    assert (result.code, result.ok, result.output) == (0, True, "one\ntwo\n\ufffd\n")
    assert log.read_bytes() == b"before\none\ntwo\n\xff\n"


def test_exit_codes_and_signals_are_told_apart(tmp_path: Path) -> None:
    assert python("raise SystemExit(3)", tmp_path).code == 3
    assert python("import os; os.kill(os.getpid(), 11)", tmp_path).code == -signal.SIGSEGV


@pytest.mark.parametrize("name", ["no-such-command", "./not-executable", "bad\0name"])
def test_a_command_that_cannot_start_is_a_result_with_a_reason(tmp_path: Path, name: str) -> None:
    (tmp_path / "not-executable").write_text("x")
    result = run_command([name], tmp_path, 5)
    assert (result.missing, result.ok, result.code) == (True, False, 127)
    assert result.output.startswith(f"The command {name!r} could not be started: ")


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SyncError, match="there is no such folder"):
        run_command(["true"], tmp_path / "gone", 5)


def test_no_shell_reads_the_words(tmp_path: Path) -> None:
    code = "import sys; print(sys.argv[1:])"
    result = run_command([sys.executable, "-c", code, "$HOME; echo x", "*"], tmp_path, 30)
    assert result.output == "['$HOME; echo x', '*']\n"


def test_after_its_time_the_whole_group_is_killed(tmp_path: Path) -> None:
    code = "import os, signal\nif pid := os.fork(): print(pid, flush=True)\nsignal.pause()"
    result = python(code, tmp_path, timeout=1)
    assert (result.timed_out, result.ok) == (True, False)
    assert gone(int(result.output))


def test_a_command_that_closed_its_output_is_still_timed(tmp_path: Path) -> None:
    result = python(f"import os; os.close(1); os.close(2); {FOREVER}", tmp_path, timeout=0.5)
    assert result.timed_out


def test_children_left_behind_neither_keep_us_waiting_nor_stay(tmp_path: Path) -> None:
    code = "import os, signal\nif pid := os.fork(): print(pid)\nelse: signal.pause()"
    result = python(code, tmp_path, timeout=60)
    assert (result.ok, result.timed_out) == (True, False)
    assert result.seconds < 30
    assert gone(int(result.output))


def test_a_cancelled_run_takes_its_command_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prefect cancels by raising a BaseException in the middle of things."""

    class Cancelled(BaseException):
        pass

    def cancel(sink: object, chunk: bytes) -> None:
        (tmp_path / "pid").write_bytes(chunk)
        raise Cancelled

    monkeypatch.setattr(commands._Sink, "write", cancel)
    with pytest.raises(Cancelled):
        python(f"import os; print(os.getpid(), flush=True); {FOREVER}", tmp_path)
    assert gone(int((tmp_path / "pid").read_text()))


def test_output_without_end_is_cut_in_the_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "LOG_LIMIT", 1000)
    monkeypatch.setattr(commands, "TAIL", 100)
    monkeypatch.setattr(commands, "CHUNK", 64)
    log = tmp_path / "x.log"
    code = "for n in range(2000): print('line', n)"
    result = run_command([sys.executable, "-c", code], tmp_path, 30, log)
    text = log.read_text()
    assert text.startswith("line 0\n")
    assert text.endswith("line 1999\n")
    assert CUT in text.splitlines()
    assert len(text) < 1500
    assert result.output.endswith("line 1999\n")
    assert len(result.output) == 100


def test_the_environment_is_the_users_without_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "PYTHONPATH", "PREFECT_API_URL", "PYTEST_ADDOPTS"):
        monkeypatch.setenv(name, "ours")
    monkeypatch.setenv("THEIRS", "x")
    environment = command_environment(CI="true")
    assert (environment["CI"], environment["THEIRS"]) == ("true", "x")
    assert environment["PATH"] == os.environ["PATH"]
    assert "ours" not in environment.values()


def test_files_are_given_in_batches_and_a_failure_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "BATCH", 2)
    script = tmp_path / "tool.py"
    script.write_text(
        "import sys; open('seen', 'a').write(f'{sys.argv[1:]}'); sys.exit('./c' in sys.argv)"
    )
    result = run_on_files(f"python {script}", tmp_path, ["a", "-b", "c", "d", "e"], 30)
    assert result.code == 1
    assert (tmp_path / "seen").read_text() == "['./a', './-b']['./c', './d']"
    assert run_on_files("no-such-command", tmp_path, [], 30).ok
