"""One run's surroundings: config, workspace, forge, clock; opened under the lock."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from nightly_sync import git, secrets, workspace
from nightly_sync.agent.assistant import Assistant, hire
from nightly_sync.agent.settings import AgentSettings
from nightly_sync.config import SyncConfig, check_runnable
from nightly_sync.errors import ConfigError
from nightly_sync.forge.base import Check, Forge
from nightly_sync.forge.github import address
from nightly_sync.forge.local import LocalForge, pair_folder
from nightly_sync.workspace import Workspace

Clock = Callable[[], datetime]


@dataclass(frozen=True)
class Session:
    """What every step of a run may use."""

    config: SyncConfig
    workspace: Workspace
    forge: Forge
    origin: git.Remote
    run_id: str
    started: datetime
    clock: Clock
    assistant: Assistant = field(default_factory=lambda: Assistant(AgentSettings()))

    def log_file(self, check: Check) -> Path:
        """Where the log of a failed check is kept, once it was read."""
        name = sha256("\0".join(check.key).encode("utf-8", "replace")).hexdigest()
        return self.workspace.run / "logs" / f"{name}.txt"


def utc_now() -> datetime:
    """The clock of real runs."""
    return datetime.now(UTC)


def check(config: SyncConfig) -> None:
    """What can be said of a config before anything is started.

    Raises ConfigError, or SyncError for a git or a repository that cannot be used.
    """
    git.check_version()
    if is_local(config):
        check_runnable(config)
    else:
        _check_github(config)
    workspace.origin_of(config)


def is_local(config: SyncConfig) -> bool:
    """Is the repository on this machine?"""
    return workspace.local_path(config.repository) is not None


def _check_github(config: SyncConfig) -> None:
    address.parse(config.repository, config.github.api)
    check_runnable(config, None)  # branch protection is read once GitHub is reached
    secrets.check_environment(config.github.secret)
    if config.trigger.kind != "none" and config.sentinel is None:
        raise ConfigError(
            f"CI is started by a {config.trigger.kind}, and without a sentinel nothing tells its "
            "results from those that were there before: name the job that needs all others as "
            "the sentinel"
        )
    if config.checks:
        raise ConfigError(
            "checks are commands for a repository on this machine; on GitHub name a sentinel or "
            "expected_checks, and give commands for the target under baseline.commands"
        )


@contextmanager
def opened(
    config: SyncConfig,
    run_id: str,
    clock: Clock = utc_now,
    secret: secrets.Read = secrets.from_environment,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Session]:
    """Check what can be checked at once, take the lock, open the workspace, reach the forge.

    Raises ConfigError for a config that no run can end well with, Busy if another run is at it.
    """
    check(config)
    home = workspace.home_of(config)
    started = clock()
    with _alone(config, home, f"run {run_id}", started):
        # However it was spelled: a rerun must find the same records and keys.
        config = config.model_copy(update={"repository": workspace.origin_of(config)})
        place = workspace.open_workspace(config, run_id)
        forge = forge_of(config, place, clock, secret, sleep)
        try:
            origin, claude = forge.origin(), hire(config.agent, place.run, secret)
            yield Session(config, place, forge, origin, run_id, started, clock, claude)
        finally:
            forge.disconnect()


@contextmanager
def _alone(config: SyncConfig, home: Path, holder: str, now: datetime) -> Iterator[None]:
    """Hold the workspace, and the pair itself: another user or `workspace` has another home."""
    with ExitStack() as held:
        held.enter_context(workspace.lock(home, holder, now))
        if is_local(config):
            held.enter_context(workspace.lock(pair_folder(config), holder, now))
        yield


def forge_of(
    config: SyncConfig,
    place: Workspace,
    clock: Clock,
    secret: secrets.Read,
    sleep: Callable[[float], None],
) -> Forge:
    """The forge the repository lives on."""
    if is_local(config):
        return LocalForge(config, place.repository, clock=clock)
    # Here, since the library behind it takes seconds to import.
    from nightly_sync.forge.github.connect import connect

    return connect(config, secret, clock, sleep)
