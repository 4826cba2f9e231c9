"""Claude as the resolver of hunks that no rule settles: it proposes text, code decides.

An answer counts only if `acceptance` finds nothing wrong with it, and even then as a proposal that
someone should look at. Whatever else happens (no key, a spent budget, a refusal, answers that are
no good), the fallback decides as it would without Claude, and the report says so.

One conversation follows the other; a file takes as long as the model needs. What was accepted is
kept at once, so a run that is stopped asks nothing twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from nightly_sync import git
from nightly_sync.agent import briefing, earlier, hunk_tasks
from nightly_sync.agent.assistant import Assistant
from nightly_sync.agent.base import FAULTS
from nightly_sync.agent.briefing import Briefed
from nightly_sync.agent.data import plain
from nightly_sync.agent.earlier import Answers
from nightly_sync.agent.guard import policy_of
from nightly_sync.agent.handin import HandIn
from nightly_sync.agent.hunk_tasks import REMINDER
from nightly_sync.agent.look import Looks, Trees, looking
from nightly_sync.agent.loop import End, Ended, Task
from nightly_sync.audits.model import Parent
from nightly_sync.config import SyncConfig
from nightly_sync.divergence import Divergence
from nightly_sync.merge import facts as facts_of
from nightly_sync.merge.model import Resolution
from nightly_sync.merge.resolver import FileConflict, Memory, NoMemory, Resolved, Resolver
from nightly_sync.paths import quote
from nightly_sync.review.acceptance import (
    HunkAnswer,
    HunkTask,
    ProblemKind,
    hunk_texts,
    problems,
)
from nightly_sync.review.acceptance.model import side_of
from nightly_sync.review.harm import Objection
from nightly_sync.session import Session

NAME = "agent"
EVIDENCE = 800  # characters; the report shows fewer
TASK = "resolve"  # its name on the bill
LOOKS = 40  # uses of a reading tool in one conversation
AGAIN = "Give the whole answer again."


def resolver(run: Session, parted: Divergence, pushed: str = "") -> Resolver | None:
    """Claude for the hunks of this merge; None where the config does not want it.

    `pushed` is the merge commit that an earlier run already made of the same two commits: then
    nothing is asked, and its text is what the hunks are said to be.
    """
    if not run.config.agent.enabled:
        return None
    asked = Assistant(run.config.agent) if pushed else run.assistant  # a new one can ask nobody
    answers = Answers(run.workspace.home / "answers")
    repo, config = run.workspace.repository, run.config
    claude = ClaudeResolver(repo, config, parted.source, parted.target, asked, answers)
    return partial(_pushed, claude, pushed) if pushed else claude


@dataclass(frozen=True)
class ClaudeResolver:
    """A `Resolver`: answers that are remembered, or else asked for. Commits are SHAs."""

    repo: Path
    config: SyncConfig
    source: str
    target: str
    assistant: Assistant
    answers: Answers
    memory: Memory = field(default_factory=NoMemory)

    def __call__(self, conflict: FileConflict) -> Resolved:
        """Resolutions for the open hunks, as far as there is an answer that holds."""
        why = hunk_tasks.unfit(conflict, policy_of(self.config))
        if not why:
            return Resolved(_File(self, conflict).resolved())
        self.assistant.skip(TASK, conflict.facts.path, why)
        return Resolved()

    @cached_property
    def base(self) -> str:
        """The merge base, the first of several."""
        return git.merge_bases(self.repo, self.target, self.source)[0]

    @cached_property
    def touches(self) -> facts_of.Touches:
        """Who touched what, on both sides."""
        return facts_of.touches(self.repo, self.source, self.target)

    @cached_property
    def briefed(self) -> Briefed:
        """Claude with the instructions, the same for all files."""
        config = self.config
        branches = {"source": config.source, "target": config.target}
        text = hunk_tasks.SYSTEM.format(**branches, answers=config.agent.answers)
        return briefing.briefed(self.assistant, text, self.repo, self.target)

    def task(self, task: HunkTask, partly: bool, answer: HandIn[HunkAnswer]) -> Task:
        system, marker = self.briefed.system, self.briefed.marker
        names = {"base": self.base, "source": self.source, "target": self.target}
        looks = map(Looks(LOOKS).limited, looking(Trees(self.repo, marker, names)))
        told = "Answer the task: a text for every hunk. It ends the task if it is accepted."
        answers = answer.tools("resolve", told, HunkAnswer, "leave")
        spans = ((side, (self.base, names[side])) for side in Parent)
        work = [hunk_tasks.history(self.repo, task, span, side, marker) for side, span in spans]
        before = [self.memory.recall(task.path, hunk) for hunk in task.hunks]
        opening = hunk_tasks.opening(task, work, before, partly, marker)
        return Task(TASK, task.path, system, (*looks, *answers), opening, REMINDER)


class _File:
    """One conflicted file: its open hunks, group by group."""

    def __init__(self, claude: ClaudeResolver, conflict: FileConflict):
        self._claude = claude
        self._assistant = claude.assistant
        self._conflict = conflict
        self._path = conflict.facts.path
        self._open = hunk_tasks.open_hunks(conflict)
        self._answers: dict[tuple[int, ...], HunkAnswer] = {}
        self._texts: dict[int, bytes] = {}  # what stands for a hunk, once that is known
        self._told = False  # that not all is resolved

    def resolved(self) -> Mapping[int, Resolution]:
        """What became of the open hunks; without those that go to the fallback."""
        fallback = self._claude.config.fallback
        groups = hunk_tasks.groups(self._conflict)
        for group in groups:
            answer = self._answer(group)
            if answer is not None:
                self._answers[group] = answer
                texts = hunk_texts(self._task(group, "source"), answer)
                self._texts |= dict(zip(group, texts, strict=True))
            elif fallback == "stop":  # a person has to decide about the file in any case
                return {}
            else:
                self._texts |= {at: side_of(self._open[at], fallback) for at in group}
        if len(groups) > 1 and not self._fits():
            return {}
        return {
            at: earlier.proposed(NAME, self._open[at], self._texts[at], evidence(answer))
            for group, answer in self._answers.items()
            for at in group
        }

    def _task(self, asked: Sequence[int], side: str) -> HunkTask:
        """The task about some hunks; a side stands for those of which nothing is known yet."""
        texts = {at: side_of(hunk, side) for at, hunk in self._open.items()} | self._texts
        return hunk_tasks.task_of(self._conflict, asked, texts, self._claude.touches)

    def _answer(self, group: tuple[int, ...]) -> HunkAnswer | None:
        """An answer for a group that holds, remembered or new; None if there is none."""
        task = self._task(group, "source")
        known = self._claude.answers.recall(task)
        if known and not self._wrong(group, known):
            return known
        if self._assistant.usable:
            return self._asked(group, task)
        if not self._told:
            self._assistant.skip(TASK, self._path)
        self._told = True
        return None

    def _asked(self, group: tuple[int, ...], task: HunkTask) -> HunkAnswer | None:
        claude = self._claude
        judge = partial(self._counted, group)
        question = HandIn(self._assistant, claude.briefed.marker, judge, AGAIN)
        partly = len(group) < len(self._open)
        ended = self._assistant.converse(claude.task(task, partly, question))
        if question.taken:
            claude.answers.keep(task, question.taken)
        else:
            self._leave(question.left or _ending(ended))
        return question.taken

    def _counted(self, group: tuple[int, ...], answer: HunkAnswer) -> Sequence[Objection]:
        """What is wrong with an answer, on the account."""
        wrong = self._wrong(group, answer)
        self._assistant.rejected.update({item.kind for item in wrong})
        for item in wrong:
            if item.kind == ProblemKind.FORBIDDEN:
                self._assistant.refuse(TASK, self._path, item.kind, item.sentence)
        return wrong

    def _leave(self, why: str) -> None:
        self._assistant.leave(f"{TASK} {quote(self._path)}: {why}")
        self._told = True

    def _wrong(self, asked: Sequence[int], answer: HunkAnswer) -> Sequence[Objection]:
        """What is wrong with an answer.

        Either side may come to stand for the hunks that are still open after these: an answer that
        is right with one of them is right.
        """
        unknown = self._open.keys() - self._texts.keys() - set(asked)
        sides = ("source", "target") if unknown else ("source",)
        found = [self._judged(self._task(asked, side), answer) for side in sides]
        return found[0] if all(found) else ()

    def _judged(self, task: HunkTask, answer: HunkAnswer) -> Sequence[Objection]:
        """What is wrong with an answer; one that the check itself fails on is not taken."""
        try:
            return problems(task, answer, policy_of(self._claude.config))
        except FAULTS as error:
            said = self._assistant.failed(TASK, self._path, error)
            sentence = f"the file with this answer could not be judged ({said})"
            return (Objection(ProblemKind.FAULT, sentence),)

    def _fits(self) -> bool:
        """Does each group's answer still hold, now that all texts are known?"""
        for group, answer in self._answers.items():
            found = self._wrong(group, answer)
            if found:
                sentence = plain(found[0].sentence, EVIDENCE)
                self._leave(f"its answers do not fit together: {sentence}")
                return False
        return True


def evidence(answer: HunkAnswer) -> str:
    """Why, in Claude's words, as one line that mentions nobody."""
    dropped = (f"left out for {item.commit[:12]}: {item.reason}" for item in answer.dropped)
    invented = (f"new is {name}: {reason}" for name, reason in answer.invented.items())
    said = "; ".join((answer.rationale, *dropped, *invented))
    return plain(f"Claude, {answer.confidence} confidence: {said}", EVIDENCE)


def _ending(ended: Ended | None) -> str:
    if ended is None or ended.reason is End.BUDGET:
        return "the conversation broke off"
    return ended.detail or "it looked around and did not answer"


def _pushed(claude: ClaudeResolver, merge: str, conflict: FileConflict) -> Resolved:
    """What an earlier run made of the open hunks, in its merge; `claude` cannot be asked."""
    task = hunk_tasks.task_of(conflict, conflict.open, {}, claude.touches)
    text = git.read_file(claude.repo, merge, conflict.facts.path)
    known = claude(conflict).hunks
    return earlier.described(conflict, task, known, text, claude.config.fallback)
