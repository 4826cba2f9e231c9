"""What a command in the sandbox can see, reach and use up, and that nothing of it is left."""

import os
import signal
import socket
import sys
from dataclasses import replace
from pathlib import Path
from types import FrameType
from uuid import uuid4

import pytest

from nightly_sync.agent import sandbox, watch
from nightly_sync.commands import TAIL, CommandResult
from tests.support.sandboxes import PYTHON, processes_with, settings
from tests.support.sandboxes import sandbox as opened

TOKEN = "token-that-must-not-be-seen"


def shell(tmp_path: Path, script: str, timeout: float = 20, **limits: object) -> CommandResult:
    """Run a script in a sandbox over `tmp_path/checkout`."""
    return opened(tmp_path / "checkout", **limits).run(["/bin/sh", "-c", script], timeout)


def python(tmp_path: Path, code: str, timeout: float = 20, **limits: object) -> CommandResult:
    """Run Python code in a sandbox over `tmp_path/checkout`."""
    return opened(tmp_path / "checkout", **limits).run(["python", "-c", code], timeout)


def test_a_command_works_in_the_checkout_and_what_it_writes_is_there(tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    (tmp_path / "checkout" / "a").write_text("one\n")
    result = shell(tmp_path, "pwd; cat a; echo two > b; rm a; exit 3")
    assert (result.code, result.output) == (3, f"{sandbox.WORK}\none\n")
    assert [item.name for item in (tmp_path / "checkout").iterdir()] == ["b"]


def test_the_sites_environment_comes_first_in_path(tmp_path: Path) -> None:
    result = python(tmp_path, "import sys, pydantic; print(sys.prefix)")
    assert result.output == f"{sys.prefix}\n"


def test_no_environment_of_any_process_holds_a_secret_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    result = shell(tmp_path, "env; cat /proc/*/environ /proc/*/cmdline; ls /proc")
    assert "HOME=/tmp/home" in result.output
    assert TOKEN not in result.output
    names = {line.partition("=")[0] for line in shell(tmp_path, "env").output.splitlines()}
    known = {"HOME", "LANG", "LOGNAME", "PATH", "PYTHONDONTWRITEBYTECODE", "TMPDIR", "USER", "PWD"}
    assert names - {"_", "OLDPWD", "SHLVL"} <= known


def test_bubblewrap_itself_starts_with_an_empty_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    real = opened(tmp_path / "checkout")
    # As root a command may not look at its first process, so a wrapper shows what it is given.
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\ncat /proc/self/environ > {tmp_path}/seen\n{real.bwrap} "$@"\n')
    wrapper.chmod(0o755)
    assert replace(real, bwrap=str(wrapper)).run(["true"], 10).ok
    seen = (tmp_path / "seen").read_text()
    assert {item.partition("=")[0] for item in seen.split("\0")} <= {
        "",
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
    }


def test_files_of_the_machine_are_out_of_sight(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(TOKEN)
    result = shell(tmp_path, f"cat {secret} /etc/passwd /etc/shadow; ls -A /etc /home /run /sys")
    assert TOKEN not in result.output
    assert f"{secret}: No such file" in result.output
    assert "/etc/passwd: No such file" in result.output


def test_programs_that_the_system_finds_through_its_settings_run(tmp_path: Path) -> None:
    assert shell(tmp_path, "ls -d /etc/ld.so.cache && awk 'BEGIN { print 1 }'").output.endswith(
        "1\n"
    )


def test_a_command_writes_nowhere_but_in_the_checkout_and_in_scratch_space(tmp_path: Path) -> None:
    places = ("/", "/usr", "/usr/bin", "/etc", "/dev", "/proc", "/bin", sys.prefix, sys.base_prefix)
    script = "".join(f"touch {place}/planted && echo wrote {place}\n" for place in places)
    script += "touch /tmp/x ~/x /dev/shm/x planted && echo fine"
    result = shell(tmp_path, script)
    assert "wrote" not in result.output
    assert "fine" in result.output
    assert not (Path(sys.prefix) / "planted").exists()


def test_a_link_out_of_the_checkout_leads_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    result = shell(tmp_path, f"ln -s {outside} out; echo x > out/planted; echo x > ../planted")
    assert not result.ok
    assert list(outside.iterdir()) == []
    assert sorted(item.name for item in tmp_path.iterdir()) == ["checkout", "outside"]


def test_the_machines_network_is_out_of_reach(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), 5).close()
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        result = python(tmp_path, code)
    assert "ConnectionRefusedError" in result.output


def test_a_command_gets_no_open_file_of_ours(tmp_path: Path) -> None:
    result = python(tmp_path, "import os; print(sorted(os.listdir('/proc/self/fd')))")
    assert result.output == "['0', '1', '2', '3']\n"  # 3 is the listing itself


def test_a_command_has_no_powers_and_cannot_get_any(tmp_path: Path) -> None:
    result = shell(tmp_path, "grep -E '^(CapEff|CapPrm|NoNewPrivs|Uid)' /proc/self/status")
    told = dict(line.split(":\t", 1) for line in result.output.splitlines())
    assert (told["CapEff"], told["CapPrm"], told["NoNewPrivs"]) == ("0" * 16, "0" * 16, "1")
    assert not told["Uid"].startswith("0\t")


def test_a_bomb_of_processes_stays_within_the_limit(tmp_path: Path) -> None:
    code = (
        "import os, signal\n"
        "count = 0\n"
        "while True:\n"
        "    try:\n"
        "        child = os.fork()\n"
        "    except OSError:\n"
        "        break\n"
        "    if not child:\n"
        "        signal.pause()\n"
        "    count += 1\n"
        "print(count)\n"
    )
    result = python(tmp_path, code)
    assert 10 < int(result.output) < settings().processes


def test_a_bomb_that_never_ends_is_killed_whole_at_the_time_limit(tmp_path: Path) -> None:
    marker = f"bomb-{uuid4()}"
    code = (
        f"import os  # {marker}\n"
        "while True:\n"
        "    try:\n"
        "        os.setsid() if not os.fork() else None\n"
        "    except OSError:\n"
        "        pass\n"
    )
    result = python(tmp_path, code, timeout=0.5)
    assert result.timed_out
    assert processes_with(marker) == []


def test_a_daemon_ends_with_its_command(tmp_path: Path) -> None:
    marker = f"daemon-{uuid4()}"
    script = f"setsid --fork sh -c 'echo up > up; while :; do :; done # {marker}'"
    result = shell(tmp_path, f"{script}; until [ -e up ]; do :; done; echo done")
    assert (result.code, result.output) == (0, "done\n")
    assert processes_with(marker) == []


def test_a_command_that_hangs_is_killed_at_its_time_limit(tmp_path: Path) -> None:
    marker = f"{uuid4()}"
    result = shell(tmp_path, f"trap '' TERM INT; echo started; sleep 600 # {marker}", timeout=0.3)
    assert result.timed_out
    assert result.seconds < 5
    assert result.output == "started\n"
    assert processes_with(marker) == []


def test_a_cancelled_run_leaves_nothing_behind(tmp_path: Path) -> None:
    class Cancelled(BaseException):
        pass

    def cancel(_signal: int, _frame: FrameType | None) -> None:
        raise Cancelled

    marker = f"{uuid4()}"
    box = opened(tmp_path / "checkout")
    before = signal.signal(signal.SIGALRM, cancel)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(Cancelled):
            box.run(["/bin/sh", "-c", f"sleep 600 # {marker}"], 60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert processes_with(marker) == []


def test_one_process_gets_no_more_memory_than_the_limit(tmp_path: Path) -> None:
    result = python(tmp_path, "held = bytearray(300_000_000); print('held')")
    assert "MemoryError" in result.output


def test_reserved_address_space_is_not_memory(tmp_path: Path) -> None:
    code = "import mmap; held = mmap.mmap(-1, 4_000_000_000, prot=mmap.PROT_READ); print('held')"
    assert python(tmp_path, code).output == "held\n"


def test_many_processes_together_get_no_more_memory_than_the_limit(tmp_path: Path) -> None:
    code = (
        "import os, signal\n"
        "for _ in range(6):\n"
        "    if not os.fork():\n"
        "        held = bytearray(60_000_000)\n"
        "        signal.pause()\n"
        "signal.pause()\n"
    )
    result = python(tmp_path, code)
    assert not result.timed_out
    assert result.code != 0
    assert "[stopped: its processes held over 200 MB of memory]" in result.output


def test_memory_that_processes_share_counts_once(tmp_path: Path) -> None:
    code = (
        "import os, time\n"
        "held = bytearray(120_000_000)\n"
        "children = [os.fork() for _ in range(1)]\n"
        "time.sleep(0.6)\n"  # three looks of the watch
        "print('fine')\n"
    )
    assert python(tmp_path, code).output == "fine\nfine\n"


def test_a_command_is_stopped_when_the_machine_runs_short_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever holds it: a memfd, say, is in no process's account."""
    box = opened(tmp_path / "checkout")
    (tmp_path / "meminfo").write_text("MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 50 kB\n")
    monkeypatch.setattr(watch, "_PROC", tmp_path)
    assert not watch.is_short()
    (tmp_path / "meminfo").write_text("MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 49 kB\n")
    result = box.run(["sleep", "60"], 20)
    assert "[stopped: the machine ran short of memory]" in result.output


def test_files_and_scratch_space_have_a_limit(tmp_path: Path) -> None:
    script = "head -c 9000000 /dev/zero > big; head -c 30000000 /dev/zero > /dev/shm/big"
    shell(tmp_path, script)
    assert (tmp_path / "checkout" / "big").stat().st_size == settings().file_mb * 1024 * 1024
    script = "for n in 1 2 3 4; do head -c 8000000 /dev/zero > /tmp/$n; done"
    assert "No space left" in shell(tmp_path, script).output


def test_a_command_that_fills_the_disk_is_stopped(tmp_path: Path) -> None:
    script = "for n in 1 2 3 4 5 6 7 8; do head -c 8000000 /dev/zero > $n; done; sleep 60"
    result = shell(tmp_path, script, disk_mb=30)
    assert "[stopped: it used up over 30 MB of disk space]" in result.output


def test_a_flood_of_output_is_cut_to_its_end(tmp_path: Path) -> None:
    result = shell(tmp_path, "yes | head -c 20000000; echo last")
    assert result.ok
    assert len(result.output) <= TAIL
    assert result.output.endswith("last\n")


def test_a_program_that_is_not_there_says_so(tmp_path: Path) -> None:
    result = opened(tmp_path / "checkout").run(["no-such-program"], 10)
    assert result.code == 127
    assert "no-such-program" in result.output


def test_without_bubblewrap_there_is_no_sandbox_and_the_report_can_say_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(sandbox.Unavailable) as caught:
        sandbox.opened(tmp_path, settings())
    assert str(caught.value) == (
        "Claude could run no commands: bubblewrap is not installed (on Debian: apt-get install "
        "bubblewrap)."
    )


@pytest.mark.parametrize(
    "script",
    [
        "echo no permission >&2; exit 1",
        # Runs the command, in no sandbox at all.
        'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
        "exit 0",
    ],
)
def test_a_bubblewrap_that_does_not_work_is_noticed_before_any_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    with pytest.raises(sandbox.Unavailable, match="the sandbox does not work on this machine"):
        sandbox.opened(tmp_path, settings())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root escapes the limit")
def test_a_limit_on_processes_that_does_not_hold_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(tmp_path / "checkout")
    monkeypatch.setattr(sandbox, "_is_root", lambda: False)
    with pytest.raises(sandbox.Unavailable, match="the limit on processes does not hold"):
        sandbox.opened(tmp_path, settings(processes=25))


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("/no/such/folder", "does not exist"),
        ("/", "is too wide"),
        ("~", "is too wide"),
        ("~nobodyxyz/venv", "leads nowhere"),  # Reported: raised, in the middle of a run
        ("/etc", "is too wide"),
    ],
)
def test_an_environment_that_would_show_too_much_or_nothing_is_refused(
    tmp_path: Path, folder: str, reason: str
) -> None:
    opened(tmp_path / "checkout")
    with pytest.raises(sandbox.Unavailable, match=reason):
        sandbox.opened(tmp_path, settings(environment=(folder,)))


def test_a_virtual_environment_without_its_python_is_noticed(tmp_path: Path) -> None:
    opened(tmp_path / "checkout")
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "pyvenv.cfg").touch()
    (venv / "bin" / "python").symlink_to(tmp_path / "elsewhere" / "python")
    with pytest.raises(sandbox.Unavailable, match=f"the Python of {venv} does not start"):
        sandbox.opened(tmp_path, settings(environment=(str(venv),)))


def test_an_environment_in_a_folder_for_temporary_files_is_seen(tmp_path: Path) -> None:
    tool = tmp_path / "env" / "bin" / "tool"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\necho tool; touch ~/x && echo home\n")
    tool.chmod(0o755)
    environment = (*PYTHON, str(tmp_path / "env"))
    result = opened(tmp_path / "checkout", environment=environment).run(["tool"], 10)
    assert result.output == "tool\nhome\n"
