"""One editing conversation: Claude changes files in a checkout; code decides what is taken.

The checkout is made for the conversation and vanishes with it. What Claude submits passes the hard
refusals, which hold for every task, and then the task's own judge; what is wrong goes back to it.
An answer that is taken is a tree, and nothing else leaves the checkout.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from nightly_sync import paths, tools
from nightly_sync.agent import briefing, file_tools, look, sandbox
from nightly_sync.agent.assistant import Assistant
from nightly_sync.agent.base import FAULTS, Tool
from nightly_sync.agent.briefing import Briefed
from nightly_sync.agent.checkout import Checkout, Ground, Proposal, kept
from nightly_sync.agent.command_tool import Commands
from nightly_sync.agent.data import Marker, plain
from nightly_sync.agent.file_tools import Bench
from nightly_sync.agent.files import Files
from nightly_sync.agent.guard import WriteGuard, policy_of
from nightly_sync.agent.handin import HandIn
from nightly_sync.agent.loop import Ended, Task
from nightly_sync.errors import SyncError
from nightly_sync.model import Model
from nightly_sync.review.forbidden import FileChange, Policy, forbidden
from nightly_sync.review.harm import Objection

CLOSED = "closed-path"  # kind of a refusal that is about this task's files only
FAULT = "not-judged"  # the judging itself failed on it
NOTHING = Objection("nothing-changed", "nothing was changed that could be taken")
KEPT = "Nothing in the checkout was undone."

SYSTEM = """\
You repair what a merge broke. Every night a branch, the source, is merged into another, the \
target, which is long-lived and has work of its own. Nothing that either of them has may get lost.

You work in a checkout of the merged tree. Your tools are all there is: no shell, no network. You \
push nothing. When you call submit, code looks at what you changed, and takes it or says what is \
wrong with it.

- Find the cause first. The commits base, source, target and merge are there to compare: git_diff \
and git_log show what each side did and why; read the code around it.
- Then make the smallest change that mends it. Keep what both sides meant. Leave alone what is not \
broken: no tidying, no new names, no rewriting.
- What was lost is put back as the side that has it wrote it.
- Never get green by checking less. Tests or assertions that are skipped, removed or loosened, \
expected values that follow the result, comments that switch a check off, settings of tests, \
linters, coverage or CI, and protected files are refused by code, whatever the reasons. If a test \
is right, mend the code. If it tests what the other side changed on purpose, follow that side. In \
a test file you may use new names and arguments and put back what a side has; tests, helpers and \
set-up of your own are refused.
- What is taken are the files you edited or created with your tools, and files of the repository \
that a command changed. New files that a command made are left behind.
- If you find no repair that you would defend in a review, call give_up and say what a person \
should look at. That is a good answer too.
"""
REMINDER = "Call submit once the repair is done, or give_up if there is none."

Judge = Callable[[Proposal], Sequence[Objection]]
"""What a task itself demands; no objection means that the proposal is taken."""


@dataclass(frozen=True)
class Job:
    """What is to be mended. `allowed`: the only files that may change; None for no such limit."""

    name: str  # the kind, for the bill
    file: str  # "" if it is about no single file
    opening: Callable[[Marker], str]
    judge: Judge
    allowed: Collection[str] | None = None
    logs: Mapping[str, Sequence[Path]] = field(default_factory=dict)  # of failed checks, by name


@dataclass(frozen=True)
class Mended:
    """A repair that was taken. `summary` is one line in Claude's words, made harmless."""

    summary: str
    files: tuple[str, ...]
    tree: str


@dataclass(frozen=True)
class NotMended:
    """No repair, and why: one clause."""

    reason: str


def briefed(assistant: Assistant, repo: Path, target: str) -> Briefed:
    """Claude for the repairs of a run."""
    return briefing.briefed(assistant, SYSTEM, repo, target)


def mend(claude: Briefed, ground: Ground, job: Job) -> Mended | NotMended:
    """Have Claude repair a tree. It costs nothing where it cannot be asked."""
    assistant = claude.assistant
    if not assistant.usable:
        return NotMended(assistant.why_not)
    with tools.checkout(ground.repo, ground.tree) as (folder, index), kept(Files(folder)) as copy:
        desk = _Desk(claude, job, Checkout(ground, folder, index, copy))
        ended = assistant.converse(desk.task())
        desk.count_refused_edits()
        return desk.outcome(ended)


class Submit(Model):
    """Input of `submit`."""

    summary: str = Field(min_length=1, description="What you repaired and how, in one short line.")


class _Desk:
    """One conversation: its tools, what they were refused, and what was handed in."""

    def __init__(self, claude: Briefed, job: Job, checkout: Checkout):
        ground = checkout.ground
        self._assistant = claude.assistant
        self._claude = claude
        self._job = job
        self._checkout = checkout
        self._policy = policy_of(ground.config)
        self._guard = WriteGuard(ground.config, job.allowed, ground.config.agent.workflows)
        history = ground.repo, claude.marker, ground.revisions
        self._bench = Bench(*history, checkout.originals.files, self._guard, job.logs)
        self._submitted = HandIn(self._assistant, claude.marker, self._judged, KEPT)
        self._proposal = Proposal(ground.tree, ())  # the last one that was handed in

    def task(self) -> Task:
        job, claude = self._job, self._claude
        opening = job.opening(claude.marker)
        return Task(job.name, job.file, claude.system, self._tools(), opening, REMINDER)

    def outcome(self, ended: Ended | None) -> Mended | NotMended:
        """What came of it, once it has ended; None if it broke off."""
        if taken := self._submitted.taken:
            names = tuple(item.path for item in self._proposal.changes)
            summary = plain(taken.summary) or "a repair without a word on it"
            return Mended(f"Claude: {summary}", names, self._proposal.tree)
        if self._submitted.left:
            return NotMended(self._submitted.left)
        return NotMended(
            f"Claude made no repair: {ended.detail}" if ended else self._assistant.why_not
        )

    def count_refused_edits(self) -> None:
        """Put on the account what tools and commands were refused, each path once."""
        once = {(item.path, item.reason): item for item in self._guard.refusals}
        for item in once.values():
            self._refuse(item.path, _kind(item.path, self._policy), f"{item.reason} ({item.by})")

    def _tools(self) -> tuple[Tool, ...]:
        done = "Hand in the repair: what you changed in the checkout. It ends the task if it holds."
        logs = (file_tools.ReadLog,) if self._job.logs else ()
        files = (*file_tools.READING, *file_tools.WRITING, *logs)
        return (
            *(action.on(self._bench) for action in files),
            *(action.on(self._bench) for action in look.HISTORY),
            *self._commands(),
            *self._submitted.tools("submit", done, Submit, "give_up"),
        )

    def _commands(self) -> tuple[Tool, ...]:
        """What it can run, if anything; a sandbox that does not work is told in the report."""
        wanted = self._assistant.settings.sandbox
        if not wanted.commands:
            return ()
        try:
            box = sandbox.opened(self._checkout.folder, wanted)
        except sandbox.Unavailable as error:
            self._assistant.commands_off = str(error)
            return ()
        return (Commands(self._bench, wanted.commands, box, self._checkout.originals).tool(),)

    def _judged(self, _: Submit) -> Sequence[Objection]:
        """What is wrong with the checkout as it is now; what cannot be judged is not taken."""
        problems: Sequence[Objection]
        try:
            proposal = self._proposal = self._checkout.proposal(self._bench.edited)
            if refused := tuple(self._refusals(proposal.changes)):
                return refused  # on the account already
            problems = self._job.judge(proposal) if proposal.changes else (NOTHING,)
        except (SyncError, *FAULTS) as error:
            said = self._assistant.failed(self._job.name, self._job.file, error)
            problems = (Objection(FAULT, f"the repair could not be judged ({said})"),)
        self._assistant.rejected.update({item.kind for item in problems})
        return problems

    def _refusals(self, changes: Sequence[FileChange]) -> Iterable[Objection]:
        """What no task may do, and files that are not this task's."""
        refused = forbidden(changes, self._policy)
        for item in refused:
            yield self._refuse(item.path, item.kind, item.evidence)
        told = {item.path for item in refused}
        for path in (item.path for item in changes if item.path not in told):
            if reason := self._guard.problem(path):
                yield self._refuse(path, CLOSED, reason)

    def _refuse(self, path: str, kind: str, evidence: str) -> Objection:
        """Put a refusal on the account."""
        self._assistant.refuse(self._job.name, path, kind, evidence)
        return Objection(kind, f"{paths.quote(path)}: {evidence}")


def _kind(path: str, policy: Policy) -> str:
    """Why a path is closed, in the word that the same change by a command would get."""
    found = forbidden((FileChange(path, None, b"\n", mode_before=None),), policy)
    return found[0].kind if found else CLOSED
