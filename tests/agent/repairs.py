"""A merge that broke something, and Claude by script to repair it."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nightly_sync import git
from nightly_sync.agent import repair
from nightly_sync.agent.assistant import Assistant, employ
from nightly_sync.agent.base import Reply
from nightly_sync.agent.checkout import Ground, Proposal
from nightly_sync.agent.data import Marker
from nightly_sync.agent.repair import Job, Mended, NotMended
from nightly_sync.config import SyncConfig
from nightly_sync.conflicts import Entry
from nightly_sync.forge.local import LocalForge
from nightly_sync.review.harm import Objection
from nightly_sync.session import Session
from nightly_sync.workspace import Workspace
from tests.agent.scripted import Script, call
from tests.support.repo import TestRepo

GUIDE = "Use double quotes in this repository.\n"
MODEL = '''\
"""The model."""


def old_loss(value):
    """The loss."""
    return value * 2


def build(size):
    """A model."""
    return [0] * size
'''
TRAIN = """\
from pkg.model import old_loss


def train(value):
    return old_loss(value)
"""
TEST = """\
from pkg.train import train


def test_training():
    assert train(2) == 4
"""
BASE: dict[str, str | bytes | None] = {
    "pkg/__init__.py": "",
    "pkg/model.py": MODEL,
    "tests/test_model.py": "from pkg.model import build\n\n\ndef test_build():\n    build(1)\n",
    "CODEOWNERS": "* @owners\n",
    ".github/workflows/ci.yml": "on: push\n",
    "setup.cfg": "[flake8]\nmax-line-length = 88\n",
    "odd.txt": "odd\n",
    "dropped.txt": "main drops it\n",
    "kept.py": "KEPT = 1\n",
    "VERSION": "1\n",
    "golden/values.json": "[1]\n",
}
MAIN: dict[str, str | bytes | None] = {
    "pkg/model.py": MODEL.replace("old_loss", "new_loss"),
    "dropped.txt": None,
}
DEV: dict[str, str | bytes | None] = {
    "pkg/train.py": TRAIN,
    "tests/test_train.py": TEST,
    "CLAUDE.md": GUIDE,
}
RULES = [
    {"rule": "protect", "paths": ["CODEOWNERS", "/kept.py"]},
    {"rule": "take-target", "paths": ["VERSION"]},
]


@cache
def _template() -> tuple[TemporaryDirectory[str], dict[str, str]]:
    folder = TemporaryDirectory(prefix="nightly-sync-repairs-")
    repo = TestRepo(Path(folder.name))
    base = repo.commit("Base", BASE)
    repo.branch("dev")
    target = repo.commit("Train (#2)", DEV)
    repo.checkout("main")
    source = repo.commit("A better name (#1)", MAIN)
    repo.checkout("dev")
    merge = repo.merge("main")
    return folder, {"base": base, "target": target, "source": source, "merge": merge}


def session(config: SyncConfig, repo: Path, folder: Path, assistant: Assistant) -> Session:
    """A run on a repository, without a workspace of its own; `folder` takes what is kept."""
    origin, now = str(repo), datetime(2026, 11, 30, tzinfo=UTC)
    config = config.model_copy(update={"repository": origin})
    place = Workspace(home=folder, repository=repo, origin=origin, run=folder)
    forge = LocalForge(config, repo, state=folder / "state")
    remote = git.Remote(origin)
    return Session(config, place, forge, remote, "run-1", now, lambda: now, assistant)


class Bench:
    """Claude at work on that merge, which left an import of a name that is gone.

    The repository is the same for all tests: repairs only add objects to it.
    """

    def __init__(self, folder: Path, *turns: Reply | Exception, **agent: Any):
        template, shas = _template()
        self.repo = Path(template.name)
        settings = {"enabled": True, **agent}
        fields = {"repository": str(self.repo), "rules": RULES, "agent": settings}
        config = SyncConfig.model_validate(fields)
        tree = git.tree_of(self.repo, shas["merge"])
        self.ground = Ground(config=config, repo=self.repo, tree=tree, **shas)
        self.script = Script(*turns)
        self.assistant = employ(config.agent, self.script, folder / "transcript.jsonl")
        self.seen: list[Proposal] = []
        self.objections: list[list[Objection]] = []  # of the judge, for one answer each

        self.claude = repair.briefed(self.assistant, self.repo, shas["target"])

    def mend(self, **job: Any) -> Mended | NotMended:
        """One conversation."""
        made = Job("ci", "", self._opening, self._judge, **job)
        return repair.mend(self.claude, self.ground, made)

    def _opening(self, marker: Marker) -> str:
        return marker.wrap("what failed", "ImportError: cannot import name 'old_loss'")

    def _judge(self, proposal: Proposal) -> list[Objection]:
        self.seen.append(proposal)
        return self.objections.pop(0) if self.objections else []

    def with_entries(self, folder: Path, **entries: Entry) -> str:
        """The merge's tree with other entries; `dropped.txt` is `dropped_txt`."""
        edits = {name.replace("_", "."): entry for name, entry in entries.items()}
        return git.edit_tree(self.repo, self.ground.tree, edits, folder)

    @property
    def dropped(self) -> Entry:
        """What the source dropped, as the target has it."""
        return git.tree_entries(self.repo, self.ground.target)["dropped.txt"]

    def changed(self, made: Mended | NotMended) -> dict[str, bytes | None]:
        """What a repair changed in the tree."""
        assert isinstance(made, Mended), made
        found = git.changes(self.repo, self.ground.tree, made.tree)
        return {item.path: git.read_file(self.repo, made.tree, item.path) for item in found}

    @property
    def refused(self) -> list[tuple[str, str]]:
        """Path and kind of what was refused, as the report has it."""
        return [(item.path, item.kind) for item in self.assistant.facts().refusals]


def edit(path: str, old: str, new: str, **more: Any) -> Reply:
    """Claude edits a file."""
    return call("edit_file", path=path, old=old, new=new, **more)


def submit(summary: str = "train uses the new name") -> Reply:
    """Claude hands its repair in."""
    return call("submit", summary=summary)


REPAIR = edit("pkg/train.py", "old_loss", "new_loss", count=2)
REPAIRED = {"pkg/train.py": TRAIN.replace("old_loss", "new_loss").encode()}
