"""SandboxSettings: which commands Claude may run, and what they may use."""

from pydantic import Field, model_validator

from nightly_sync.command_line import CommandLine
from nightly_sync.model import Location, Model

MB = 1024 * 1024  # bytes


class AgentCommand(Model):
    """A command Claude may run in the sandbox, by its name; nothing else runs there."""

    name: str = Field(min_length=1, description="What Claude calls it by.")
    run: CommandLine = Field(
        description="The command line, run at the top of the checkout. No shell."
    )
    timeout_seconds: float = Field(900, gt=0, description="Killed after this long.")
    arguments: bool = Field(False, description="Claude may add words, such as files to test.")
    options: bool = Field(False, description="Added words may start with a dash.")

    @model_validator(mode="after")
    def _consistent(self) -> "AgentCommand":
        if self.options and not self.arguments:
            raise ValueError("options without arguments can never be given: set arguments too")
        return self


class SandboxSettings(Model):
    """Commands run without network, in bubblewrap; each limit is for one command."""

    commands: tuple[AgentCommand, ...] = Field((), description="What Claude may run.")
    environment: tuple[Location, ...] = Field(
        (),
        description="Folders the commands need besides the system's, such as a virtual "
        "environment and the Python it was made from; seen read-only at the same place. Their bin "
        "folders come first in PATH.",
    )
    processes: int = Field(512, gt=0, description="Processes and threads at a time.")
    memory_mb: int = Field(8192, gt=0, description="Memory of all processes together.")
    scratch_mb: int = Field(1024, gt=0, description="Size of /tmp, which is in memory.")
    file_mb: int = Field(2048, gt=0, description="Size of one file.")
    disk_mb: int = Field(10_240, gt=0, description="Disk space a command may use up.")
    open_files: int = Field(4096, gt=0, description="Open files of one process.")

    @model_validator(mode="after")
    def _one_of_a_name(self) -> "SandboxSettings":
        names = [command.name for command in self.commands]
        for at, name in enumerate(names):
            if name in names[:at]:
                raise ValueError(f"two commands are called {name!r}")
        return self
