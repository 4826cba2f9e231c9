"""Repair what no rule can: Claude edits a checkout, and code decides what is taken of it.

One instance serves a whole run. It remembers what was tried, and what the checks said after it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nightly_sync import git, paths, report_facts, tools
from nightly_sync.agent import briefing, repair
from nightly_sync.agent.briefing import Briefed
from nightly_sync.agent.checkout import Ground, Proposal
from nightly_sync.agent.data import Marker, listed
from nightly_sync.agent.files import Files
from nightly_sync.agent.repair import Job, Mended, NotMended
from nightly_sync.audits.model import Finding
from nightly_sync.checks.triage import FailureGroup
from nightly_sync.fixers.base import Change, GaveUp
from nightly_sync.reports.model import ReportFacts
from nightly_sync.review import harm
from nightly_sync.review.harm import Objection
from nightly_sync.session import Session

TASK = "ci"  # its name on the bill
PATCH = 60_000  # bytes of what earlier repairs changed
SHOWN = 20_000  # characters of it


@dataclass(frozen=True)
class Tried:
    """A repair of this run, and what failed before it."""

    summary: str
    files: tuple[str, ...]
    against: tuple[str, ...]  # titles


class ClaudeFixer:
    """Claude as a fixer. `facts` are those of the merge, with the findings of the audits."""

    def __init__(self, run: Session, facts: ReportFacts):
        self._run = run
        self._facts = facts
        self._tried: list[Tried] = []
        self._claude: Briefed | None = None

    def fix(self, failures: Sequence[FailureGroup], worktree: Path) -> Change | GaveUp:
        """Have Claude repair the failures, unless it cannot be asked. Aggregates are no failures.

        What it could not do is noted for the report.
        """
        own = [item for item in failures if not item.aggregate]
        if not own:
            return GaveUp(reason="nothing failed but jobs that report on others")
        answer = self._answer(own, worktree)
        if isinstance(answer, Mended):
            titles = tuple(item.title for item in own)
            self._tried.append(Tried(answer.summary, answer.files, titles))
            self._write(answer, worktree)
            return Change(summary=answer.summary, files=answer.files)
        self._leave(own, answer)
        return GaveUp(reason=answer.reason)

    def _answer(self, own: Sequence[FailureGroup], worktree: Path) -> Mended | NotMended:
        assistant = self._run.assistant
        if not assistant.usable:
            return NotMended(assistant.why_not)
        ground = self._ground(worktree)
        if self._claude is None:
            self._claude = repair.briefed(assistant, ground.repo, ground.target)
        text = _Opening(self._facts, ground, own, self._tried)
        job = Job(TASK, "", text.build, self._judge(ground), logs=self._logs(own))
        return repair.mend(self._claude, ground, job)

    def _logs(self, own: Sequence[FailureGroup]) -> Mapping[str, Sequence[Path]]:
        """The logs of the failures, as far as they were read; two checks may share a name."""
        logs: dict[str, list[Path]] = defaultdict(list)
        for check in (failure.check for item in own for failure in item.failures):
            file = self._run.log_file(check)
            if file.exists():
                logs[check.name].append(file)
        return logs

    def _ground(self, worktree: Path) -> Ground:
        repo, plan = self._run.workspace.repository, self._facts.plan
        return Ground(
            config=self._run.config,
            repo=repo,
            tree=tools.checked_out(repo, worktree),
            base=plan.base,
            source=plan.source,
            target=plan.target,
            merge=self._facts.merge_commit,
        )

    def _judge(self, ground: Ground) -> repair.Judge:
        """The merge must not get worse by any audit that finds errors, and lose no definition."""

        @cache
        def found(tree: str) -> tuple[Finding, ...]:
            facts, config = self._facts, ground.config
            return report_facts.with_audits(facts, ground.repo, tree, config).findings

        def judge(proposal: Proposal) -> Sequence[Objection]:
            new = harm.new_errors(found(ground.tree), found(proposal.tree))
            return [*new, *harm.lost_definitions(proposal.changes)]

        return judge

    def _write(self, mended: Mended, worktree: Path) -> None:
        """The repair was made in a checkout of its own; here is where it is taken from."""
        repo, files = self._run.workspace.repository, Files(worktree)
        entries = git.tree_entries(repo, mended.tree)
        new = [entries[name] for name in mended.files if name in entries]
        texts = git.read_blobs(repo, [entry.oid for entry in new])
        for name in mended.files:
            files.clear(name)
        for name in mended.files:
            if name in entries:
                mode = int(entries[name].mode[-3:], 8)
                files.create(name, texts[entries[name].oid], mode)

    def _leave(self, own: Sequence[FailureGroup], answer: NotMended) -> None:
        names = ", ".join(dict.fromkeys(name for item in own for name in item.checks))
        self._run.assistant.leave(f"failing checks ({names})", answer.reason)


@dataclass(frozen=True)
class _Opening:
    """What Claude is told first."""

    facts: ReportFacts
    ground: Ground
    failures: Sequence[FailureGroup]
    tried: Sequence[Tried]

    def build(self, marker: Marker) -> str:
        """The task: what failed, what the merge did, what was tried."""
        parts = (
            "Checks of the merge fail that pass on the target. Repair what makes them fail.",
            briefing.failures(self.failures, marker),
            "What the merge did:",
            briefing.conflicts(self.facts.plan, marker),
            briefing.findings(self.facts.findings, marker),
            *self._attempts(marker),
            *self._patch(marker),
        )
        return "\n\n".join(part for part in parts if part)

    def _attempts(self, marker: Marker) -> list[str]:
        if not self.tried:
            return []
        now = tuple(item.title for item in self.failures)
        after = [*(item.against for item in self.tried[1:]), now]
        lines = (
            line
            for item, left in zip(self.tried, after, strict=True)
            for line in (
                f"against: {'; '.join(item.against)}",
                f"  {item.summary} ({', '.join(map(paths.quote, item.files))})",
                f"  failed after it: {'; '.join(left)}",
            )
        )
        intro = "Repairs of this run that were pushed. Do not try again what did not help:"
        return [intro, marker.wrap("what was tried", listed(lines))]

    def _patch(self, marker: Marker) -> list[str]:
        """What the fix commit changes, which is what the checkout has beyond the merge."""
        ground = self.ground
        if git.tree_of(ground.repo, ground.merge) == ground.tree:
            return []
        out = git.diff_text(ground.repo, ground.merge, ground.tree, (), PATCH)
        intro = "Repairs so far, as the checkout has them beyond the commit merge:"
        return [intro, marker.wrap("difference from merge to the checkout", out, SHOWN)]
