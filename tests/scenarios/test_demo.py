"""The demo's repository: each planted trap gets its answer, and the tests in it are real."""

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nightly_sync import demo, git, report_facts, tools
from nightly_sync.audits.model import Finding, FindingKind, Severity
from nightly_sync.commands import argv, run_command
from nightly_sync.demo import DemoSite, code, texts
from nightly_sync.demo.model import edited
from nightly_sync.divergence import check as divergence_of
from nightly_sync.errors import SyncError
from nightly_sync.merge.commit import commit_merge
from nightly_sync.merge.model import MergePlan
from nightly_sync.merge.plan import plan
from nightly_sync.record import Outcome

NOW = datetime(2026, 11, 30, 21, tzinfo=UTC)


@dataclass(frozen=True)
class Merged:
    """A demo site, and what came of merging it."""

    site: DemoSite
    plan: MergePlan
    commit: str
    findings: tuple[Finding, ...]

    def file(self, path: str, commit: str = "") -> bytes:
        """The content of a file in the merge, or in another commit."""
        found = git.read_file(self.site.origin, commit or self.commit, path)
        assert found is not None
        return found


def _merged(folder: Path, broken: bool) -> Merged:
    site = demo.build(folder, NOW, broken=broken)
    source, target = (git.commit_of(site.origin, name) for name in ("main", "dev"))
    assert source is not None
    assert target is not None
    made = plan(site.origin, source, target, site.config)
    commit = commit_merge(site.origin, made, site.config, "Merge", NOW).commit
    parted = divergence_of(site.origin, source, target, site.config)
    facts = report_facts.start(site.config, parted, made)
    found = report_facts.with_audits(facts, site.origin, commit, site.config).findings
    return Merged(site, made, commit, found)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Merged:
    return _merged(tmp_path_factory.mktemp("demo"), broken=False)


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Merged:
    return _merged(tmp_path_factory.mktemp("broken"), broken=True)


def _failed_checks(merged: Merged, commit: str) -> Iterator[str]:
    with tools.checkout(merged.site.origin, commit) as (folder, _):
        for check in merged.site.config.checks:
            if not run_command(argv(check.run), folder, check.timeout_seconds).ok:
                yield check.name


def test_every_trap_of_the_default_scenario_gets_its_rule_and_its_findings(good: Merged) -> None:
    assert demo.check(good.site, good.plan, good.findings) == []
    assert good.site.verdict is Outcome.READY_NEEDS_LOOK


def test_every_trap_of_the_broken_scenario_gets_its_rule_and_its_findings(bad: Merged) -> None:
    assert demo.check(bad.site, bad.plan, bad.findings) == []
    assert bad.site.verdict is Outcome.DRAFT_FINDINGS


@pytest.mark.parametrize("scenario", ["good", "bad"])
def test_nothing_is_planned_or_found_that_no_trap_expects(
    scenario: str, request: pytest.FixtureRequest
) -> None:
    merged: Merged = request.getfixturevalue(scenario)
    expected = {trap.path for trap in merged.site.traps}
    assert {item.path for item in merged.plan.paths} <= expected
    assert {item.path for item in merged.findings} <= expected


def test_the_default_scenario_has_warnings_only_and_nothing_for_a_person_to_decide(
    good: Merged,
) -> None:
    assert {item.severity for item in good.findings} == {Severity.WARNING}
    assert good.plan.unresolved == ()
    assert good.plan.proposals != ()


def test_the_broken_scenario_has_an_error_of_each_kind_git_merges_in_silence(bad: Merged) -> None:
    errors = {item.kind for item in bad.findings if item.severity is Severity.ERROR}
    assert errors == {FindingKind.UNDEFINED, FindingKind.DUPLICATE, FindingKind.BROKEN_IMPORT}


@pytest.mark.parametrize("branch", ["source", "target", "merge"])
def test_each_branch_and_the_merge_pass_the_demos_checks(good: Merged, branch: str) -> None:
    commits = {"source": good.plan.source, "target": good.plan.target, "merge": good.commit}
    assert list(_failed_checks(good, commits[branch])) == []


def test_in_the_broken_scenario_no_check_sees_what_the_merge_broke(bad: Merged) -> None:
    on_target, merged = (list(_failed_checks(bad, at)) for at in (bad.plan.target, bad.commit))
    assert on_target == merged == ["contract"]


def test_hunks_that_merged_cleanly_survive_around_a_conflict(good: Merged) -> None:
    merged = good.file("ledger/accounts.py")
    assert b"def largest(self)" in merged  # dev
    assert b"an entry needs an amount" in merged  # main
    assert b"({len(self.entries)})" in merged  # the conflict, from main
    assert b"balance()} cents" not in merged


def test_each_line_of_the_squash_chain_survives_or_is_flagged(good: Merged) -> None:
    merged, added = good.file("ledger/convert.py"), set(code.ON_DEV.splitlines())
    flagged = [item.evidence for item in good.findings if item.path == "ledger/convert.py"]
    gone = {line for line in added if line and line.encode() not in merged}
    assert len(gone) == 4
    assert all(any(line in evidence for evidence in flagged) for line in gone)
    assert b"def from_minor" in merged
    assert b"DIGITS = " in merged


def test_protected_paths_equal_the_targets(good: Merged) -> None:
    def protected(commit: str) -> dict[str, object]:
        return dict(git.tree_entries(good.site.origin, commit, ".github"))

    assert protected(good.commit) == protected(good.plan.target) != protected(good.plan.source)


def test_text_keeps_its_line_ends_and_its_missing_last_newline(good: Merged) -> None:
    vat = good.file("ledger/vat.py")
    assert vat.count(b"\r\n") == vat.count(b"\n")
    assert b"RATE = 20\r\n" in vat  # main, the conflict
    assert b"Net and tax together." in vat  # dev, around it
    planned = {item.path for item in good.plan.paths}
    odd = [name for name in texts.ODD_NAMES if name in planned]
    assert len(odd) >= 3  # not every file system takes them all
    assert {good.file(name) for name in odd} == {b"buy ink"}


def test_what_git_merges_by_attribute_and_by_rename_is_kept(good: Merged) -> None:
    changes = good.file("CHANGELOG.md")
    assert b"no empty entries" in changes
    assert b"currencies" in changes
    assert b'+ "\\n"' in good.file("ledger/tables.py")


def test_no_line_of_the_merge_is_a_conflict_marker_but_the_quoted_ones(good: Merged) -> None:
    for path in git.tree_entries(good.site.origin, good.commit):
        if path != "docs/merging.md":
            assert b"<<<<<<<" not in good.file(path)
    assert good.file("docs/guide.rst").count(b"=======\n") == 2


def test_the_same_hour_builds_the_same_commits(tmp_path: Path, good: Merged) -> None:
    again = demo.build(tmp_path, NOW)
    assert git.refs(again.origin, "refs/heads") == git.refs(good.site.origin, "refs/heads")
    (last,) = git.log(again.origin, "main", options=("-1",))
    assert last.date == "2026-11-30T20:00:00+00:00"


def test_a_second_demo_in_one_folder_is_refused(tmp_path: Path) -> None:
    demo.build(tmp_path, NOW)
    with pytest.raises(SyncError, match="name a new folder"):
        demo.build(tmp_path, NOW, broken=True)


def test_check_names_a_trap_with_another_rule_or_other_findings(good: Merged) -> None:
    trap = next(trap for trap in good.site.traps if trap.path == "ledger/convert.py")
    without = [item for item in good.findings if item.path != trap.path]
    others = tuple(item for item in good.plan.paths if item.path != trap.path)
    made = good.plan.model_copy(update={"paths": others})
    assert demo.check(good.site, made, without) == [
        "squash-chain (ledger/convert.py): rule fallback expected, none found",
        "squash-chain (ledger/convert.py): findings target-lines-dropped expected, none found",
    ]


def test_an_edit_that_finds_no_text_is_an_error() -> None:
    with pytest.raises(ValueError, match="occurs 0 times"):
        edited("some text", ("other", "new"))


def test_without_pytest_the_demo_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SyncError, match="need pytest; install it"):
        demo.build(tmp_path, NOW)
