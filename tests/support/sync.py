"""Run a plan on a test repository and look at what came of it."""

from typing import Any

from nightly_sync import git
from nightly_sync.config import SyncConfig
from nightly_sync.merge.model import MergePlan, PathPlan
from nightly_sync.merge.plan import plan
from tests.support.repo import TestRepo


def config(repo: TestRepo, **fields: Any) -> SyncConfig:
    """A config for this repository, validated like any other."""
    return SyncConfig.model_validate({"repository": str(repo.path), **fields})


def planned(repo: TestRepo, **fields: Any) -> MergePlan:
    """The plan for merging `main` into `dev`."""
    source, target = repo.git("rev-parse", "main"), repo.git("rev-parse", "dev")
    return plan(repo.path, source, target, config(repo, **fields))


def path(made: MergePlan, name: str) -> PathPlan:
    """The plan of one path."""
    (found,) = [item for item in made.paths if item.path == name]
    return found


def content(repo: TestRepo, made: MergePlan, name: str) -> bytes | None:
    """What the resolved tree holds at a path."""
    assert made.resolved_tree is not None
    return git.read_file(repo.path, made.resolved_tree, name)


def rule(name: str, *paths: str) -> dict[str, Any]:
    """A path rule."""
    return {"rule": name, "paths": list(paths)}
