"""What `run` refuses at once, in a sentence, without starting Prefect."""

import json
from pathlib import Path
from typing import Any

import pytest

from nightly_sync.errors import Exit
from tests.support.forking import Ended, nightly_sync
from tests.support.repo import TestRepo

CHECK = [{"name": "tests", "run": "python -c pass"}]


def _run(tmp_path: Path, **fields: Any) -> Ended:
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps({"workspace": str(tmp_path / "home"), **fields}))
    return nightly_sync("run", "--config", str(config))


@pytest.mark.parametrize(
    ("fields", "code", "words"),
    [
        ({"repository": "https://example.com/b", "checks": CHECK}, Exit.USAGE, "no address"),
        ({"repository": "{tmp}/nope", "checks": CHECK}, Exit.FAILED, "there is no repository at"),
        ({"repository": "{tmp}/repo"}, Exit.USAGE, "no_ci"),
        ({"repository": "{tmp}/repo", "checks": CHECK, "sourc": "x"}, Exit.USAGE, "sourc"),
    ],
)
def test_run_refuses_at_once(
    tmp_path: Path, fields: dict[str, Any], code: Exit, words: str
) -> None:
    TestRepo(tmp_path / "repo").commit("One", {"a": "1\n"})
    repository = fields["repository"].replace("{tmp}", str(tmp_path))
    result = _run(tmp_path, **{**fields, "repository": repository})
    assert result.returncode == code, result.stderr
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert "server" not in result.stderr
