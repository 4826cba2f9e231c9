"""Repair by Claude of what the audits found, before any check is asked.

Two kinds of findings are handed over: definitions that only the target had and the merge dropped,
which are put back as they were, and errors that code can see to be gone afterwards (undefined
names, double definitions, broken imports). One conversation a file, each on top of the one before;
the result is one repair, folded into the rolling fix commit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from nightly_sync import git, last_look, outage, repair
from nightly_sync.agent import briefing
from nightly_sync.agent import repair as editing
from nightly_sync.agent.briefing import Briefed
from nightly_sync.agent.checkout import Ground, Proposal
from nightly_sync.agent.data import Marker
from nightly_sync.agent.guard import WriteGuard, shown
from nightly_sync.agent.repair import Job, Mended
from nightly_sync.audits import all as audits
from nightly_sync.audits.facts import AuditFacts, gather
from nightly_sync.audits.model import Finding, FindingKind
from nightly_sync.errors import SyncError, Unreachable, one_line
from nightly_sync.forge.base import PullRequest
from nightly_sync.merge.model import MergePlan
from nightly_sync.repair import Head, Repaired
from nightly_sync.reports.model import ReportFacts, plural
from nightly_sync.review import harm
from nightly_sync.review.harm import Objection
from nightly_sync.review.lost import Lost, lost, restored_badly
from nightly_sync.session import Session

TASK = "audit"  # its name on the bill
ERRORS = (FindingKind.UNDEFINED, FindingKind.DUPLICATE, FindingKind.BROKEN_IMPORT)


def findings(run: Session, pull: PullRequest, head: Head, facts: ReportFacts) -> Head:
    """The sync branch with what could be repaired; the same head if that was nothing.

    What Claude was to do and did not is noted for the report. Raises StopForPerson where somebody
    moved the branch, closed the pull request or claimed it; nothing is overwritten then.
    """
    kinds = {item.kind for item in facts.findings}
    if not run.config.agent.enabled or kinds.isdisjoint((*ERRORS, FindingKind.TARGET_DROPPED)):
        return head
    assistant, wrong = run.assistant, _errors(facts.findings)
    if not assistant.usable:
        if wrong:
            assistant.leave(f"{plural(len(wrong), 'error')} that the audits found")
        return head
    work = _Repairs(run, head, facts)
    work.restore()
    work.repair()
    return _pushed(run, pull, head, work) if work.done else head


def _errors(found: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(item for item in harm.errors(found) if item.kind in ERRORS)


def _pushed(run: Session, pull: PullRequest, head: Head, work: "_Repairs") -> Head:
    """The fix commit on origin. An outage is waited out for a while: the work has cost money."""
    return outage.waited_out(run, head.tip, partial(_push, run, pull, head, work))


def _push(run: Session, pull: PullRequest, head: Head, work: "_Repairs") -> Head:
    """The new head; the old one if origin's own rules forbid the push."""
    last_look.check_open(run, pull)  # it may have taken its time
    *lines, last = work.done
    with_lines = replace(head, fixes=(*head.fixes, *lines))
    try:
        return repair.push(run, with_lines, Repaired(last, work.tree))
    except Unreachable:
        raise
    except SyncError as error:
        last_look.check_unmoved(run, head)  # raises: somebody was quicker
        why = one_line(error)
        run.assistant.leave(f"origin did not take the repair of what the audits found: {why}")
        return head


@dataclass(frozen=True)
class Wrong:
    """The errors of one file, and the files in which they may be put right."""

    path: str
    errors: tuple[Finding, ...]
    allowed: frozenset[str]


class _Repairs:
    """One repair after the other, each on the tree that the one before left."""

    def __init__(self, run: Session, head: Head, facts: ReportFacts):
        self._run = run
        self._plan: MergePlan = facts.plan
        repo = run.workspace.repository
        self._found: dict[str, tuple[Finding, ...]] = {}
        self._ground = Ground(
            config=run.config,
            repo=repo,
            tree=git.tree_of(repo, head.tip),
            base=facts.plan.base,
            source=facts.plan.source,
            target=facts.plan.target,
            merge=head.merge,
        )
        self.done: list[str] = []  # what was repaired, a line each

    @property
    def tree(self) -> str:
        """The tree with all repairs so far."""
        return self._ground.tree

    def restore(self) -> None:
        """Put back what only the target had."""
        facts = self._facts_of(self.tree)
        self._found[self.tree] = audits.run_all(facts)
        for item in lost(facts):
            if not self._closed(item.path):
                told = f"{', '.join(item.names)} in {shown(item.path)}, which the merge dropped"
                self._mend(_restoring(item, self), told)

    def repair(self) -> None:
        """Repair the errors, file by file; what another repair took along is not asked about."""
        tried: set[str] = set()
        while (item := self._next(tried)) and self._run.assistant.usable:
            tried.add(item.path)
            told = (
                f"{plural(len(item.errors), 'error')} that the audits found in {shown(item.path)}"
            )
            self._mend(_repairing(item, self), told)

    def _next(self, tried: set[str]) -> Wrong | None:
        wrong = _errors(self.found(self.tree))
        paths = dict.fromkeys(item.path for item in wrong if item.path not in tried)
        files = (self._wrong(path, wrong) for path in paths)
        return next((item for item in files if item.allowed), None)

    def _wrong(self, path: str, wrong: Sequence[Finding]) -> Wrong:
        mine = tuple(item for item in wrong if item.path == path)
        words = {word.strip(",;:`") for item in mine for word in item.evidence.split()}
        files = {path, *(self._paths() & words)}
        return Wrong(path, mine, frozenset(name for name in files if not self._closed(name)))

    def _paths(self) -> frozenset[str]:
        """Every file of the merged tree and of both sides."""
        return self._side_paths.union(git.tree_entries(self._ground.repo, self.tree))

    @cached_property
    def _side_paths(self) -> frozenset[str]:
        at = self._ground
        trees = (git.tree_entries(at.repo, sha) for sha in (at.source, at.target))
        return frozenset(path for tree in trees for path in tree)

    def _closed(self, path: str) -> bool:
        return bool(WriteGuard(self._run.config, {path}).forbidden(path))

    def _mend(self, job: Job, told: str) -> None:
        answer = editing.mend(self._claude, self._ground, job)
        if isinstance(answer, Mended):
            self._ground = replace(self._ground, tree=answer.tree)
            self.done.append(answer.summary)
        else:
            self._run.assistant.leave(told, answer.reason)

    @cached_property
    def _claude(self) -> Briefed:
        return editing.briefed(self._run.assistant, self._ground.repo, self._ground.target)

    def _facts_of(self, tree: str) -> AuditFacts:
        at, plan = self._ground, self._plan
        return gather(at.repo, at.base, at.source, at.target, tree, at.config, plan)

    def found(self, tree: str) -> tuple[Finding, ...]:
        """What the audits find in a tree."""
        if tree not in self._found:
            self._found[tree] = audits.run_all(self._facts_of(tree))
        return self._found[tree]

    def new_errors(self, proposal: Proposal) -> list[Objection]:
        """Errors that a proposal brings."""
        return harm.new_errors(self.found(self.tree), self.found(proposal.tree))

    def context(self, path: str, marker: Marker) -> str:
        """How the merge came by a file."""
        mine = tuple(item for item in self._plan.paths if item.path == path)
        if not mine:
            return "git merged this file without a conflict, or one side has it so."
        return briefing.conflicts(self._plan.model_copy(update={"paths": mine}), marker)


def _restoring(item: Lost, work: _Repairs) -> Job:
    def opening(marker: Marker) -> str:
        return "\n\n".join(
            (
                "Only the target had added these definitions, and the merge dropped them. Put "
                "each of them back into its file as the target wrote it, with the imports it "
                "needs; change nothing else. If the merge is right without one, give up.",
                marker.wrap("file, and names of the definitions", _place(item)),
                marker.wrap("the definitions in the target's file", item.text),
                work.context(item.path, marker),
            )
        )

    def judge(proposal: Proposal) -> list[Objection]:
        (change,) = proposal.changes
        before, after = change.before or b"", change.after or b""
        return [*restored_badly(item, before, after), *work.new_errors(proposal)]

    return Job(TASK, item.path, opening, judge, frozenset((item.path,)))


def _place(item: Lost) -> str:
    return f"{shown(item.path)}: {', '.join(item.names)}"


def _repairing(item: Wrong, work: _Repairs) -> Job:
    wanted = {key for error in item.errors for key in harm.keys(error)}

    def opening(marker: Marker) -> str:
        return "\n\n".join(
            (
                "Audits of the merged tree found errors that neither side has. Repair them.",
                briefing.findings(item.errors, marker, "the errors"),
                marker.wrap("files you may change", "\n".join(map(shown, sorted(item.allowed)))),
                work.context(item.path, marker),
            )
        )

    def judge(proposal: Proposal) -> list[Objection]:
        found = work.found(proposal.tree)
        left = [error for error in harm.errors(found) if wanted & harm.keys(error)]
        return [
            *map(harm.objection, left),
            *work.new_errors(proposal),
            *harm.lost_definitions(proposal.changes),
        ]

    return Job(TASK, item.path, opening, judge, item.allowed)
