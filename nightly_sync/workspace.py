"""The workspace: a bare repository per origin and branch pair, kept between runs, and its lock.

Nothing in it is the only copy of anything: what counts is on origin, and a lost workspace is
fetched anew.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit

from nightly_sync import git
from nightly_sync.config import SyncConfig
from nightly_sync.errors import ConfigError, StopForPerson, SyncError
from nightly_sync.forge.github import address
from nightly_sync.model import Model
from nightly_sync.paths import expanded, printable, quote, to_bytes

REFSPEC = "+refs/heads/*:refs/remotes/origin/*"
_ORIGIN = "refs/remotes/origin/"


class Workspace(Model):
    """Where a sync works. All paths are absolute."""

    home: Path
    repository: Path  # bare
    origin: str  # path or URL, as git takes it
    run: Path  # this run's own folder: report, plan, logs; kept


class Busy(SyncError):
    """Another run holds the lock of this repository and branch pair."""


def local_path(repository: str) -> Path | None:
    """The folder of a repository on this machine; None for one elsewhere.

    One folder however it is spelled: links followed, and the folder above a clone's `.git`.
    """
    is_url = repository.startswith("file://")
    if not is_url and ("://" in repository or re.match(r"[\w.-]+@[\w.-]+:", repository)):
        return None
    folder = expanded(unquote(urlsplit(repository).path) if is_url else repository)
    return folder.parent if folder.name == ".git" else folder


def origin_of(config: SyncConfig) -> str:
    """The repository as git takes it: the same from every folder, and however it is spelled.

    On GitHub by HTTPS, which takes the token. Raises SyncError where a path leads to no
    repository, ConfigError for an address that is none on GitHub.
    """
    folder = local_path(config.repository)
    if folder is None:
        return address.parse(config.repository, config.github.api).url
    shown = printable(str(folder))
    if not folder.is_dir():
        raise SyncError(f"there is no repository at {shown}; check `repository` in the config")
    if not git.is_repository(folder):
        raise SyncError(f"{shown} is not a git repository; check `repository` in the config")
    return str(folder)


def cache_folder() -> Path:
    """Where workspaces live unless the config says otherwise."""
    base = os.environ.get("NIGHTLY_SYNC_HOME")
    if base:
        return expanded(base)
    return expanded(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "nightly-sync"


def home_of(config: SyncConfig) -> Path:
    """The folder of one repository and branch pair: readable, and unique by a hash."""
    origin = origin_of(config)
    name = re.sub(r"[^\w.-]+", "-", Path(origin).name.removesuffix(".git")) or "repository"
    key = "\0".join((origin, config.source, config.target))
    digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:10]
    return (config.home() or cache_folder()) / f"{name}-{digest}"


@contextmanager
def lock(home: Path, holder: str, now: datetime) -> Iterator[None]:
    """Hold the lock of a workspace; the kernel frees it when this process dies.

    Raises Busy, naming the holder, if another process has it, and ConfigError where no such
    folder can be.
    """
    with _lock_file(home) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(_busy(file)) from None
        _sign(file, holder, now)
        yield


def _lock_file(home: Path) -> IO[str]:
    try:
        home.mkdir(parents=True, exist_ok=True)
        return (home / "lock").open("a+")
    except OSError as error:
        raise ConfigError(
            f"the workspace {printable(str(home))} cannot be used: {error.strerror}; name another "
            "folder by `workspace` in the config, or by NIGHTLY_SYNC_HOME"
        ) from error


def _sign(file: IO[str], holder: str, now: datetime) -> None:
    file.seek(0)
    file.truncate()
    facts = {"holder": holder, "pid": os.getpid(), "host": socket.gethostname()}
    file.write(json.dumps(facts | {"since": now.astimezone(UTC).isoformat(timespec="seconds")}))
    file.flush()


def _busy(file: IO[str]) -> str:
    file.seek(0)
    try:
        held = json.loads(file.read())
        who = f"{held['holder']} (process {held['pid']} on {held['host']}, since {held['since']})"
    except (ValueError, KeyError, TypeError):
        who = "another process, which has not signed the lock yet"
    return f"this repository and branch pair is being synced by {who}; wait for it, or stop it"


def open_workspace(config: SyncConfig, run_id: str) -> Workspace:
    """Make or reuse the workspace; call it under its `lock`.

    What a killed run left behind is removed: we hold the lock, so nobody uses it. Raises
    StopForPerson for an origin that no run can work with.
    """
    home = home_of(config)
    check_format(local_path(config.repository))
    repository = home / "repository.git"
    _unlock(repository)
    git.init_bare(repository)
    run = home / "runs" / run_id
    run.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(home / "trees", ignore_errors=True)
    git.run(repository, "worktree", "prune")
    return Workspace(home=home, repository=repository, origin=origin_of(config), run=run)


def check_format(repository: Path | None) -> None:
    """Raise StopForPerson if a repository on this machine names its objects by SHA-256."""
    if repository and git.object_format(repository) != git.OBJECT_FORMAT:
        raise StopForPerson(
            f"{printable(str(repository))} is a SHA-256 repository, and those are not supported "
            "yet; convert it to SHA-1, or sync it by hand"
        )


def _unlock(repository: Path) -> None:
    """Remove lock files of a git that was killed; those in the object store do no harm."""
    tops = repository.iterdir() if repository.is_dir() else ()
    for top in (item for item in tops if item.name != "objects"):
        for file in (top, *top.rglob("*.lock")):
            if file.name.endswith(".lock"):
                file.unlink(missing_ok=True)


def fetch(workspace: Workspace, origin: git.Remote, timeout: float) -> None:
    """Bring `refs/remotes/origin/*` up to origin's branches; our own refs stay."""
    git.fetch(workspace.repository, origin, REFSPEC, timeout)


def branches(workspace: Workspace) -> dict[str, str]:
    """Origin's branches and their SHAs, as of the last fetch."""
    found = git.refs(workspace.repository, _ORIGIN)
    return {name.removeprefix(_ORIGIN): sha for name, sha in found.items()}


@contextmanager
def scratch(borrowed: Path, folder: Path) -> Iterator[Path]:
    """A throw-away repository that can read another one's objects and writes only its own.

    Raises StopForPerson for a repository that no merge can be planned in.
    """
    check_format(borrowed)
    repository = folder / "scratch.git"
    git.init_bare(repository)
    objects = git.objects_of(borrowed)
    info = repository / "objects" / "info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "alternates").write_bytes(to_bytes(quote(str(objects))) + b"\n")
    yield repository
