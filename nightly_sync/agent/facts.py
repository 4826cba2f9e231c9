"""What a run tells of Claude's part in it: for the report, the metrics and the history."""

from pydantic import Field

from nightly_sync.model import Model, PathName, Text


class Cost(Model):
    """What something cost: tokens, answers, seconds; money is None where no price is known."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    turns: int = 0
    retries: int = 0
    seconds: float = 0.0
    money: float | None = 0.0


class AgentRefusal(Model):
    """A change that no task may make, and that was not made. `kind` is a word to count by."""

    task: str
    path: PathName
    kind: str
    evidence: Text


class AgentFacts(Model):
    """Claude's part in a run."""

    enabled: bool = False
    model: str = ""
    problem: Text = ""  # why it was not asked, or not any more
    limit: Text = ""  # the limit that was reached
    commands_off: Text = ""  # why it could run no commands
    left: tuple[Text, ...] = ()
    refusals: tuple[AgentRefusal, ...] = ()
    rejected: dict[str, int] = Field(default_factory=dict)  # answers sent back, by the problem
    spent: Cost = Cost()
    by_task: dict[str, Cost] = Field(default_factory=dict)
    by_file: dict[PathName, Cost] = Field(default_factory=dict)
    transcript: PathName = ""
