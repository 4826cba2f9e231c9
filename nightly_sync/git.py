"""The only module that starts git, through GitPython's `Git`, which `Repo.git` is too.

Small free functions over the path of a repository. Bytes in, bytes out; names as in `paths.py`.
Hooks, file-system monitors and the user's own git settings have no part in what runs here, and a
timeout kills the whole process group, so that no git survives the run that started it.
"""

import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from git import Git
from git.exc import GitCommandNotFound

from nightly_sync import paths
from nightly_sync.conflicts import Entry
from nightly_sync.errors import StopForPerson, SyncError, Unreachable

MINIMUM = (2, 38)  # first with `merge-tree --write-tree`
DEFAULT_TIMEOUT = 600.0  # seconds
ASK_TIMEOUT = 120.0  # seconds, for a question to the remote that carries no history
READER_TIMEOUT = 60.0  # seconds, where only the beginning is wanted
PINNED = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.autocrlf=false",
    "core.attributesFile=/dev/null",  # a driver named there would decide the merge
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "merge.conflictStyle=zdiff3",
    "merge.directoryRenames=conflict",
    "merge.renames=true",
    "merge.renormalize=false",
    "diff.renames=true",
    "diff.algorithm=histogram",
    "advice.submoduleMergeConflict=false",  # git 2.39 prints it into merge-tree's -z output
    "protocol.ext.allow=never",
    "safe.bareRepository=all",  # ours are bare, and never inside a worktree
)
VARIABLES = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_ATTR_NOSYSTEM": "1"}
NULL_OID = "0" * 40
OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
OBJECT_FORMAT = "sha1"  # the only one that is supported so far
INSTALL_HINT = "install git 2.38 or newer (on Debian: apt-get install git)"


class GitError(SyncError):
    """git said no; the message holds what was asked and git's own words."""

    def __init__(self, args: tuple[str, ...], code: int, stderr: str):
        self.code = code
        self.stderr = stderr.strip()
        super().__init__(f"git {_short(args)} failed ({code}): {self.stderr or 'no message'}")


class GitUnreachable(GitError, Unreachable):
    """The remote could not be reached, or did not answer to the end."""


class GitRefused(SyncError):
    """The remote refuses, in words that it explains; asking again changes nothing."""


class GitTimeout(SyncError):
    """git took longer than allowed and was killed with all its children."""


class GitUnanswered(GitTimeout, Unreachable):
    """The same while it talked to the remote, which may be quicker another time."""


@dataclass(frozen=True)
class Result:
    """What a git command returned."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Standard output as text, undecodable bytes kept, the last newline dropped."""
        return paths.from_bytes(self.out).removesuffix("\n")


def _short(args: Iterable[str]) -> str:
    words = " ".join(args)
    return words if len(words) < 200 else f"{words[:200]}..."


def is_repository(folder: Path) -> bool:
    """Is this the top of a clone, or a bare repository? Looks at files only."""
    try:
        bare = (folder / "HEAD").is_file() and (folder / "objects").is_dir()
        return bare or (folder / ".git").exists()
    except OSError:  # a folder that may not be looked into
        return False


def repository_at(folder: Path) -> Path:
    """The top, as an absolute path, of the repository that `folder` lies in. Raises SyncError."""
    start = folder.resolve()
    found = next((top for top in (start, *start.parents) if is_repository(top)), None)
    if found is None:
        raise _no_repository(start)
    return found


def _no_repository(folder: Path) -> SyncError:
    return SyncError(f"{paths.printable(str(folder))} is not a git repository")


def _scrubbed(command: list[str], keep: Mapping[str, str]) -> list[str]:
    """Drop the caller's GIT_* variables, which would point git at another repository."""
    foreign = [name for name in os.environ if name.startswith("GIT_") and name not in keep]
    allowed = {"GIT_SSH_COMMAND", "GIT_SSH", "GIT_SSL_CAINFO", "GIT_ASKPASS", "GIT_EXEC_PATH"}
    unset = [word for name in foreign if name not in allowed for word in ("-u", name)]
    return ["env", *unset, *command] if unset else command


def run(
    repo: Path,
    *args: str,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    ok: Iterable[int] = (0,),
    timeout: float = DEFAULT_TIMEOUT,
    cwd: Path | None = None,
) -> Result:
    """Run `git ARGS` for the repository at `repo`.

    `ok` lists the exit codes that are answers; any other raises GitError. After `timeout`
    seconds, or on any exception here (a cancelled run), the process group is killed.
    """
    # Not left to git, which would go on to look in the folders above.
    if not is_repository(repo):
        raise _no_repository(repo)
    result = _executed(cwd or repo, args, stdin, env or {}, timeout)
    foreign = _FOREIGN_OWNER.search(result.err)
    if foreign:
        raise SyncError(_dubious(foreign[1]))
    if result.code not in tuple(ok):
        raise GitError(args, result.code, result.err)
    return result


_FOREIGN_OWNER = re.compile(r"detected dubious ownership in repository at '(.*)'")


def _dubious(repo: str) -> str:
    return (
        f"git found dubious ownership in {repo}: it belongs to another user; if you trust it, run "
        f"git config --global --add safe.directory {repo}"
    )


def _executed(
    folder: Path,
    args: tuple[str, ...],
    stdin: bytes | None,
    env: Mapping[str, str],
    timeout: float,
) -> Result:
    """Run git in a folder, whatever it answers."""
    with _running(folder, args, env) as process:
        try:
            out, err = process.communicate(stdin, timeout)
        except subprocess.TimeoutExpired as error:
            raise _took_too_long(args, timeout) from error
    return Result(process.returncode, out, err.decode("utf-8", "replace"))


@contextmanager
def _running(
    folder: Path, args: tuple[str, ...], env: Mapping[str, str]
) -> Iterator["subprocess.Popen[bytes]"]:
    """git in a folder, killed if it still runs. Not through `Repo`: that reads GIT_* itself."""
    pinned = [word for setting in PINNED for word in ("-c", setting)]
    variables = {**VARIABLES, **env}
    command = _scrubbed(["git", "-C", str(folder.absolute()), *pinned, *args], variables)
    process: Any = Git("/").execute(
        command,
        istream=subprocess.PIPE,
        as_process=True,
        env=variables,
        start_new_session=True,
    )
    try:
        yield process.proc
    finally:
        if process.proc.poll() is None:
            os.killpg(process.proc.pid, signal.SIGKILL)
            process.proc.wait()


def _took_too_long(args: tuple[str, ...], timeout: float) -> GitTimeout:
    return GitTimeout(f"git {_short(args)} took over {timeout:g} s and was stopped")


def check_version() -> tuple[int, ...]:
    """The installed git's version; raises SyncError, with what to install, if missing or old."""
    try:
        text = str(Git().version())
    except GitCommandNotFound as error:
        raise SyncError(f"git was not found: {INSTALL_HINT}") from error
    numbers = tuple(int(part) for part in re.findall(r"\d+", text)[:3])
    if numbers < MINIMUM:
        raise SyncError(f"this git is too old ({text}): {INSTALL_HINT}")
    return numbers


def objects_of(repo: Path) -> Path:
    """The folder of the repository's object store."""
    return Path(run(repo, "rev-parse", "--path-format=absolute", "--git-path", "objects").text)


def init_bare(repo: Path) -> None:
    """Create an empty bare repository, without the template's hooks.

    On one that is there already it only adds what is missing. Raises GitError.
    """
    repo.mkdir(parents=True, exist_ok=True)
    shape = ("--template=", "--initial-branch=main", f"--object-format={OBJECT_FORMAT}")
    args = ("init", "--bare", "--quiet", *shape, str(repo.absolute()))
    result = _executed(repo, args, None, {}, DEFAULT_TIMEOUT)
    if result.code:
        raise GitError(args, result.code, result.err)


def object_format(repo: Path) -> str:
    """How the repository names its objects: `sha1` or `sha256`."""
    return run(repo, "rev-parse", "--show-object-format").text


def is_partial(repo: Path) -> bool:
    """Is it a partial clone, which leaves objects with its remote until they are asked for?"""
    args = ("config", "--get-regexp", r"^remote\..*\.(promisor|partialclonefilter)$")
    return run(repo, *args, ok=(0, 1)).code == 0


# Refs and commits


def commit_of(repo: Path, name: str) -> str | None:
    """The SHA of the commit that `name` stands for, or None if there is no such commit."""
    result = run(
        repo,
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        f"{name}^{{commit}}",
        ok=(0, 1, 128),
    )
    return result.text if result.code == 0 and OID.fullmatch(result.text) else None


def tree_of(repo: Path, commit: str) -> str:
    """The tree of a commit."""
    return run(repo, "rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}").text


def merge_bases(repo: Path, left: str, right: str) -> tuple[str, ...]:
    """All best common ancestors; empty for unrelated histories."""
    return tuple(run(repo, "merge-base", "--all", left, right, ok=(0, 1)).text.split())


def is_ancestor(repo: Path, ancestor: str, commit: str) -> bool:
    """Is `ancestor` reachable from `commit`?"""
    return run(repo, "merge-base", "--is-ancestor", ancestor, commit, ok=(0, 1)).code == 0


def count(repo: Path, commits: str) -> int:
    """How many commits a range holds, e.g. `dev..main`."""
    return int(run(repo, "rev-list", "--count", "--end-of-options", commits).text)


def is_shallow(repo: Path) -> bool:
    """Is history cut off?"""
    return run(repo, "rev-parse", "--is-shallow-repository").text == "true"


def refs(repo: Path, prefix: str) -> dict[str, str]:
    """Full ref name to SHA, for every ref below `prefix` (a whole name or a folder)."""
    listing = run(repo, "for-each-ref", "--format=%(objectname) %(refname)", prefix).text
    pairs = (line.split(" ", 1) for line in listing.splitlines())
    return {name: sha for sha, name in pairs}


# Remotes


@dataclass(frozen=True)
class Access:
    """What makes a remote let a git command in."""

    config: tuple[str, ...] = ()  # arguments before the command
    env: Mapping[str, str] = field(default_factory=dict, repr=False)  # may hold a token


def _unknown(_text: str, _branch: str) -> str:
    return ""


@dataclass(frozen=True)
class Remote:
    """A repository to fetch from and push to.

    `access` is asked anew before each command, as tokens end. `explain` turns what git printed
    about a refusal, of the push of a branch or ("") of anything else, into a sentence; "" if it
    does not know the words.
    """

    url: str  # path or URL, as git takes it
    access: Callable[[], Access] = Access
    explain: Callable[[str, str], str] = _unknown


_OUTAGE = re.compile(
    r"Could not resolve host|Failed to connect|Couldn't connect|Connection (?:refused|reset|timed)"
    r"|Operation timed out|requested URL returned error: 5\d\d|unexpected disconnect|early EOF"
    r"|the remote end hung up|RPC failed|Empty reply from server|Recv failure|Network is unreach"
    r"|Internal Server Error|Service Unavailable|transfer closed|requested URL returned error: 429"
    r"|SSL_ERROR_SYSCALL|GnuTLS recv error|gnutls_handshake\(\) failed|SSL connection timeout"
    r"|HTTP/2 stream \d+ was not closed cleanly|Send failure: Broken pipe"
    # Whatever else git's HTTP says, unless the server has answered no. (A file has no scheme.)
    r"|^fatal: unable to access '\w+://(?!.*requested URL returned error: 40[134]\b)",
    re.IGNORECASE | re.MULTILINE,
)


def _talk(
    repo: Path,
    remote: Remote,
    *args: str,
    timeout: float = DEFAULT_TIMEOUT,
    ok: Callable[[Result], bool] = lambda result: result.code == 0,
) -> Result:
    """Run a command that talks to the remote.

    Raises GitUnreachable or GitUnanswered where trying later may help, GitRefused where
    the remote explains why it never will.
    """
    result = _answer(repo, remote.access(), args, timeout)
    if ok(result):
        return result
    known = remote.explain(result.err, "")
    if known:
        raise GitRefused(f"{known} {_words(result)}".strip())
    kind = GitUnreachable if _OUTAGE.search(f"{result.err}\n{result.text}") else GitError
    raise kind(args, result.code, result.err)


def _answer(repo: Path, access: Access, args: tuple[str, ...], timeout: float) -> Result:
    try:
        return run(repo, *access.config, *args, env=access.env, ok=range(256), timeout=timeout)
    except GitTimeout as error:
        raise GitUnanswered(str(error)) from error


def _words(result: Result) -> str:
    """What the remote printed for a person, and its reasons for rejecting a push."""
    said = re.findall(r"^remote: *(.*\S)", result.err, re.MULTILINE)
    reasons = re.findall(r"\[remote rejected\] \((.*)\)", result.text)
    words = " ".join([*said, *(f"({reason})" for reason in reasons)])
    return f"Its words: {words}" if words else ""


def fetch(repo: Path, remote: Remote, refspec: str, timeout: float) -> None:
    """Bring the refs that the refspec names up to the remote's; no tags, no FETCH_HEAD."""
    options = ("--prune", "--no-tags", "--no-write-fetch-head", "--quiet", "--no-auto-gc")
    args = ("fetch", *options, "--end-of-options", remote.url, refspec)
    _talk(repo, remote, *args, timeout=timeout)


def remote_branches(repo: Path, remote: Remote, timeout: float = ASK_TIMEOUT) -> dict[str, str]:
    """Branch name to SHA as the remote has them now."""
    args = ("ls-remote", "--heads", "--end-of-options", remote.url)
    listing = _talk(repo, remote, *args, timeout=timeout).text
    pairs = (line.split("\t", 1) for line in listing.splitlines())
    return {name.removeprefix("refs/heads/"): sha for sha, name in pairs}


@dataclass(frozen=True)
class Commit:
    """One commit's header and message."""

    sha: str
    parents: tuple[str, ...]
    tree: str
    committer: str
    email: str  # the committer's
    date: str  # ISO 8601, committer date
    subject: str
    body: str


_FORMAT = "%H%x00%P%x00%T%x00%cn%x00%ce%x00%cI%x00%s%x00%b%x00%x00"


def log(repo: Path, *revisions: str, options: tuple[str, ...] = ()) -> tuple[Commit, ...]:
    """Commits, newest first, e.g. `log(repo, "dev..main", options=("--first-parent",))`."""
    result = run(repo, "log", f"--format={_FORMAT}", *options, "--end-of-options", *revisions)
    records = result.text.split("\0\0\n")
    return tuple(_commit(record.removesuffix("\0\0")) for record in records if record)


def _commit(record: str) -> Commit:
    sha, parents, tree, committer, email, date, subject, body = record.split("\0", 7)
    return Commit(sha, tuple(parents.split()), tree, committer, email, date, subject, body)


def touched(repo: Path, commits: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """`(sha, subject, paths)` for each commit of a range that is no merge, in one pass."""
    args = ("log", "--no-merges", "-z", "--name-only", "--no-renames", "--format=%x01%H%x02%s%x03")
    result = run(repo, *args, "--end-of-options", commits)
    return [_touched(chunk) for chunk in result.text.split("\x01") if chunk]


def _touched(chunk: str) -> tuple[str, str, tuple[str, ...]]:
    header, _, names = chunk.partition("\x03")
    sha, _, subject = header.partition("\x02")
    return sha, subject, tuple(name for name in names.strip("\0\n").split("\0") if name)


def patches(
    repo: Path, commits: str, only: Iterable[str] = (), options: tuple[str, ...] = ()
) -> bytes:
    """`git log -p -U0` of a range without its merges, newest first, in one pass.

    Each commit starts with `NUL SHA NUL SUBJECT NUL`; `only` limits it to paths, taken literally.
    """
    shape = ("-p", "-U0", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv")
    plain = ("--src-prefix=a/", "--dst-prefix=b/", "--no-show-signature", "--no-follow")
    head = ("--no-merges", "--format=%x00%H%x00%s%x00")
    args = ("--literal-pathspecs", "log", *head, *shape, *plain, *options)
    return run(repo, *args, "--end-of-options", commits, "--", *only).out


# Trees and blobs


def tree_entries(repo: Path, tree: str, *below: str) -> dict[str, Entry]:
    """Path to entry for every file, symlink and submodule of a tree (or commit)."""
    result = run(repo, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", tree, *below)
    return dict(_entry(line) for line in result.out.split(b"\0") if line)


def _entry(line: bytes) -> tuple[str, Entry]:
    head, _, name = line.partition(b"\t")
    mode, _, oid = head.decode().split()
    return paths.from_bytes(name), Entry(mode=mode, oid=oid)


@dataclass(frozen=True)
class Change:
    """One path that differs between two trees; None where a side lacks it."""

    path: str
    old: Entry | None
    new: Entry | None


def changes(repo: Path, old: str, new: str) -> tuple[Change, ...]:
    """Paths that differ between two trees, by content id; renames show as delete and add."""
    result = run(repo, "diff-tree", "-r", "-z", "--no-renames", "--end-of-options", old, new)
    fields = [field for field in result.out.split(b"\0") if field]
    pairs = zip(fields[::2], fields[1::2], strict=True)
    return tuple(_change(head.decode(), paths.from_bytes(name)) for head, name in pairs)


def _change(head: str, name: str) -> Change:
    old_mode, new_mode, old_oid, new_oid, _ = head.removeprefix(":").split()
    old = None if set(old_oid) == {"0"} else Entry(mode=old_mode, oid=old_oid)
    new = None if set(new_oid) == {"0"} else Entry(mode=new_mode, oid=new_oid)
    return Change(name, old, new)


def renames(repo: Path, old: str, new: str) -> dict[str, str]:
    """Old name to new name of every file git takes for renamed between two trees."""
    args = ("diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status")
    result = run(repo, *args, "--end-of-options", old, new)
    fields = [paths.from_bytes(field) for field in result.out.split(b"\0")[:-1]]
    return dict(zip(fields[1::3], fields[2::3], strict=True))


def read_blobs(repo: Path, oids: Iterable[str]) -> dict[str, bytes]:
    """Content of many blobs, by one `cat-file --batch`; raises GitError if one is missing."""
    wanted = sorted(set(oids))
    if not wanted:
        return {}
    result = run(repo, "cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in wanted).encode())
    return dict(_blobs(result.out))


def _blobs(out: bytes) -> Iterator[tuple[str, bytes]]:
    position = 0
    while position < len(out):
        end = out.index(b"\n", position)
        oid, kind, *size = out[position:end].decode().split()
        if not size:
            raise GitError(("cat-file", oid), 128, f"object {oid} is {kind}")
        start, position = end + 1, end + 2 + int(size[0])
        yield oid, out[start : position - 1]


def read_file(repo: Path, commit: str, path: str) -> bytes | None:
    """A file's content at a commit, or None if it is not there."""
    entry = tree_entries(repo, commit, path).get(path)
    return read_blobs(repo, [entry.oid])[entry.oid] if entry else None


def write_blobs(repo: Path, contents: list[bytes]) -> list[str]:
    """Store many contents by one `hash-object`, as they are; their ids, in order."""
    if not contents:
        return []
    with TemporaryDirectory(prefix="nightly-sync-blobs-") as folder:
        files = [Path(folder) / str(number) for number in range(len(contents))]
        for file, content in zip(files, contents, strict=True):
            file.write_bytes(content)
        names = "".join(f"{file}\n" for file in files).encode()
        args = ("hash-object", "-w", "-t", "blob", "--no-filters", "--stdin-paths")
        return run(repo, *args, stdin=names).text.split()


def edit_tree(repo: Path, tree: str, edits: Mapping[str, Entry | None], scratch: Path) -> str:
    """A tree like `tree` with entries set, or removed where None; uses an index in `scratch`."""
    if not edits:
        return tree
    env = {"GIT_INDEX_FILE": str(scratch / "index")}
    lines = (_index_line(name, entry) for name, entry in sorted(edits.items(), key=_removals_first))
    run(repo, "read-tree", tree, env=env)
    run(repo, "update-index", "-z", "--index-info", stdin=b"".join(lines), env=env)
    return run(repo, "write-tree", env=env).text


def _removals_first(item: tuple[str, Entry | None]) -> tuple[bool, str]:
    return item[1] is not None, item[0]


def _index_line(name: str, entry: Entry | None) -> bytes:
    mode, oid = (entry.mode, entry.oid) if entry else ("0", NULL_OID)
    return f"{mode} {oid}\t".encode() + paths.to_bytes(name) + b"\0"


def grep_files(repo: Path, tree: str, pattern: str, globs: Iterable[str]) -> list[str]:
    """Text files of a tree, limited by `globs`, with a line that matches an extended regex."""
    args = ("grep", "-l", "-z", "-E", "-I", "--full-name", "-e", pattern)
    result = run(repo, *args, tree, "--", *globs, ok=(0, 1))
    names = (paths.from_bytes(name) for name in result.out.split(b"\0") if name)
    return [name.removeprefix(f"{tree}:") for name in names]


# History as text, for a reader

GREP_PER_FILE = 30  # matching lines of one file
_READER = ("--no-color", "--no-ext-diff", "--no-textconv")
_HEADER = "--format=commit %H%nparents %P%nauthor %an, %as%n%n%B"


def log_text(repo: Path, commit: str, count: int, only: Iterable[str], limit: int) -> bytes:
    """A line for each of the `count` newest commits, at most `limit` bytes.

    Here and below commits are SHAs, and `only` are paths, taken literally.
    """
    options = (f"--max-count={count}", "--format=%h %as %an: %s", "--no-show-signature", *_READER)
    return _beginning(repo, "log", *options, commit, "--", *only, limit=limit)


def show_text(repo: Path, commit: str, only: Iterable[str], limit: int) -> bytes:
    """A commit's message and patch; of a merge what differs from both sides."""
    options = (_HEADER, "--no-show-signature", *_READER)
    return _beginning(repo, "show", *options, commit, "--", *only, limit=limit)


def diff_text(repo: Path, old: str, new: str, only: Iterable[str], limit: int) -> bytes:
    """The difference between two commits: first how much in which file, then the patch."""
    return _beginning(
        repo, "diff", "--patch-with-stat", *_READER, old, new, "--", *only, limit=limit
    )


def blame_text(repo: Path, commit: str, path: str, first: int, last: int, limit: int) -> bytes:
    """Who wrote these lines of a file, and in which commit. Raises GitError where it has fewer."""
    options = ("-L", f"{first},{last}", "--date=short", "--no-progress", "--no-textconv")
    return _beginning(repo, "blame", *options, commit, "--", path, limit=limit)


def grep_text(repo: Path, commit: str, text: str, only: Iterable[str], limit: int) -> bytes:
    """Lines of a commit's text files that hold `text`, one line of it, at most `limit` bytes.

    Each is `COMMIT:PATH NUL NUMBER NUL LINE`; of one file no more than `GREP_PER_FILE`.
    """
    shape = ("--no-color", "-n", "-z", "--full-name", f"--max-count={GREP_PER_FILE}")
    args = ("grep", *shape, "-I", "-F", "--no-textconv", "-e", text, commit, "--", *only)
    return _beginning(repo, *args, limit=limit, ok=(0, 1))


def writers(
    repo: Path, commits: str, path: str, spans: Iterable[tuple[int, int]]
) -> frozenset[str]:
    """Commits that wrote these lines (first and last, from 1) of a file at the end of a range.

    Lines older than the range are said to be of its start. Empty where there is no such file.
    """
    lines = [word for first, last in spans for word in ("-L", f"{first},{last}")]
    if not lines:
        return frozenset()
    options = ("--porcelain", "--no-progress", "--no-textconv", *lines)
    args = ("--literal-pathspecs", "blame", *options, commits, "--", path)
    out = run(repo, *args, ok=(0, 128), timeout=READER_TIMEOUT).text
    return frozenset(_BLAMED.findall(out))


_BLAMED = re.compile(r"^([0-9a-f]{40}) \d+ \d+", re.MULTILINE)


def _beginning(repo: Path, *args: str, limit: int, ok: Iterable[int] = (0,)) -> bytes:
    """The first `limit` bytes of what a git command prints; the rest is not waited for."""
    if not is_repository(repo):
        raise _no_repository(repo)
    words = ("--literal-pathspecs", *args)
    with _running(repo, words, {}) as process:
        try:
            out = _read(process, limit, time.monotonic() + READER_TIMEOUT)
            err = b"" if len(out) == limit else process.communicate(None, READER_TIMEOUT)[1]
        except (TimeoutError, subprocess.TimeoutExpired) as error:
            raise _took_too_long(args, READER_TIMEOUT) from error
    if len(out) < limit and process.returncode not in tuple(ok):
        raise GitError(args, process.returncode, err.decode("utf-8", "replace"))
    return out


def _read(process: "subprocess.Popen[bytes]", limit: int, deadline: float) -> bytes:
    """Up to `limit` bytes of its output. Raises TimeoutError."""
    assert process.stdout is not None
    pipe, out = process.stdout.fileno(), bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while len(out) < limit:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise TimeoutError
            chunk = os.read(pipe, limit - len(out))
            if not chunk:
                break
            out += chunk
    return bytes(out)


# Checkouts without a worktree's bookkeeping


def _outside(repo: Path, folder: Path, index: Path) -> dict[str, str]:
    """Variables for a worktree in `folder` whose index lies elsewhere; no filter of the user's."""
    git_dir = run(repo, "rev-parse", "--absolute-git-dir").text
    return {
        "GIT_DIR": git_dir,
        "GIT_WORK_TREE": str(folder),
        "GIT_INDEX_FILE": str(index),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def checkout_tree(repo: Path, tree: str, folder: Path, index: Path) -> None:
    """Write every file of a tree into an empty folder."""
    env = _outside(repo, folder, index)
    run(repo, "read-tree", tree, env=env, cwd=folder)
    run(repo, "checkout-index", "--all", "--force", env=env, cwd=folder)


def add_files(repo: Path, folder: Path, index: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Take these files, as they are now, into the index; returns those that changed.

    A file that is new becomes part of it, one that is gone leaves it.
    """
    env = _outside(repo, folder, index)
    before = run(repo, "write-tree", env=env, cwd=folder).text
    listed = b"".join(paths.to_bytes(name) + b"\0" for name in names)
    args = ("update-index", "--add", "--remove", "-z", "--stdin")
    run(repo, *args, stdin=listed, env=env, cwd=folder)
    after = run(repo, "write-tree", env=env, cwd=folder).text
    return tuple(item.path for item in changes(repo, before, after))


def write_index(repo: Path, folder: Path, index: Path) -> str:
    """The tree that the index of such a checkout stands for."""
    return run(repo, "write-tree", env=_outside(repo, folder, index), cwd=folder).text


# Worktrees


def add_worktree(repo: Path, folder: Path, commit: str, timeout: float = DEFAULT_TIMEOUT) -> None:
    """Check a commit out, on no branch, into a folder that does not exist yet."""
    args = ("worktree", "add", "--quiet", "--force", "--detach", "--", str(folder), commit)
    run(repo, *args, timeout=timeout)


def prune_worktrees(repo: Path) -> None:
    """Forget the worktrees whose folders are gone."""
    run(repo, "worktree", "prune")


# Commits and pushes


@dataclass(frozen=True)
class Signature:
    """Author and committer of a commit to be made; `date` in any form git reads."""

    name: str
    email: str
    date: str | None = None

    def env(self) -> dict[str, str]:
        """The variables that make git use this identity."""
        values = {"NAME": self.name, "EMAIL": self.email, "DATE": self.date}
        return {
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in values.items()
            if value
        }


def commit_tree(repo: Path, tree: str, parents: Iterable[str], message: str, who: Signature) -> str:
    """Make a commit from a tree; touches no ref, index or worktree."""
    parent_args = [word for parent in parents for word in ("-p", parent)]
    text = message.encode("utf-8", "surrogateescape")
    return run(repo, "commit-tree", tree, *parent_args, "-F", "-", stdin=text, env=who.env()).text


def fast_import(repo: Path, stream: bytes) -> None:
    """Make commits, and move branches, from a stream in `git fast-import`'s format."""
    run(repo, "fast-import", "--quiet", "--done", stdin=stream + b"done\n")


# The last two: between git's look and its push.
_MOVED = ("stale info", "fetch first", "but expected", "reference already exists")
_REJECTED = "[remote rejected]"


def push(
    repo: Path, remote: Remote, commit: str, branch: str, expected: str | None, timeout: float
) -> None:
    """Push one commit to one branch, only if the branch still is where we last saw it.

    `expected` is the SHA we last saw there; None means that the branch must not exist yet.
    Raises StopForPerson when someone else moved it or the remote refuses it, in its words;
    GitError for any other failure.
    """
    ref = f"refs/heads/{branch}"
    lease = f"--force-with-lease={ref}:{expected or ''}"
    args = ("push", "--porcelain", "--atomic", "--no-verify", lease, "--end-of-options")
    result = _talk(
        repo, remote, *args, remote.url, f"{commit}:{ref}", timeout=timeout, ok=_answered
    )
    if result.code == 0:
        return
    if _moved(result):
        if remote_branches(repo, remote).get(branch) == commit:
            return  # an earlier try arrived, and its answer did not
        raise StopForPerson(
            f"{branch} moved on {remote.url} since this run last saw it; nothing was pushed. "
            "Look at the new commits there, then run again."
        )
    raise StopForPerson(_refusal(branch, result, remote))


def _answered(result: Result) -> bool:
    """Did the remote take the push, or say why not? An outage of its own is no answer."""
    refused = _REJECTED in result.text and not _OUTAGE.search(result.text)
    return result.code == 0 or _moved(result) or refused


def _moved(result: Result) -> bool:
    return any(word in result.err + result.text for word in _MOVED)


def _refusal(branch: str, result: Result, remote: Remote) -> str:
    """A push that the remote rejects: in words it explains, or what it printed with git's reason.

    It printed the words for a person, so they stand beside the explanation.
    """
    known = remote.explain(f"{result.err}\n{result.text}", branch)
    if known:
        return f"{known} Nothing was changed there. {_words(result)}"
    return (
        f"origin refused the push of {branch}: {_words(result).removeprefix('Its words: ')}; "
        "nothing was changed there. Change what origin's words name, then run again"
    )


def delete_branch(
    repo: Path, remote: Remote, branch: str, expected: str, timeout: float = ASK_TIMEOUT
) -> None:
    """Delete a branch on the remote, only if it still is at `expected`."""
    ref = f"refs/heads/{branch}"
    lease = f"--force-with-lease={ref}:{expected}"
    args = ("push", "--porcelain", lease, "--end-of-options", remote.url, f":{ref}")
    _talk(repo, remote, *args, timeout=timeout)
