"""The repository's own guidance, as it is told."""

from pathlib import Path

import pytest

from nightly_sync.agent import briefing as module
from nightly_sync.agent.briefing import guidance
from nightly_sync.agent.data import Marker
from tests.support.repo import TestRepo

MARKER = Marker("0" * 16)
NAMES = ("CLAUDE.md", "AGENTS.md", "docs/STYLE.md")


def _told(folder: Path, files: dict[str, str | bytes | None], **links: str) -> str:
    repo = TestRepo(folder / "repo")
    repo.write(files)
    for name, target in links.items():
        (repo.path / f"{name}.md").symlink_to(target)
    return guidance(repo.path, repo.commit("One"), NAMES, MARKER)


def test_the_named_files_are_framed_in_their_order(tmp_path: Path) -> None:
    told = _told(tmp_path, {"docs/STYLE.md": "tabs\n", "CLAUDE.md": "be brief\n", "x.md": "no\n"})
    assert told == "\n".join(
        MARKER.wrap(f"guidance from {name}", text)
        for name, text in (("CLAUDE.md", "be brief"), ("docs/STYLE.md", "tabs"))
    )


def test_there_may_be_none(tmp_path: Path) -> None:
    assert _told(tmp_path, {"CLAUDE.md/x": "a folder\n", "AGENTS.md": b"\0binary"}) == ""


def test_a_link_is_followed_and_the_same_text_told_once(tmp_path: Path) -> None:
    told = _told(tmp_path, {"docs/STYLE.md": "tabs\n"}, CLAUDE="docs/STYLE.md")
    assert told == MARKER.wrap("guidance from CLAUDE.md", "tabs")


@pytest.mark.parametrize("target", ["../../secret.md", "/etc/hostname", "gone.md", "CLAUDE.md"])
def test_a_link_that_leads_nowhere_in_the_commit_is_no_guidance(
    tmp_path: Path, target: str
) -> None:
    (tmp_path / "secret.md").write_text("secret")
    assert _told(tmp_path, {"x.md": "x"}, CLAUDE=target) == ""


def test_long_guidance_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EACH", 10)
    monkeypatch.setattr(module, "ALL", 15)
    told = _told(tmp_path, {name: name[0] * 100 for name in NAMES})
    assert [told.count(letter * 5) for letter in "CA"] == [2, 1]
    assert 'what="guidance from AGENTS.md" shown="start: 5 of 100 characters"' in told
    assert "STYLE" not in told
