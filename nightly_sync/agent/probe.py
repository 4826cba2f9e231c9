"""Does the sandbox work on this machine? Tried once; where it does not, no command runs at all."""

import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from nightly_sync.agent.data import clean
from nightly_sync.agent.sandbox import BIN, WORK, Sandbox
from nightly_sync.agent.sandbox_settings import SandboxSettings
from nightly_sync.commands import CommandResult
from nightly_sync.errors import ConfigError
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


@dataclass(frozen=True)
class Unavailable:
    """No command can be run. `reason` is a sentence for the report."""

    reason: str


def opened(checkout: Path, settings: SandboxSettings) -> Sandbox | Unavailable:
    """A sandbox for a checkout, or why there is none."""
    try:
        return _opened(checkout, settings)
    except ConfigError as error:
        return _off(str(error))


def _opened(checkout: Path, settings: SandboxSettings) -> Sandbox | Unavailable:
    places = tuple(_as_named(folder) for folder in settings.environment)
    resolved = settings.model_copy(update={"environment": places})
    bwrap = shutil.which("bwrap")
    reason = _problem(bwrap, resolved)
    if reason or bwrap is None:
        return _off(reason)
    return Sandbox(checkout.resolve(), resolved, bwrap)


def _off(reason: str) -> Unavailable:
    return Unavailable(f"Claude could run no commands: {reason}.")


def _as_named(folder: str) -> str:
    """Absolute, but with its links: other files name it by them. Raises ConfigError."""
    expanded(folder)
    return str(Path(folder).expanduser().absolute())


@cache
def _problem(bwrap: str | None, settings: SandboxSettings) -> str:
    """What keeps commands from running, as a clause; "" if nothing does."""
    if bwrap is None:
        return "bubblewrap is not installed (on Debian: apt-get install bubblewrap)"
    unfit = next((problem for f in settings.environment if (problem := _unfit(f))), "")
    return unfit or _tried(bwrap, settings)


def _unfit(folder: str) -> str:
    """Why a folder of the environment cannot be shown to commands; "" if it can."""
    if not Path(folder).is_dir():
        return f"the environment's folder {printable(folder)} does not exist"
    if expanded(folder).is_relative_to(WORK):
        return f"the environment's folder {printable(folder)} would be hidden by the checkout"
    for private in _PRIVATE:
        if expanded(private).is_relative_to(expanded(folder)):
            return f"the environment's folder {printable(folder)} is too wide: it holds {private}"
    return ""


def _tried(bwrap: str, settings: SandboxSettings) -> str:
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
