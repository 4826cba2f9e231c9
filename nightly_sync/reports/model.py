"""The facts a report is made of, and the small questions every report asks of them."""

from collections.abc import Iterable
from typing import Literal

from nightly_sync.agent.facts import AgentFacts
from nightly_sync.audits.model import Finding, Severity
from nightly_sync.config import Category
from nightly_sync.diffs import FileDiff, LineStats
from nightly_sync.merge.model import MergePlan, PathPlan, Status, Take
from nightly_sync.model import Model, PathName, Text
from nightly_sync.record import Outcome


class ToolRun(Model):
    """A formatter or linter, and how it went. `files`: those it changed or complained about."""

    kind: Literal["formatter", "linter"]
    name: Text
    ok: bool
    message: Text = ""
    files: tuple[PathName, ...] = ()


class CheckResult(Model):
    """A check that did not pass: where to read on, and the lines that say why."""

    name: Text
    conclusion: Text = ""
    url: Text = ""
    evidence: Text = ""
    baseline: Text = ""  # where the same check is seen on the untouched target


class Exemption(Model):
    """A check that did not count, and the pattern of the configuration that says so."""

    name: Text
    pattern: Text


class ChecksFacts(Model):
    """What the gate saw on the head commit."""

    passed: tuple[Text, ...] = ()
    failed: tuple[CheckResult, ...] = ()
    pre_existing: tuple[CheckResult, ...] = ()  # they fail on the untouched target too
    waiting: tuple[Text, ...] = ()  # expected or started, not finished
    exempt: tuple[Exemption, ...] = ()
    notes: tuple[Text, ...] = ()  # what was run again, repaired or seen on the way


class ReportFacts(Model):
    """Everything the reports show of one run. What is not known yet stays empty."""

    repository: Text
    source: Text  # branch names
    target: Text
    focus: tuple[str, ...] = ()  # gitignore patterns
    categories: tuple[Category, ...] = ()
    plan: MergePlan
    commits_behind: int = 0
    divergence: Text = ""  # one sentence
    warnings: tuple[Text, ...] = ()  # of the divergence: a squash-merged sync, for example
    findings: tuple[Finding, ...] = ()
    stats: LineStats | None = None
    diffs: tuple[FileDiff, ...] = ()
    diffs_are_final: bool = False  # against the final tree: fix commits lie on top of the merge
    merge_commit: str = ""
    head: str = ""
    sync_branch: Text = ""
    pull_request: Text = ""  # URL, or the record's path
    tools: tuple[ToolRun, ...] = ()
    fixes: tuple[Text, ...] = ()  # what the fix commit repairs, also those of an earlier run
    checks: ChecksFacts | None = None
    agent: AgentFacts = AgentFacts()
    outcome: Outcome | None = None  # None: a preview
    reason: Text = ""  # one sentence

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that keep the pull request a draft."""
        return tuple(item for item in self.findings if item.severity is Severity.ERROR)

    @property
    def audit_warnings(self) -> tuple[Finding, ...]:
        """Findings that someone should look at."""
        return tuple(item for item in self.findings if item.severity is Severity.WARNING)

    @property
    def failed_tools(self) -> tuple[ToolRun, ...]:
        """Formatters and linters that failed or are missing."""
        return tuple(item for item in self.tools if not item.ok)


class WholeFiles(Model):
    """Paths that were decided as a whole, not hunk by hunk."""

    from_source: tuple[PathName, ...]
    from_target: tuple[PathName, ...]
    restored: tuple[PathName, ...]  # one side had deleted them
    kept_deleted: tuple[PathName, ...]
    not_taken_in: tuple[PathName, ...]  # only one side ever had them; a rule keeps them out


def whole_files(plan: MergePlan) -> WholeFiles:
    """Sort the paths of a plan that a rule took, kept, restored or removed as a whole."""
    decided = [item for item in plan.paths if not item.hunks and item.take is not None]
    restored = _names(item for item in decided if _restored(item))
    gone = [item for item in decided if item.take is Take.DELETE]
    return WholeFiles(
        from_source=_names(_taken(decided, Take.SOURCE)),
        from_target=_names(_taken(decided, Take.TARGET)),
        restored=restored,
        kept_deleted=_names(item for item in gone if item.base is not None),
        not_taken_in=_names(item for item in gone if item.base is None),
    )


def _names(items: Iterable[PathPlan]) -> tuple[str, ...]:
    return tuple(item.path for item in items)


def _taken(items: Iterable[PathPlan], side: Take) -> Iterable[PathPlan]:
    return (item for item in items if item.take is side and not _restored(item))


def _restored(item: PathPlan) -> bool:
    deleted_once = item.base is not None and (item.source is None) != (item.target is None)
    return deleted_once and item.resolved is not None


def decisions(item: PathPlan) -> tuple[tuple[str, Status], ...]:
    """`(rule, status)` of each hunk, or of the path where it was decided as a whole."""
    if item.hunks:
        return tuple((hunk.rule, hunk.status) for hunk in item.hunks)
    return ((item.rule, item.status),)


def kind_of(item: PathPlan) -> str:
    """The kinds of conflict of a path in one word or two."""
    return " + ".join(item.kinds) or "no conflict"


def plural(number: int, word: str) -> str:
    """`1 file`, `2 files`, `2 patches`."""
    ending = "es" if word.endswith("ch") else "s"
    return f"{number} {word}" if number == 1 else f"{number} {word}{ending}"
