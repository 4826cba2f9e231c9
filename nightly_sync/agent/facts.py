"""What a run tells of Claude's part in it: for the report, the metrics and the history."""

from pydantic import Field

from nightly_sync.agent.budget import Spent
from nightly_sync.model import Model, PathName, Text


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
    spent: Spent = Spent()
    by_task: dict[str, Spent] = Field(default_factory=dict)
    by_file: dict[PathName, Spent] = Field(default_factory=dict)
    transcript: PathName = ""
