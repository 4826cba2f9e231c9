"""The SDK takes seconds to import, so only those who talk to Claude pay for it."""

import subprocess
import sys

IMPORTS = "nightly_sync.cli, nightly_sync.agent.loop, nightly_sync.agent.assistant"


def test_neither_the_command_line_nor_the_loop_imports_the_sdk() -> None:
    code = f"import sys, {IMPORTS}; print([m for m in sys.modules if m.startswith('anthropic')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
