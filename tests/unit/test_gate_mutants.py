"""The tests of the gate pin every one of its conditions."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_removing_any_single_condition_of_the_gate_fails_a_test() -> None:
    script = [sys.executable, "tests/mutate_gate.py"]
    result = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
