"""Run a command where it can do no harm: bubblewrap, no network, no secrets, hard limits.

The command sees the system's programs, the folders of the site's environment and the checkout,
which alone it can change; its environment is built here from nothing. bubblewrap itself starts
with an empty one, as /proc/1/environ would show it.

The limit on processes holds for no root user, so root becomes an unprivileged user inside. Any
other user gets a user namespace, inside which only the sandbox's own processes count.
"""

import os
import resource
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from nightly_sync.agent.data import clean
from nightly_sync.agent.settings import MB, SandboxSettings
from nightly_sync.agent.watch import watching
from nightly_sync.commands import CommandResult, run_command
from nightly_sync.errors import SyncError
from nightly_sync.paths import expanded, printable

WORK = "/agent-checkout"  # where the command sees the checkout
HOME = "/tmp/home"
BIN = "/usr/bin"
SHARED_MEMORY_MB = 64  # /dev/shm, as containers usually have it
# Users nobody has: outside of what Debian and systemd hand out, and below the 65536 that
# containers map. One a process, so that two runs do not share the limit on processes.
FIRST_USER, USERS = 60578, 128
OWNER_TIMEOUT = 300.0  # seconds to hand a checkout over

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types")
_VARIABLES = {
    "HOME": HOME,
    "TMPDIR": "/tmp",
    "LANG": "C.UTF-8",
    "USER": "agent",
    "LOGNAME": "agent",
    "PYTHONDONTWRITEBYTECODE": "1",
}

# The sandbox is tried first; where it does not work, no command runs at all.
TIMEOUT = 30.0  # seconds
SAID = 300  # characters of what a failed try printed
CONTAINED = "contained"
# In $1 is a file outside of the checkout. Each line names what it finds wrong, and ends the try.
_TRY = f"""
wrong() {{ echo "$1"; exit 1; }}
: > {WORK}/probe || wrong "the checkout cannot be written to"
[ -e "$1" ] && wrong "files outside of the checkout can be seen"
[ "$(grep -c : /proc/net/dev)" = 1 ] || wrong "the network can be reached"
{BIN}/setsid --fork --wait true || wrong "no process can be started"
{BIN}/prlimit --nproc=1 -- {BIN}/setsid --fork --wait true 2>/dev/null &&
    wrong "the limit on processes does not hold"
echo {CONTAINED}
"""
_PRIVATE = ("/etc", "/proc", "/sys", "/dev", "/run", "/tmp", "~")


@dataclass(frozen=True)
class Sandbox:
    """Runs commands in one checkout, one at a time. Made by `opened`, which tries it first.

    `bwrap` is bubblewrap's program. In a run as root the checkout changes hands: a command owns it.
    """

    checkout: Path
    settings: SandboxSettings
    bwrap: str

    def run(self, words: Sequence[str], timeout: float) -> CommandResult:
        """Run a command, at the top of the checkout, to its end.

        When this returns no process of it is left. A command that used more than it may was
        killed, and its output ends in why. Raises SyncError if something of it cannot be killed.
        """
        self.hand_over()
        with watching(self.settings, self.checkout) as watch:
            command = [*self._wrapped(watch.status), *words]
            result = run_command(command, Path("/"), timeout, env={}, pass_fds=(watch.status,))
        why = f"\n[stopped: {watch.reason}]\n" if watch.reason else ""
        return replace(result, output=result.output + why)

    def hand_over(self) -> None:
        """In a run as root, give what root owns in the checkout to the user that commands run as.

        Raises SyncError if that fails. Files that are theirs already are not touched.
        """
        if _is_root():
            change = ["chown", "-RhP", "--from=0", f"{_user()}:{_user()}", "--", str(self.checkout)]
            result = run_command(change, Path("/"), OWNER_TIMEOUT)
            if not result.ok:
                raise SyncError(f"the checkout cannot be handed over: {result.output.strip()}")

    def _wrapped(self, status: int) -> Iterator[str]:
        """The words before those of the command."""
        namespaces, user = _as_root() if _is_root() else _as_user()
        yield from (self.bwrap, "--json-status-fd", str(status))
        yield from ("--die-with-parent", "--new-session", *namespaces)
        yield from _system_folders()
        yield from ("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev")
        for folder, size in (("/dev/shm", SHARED_MEMORY_MB), ("/tmp", self.settings.scratch_mb)):
            yield from ("--perms", "1777", "--size", str(size * MB), "--tmpfs", folder)
        yield from ("--perms", "1777", "--dir", HOME)
        yield from _environment(self.settings.environment)
        yield from ("--bind", str(self.checkout), WORK, "--remount-ro", "/")
        yield from ("--", *_limits(self.settings), *user)
        # Not by bwrap, which may not enter it as root without root's powers. Should the machine
        # run out of memory, these processes go first.
        yield from (f"{BIN}/env", "--chdir", WORK, f"{BIN}/choom", "-n", "1000", "--")


def _is_root() -> bool:
    return os.geteuid() == 0


def _user() -> int:
    return FIRST_USER + os.getpid() % USERS


def _as_user() -> tuple[Sequence[str], Sequence[str]]:
    """Words that make the namespaces, and those before the command that change the user."""
    return ("--unshare-all", "--unshare-user", "--disable-userns"), ()


def _as_root() -> tuple[Sequence[str], Sequence[str]]:
    """The same, without a user namespace, in which the limit on processes would not hold.

    What root may do is dropped but for becoming someone else.
    """
    own = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
    drop = ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    ids = ("--reuid", str(_user()), "--regid", str(_user()), "--clear-groups", "--inh-caps=-all")
    return (*own, "--unshare-cgroup-try", *drop), (f"{BIN}/setpriv", *ids, "--")


def _system_folders() -> Iterator[str]:
    for name in _SYSTEM:
        folder = Path(name)
        if folder.is_symlink():
            yield from ("--symlink", str(folder.readlink()), name)
        elif folder.is_dir():
            yield from ("--ro-bind", name, name)
    yield from ("--perms", "0755", "--dir", "/etc")
    for name in _SETTINGS:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")


def _environment(folders: Sequence[str]) -> Iterator[str]:
    above = {parent for folder in folders for parent in Path(folder).parents[:-1]}
    for parent in sorted(above):  # by themselves bwrap makes them for root's eyes only
        yield from ("--perms", "0755", "--dir", str(parent))
    for folder in folders:
        yield from ("--ro-bind", folder, folder)
    programs = (*(f"{folder}/bin" for folder in folders), "/usr/local/bin", BIN, "/bin")
    for name, value in {"PATH": ":".join(programs), **_VARIABLES}.items():
        yield from ("--setenv", name, value)


def _limits(settings: SandboxSettings) -> Iterator[str]:
    """Limits of the kernel, for each process; see `watch` for those of all together.

    Memory is limited as written-to memory (RLIMIT_DATA): address space is reserved by many
    programs far beyond what they use.
    """
    wanted = {
        "nproc": (resource.RLIMIT_NPROC, settings.processes),
        "data": (resource.RLIMIT_DATA, settings.memory_mb * MB),
        "fsize": (resource.RLIMIT_FSIZE, settings.file_mb * MB),
        "nofile": (resource.RLIMIT_NOFILE, settings.open_files),
        "core": (resource.RLIMIT_CORE, 0),
    }
    yield f"{BIN}/prlimit"
    for name, (kind, most) in wanted.items():
        hard = resource.getrlimit(kind)[1]  # one that is already lower cannot be raised
        yield f"--{name}={most if hard == resource.RLIM_INFINITY else min(most, hard)}"
    yield "--"


# Does it work on this machine?


class Unavailable(SyncError):
    """No command can be run; a sentence for the report."""


def opened(checkout: Path, settings: SandboxSettings) -> Sandbox:
    """A sandbox for a checkout. Raises Unavailable if none works here."""
    bwrap = shutil.which("bwrap") or ""
    try:
        reason = next(filter(None, map(_unfit, settings.environment)), "")
        # Absolute, but with their links: other files name them by these.
        named = (str(Path(folder).expanduser().absolute()) for folder in settings.environment)
        settings = settings.model_copy(update={"environment": tuple(named)})
        reason = reason or _problem(bwrap, settings)
    except SyncError as error:
        reason = str(error)
    if reason:
        raise Unavailable(f"Claude could run no commands: {reason}.")
    return Sandbox(checkout.resolve(), settings, bwrap)


def _unfit(folder: str) -> str:
    """Why a folder of the environment cannot be shown to commands; "" if it can."""
    if not expanded(folder).is_dir():
        return f"the environment's folder {printable(folder)} does not exist"
    if expanded(folder).is_relative_to(WORK):
        return f"the environment's folder {printable(folder)} would be hidden by the checkout"
    for private in _PRIVATE:
        if expanded(private).is_relative_to(expanded(folder)):
            return f"the environment's folder {printable(folder)} is too wide: it holds {private}"
    return ""


@cache
def _problem(bwrap: str, settings: SandboxSettings) -> str:
    """What keeps commands from running, as a clause; "" if nothing does."""
    if not bwrap:
        return "bubblewrap is not installed (on Debian: apt-get install bubblewrap)"
    with TemporaryDirectory(prefix="nightly-sync-probe-") as home:
        checkout, outside = Path(home).resolve() / "checkout", Path(home).resolve() / "outside"
        checkout.mkdir()
        outside.touch()
        sandbox = Sandbox(checkout, settings, bwrap)
        result = sandbox.run(["/bin/sh", "-c", _TRY, "try", str(outside)], TIMEOUT)
        if not result.ok or result.output.strip() != CONTAINED:
            return f"the sandbox does not work on this machine: {_said(result)}"
        return _interpreter_problem(sandbox)


def _interpreter_problem(sandbox: Sandbox) -> str:
    """A virtual environment is of no use where the Python that it links to is not seen."""
    for folder in sandbox.settings.environment:
        if (Path(folder) / "pyvenv.cfg").is_file():
            result = sandbox.run([f"{folder}/bin/python", "-c", "0"], TIMEOUT)
            if not result.ok:
                return (
                    f"the Python of {printable(folder)} does not start in the sandbox; the folder "
                    f"it was made from must be part of the environment too ({_said(result)})"
                )
    return ""


def _said(result: CommandResult) -> str:
    said = " ".join(clean(result.output).split())[-SAID:]
    return said or ("it took too long" if result.timed_out else f"exit code {result.code}")
