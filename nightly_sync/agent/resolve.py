"""Claude as the resolver of hunks that no rule settles: it proposes text, code decides.

An answer counts only if `acceptance` finds nothing wrong with it, and even then as a proposal that
someone should look at. Whatever else happens (no key, a spent budget, a refusal, answers that are
no good), the fallback decides as it would without Claude, and the report says so.

One conversation follows the other; a file takes as long as the model needs. What was accepted is
kept at once, so a run that is stopped asks nothing twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from nightly_sync import git
from nightly_sync.agent import answers, earlier, hunk_tasks, resolve_prompt
from nightly_sync.agent.acceptance import (
    HunkAnswer,
    HunkTask,
    HunkText,
    Problem,
    ProblemKind,
    hunk_texts,
    problems,
)
from nightly_sync.agent.answers import Answers
from nightly_sync.agent.assistant import Assistant
from nightly_sync.agent.base import FAULTS
from nightly_sync.agent.data import Marker
from nightly_sync.agent.facts import AgentRefusal
from nightly_sync.agent.forbidden import Policy
from nightly_sync.agent.guidance import guidance
from nightly_sync.agent.hunk_history import work_on
from nightly_sync.agent.look import Looks, Trees, looking
from nightly_sync.agent.loop import End, Ended, Task
from nightly_sync.agent.question import Question
from nightly_sync.agent.repair import plain, policy_of
from nightly_sync.agent.resolve_prompt import REMINDER, Around
from nightly_sync.audits.model import Parent
from nightly_sync.config import SyncConfig
from nightly_sync.divergence import Divergence
from nightly_sync.merge import facts as facts_of
from nightly_sync.merge.hunks import Hunk
from nightly_sync.merge.model import Resolution, Status, Take
from nightly_sync.merge.resolver import FileConflict, Memory, NoMemory, Resolved, Resolver
from nightly_sync.paths import quote, to_bytes
from nightly_sync.session import Session

NAME = "agent"
TASK = "resolve"
EVIDENCE = 800  # characters; the report shows fewer
LOOKS = 40  # uses of a reading tool in one conversation


def resolver(run: Session, parted: Divergence, pushed: str = "") -> Resolver | None:
    """Claude for the hunks of this merge; None where the config does not want it.

    `pushed` is the merge commit that an earlier run already made of the same two commits: then
    nothing is asked, and its text is what the hunks are said to be.
    """
    if not run.config.agent.enabled:
        return None
    ground = Ground(run.workspace.repository, run.config, parted.source, parted.target)
    claude = Claude(ground, run.assistant, Answers(run.workspace.home / "answers"))
    return Pushed(claude, pushed) if pushed else claude


@dataclass(frozen=True)
class Ground:
    """The merge that is resolved. Commits are SHAs."""

    repo: Path
    config: SyncConfig
    source: str
    target: str

    @cached_property
    def base(self) -> str:
        """The merge base, the first of several."""
        return git.merge_bases(self.repo, self.target, self.source)[0]

    @cached_property
    def touches(self) -> facts_of.Touches:
        """Who touched what, on both sides."""
        return facts_of.touches(self.repo, self.source, self.target)


@dataclass(frozen=True)
class Claude:
    """A `Resolver`: answers that are remembered, or else asked for."""

    ground: Ground
    assistant: Assistant
    answers: Answers
    memory: Memory = field(default_factory=NoMemory)

    def __call__(self, conflict: FileConflict) -> Resolved:
        """Resolutions for the open hunks, as far as there is an answer that holds."""
        return Resolved(self.resolutions(conflict, asks=True))

    def resolutions(self, conflict: FileConflict, asks: bool) -> Mapping[int, Resolution]:
        """The same; without `asks` only what is remembered."""
        why = hunk_tasks.unfit(conflict, self.policy)
        if not why:
            return _File(self, conflict, asks).resolved()
        if asks:
            self.assistant.skip(TASK, conflict.facts.path, why)
        return {}

    @cached_property
    def policy(self) -> Policy:
        """What no answer may do."""
        return policy_of(self.ground.config)

    @cached_property
    def marker(self) -> Marker:
        """One for the whole run: the instructions, which are to be cached, hold its key."""
        return Marker.fresh()

    @cached_property
    def system(self) -> str:
        """The instructions, the same for all files."""
        at, config = self.ground, self.ground.config
        told = guidance(at.repo, at.target, config.agent.guidance, self.marker)
        names = (config.source, config.target)
        return resolve_prompt.system(*names, config.agent.answers, told, self.marker)

    def task(self, task: HunkTask, partly: bool, question: Question) -> Task:
        """The conversation to have."""
        at, looks = self.ground, Looks(LOOKS)
        names = {"base": at.base, "source": at.source, "target": at.target}
        tools = map(looks.limited, looking(Trees(at.repo, self.marker, names)))
        around = Around(
            target=work_on(at.repo, task, at.base, at.target, Parent.TARGET),
            source=work_on(at.repo, task, at.base, at.source, Parent.SOURCE),
            partly=partly,
            before=tuple(self.memory.recall(task.path, hunk) for hunk in task.hunks),
        )
        opening = resolve_prompt.opening(task, around, self.marker)
        every = (*tools, *question.tools())
        return Task(TASK, task.path, self.system, every, opening, REMINDER)


class _File:
    """One conflicted file: its open hunks, group by group."""

    def __init__(self, claude: Claude, conflict: FileConflict, asks: bool):
        self._claude = claude
        self._conflict = conflict
        self._asks = asks
        self._path = conflict.facts.path
        self._open = hunk_tasks.open_hunks(conflict)
        self._answers: dict[tuple[int, ...], HunkAnswer] = {}
        self._texts: dict[int, bytes] = {}  # what stands for a hunk, once that is known
        self._told = False  # that not all is resolved

    def resolved(self) -> Mapping[int, Resolution]:
        """What became of the open hunks; without those that go to the fallback."""
        fallback = self._claude.ground.config.fallback
        groups = hunk_tasks.groups(self._conflict)
        for group in groups:
            tasks = self._tasks(group)
            answer = self._answer(tasks)
            if answer is not None:
                self._answers[group] = answer
                self._texts |= dict(zip(group, hunk_texts(tasks[0], answer), strict=True))
            elif fallback == "stop":  # a person has to decide about the file in any case
                return {}
            else:
                self._texts |= {at: _side(self._open[at], fallback) for at in group}
        return dict(self._resolutions()) if len(groups) == 1 or self._fits() else {}

    def _leave(self, why: str) -> None:
        self._claude.assistant.leave(f"{TASK} {quote(self._path)}: {why}")
        self._told = True

    def _skip(self) -> None:
        if not self._told:
            self._claude.assistant.skip(TASK, self._path)
        self._told = True

    def _resolutions(self) -> Iterator[tuple[int, Resolution]]:
        for group, answer in self._answers.items():
            for at in group:
                yield at, resolution(self._open[at], self._texts[at], answer)

    # One group

    def _tasks(self, group: tuple[int, ...]) -> tuple[HunkTask, ...]:
        """The task about a group, as often as there are texts for the hunks still open after it.

        Either side may come to stand there: an answer that is right with one of them is right.
        """
        later = any(at > group[-1] for at in self._open)
        sides = ("source", "target") if later else ("source",)
        return tuple(self._task(group, side) for side in sides)

    def _task(self, asked: Sequence[int], side: str) -> HunkTask:
        texts = {at: _side(hunk, side) for at, hunk in self._open.items()} | self._texts
        return hunk_tasks.task_of(self._conflict, asked, texts, self._claude.ground.touches)

    def _answer(self, tasks: tuple[HunkTask, ...]) -> HunkAnswer | None:
        name = key_of(tasks[0])
        known = self._claude.answers.recall(name, HunkAnswer)
        if known and not self._check(tasks, known):
            return known
        if not self._asks:
            return None
        if not self._claude.assistant.usable:
            self._skip()
            return None
        answer = self._asked(tasks)
        if answer:
            self._claude.answers.keep(name, answer)
        return answer

    def _check(self, tasks: tuple[HunkTask, ...], answer: HunkAnswer) -> Sequence[Problem]:
        found = [self._judged(task, answer) for task in tasks]
        return found[0] if all(found) else ()

    def _judged(self, task: HunkTask, answer: HunkAnswer) -> Sequence[Problem]:
        """What is wrong with an answer; one that the check itself fails on is not taken."""
        try:
            return problems(task, answer, self._claude.policy)
        except FAULTS as error:
            said = self._claude.assistant.failed(TASK, self._path, error)
            sentence = f"the file with this answer could not be judged ({said})"
            return (Problem(kind=ProblemKind.FAULT, sentence=sentence),)

    def _asked(self, tasks: tuple[HunkTask, ...]) -> HunkAnswer | None:
        claude, assistant = self._claude, self._claude.assistant
        check = partial(self._check, tasks)
        question = Question(check, assistant.settings.answers, claude.marker)
        partly = len(tasks[0].hunks) < len(self._open)
        ended = assistant.converse(claude.task(tasks[0], partly, question))
        assistant.rejected.update(question.rejected)
        assistant.refusals += [self._refusal(evidence) for evidence in question.refused]
        if question.answer is None:
            self._leave(question.left or _ending(ended))
        return question.answer

    def _refusal(self, evidence: str) -> AgentRefusal:
        return AgentRefusal(task=TASK, path=self._path, kind="forbidden", evidence=evidence)

    # All groups

    def _fits(self) -> bool:
        """Do the answers of several groups make one file that holds?"""
        asked = [at for group in self._answers for at in group]
        if not asked:
            return True
        found = self._judged(self._task(asked, "source"), self._together(asked))
        if found and self._asks:
            sentence = plain(found[0].sentence, EVIDENCE)
            self._leave(f"its answers do not fit together: {sentence}")
        return not found

    def _together(self, asked: Sequence[int]) -> HunkAnswer:
        given = self._answers.values()
        return HunkAnswer(
            texts=tuple(
                HunkText(hunk=number, text=self._texts[at].decode())
                for number, at in enumerate(asked)
            ),
            rationale="; ".join(item.rationale for item in given),
            confidence="low",
            dropped=tuple(dropped for item in given for dropped in item.dropped),
            invented={name: why for item in given for name, why in item.invented.items()},
        )


def key_of(task: HunkTask) -> str:
    """The name an answer is kept by: the path and the very texts of the conflict."""
    texts: list[bytes] = []
    for part in task.parts:
        texts += [part] if isinstance(part, bytes) else [part.base, part.target, part.source]
    return answers.key(to_bytes(task.path), task.base, task.target, task.source, *texts)


def resolution(hunk: Hunk, text: bytes, answer: HunkAnswer) -> Resolution:
    """An accepted text as what the merge takes for a hunk."""
    take = earlier.side_of(hunk, text)
    return Resolution(
        rule=NAME,
        take=take,
        evidence=evidence(answer),
        status=Status.PROPOSAL,
        text=text if take is Take.TEXT else None,
    )


def evidence(answer: HunkAnswer) -> str:
    """Why, in Claude's words, as one line that mentions nobody."""
    dropped = (f"left out for {item.commit[:12]}: {item.reason}" for item in answer.dropped)
    invented = (f"new is {name}: {reason}" for name, reason in answer.invented.items())
    said = "; ".join((answer.rationale, *dropped, *invented))
    return plain(f"Claude, {answer.confidence} confidence: {said}", EVIDENCE)


def _side(hunk: Hunk, name: str) -> bytes:
    return hunk.target if name == "target" else hunk.source


def _ending(ended: Ended | None) -> str:
    if ended is None or ended.reason is End.BUDGET:
        return "the conversation broke off"
    return ended.detail or "it looked around and did not answer"


@dataclass(frozen=True)
class Pushed:
    """A `Resolver` that tells what an earlier run made of the hunks; it asks nothing."""

    claude: Claude
    merge: str  # the commit

    def __call__(self, conflict: FileConflict) -> Resolved:
        """The open hunks as they stand in the merge."""
        ground = self.claude.ground
        task = hunk_tasks.task_of(conflict, conflict.open, {}, ground.touches)
        known = self.claude.resolutions(conflict, asks=False)
        pushed = git.read_file(ground.repo, self.merge, conflict.facts.path)
        return earlier.described(conflict, task, known, pushed, ground.config.fallback)
