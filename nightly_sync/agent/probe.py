"""Does the sandbox work on this machine? Tried once; where it does not, no command runs at all."""

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from nightly_sync.agent.data import clean
from nightly_sync.agent.sandbox import BIN, WORK, Sandbox
from nightly_sync.agent.sandbox_settings import SandboxSettings
from nightly_sync.commands import CommandResult
from nightly_sync.errors import SyncError
from nightly_sync.paths import expanded, printable

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
