"""Whole merges with hunks that Claude resolves, and what a later run says of them."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nightly_sync import divergence, git, publish, session, workspace
from nightly_sync.agent.assistant import employ
from nightly_sync.agent.base import Reply
from nightly_sync.errors import ConfigError
from nightly_sync.merge import step
from nightly_sync.merge.model import HunkPlan
from nightly_sync.merge.step import Merged
from nightly_sync.session import Session
from tests.agent.resolving import BASE, BOTH, SOURCE, TARGET, answer, app
from tests.agent.scripted import Script, call
from tests.support.site import Site

MERGED = app(BOTH.strip()[7:]).encode()
FIELDS: dict[str, Any] = {"checks": [], "sentinel": None, "no_ci": True}
TWO = {"app.py": app(SOURCE), "settings.txt": "size 3\n"}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Both sides change a line of a module, and another of a text file."""
    base: dict[str, str | bytes | None] = {"app.py": app(BASE), "settings.txt": "size 1\n"}
    target: dict[str, str | bytes | None] = {"app.py": app(TARGET), "settings.txt": "size 2\n"}
    return Site(tmp_path).diverge(base, {**TWO}, target)


@contextmanager
def night(
    site: Site, name: str, *turns: Reply, **fields: Any
) -> Iterator[tuple[Session, Script, Merged]]:
    """A run up to its merge."""
    config = site.config(**FIELDS, agent={"enabled": True}, **fields)
    with session.opened(config, name) as run:
        script = Script(*turns)
        claude = employ(config.agent, script, run.workspace.run / "transcript.jsonl")
        yield run, script, merged(replace(run, assistant=claude))


def merged(run: Session) -> Merged:
    workspace.fetch(run.workspace, run.origin, 60)
    heads = workspace.branches(run.workspace)
    source, target = heads[run.config.source], heads[run.config.target]
    parted = divergence.check(run.workspace.repository, source, target, run.config)
    return step.merge(run, parted)


def hunks(made: Merged) -> dict[str, HunkPlan]:
    """The one hunk of each file."""
    return {item.path: item.hunks[0] for item in made.facts.plan.conflicts}


def content(run: Session, made: Merged, name: str, tree: str | None = None) -> bytes | None:
    return git.read_file(run.workspace.repository, tree or made.facts.merge_commit, name)


def first_night(site: Site, *turns: Reply, **fields: Any) -> None:
    """A run that resolves, pushes, and then is gone."""
    with night(site, "one", *turns, **fields) as (run, _, made):
        publish.publish(run, made)


def test_an_answer_is_in_the_merge_commit_and_the_rest_is_the_fallbacks(site: Site) -> None:
    with night(site, "one", answer(BOTH), call("leave", reason="Ask")) as (run, script, made):
        assert content(run, made, "app.py") == MERGED
        assert content(run, made, "settings.txt") == b"size 3\n"
        rules = {path: hunk.rule for path, hunk in hunks(made).items()}
        assert rules == {"app.py": "agent", "settings.txt": "fallback"}
        assert [body["messages"][0]["role"] for body in script.bodies] == ["user", "user"]
        transcript = (run.workspace.run / "transcript.jsonl").read_text()
        assert "Both options are passed." in transcript


def test_a_run_that_was_killed_before_its_push_asks_nothing_twice(site: Site) -> None:
    with night(site, "one", answer(BOTH), call("leave", reason="Ask")):
        pass
    with night(site, "two", call("leave", reason="Ask")) as (run, script, made):
        assert "settings.txt" in script.opening(0)
        assert content(run, made, "app.py") == MERGED
        assert hunks(made)["app.py"].evidence.endswith("Both options are passed")


def test_a_resumed_run_tells_the_reasons_it_remembers(site: Site) -> None:
    first_night(site, answer(BOTH), call("leave", reason="Ask"))
    with night(site, "two") as (_, script, made):
        assert made.choice is not None
        assert made.choice.resume is not None
        assert script.bodies == []
        told = hunks(made)
        assert (told["app.py"].rule, told["settings.txt"].rule) == ("agent", "fallback")
        assert told["app.py"].evidence.endswith("Both options are passed")


@pytest.mark.parametrize("fallback", ["source", "stop"])
def test_a_run_resumed_elsewhere_tells_what_stands_in_the_merge(site: Site, fallback: str) -> None:
    """Not what the fallback would have made of the same hunks."""
    lost = {"lines": "size 3", "reason": "x", "commit": site.repo.git("rev-parse", "dev")}
    kept = answer("size 2\n", dropped=[lost])
    first_night(site, answer(BOTH), kept, fallback=fallback)
    (home,) = (site.folder / "home").iterdir()
    shutil.rmtree(home)
    with night(site, "two", fallback=fallback) as (run, script, made):
        assert script.bodies == []
        told = hunks(made)
        assert {hunk.rule for hunk in told.values()} == {"earlier-run"}
        assert [str(hunk.take) for hunk in told.values()] == ["text", "target"]
        assert "not on this machine" in told["app.py"].evidence
        tree = made.facts.plan.resolved_tree
        assert content(run, made, "app.py", tree) == content(run, made, "app.py") == MERGED


def test_without_a_key_the_merge_is_made_all_the_same(site: Site) -> None:
    config = site.config(**FIELDS, agent={"enabled": True, "key": "env:NO_SUCH_KEY"})
    with session.opened(config, "one") as run:
        made = merged(run)
        assert content(run, made, "app.py") == app(SOURCE).encode()
        (left,) = run.assistant.facts().left
    assert left.startswith("resolve: not asked about 2 files, since Claude was not asked: ")
    assert "NO_SUCH_KEY" in left
    assert left.endswith(": app.py, settings.txt")


def test_nothing_is_asked_or_told_where_claude_is_not_wanted(site: Site) -> None:
    with session.opened(site.config(**FIELDS), "one") as run:
        made = merged(run)
        assert {hunk.rule for hunk in hunks(made).values()} == {"fallback"}
        assert run.assistant.facts().left == ()


def test_a_path_rule_keeps_its_files_from_claude(site: Site) -> None:
    rules = [
        {"rule": "protect", "paths": ["app.py"]},
        {"rule": "take-source", "paths": ["settings.txt"]},
    ]
    config = site.config(**FIELDS, rules=rules, agent={"enabled": True})
    with session.opened(config, "one", secret=_no_secret) as run:
        made = merged(run)
        assert {item.rule for item in made.facts.plan.conflicts} == {"protect", "take-source"}
        assert run.assistant.facts().left == ()


def _no_secret(reference: str) -> str:
    raise ConfigError(f"there is no {reference}")
