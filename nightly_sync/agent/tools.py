"""All tools a conversation can have, by what they allow."""

from collections.abc import Sequence

from nightly_sync.agent import command_tool, file_tools, git_tools, search_tool
from nightly_sync.agent.base import Tool
from nightly_sync.agent.bench import Bench
from nightly_sync.agent.originals import Originals
from nightly_sync.agent.sandbox import Sandbox
from nightly_sync.agent.sandbox_settings import AgentCommand


def reading(bench: Bench) -> tuple[Tool, ...]:
    """Look at the checkout and at history."""
    return (
        *file_tools.reading(bench),
        *search_tool.reading(bench),
        *git_tools.reading(bench),
    )


def writing(bench: Bench) -> tuple[Tool, ...]:
    """Change files, where the guard allows it."""
    return file_tools.writing(bench)


def running(
    bench: Bench, commands: Sequence[AgentCommand], sandbox: Sandbox, originals: Originals
) -> tuple[Tool, ...]:
    """Run the configured commands."""
    return command_tool.running(bench, commands, sandbox, originals)
