"""A sandbox to test in, with the Python of these tests as the site's environment."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from nightly_sync.agent.sandbox import Sandbox, opened
from nightly_sync.agent.settings import SandboxSettings

NEEDED = "NIGHTLY_SYNC_NEEDS_SANDBOX"  # set where a skipped test would hide a hole
PYTHON = (sys.prefix, sys.base_prefix)


def settings(**changed: Any) -> SandboxSettings:
    """Small limits, so that they are reached at once."""
    small = {"processes": 24, "memory_mb": 200, "scratch_mb": 20, "file_mb": 8}
    return SandboxSettings.model_validate({"environment": PYTHON, **small, **changed})


def sandbox(checkout: Path, **changed: Any) -> Sandbox:
    """A working sandbox; the test is skipped where there is no bubblewrap."""
    if shutil.which("bwrap") is None and not os.environ.get(NEEDED):
        pytest.skip("bubblewrap is not installed")
    checkout.mkdir(exist_ok=True)
    return opened(checkout, settings(**changed))


def processes_with(marker: str) -> list[str]:
    """Command lines, of all processes of this machine that are no zombies, that hold a text."""
    lines = []
    for folder in Path("/proc").iterdir():
        try:
            line = (folder / "cmdline").read_bytes()
        except OSError:  # no process, or gone by now
            continue
        if marker.encode() in line:  # empty for a zombie
            lines.append(line.decode(errors="replace"))
    return lines
