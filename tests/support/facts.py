"""Facts of made-up runs, for tests of reports."""

from functools import cache
from typing import Any

from nightly_sync.audits.model import Finding, FindingKind, Severity
from nightly_sync.config import DEFAULT_CATEGORIES
from nightly_sync.conflicts import Entry, Kind
from nightly_sync.diffs import FileDiff, FileLines, total
from nightly_sync.merge.model import HunkPlan, MergePlan, PathPlan, Status, Take, Touch
from nightly_sync.reports.model import ReportFacts

SOURCE, TARGET, BASE, TREE, MERGE = ("a" * 40, "b" * 40, "c" * 40, "d" * 40, "e" * 40)
FILE = Entry(mode="100644", oid="1" * 40)


def hunk(line: int = 1, status: Status = Status.PROPOSAL, **changes: Any) -> HunkPlan:
    """A hunk taken from the source by the fallback."""
    plain = HunkPlan(
        line=line,
        base_lines=1,
        target_lines=2,
        source_lines=3,
        take=Take.SOURCE,
        rule="fallback",
        evidence="no rule has evidence",
        status=status,
    )
    return plain.model_copy(update=changes)


def touch(number: int | None, subject: str = "Change the loader") -> Touch:
    """A commit, with its pull request's number in the subject."""
    tail = "" if number is None else f" (#{number})"
    sha = f"{number or 0:040x}"
    return Touch(sha=sha, subject=f"{subject}{tail}", pull_request=number)


def path(
    name: str,
    status: Status = Status.PROPOSAL,
    hunks: int | tuple[HunkPlan, ...] = 1,
    **changes: Any,
) -> PathPlan:
    """A conflicted file, with these hunks or that many."""
    places = range(1, 10 * hunks, 10) if isinstance(hunks, int) else ()
    plain = PathPlan(
        path=name,
        kinds=(Kind.CONTENTS,),
        base=FILE,
        target=FILE,
        source=FILE,
        rule="fallback",
        take=Take.SOURCE,
        evidence="what git merged stays",
        status=status,
        hunks=tuple(hunk(line, status) for line in places) if isinstance(hunks, int) else hunks,
        resolved=None if status is Status.UNRESOLVED else FILE,
    )
    return plain.model_copy(update=changes)


def whole(name: str, take: Take, **changes: Any) -> PathPlan:
    """A file that a path rule settled as a whole, where git merged cleanly."""
    plain = path(name, Status.SETTLED, 0, kinds=(), rule=f"take-{take}", take=take)
    return plain.model_copy(update=changes)


def finding(name: str, severity: Severity = Severity.WARNING, **changes: Any) -> Finding:
    """What an audit says about a file."""
    plain = Finding(
        severity=severity,
        kind=FindingKind.TARGET_DROPPED,
        path=name,
        line=7,
        evidence="2 lines of the target are gone",
    )
    return plain.model_copy(update=changes)


def patch(name: str, lines: int = 2) -> FileDiff:
    """A file's patch with that many added lines."""
    content = "".join(f"+line {number} of {name}\n" for number in range(lines))
    header = f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -0,0 +1,{lines} @@\n"
    return FileDiff(path=name, text=header + content, added=lines, deleted=0)


def facts(*paths: PathPlan, **changes: Any) -> ReportFacts:
    """A run over these paths."""
    stuck = any(item.status is Status.UNRESOLVED for item in paths)
    plan = MergePlan(
        source=SOURCE,
        target=TARGET,
        bases=(BASE,),
        auto_merge_tree=TREE,
        resolved_tree=None if stuck else TREE,
        paths=paths,
    )
    plain = ReportFacts(
        repository="/srv/repo.git",
        source="main",
        target="dev",
        focus=("/core/",),
        categories=DEFAULT_CATEGORIES,
        plan=plan,
        commits_behind=12,
        stats=total([FileLines(path="a.py", added=3, deleted=1)]),
        merge_commit=MERGE,
        head=MERGE,
    )
    return plain.model_copy(update=changes)


@cache
def large(files: int, patch_lines: int = 40) -> ReportFacts:
    """A night with many conflicted files, each with commits on both sides and a patch."""
    commits = tuple(touch(number) for number in range(1, 9))
    names = [f"{'core' if number % 3 else 'lib'}/module_{number}.py" for number in range(files)]
    items = [
        path(name, hunks=1 + number % 7, source_commits=commits, target_commits=commits)
        for number, name in enumerate(names)
    ]
    patches = tuple(patch(name, patch_lines + number % 150) for number, name in enumerate(names))
    return facts(*items, diffs=patches, findings=tuple(finding(name) for name in names[::2]))
