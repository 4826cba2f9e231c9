"""The demo command: every trap answered, and the verdict it promises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nightly_sync.errors import Exit

pytestmark = pytest.mark.usefixtures("prefect")


@pytest.mark.parametrize(
    ("args", "outcome", "shown"),
    [
        ((), "ready-needs-look", "- squash-chain: "),
        (("--broken",), "draft-findings", "- defined-twice: "),
        (("--github",), "ready-needs-look", " looks at the checks of the pull request\n"),
    ],
)
def test_the_demo_ends_as_it_promises(
    tmp_path: Path, args: tuple[str, ...], outcome: str, shown: str
) -> None:
    from prefect.settings import PREFECT_API_URL

    result = subprocess.run(
        [sys.executable, "-m", "nightly_sync", "demo", "--folder", str(tmp_path / "demo"), *args],
        env={**os.environ, "PREFECT_API_URL": str(PREFECT_API_URL.value())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == Exit.NEEDS_LOOK, result.stdout + result.stderr
    assert result.stdout.startswith(f"{outcome}:")
    (report,) = (line for line in result.stdout.splitlines() if line.startswith("Report: "))
    assert Path(report.removeprefix("Report: ")).is_file()
    assert shown in result.stdout
    assert "prefect server start" in result.stdout
