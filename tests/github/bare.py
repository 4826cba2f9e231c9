"""Plumbing on the bare repositories that the stand-in serves. Starts the real git."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

ZERO = "0" * 40
_FORMAT = "%H%n%T%n%P%n%an%n%ae%n%aI%n%cn%n%ce%n%cI%n%B"


_CONFIG = """[core]
	repositoryformatversion = 0
	bare = true
[http]
	receivepack = true
[gc]
	auto = 0
[receive]
	autogc = false
"""


class BareError(Exception):
    """git refused; the text is its own."""


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The caller's environment without its git settings."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    config = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    config["GIT_DEFAULT_REF_FORMAT"] = "files"  # a newer git's other format is not read here
    return kept | config | dict(extra or {})


def git(path: Path, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> str:
    """Run git in a repository; returns what it printed. Raises BareError if it fails."""
    done = subprocess.run(
        ["git", *args],
        cwd=path,
        input=stdin,
        capture_output=True,
        env=environment(env),
        check=False,
    )
    if done.returncode:
        raise BareError(done.stderr.decode(errors="replace"))
    return done.stdout.decode("utf-8", "surrogateescape")


def init(path: Path, branch: str) -> None:
    """An empty bare repository that accepts pushes over HTTP. Writes files, and starts no git."""
    for folder in ("objects", "refs/heads"):
        (path / folder).mkdir(parents=True)
    (path / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
    (path / "config").write_text(_CONFIG)


def take(path: Path, source: Path) -> None:
    """Every branch of another repository, into an empty one. Copies files, which starts no git."""
    origin = source / ".git" if (source / ".git").is_dir() else source
    shutil.copytree(origin / "objects", path / "objects", dirs_exist_ok=True)
    heads = {name: oid for name, oid in refs(origin).items() if name.startswith("refs/heads/")}
    lines = (f"{oid} {name}\n" for name, oid in sorted(heads.items()))
    (path / "packed-refs").write_text("# pack-refs with: sorted \n" + "".join(lines))


def pack(path: Path) -> None:
    """Put a repository's objects into one file, for those who copy it many times."""
    git(path, "repack", "-a", "-d", "-q")


def refs(path: Path) -> dict[str, str]:
    """Every ref and the object it names; read from files, since every request asks for them."""
    loose = {
        str(file.relative_to(path)): file.read_text().strip()
        for file in (path / "refs").rglob("*")
        if file.is_file() and file.suffix != ".lock"
    }
    return _packed(path / "packed-refs") | loose


def _packed(file: Path) -> dict[str, str]:
    lines = file.read_text().splitlines() if file.exists() else []
    pairs = (line.split(" ", 1) for line in lines if line[:1] not in ("#", "^"))
    return {name: oid for oid, name in pairs}


def resolve(path: Path, name: str) -> str | None:
    """The commit a branch, tag, ref or (short) SHA stands for; None if there is none."""
    known = refs(path)
    for prefix in ("refs/heads/", "refs/tags/", "refs/", ""):
        if found := known.get(prefix + name):
            return found
    return _object(path, name)


def _object(path: Path, name: str) -> str | None:
    try:
        return git(path, "rev-parse", "--verify", "-q", f"{name}^{{commit}}").strip()
    except BareError:
        return None


def is_ancestor(path: Path, old: str, new: str) -> bool:
    """Whether `new` contains `old`."""
    try:
        git(path, "merge-base", "--is-ancestor", old, new)
    except BareError:
        return False
    return True


def listed(path: Path, *args: str) -> list[str]:
    """SHAs that `git rev-list` gives."""
    return git(path, "rev-list", *args).split()


@lru_cache(maxsize=2000)
def between(path: Path, old: str, new: str) -> tuple[str, ...]:
    """SHAs of the commits that `new` has and `old` lacks, oldest first; both are SHAs."""
    return tuple(listed(path, "--reverse", "--topo-order", new, f"^{old}"))


@dataclass(frozen=True)
class Signed:
    """Who and when; `date` as ISO 8601."""

    name: str
    email: str
    date: str


@dataclass(frozen=True)
class Commit:
    """What a commit says."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Signed
    committer: Signed
    message: str


@lru_cache(maxsize=2000)
def commit(path: Path, sha: str) -> Commit:
    """Read one commit; it never changes, so it is read once."""
    parts = git(path, "log", "-1", f"--format={_FORMAT}", sha, "--").split("\n", 9)
    who = [Signed(*parts[at : at + 3]) for at in (3, 6)]
    message = parts[9].rstrip("\n")
    return Commit(parts[0], parts[1], tuple(parts[2].split()), who[0], who[1], message)


def commit_files(
    path: Path, parent: str, files: Mapping[str, bytes | None], message: str, who: str
) -> str:
    """A commit on top of `parent` that changes files (None removes one); moves no ref."""
    index = {"GIT_INDEX_FILE": str(path / f"index-{os.getpid()}-{parent[:8]}")}
    git(path, "read-tree", parent, env=index)
    for name, content in files.items():
        if content is None:
            git(path, "update-index", "--force-remove", "--", name, env=index)
            continue
        blob = git(path, "hash-object", "-w", "--stdin", stdin=content).strip()
        entry = f"100644,{blob},{name}"
        git(path, "update-index", "--add", "--cacheinfo", entry, env=index)
    tree = git(path, "write-tree", env=index).strip()
    Path(index["GIT_INDEX_FILE"]).unlink()
    return commit_tree(path, tree, (parent,), message, who)


def commit_tree(path: Path, tree: str, parents: tuple[str, ...], message: str, who: str) -> str:
    """A commit object; returns its SHA."""
    identity = {}
    for role in ("AUTHOR", "COMMITTER"):
        identity[f"GIT_{role}_NAME"] = who
        identity[f"GIT_{role}_EMAIL"] = f"{who}@example.com"
    flags = [flag for parent in parents for flag in ("-p", parent)]
    made = git(path, "commit-tree", tree, *flags, "-F", "-", stdin=message.encode(), env=identity)
    return made.strip()


def update_ref(path: Path, ref: str, sha: str, old: str = "") -> None:
    """Create or move a ref, checked against `old` if given. Raises BareError."""
    git(path, "update-ref", ref, sha, *((old,) if old else ()))


def delete_ref(path: Path, ref: str) -> None:
    """Remove a ref."""
    git(path, "update-ref", "-d", ref)
