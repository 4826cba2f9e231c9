"""One run's surroundings: config, workspace, forge, clock; opened under the lock."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nightly_sync import git, workspace
from nightly_sync.config import SyncConfig, check_runnable
from nightly_sync.errors import ConfigError
from nightly_sync.forge.base import Forge
from nightly_sync.forge.local import LocalForge, pair_folder
from nightly_sync.workspace import Workspace

Clock = Callable[[], datetime]


@dataclass(frozen=True)
class Session:
    """What every step of a run may use."""

    config: SyncConfig
    workspace: Workspace
    forge: Forge
    run_id: str
    started: datetime
    clock: Clock


def utc_now() -> datetime:
    """The clock of real runs."""
    return datetime.now(UTC)


def check(config: SyncConfig) -> None:
    """What can be said of a config before anything is started.

    Raises ConfigError, or SyncError for a git or a repository that cannot be used.
    """
    git.check_version()
    check_runnable(config)
    _check_forge(config)
    workspace.origin_of(config)


@contextmanager
def opened(config: SyncConfig, run_id: str, clock: Clock = utc_now) -> Iterator[Session]:
    """Check what can be checked at once, take the lock, open the workspace.

    Raises ConfigError for a config that no run can end well with, Busy if another run is at it.
    """
    check(config)
    home = workspace.home_of(config)
    started = clock()
    with _alone(config, home, f"run {run_id}", started):
        # However it was spelled: a rerun must find the same records, keys and digest.
        config = config.model_copy(update={"repository": workspace.origin_of(config)})
        place = workspace.open_workspace(config, run_id)
        yield Session(config, place, forge_of(config, place, clock), run_id, started, clock)


@contextmanager
def _alone(config: SyncConfig, home: Path, holder: str, now: datetime) -> Iterator[None]:
    """Hold the workspace, and the pair itself: another user or `workspace` has another home."""
    with ExitStack() as held:
        held.enter_context(workspace.lock(home, holder, now))
        if workspace.local_path(config.repository) is not None:
            held.enter_context(workspace.lock(pair_folder(config), holder, now))
        yield


def forge_of(config: SyncConfig, place: Workspace, clock: Clock) -> Forge:
    """The forge the repository lives on."""
    _check_forge(config)
    return LocalForge(config, place.repository, clock=clock)


def _check_forge(config: SyncConfig) -> None:
    if workspace.local_path(config.repository) is None:
        raise ConfigError(
            f"{config.repository} is not on this machine; only repositories given by a path or "
            "a file:// address have a forge so far"
        )
