"""The tool that runs a configured command in the sandbox, and undoes what it may not change."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import Field

from nightly_sync.agent.base import Tool, ToolResult, tool
from nightly_sync.agent.checkout import Originals, Settled
from nightly_sync.agent.data import Marker, clean, listed
from nightly_sync.agent.file_tools import Bench
from nightly_sync.agent.guard import Refused, shown
from nightly_sync.agent.sandbox import Sandbox
from nightly_sync.agent.settings import AgentCommand
from nightly_sync.commands import CommandResult
from nightly_sync.model import Model


class RunCommand(Model):
    """Input of `run_command`."""

    command: str = Field(description="Name of one of the commands.")
    arguments: tuple[str, ...] = Field(
        (), max_length=200, description="Words to add at the end, where the command takes them."
    )


@dataclass(frozen=True)
class Commands:
    """What may be run, and where."""

    bench: Bench
    commands: Sequence[AgentCommand]
    sandbox: Sandbox
    originals: Originals

    def tool(self) -> Tool:
        names = "; ".join(map(_described, self.commands))
        what = f"Run a command at the top of the checkout and wait for its end: {names}."
        return tool("run_command", what, RunCommand, self._run)

    def _run(self, given: RunCommand) -> ToolResult:
        command = next((item for item in self.commands if item.name == given.command), None)
        if command is None:
            raise Refused(f"No command is called {clean(given.command)[:100]!r}.")
        words = _words(command, given.arguments)
        self.sandbox.hand_over()
        before = self.originals.before()
        try:
            result = self.sandbox.run(words, command.timeout_seconds)
        finally:
            by = f"command {command.name}"
            settled = self.originals.settle(before, self.bench.guard, by)
        marker = self.bench.marker
        output = marker.wrap(f"output of {command.name}", result.output, keep="end")
        return ToolResult("\n".join([_ending(command, result), *_effects(marker, settled), output]))


def _described(command: AgentCommand) -> str:
    kind = "any arguments" if command.options else "arguments without a dash in front"
    return f"{command.name} ({command.run}{', takes ' + kind if command.arguments else ''})"


def _words(command: AgentCommand, arguments: Sequence[str]) -> list[str]:
    """The command line. Raises Refused for arguments that the config does not allow."""
    if arguments and not command.arguments:
        raise Refused(f"The command {command.name} takes no arguments.")
    if any(word.startswith("-") for word in arguments) and not command.options:
        raise Refused(f"The command {command.name} takes no options, only names and values.")
    return [*shlex.split(command.run), *arguments]


def _ending(command: AgentCommand, result: CommandResult) -> str:
    if result.timed_out:
        return f"{command.name} was stopped after {command.timeout_seconds:g} s."
    return f"{command.name} ended with exit code {result.code} after {result.seconds:.1f} s."


def _effects(marker: Marker, settled: Settled) -> Iterator[str]:
    if settled.changed:
        yield marker.wrap("paths it changed, made or removed", listed(map(shown, settled.changed)))
    if settled.refused:
        lines = (f"{shown(item.path)}: {item.reason}" for item in settled.refused)
        yield marker.wrap("changes that were undone, and why they may not be", listed(lines))
