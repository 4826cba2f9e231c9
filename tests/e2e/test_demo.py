"""The demo command: every trap answered, and the verdict it promises."""

from pathlib import Path

import pytest

from nightly_sync.errors import Exit
from tests.support.forking import Forking


@pytest.mark.parametrize(
    ("args", "outcome", "shown"),
    [
        ((), "ready-needs-look", "- squash-chain: "),
        (("--github",), "ready-needs-look", " looks at the checks of the pull request\n"),
        (("--agent", "scripted"), "ready-needs-look", "a new skip in test_the_letter_has_the_sum"),
    ],
)
def test_the_demo_ends_as_it_promises(
    tmp_path: Path, apart: Forking, args: tuple[str, ...], outcome: str, shown: str
) -> None:
    result = apart.run("nightly_sync", "demo", "--folder", str(tmp_path / "demo"), *args)
    assert result.returncode == Exit.NEEDS_LOOK, result.stdout + result.stderr
    assert result.stdout.startswith(f"{outcome}:")
    (report,) = (line for line in result.stdout.splitlines() if line.startswith("Report: "))
    assert Path(report.removeprefix("Report: ")).is_file()
    assert shown in result.stdout
    assert "prefect server start" in result.stdout
