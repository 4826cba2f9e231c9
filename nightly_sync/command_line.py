"""A command line in the config: words, split as a shell would, never run by one."""

import shlex
from typing import Annotated

from pydantic import AfterValidator


def _command_line(value: str) -> str:
    try:
        words = shlex.split(value)
    except ValueError as error:
        raise ValueError(f"the command line {value!r} cannot be split: {error}") from error
    if not words or not words[0]:
        raise ValueError("a command line is empty")
    return value


CommandLine = Annotated[str, AfterValidator(_command_line)]
