"""The demo command: every trap answered, and the verdict it promises."""

from pathlib import Path

import pytest

from nightly_sync.errors import Exit
from tests.support.forking import Forking


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ((), "- squash-chain: "),
        (("--github",), " looks at the checks of the pull request\n"),
        (("--agent", "scripted"), " in test_the_letter_has_the_sum, and no side has it there"),
    ],
)
def test_the_demo_ends_as_it_promises(
    tmp_path: Path, apart: Forking, args: tuple[str, ...], shown: str
) -> None:
    result = apart.run("nightly_sync", "demo", "--folder", str(tmp_path / "demo"), *args)
    assert result.returncode == Exit.NEEDS_LOOK, result.stdout + result.stderr
    assert result.stdout.startswith("ready-needs-look:")
    (report,) = (line for line in result.stdout.splitlines() if line.startswith("Report: "))
    assert Path(report.removeprefix("Report: ")).is_file()
    assert shown in result.stdout
    assert "prefect server start" in result.stdout
