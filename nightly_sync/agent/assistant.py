"""Claude as one run has it: whether it can be asked, and what has come of it so far.

Every step of a run that could ask Claude goes through here, so that a missing key, a spent budget
or an API that refuses ends the asking and nothing else.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from nightly_sync.agent.base import Ask, fault, traced
from nightly_sync.agent.budget import Meter, Progress
from nightly_sync.agent.facts import AgentFacts, AgentRefusal
from nightly_sync.agent.loop import Agent, End, Ended, Task, Transcript, converse
from nightly_sync.agent.settings import AgentSettings
from nightly_sync.errors import ConfigError, SyncError
from nightly_sync.paths import quote

NAMED = 3  # files that are named where it was not asked about many


@dataclass
class Assistant:
    """Claude in one run, and the account of it. `agent` is None where it cannot be asked."""

    settings: AgentSettings
    agent: Agent | None = None
    problem: str = ""  # why it is not asked, or not any more
    limit: str = ""  # the limit that was reached
    commands_off: str = ""  # why it could run no commands
    left: list[str] = field(default_factory=list)  # what it was to do and did not, a line each
    skipped: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # by task and why
    refusals: list[AgentRefusal] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)  # answers sent back, by the problem
    progress: Progress = lambda *_: None

    @property
    def usable(self) -> bool:
        """Can it be asked now?"""
        return self.agent is not None and not self.problem and not self.limit

    @property
    def why_not(self) -> str:
        """Why it is not asked, or not any more; a clause."""
        if self.limit:
            return f"Claude is not asked any more: {self.limit}"
        return self.problem or "Claude is not enabled"

    def converse(self, task: Task) -> Ended | None:
        """One conversation; None if there was none or it broke off, with the reason kept."""
        if self.agent is None or not self.usable:
            return None
        try:
            ended = converse(self.agent, task)
        except SyncError as error:
            self.problem = str(error)
            return None
        if ended.reason is End.BUDGET:
            self.limit = ended.detail
        return ended

    def failed(self, task: str, file: str, error: Exception) -> str:
        """Keep the traceback of a fault of our own in the transcript; gives it in short."""
        if self.agent is not None:
            self.agent.transcript.write("fault", task, file, fault=traced(error))
        return fault(error)

    def refuse(self, task: str, path: str, kind: str, evidence: str) -> None:
        """Note a change that no task may make."""
        refusal = AgentRefusal(task=task, path=path, kind=kind, evidence=evidence)
        self.refusals.append(refusal)

    def leave(self, what: str, why: str = "") -> None:
        """Note what stays undone; `why` unless it could not be asked, or not any more."""
        why = self.limit or self.problem or why
        self.left.append(f"{what}: {why}" if why else what)

    def skip(self, task: str, file: str, why: str = "") -> None:
        """Note a file that it was not asked about; there may be hundreds of them.

        Without a reason, it could not be asked.
        """
        self.skipped.setdefault((task, why), []).append(file)

    def facts(self) -> AgentFacts:
        """The account, for the report and the metrics."""
        meter = self.agent.meter if self.agent else Meter(self.settings)
        path = self.agent.transcript.path if self.agent else None
        why_not = self.limit or self.problem
        skipped = (_not_asked(*key, files, why_not) for key, files in self.skipped.items())
        return AgentFacts(
            enabled=self.settings.enabled,
            model=self.settings.model_id,
            problem=self.problem,
            limit=self.limit,
            commands_off=self.commands_off,
            left=(*self.left, *skipped),
            refusals=tuple(self.refusals),
            rejected=dict(sorted(self.rejected.items())),
            spent=meter.total(),
            by_task=meter.by_task(),
            by_file=meter.by_file(),
            transcript=str(path) if path and path.exists() else "",
        )


def _not_asked(task: str, why: str, files: list[str], why_not: str) -> str:
    names = ", ".join(quote(name) for name in files[:NAMED])
    more = f" and {len(files) - NAMED} more" if len(files) > NAMED else ""
    count = "1 file" if len(files) == 1 else f"{len(files)} files"
    return f"{task}: not asked about {count}, since {why or why_not}: {names}{more}"


def hire(settings: AgentSettings, folder: Path, secret: Callable[[str], str]) -> Assistant:
    """Claude for a run whose files are in `folder`; unusable, with the reason, without a key."""
    if not settings.enabled:
        return Assistant(settings)
    try:
        key = secret(settings.key) if settings.key else None
    except ConfigError as error:
        return Assistant(settings, problem=f"Claude was not asked: {error}")
    # Hidden as it is sent: the file that a key is read from ends in a newline.
    hidden = (key or "").strip()
    return employ(settings, _lazily(settings, key), folder / "transcript.jsonl", hidden)


def employ(settings: AgentSettings, ask: Ask, transcript: Path, secret: str = "") -> Assistant:
    """An assistant that is reached by `ask`; the transcript does not show `secret`."""
    made = Assistant(settings)
    meter = Meter(settings, on_progress=lambda *what: made.progress(*what))
    made.agent = Agent(ask, meter, Transcript(transcript, secret))
    return made


def _lazily(settings: AgentSettings, key: str | None) -> Ask:
    """Connects when it is first asked: the SDK takes seconds to import."""

    @cache
    def claude() -> Ask:
        from nightly_sync.agent.client import connect

        return connect(settings, key)

    return lambda body, seconds, failed: claude()(body, seconds, failed)
