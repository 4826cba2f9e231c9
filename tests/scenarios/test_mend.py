"""What audits found is repaired before any check is asked: by script, on a real origin."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from nightly_sync import (
    ci,
    conclude,
    divergence,
    git,
    mend,
    publish,
    report_facts,
    session,
    workspace,
)
from nightly_sync.agent.assistant import Assistant, employ
from nightly_sync.agent.base import Reply
from nightly_sync.audits.model import FindingKind
from nightly_sync.checks.gate import Verdict, VerdictKind
from nightly_sync.config import SyncConfig
from nightly_sync.errors import StopForPerson
from nightly_sync.forge.base import PullRequest
from nightly_sync.merge import step
from nightly_sync.repair import Head
from nightly_sync.reports.model import ReportFacts
from nightly_sync.session import Session
from tests.agent.repairs import edit, submit
from tests.agent.scripted import Script, call
from tests.support.site import Site

CODE = "".join(f"def step_{number}():\n    return {number}\n\n\n" for number in range(4))
EXTRA = '''\
class Extra:
    """What only dev has."""

    def close(self):
        return os.sep


'''
OTHER = '''\
def other():
    """The same place on main."""
    return 1


'''
SLUG = "def slug(words):\n    return words.{}()\n\n\n"
NAMES = "def clean(text):\n    return text.strip()\n"
READ = "def read(text):\n    return clean(text)\n"
IMPORTER = "from names import clean\n\n\ndef entries(text):\n    return clean(text)\n"
BASE: dict[str, str | bytes | None] = {
    "lost.py": f"{CODE}END = 1\n",
    "twice.py": f"{CODE}END = 1\n",
    "names.py": f"{NAMES}\n\n{CODE}END = 1\n",
}
MAIN: dict[str, str | bytes | None] = {
    "lost.py": f"import re\n\n{CODE}{OTHER}END = 1\n",
    "twice.py": f"{SLUG.format('lower')}{CODE}END = 1\n",
    "names.py": f"{NAMES.replace('clean', 'tidy')}\n\n{CODE}END = 1\n",
}
DEV: dict[str, str | bytes | None] = {
    "lost.py": f"import os\n\n{CODE}{EXTRA}END = 1\n",
    "twice.py": f"{CODE}{SLUG.format('upper')}END = 1\n",
    "names.py": f"{NAMES}\n\n{CODE}END = 1\n\n\n{READ}",
    "bank.py": IMPORTER,
}


def config(site: Site) -> SyncConfig:
    """A config that wants Claude, for whom there is no key."""
    agent = {"enabled": True, "key": "env:NO_SUCH_KEY"}
    return site.config(agent=agent, checks=[], sentinel=None, no_ci=True)


@dataclass(frozen=True)
class Stage:
    """A site whose draft is open, and whose merge dropped and broke things."""

    site: Site
    head: Head
    facts: ReportFacts
    record: bytes  # the pull request, as the local forge keeps it


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """The run up to there, without a key."""
    site = Site(tmp_path_factory.mktemp("mend")).diverge(BASE, MAIN, DEV)
    with session.opened(config(site), "first") as run:
        workspace.fetch(run.workspace, run.origin, 60)
        heads = workspace.branches(run.workspace)
        repo = run.workspace.repository
        parted = divergence.check(repo, heads["main"], heads["dev"], run.config)
        merged = step.merge(run, parted)
        facts = report_facts.with_audits(merged.facts, repo, merged.facts.head, run.config)
        publish.publish(run, merged)
        record = record_of(site).read_bytes()
        return Stage(site, step.head_of(repo, merged), facts, record)


def record_of(site: Site) -> Path:
    """The file of the only pull request."""
    return site.folder / "origin.git.nightly-sync" / "pulls" / "0001.json"


class Mending:
    """One run of the step."""

    def __init__(self, stage: Stage, run: Session, pull: PullRequest):
        self.stage, self.run, self.pull = stage, run, pull
        self.head = stage.head
        self.script = Script()

    def __call__(self, *turns: Reply, **agent: Any) -> Head:
        """The head after it, where Claude says this."""
        self.script = Script(*turns)
        settings = self.run.config.agent.model_copy(update=agent)
        file = self.run.workspace.run / "transcript.jsonl"
        self.run = replace(self.run, assistant=employ(settings, self.script, file))
        return mend.findings(self.run, self.pull, self.head, self.stage.facts)

    @property
    def repo(self) -> Path:
        """The workspace's repository."""
        return self.run.workspace.repository

    @property
    def left(self) -> tuple[str, ...]:
        """What the report says is left."""
        return self.run.assistant.facts().left

    @property
    def tip(self) -> str:
        """Where the sync branch is on origin."""
        return self.stage.site.branches()[self.head.branch]

    def changed(self, head: Head) -> dict[str, str]:
        """What the fix commit changes."""
        found = git.changes(self.repo, head.merge, head.tip)
        texts = {item.path: git.read_file(self.repo, head.tip, item.path) for item in found}
        return {path: (text or b"").decode() for path, text in texts.items()}


@pytest.fixture
def mending(published: Stage) -> Iterator[Mending]:
    """The step in a new run, on the branch as it was published."""
    site, head = published.site, published.head
    record_of(site).write_bytes(published.record)
    ref = f"refs/heads/{head.branch}"
    site.repo.git("-C", str(site.origin), "update-ref", ref, head.merge)
    with session.opened(config(site), "again") as run:
        yield Mending(published, run, run.forge.get(1))


NO = call("give_up", reason="a person has to choose")
RESTORE = edit("lost.py", "END = 1\n", f"{EXTRA}END = 1\n")
IMPORT = edit("lost.py", "import re\n", "import os\nimport re\n")
LOST = (RESTORE, IMPORT, submit("Extra is back"))
BANK = (edit("bank.py", "clean", "tidy", count=2), submit("bank uses tidy"))
NAME = (edit("names.py", "return clean", "return tidy"), submit("read uses tidy"))
TWICE = (edit("twice.py", SLUG.format("upper"), ""), submit("one slug"))


def test_everything_is_repaired_in_one_fix_commit_and_the_report_says_so(mending: Mending) -> None:
    head = mending(*LOST, *BANK, *NAME, *TWICE)
    assert mending.script.left == 0
    lines = ("Extra is back", "bank uses tidy", "read uses tidy", "one slug")
    assert head == replace(
        mending.head, tip=mending.tip, fixes=tuple(f"Claude: {line}" for line in lines)
    )
    changed = mending.changed(head)
    assert sorted(changed) == ["bank.py", "lost.py", "names.py", "twice.py"]
    assert (
        changed["lost.py"].replace(EXTRA, "") == f"import os\nimport re\n\n{CODE}{OTHER}END = 1\n"
    )
    verdict = Verdict(kind=VerdictKind.GREEN, reason="", final=True)
    final = conclude.after_repairs(mending.run, mending.stage.facts, ci.Watched(head, verdict))
    assert final.errors == ()
    assert {item.kind for item in final.findings if item.outcome.startswith("gone")} == {
        *mend.ERRORS,
        FindingKind.TARGET_DROPPED,
    }
    assert mending.left == ()
    spent = mending.run.assistant.facts()
    assert (list(spent.by_task), list(spent.by_file)) == (["audit"], [*("lost.py", "bank.py"),
                                                          *("names.py", "twice.py")])  # fmt: skip


def test_a_definition_is_restored_as_it_was_and_nothing_else_with_it(mending: Mending) -> None:
    """Each wrong way goes back with a reason: a whole file replaced, a definition rewritten."""
    whole = edit("lost.py", OTHER, EXTRA)
    undo = edit("lost.py", EXTRA, f"{EXTRA}{OTHER}")
    rewritten = edit("lost.py", "return os.sep", "return None")
    right = edit("lost.py", "return None", "return os.sep")
    wrong = (whole, submit(), undo, rewritten, submit(), right, submit())
    head = mending(*wrong, IMPORT, submit("Extra is back"), NO, NO, NO, answers=4)
    assert list(mending.changed(head)) == ["lost.py"]
    assert "lost.py: only `Extra` and its imports may be added" in mending.script.said(2)
    assert "`Extra` is not as either side has it" in mending.script.said(5)
    assert "undefined-name in lost.py line" in mending.script.said(7), "it needs its import"
    opening = mending.script.opening(0)
    assert 'what="file, and names of the definitions">\nlost.py: Extra\n' in opening
    assert f"\n{EXTRA.strip()}\n" in opening
    assert "fallback (proposal)\n  why: " in opening


def test_a_finding_that_is_still_there_goes_back(mending: Mending) -> None:
    beside = edit("names.py", "text.strip()", "text.strip(' ')")
    head = mending(NO, NO, beside, submit(), *NAME, NO)
    assert "`clean` is undefined here" in mending.script.said(4)
    assert list(mending.changed(head)) == ["names.py"]
    assert mending.run.assistant.rejected == {"undefined-name": 1}


def test_a_repair_that_brings_another_error_goes_back(mending: Mending) -> None:
    wrong = edit("names.py", "text.strip()", "strip(text)")
    right = edit("names.py", "strip(text)", "text.strip()")
    head = mending(NO, BANK[0], wrong, submit(), right, submit(), NO, NO)
    assert list(mending.changed(head)) == ["bank.py"]
    said = mending.script.said(4)
    assert "undefined-name in names.py line 2" in said
    assert "duplicate" not in said, "what was wrong before is another repair's"


def test_a_repair_may_not_drop_what_a_side_has(mending: Mending) -> None:
    renamed = edit("names.py", "def tidy", "def clean")
    assert mending(NO, renamed, submit(), NO, NO, NO) == mending.head
    assert "names.py: `tidy` is gone, and a side has it" in mending.script.said(3)


def test_only_the_files_of_a_finding_may_change(mending: Mending) -> None:
    other = edit("lost.py", "END = 1", "END = 2")
    mending(BANK[0], NO, other, NO, NO, NO)
    for request in (1, 3):
        assert "it is not one of this task's files" in mending.script.said(request)
    assert 'what="files you may change">\nbank.py\nnames.py\n' in mending.script.opening(2)
    assert 'what="files you may change">\nnames.py\n' in mending.script.opening(4)


def test_files_that_a_path_rule_is_about_are_left_alone(mending: Mending) -> None:
    rules = [{"rule": "take-source", "paths": ["lost.py", "names.py"]},
             {"rule": "protect", "paths": ["twice.py"]}]  # fmt: skip
    fields = {**mending.run.config.model_dump(), "rules": rules}
    mending.run = replace(mending.run, config=SyncConfig.model_validate(fields))
    mending(NO)
    assert 'what="files you may change">\nbank.py\n<' in mending.script.opening()


def test_what_another_repair_took_along_is_not_asked_about(mending: Mending) -> None:
    alias = edit("names.py", "return text.strip()\n", "return text.strip()\n\n\nclean = tidy\n")
    head = mending(NO, alias, submit("names has both"), NO)
    assert list(mending.changed(head)) == ["names.py"]
    assert mending.script.left == 0


def test_what_claude_gave_up_on_is_left_in_the_report(mending: Mending) -> None:
    assert mending(NO, NO, NO, NO) == mending.head
    assert mending.tip == mending.head.tip
    why = "Claude gave up: a person has to choose"
    assert mending.left == (
        f"Extra in lost.py, which the merge dropped: {why}",
        f"1 error that the audits found in bank.py: {why}",
        f"1 error that the audits found in names.py: {why}",
        f"1 error that the audits found in twice.py: {why}",
    )


def test_a_spent_budget_keeps_the_repairs_so_far(mending: Mending) -> None:
    head = mending(*LOST, turns=3)
    assert list(mending.changed(head)) == ["lost.py"]
    why = "the limit of 3 turns is reached"
    assert mending.left == (f"1 error that the audits found in bank.py: {why}",)


def test_without_a_key_nothing_is_done_and_that_is_told(mending: Mending) -> None:
    head = mend.findings(mending.run, mending.pull, mending.head, mending.stage.facts)
    assert head == mending.head
    (left,) = mending.left
    assert left.startswith("3 errors that the audits found: Claude was not asked: ")


def test_where_claude_is_not_wanted_there_is_nothing_to_tell(mending: Mending) -> None:
    agent = mending.run.config.agent.model_copy(update={"enabled": False})
    off = mending.run.config.model_copy(update={"agent": agent})
    run = replace(mending.run, config=off, assistant=Assistant(agent))
    assert mend.findings(run, mending.pull, mending.head, mending.stage.facts) == mending.head
    assert run.assistant.facts().left == ()


def test_a_merge_without_such_findings_asks_nobody(mending: Mending) -> None:
    mending.stage = replace(
        mending.stage, facts=mending.stage.facts.model_copy(update={"findings": ()})
    )
    assert mending() == mending.head


def test_a_person_who_pushes_meanwhile_is_not_overwritten(mending: Mending) -> None:
    repo, head = mending.stage.site.repo, mending.head
    repo.git("fetch", "-q", "origin")
    repo.git("checkout", "-q", head.merge)
    mine = repo.commit("By hand", {"hand.py": "h = 1\n"})
    repo.git("push", "-q", "origin", f"HEAD:refs/heads/{head.branch}")
    with pytest.raises(StopForPerson, match="somebody moved it"):
        mending(*LOST, NO, NO, NO)
    assert mending.tip == mine


def test_a_pull_request_that_was_closed_meanwhile_gets_no_push(mending: Mending) -> None:
    file = record_of(mending.stage.site)
    file.write_text(json.dumps({**json.loads(file.read_text()), "open": False}))
    with pytest.raises(StopForPerson, match="was closed"):
        mending(*LOST, NO, NO, NO)
    assert mending.tip == mending.head.tip


def test_an_origin_that_takes_no_repair_is_told(mending: Mending, published: Stage) -> None:
    hook = published.site.origin / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'frozen until Monday' >&2; exit 1\n")
    hook.chmod(0o755)
    try:
        assert mending(*LOST, NO, NO, NO) == mending.head
    finally:
        hook.unlink()
    assert mending.left[-1].startswith("origin did not take the repair of what the audits found: ")
    assert "frozen until Monday" in mending.left[-1]
