"""Repair an import of a module that the source has and the merged tree lacks: restore the file.

The failing import is the evidence that it is needed, whoever deleted it. What the restored file
imports is restored with it, so that one missing package costs one round of checks.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from nightly_sync import git, imports, tools
from nightly_sync.agent.files import Files
from nightly_sync.agent.guard import WriteGuard
from nightly_sync.checks.triage import FailureGroup
from nightly_sync.config import SyncConfig
from nightly_sync.conflicts import Entry, is_file
from nightly_sync.errors import SyncError
from nightly_sync.fixers.base import Change, GaveUp
from nightly_sync.merge import importers
from nightly_sync.paths import quote

NAMED = 3  # files in the summary
Tree = Mapping[str, Entry]


class RestoreFixer:
    """Puts back modules of the source (a SHA), unless a path rule says otherwise of the file."""

    def __init__(self, config: SyncConfig, repo: Path, source: str, target: str):
        self._config = config
        self._repo = repo
        self._source = source
        self._target = target

    def fix(self, failures: Sequence[FailureGroup], worktree: Path) -> Change | GaveUp:
        """Restore the modules that failing imports miss; give up if that is not the trouble."""
        missing = wanted(failures)
        if not missing:
            return GaveUp(reason="no import of a missing module failed")
        head, lacking = self._lacking(worktree)
        found = {name for item in missing for name in self._module(item, head, lacking)}
        allowed = {name for name in found if not self._ruled_out(name)}
        if not allowed:
            return GaveUp(reason=self._why_none(missing, found))
        every = self._with_imports(tools.checked_out(self._repo, worktree), allowed, lacking)
        return self._restored(worktree, every)

    def _why_none(self, missing: Sequence[str], found: set[str]) -> str:
        if found:
            return f"a path rule keeps {quote(min(found))} from being restored"
        return f"{self._config.source} has no file to restore for {', '.join(missing)}"

    def _lacking(self, worktree: Path) -> tuple[Tree, Tree]:
        """The head's tree, and the source's Python files that are not in it."""
        head = git.tree_entries(self._repo, tools.checked_out(self._repo, worktree))
        theirs = git.tree_entries(self._repo, self._source)
        python = (name for name in theirs if name.endswith(".py") and name not in head)
        return head, {name: theirs[name] for name in python if is_file(theirs[name])}

    def _module(self, dotted: str, head: Tree, lacking: Tree) -> tuple[str, ...]:
        """The file that is this module on the source; none where it could be one of several.

        None either if the head has the module in another form.
        """
        files = imports.module_files(dotted)

        def exists(name: str) -> bool:
            return name in head or name in lacking

        found = {
            path: start
            for path in lacking
            if path.endswith(files)
            for start in imports.roots(path, exists)
            if path.removeprefix(start) in files
        }
        there = any(start + name in head for start in found.values() for name in files)
        return tuple(found) if len(found) == 1 and not there else ()

    def _ruled_out(self, name: str) -> bool:
        guard = WriteGuard(self._config)
        return bool(guard.forbidden(name)) or self._config.holds("delete-wins", name)

    def _with_imports(self, tree: str, found: set[str], lacking: Tree) -> list[str]:
        """The files, and those of the source that they import and the tree lacks."""
        every = set(found)
        while found:
            edits = {name: lacking[name] for name in every}
            with TemporaryDirectory(prefix="nightly-sync-restore-") as scratch:
                now = git.edit_tree(self._repo, tree, edits, Path(scratch))
            left = [name for name in lacking if name not in every]
            needed = importers.find(self._repo, now, left, self._target, among=every)
            found = {name for name in needed if not self._ruled_out(name)}
            every |= found
        return sorted(every)

    def _restored(self, worktree: Path, names: Sequence[str]) -> Change | GaveUp:
        entries = git.tree_entries(self._repo, self._source)
        texts = git.read_blobs(self._repo, [entries[name].oid for name in names])
        files, written = Files(worktree), list[str]()
        try:
            for name in names:
                files.create(name, texts[entries[name].oid], int(entries[name].mode[-3:], 8))
                written.append(name)
        except SyncError as error:
            for name in written:
                files.clear(name)
            return GaveUp(reason=f"what is missing cannot be restored: {error}")
        return Change(summary=self._summary(names), files=tuple(names))

    def _summary(self, names: Sequence[str]) -> str:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        listed = ", ".join(map(quote, names[:NAMED]))
        return f"restored from {self._config.source}, as imports need it: {listed}{more}"


def wanted(failures: Iterable[FailureGroup]) -> list[str]:
    """Dotted names of modules that may be missing: of `pkg:name` the name may be a module too."""
    roots = (root for item in failures for failure in item.failures for root in failure.roots)
    return sorted({root.replace(":", ".") for root in roots})
