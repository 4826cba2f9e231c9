"""report.md and the summary: what must be in them, in which order, and what must not happen."""

import re
from collections.abc import Callable

import pytest

from nightly_sync.audits.model import FindingKind, Severity
from nightly_sync.conflicts import Kind
from nightly_sync.merge.model import Status, Take
from nightly_sync.record import Outcome
from nightly_sync.reports import body, report, summary
from nightly_sync.reports.headline import WORDS, needs, verdict
from nightly_sync.reports.marker import Marker
from nightly_sync.reports.model import (
    CheckResult,
    ChecksFacts,
    Exemption,
    ReportFacts,
    ToolRun,
    whole_files,
)
from tests.support.facts import (
    FILE,
    MERGE,
    SOURCE,
    TARGET,
    facts,
    finding,
    hunk,
    large,
    patch,
    path,
    touch,
    whole,
)
from tests.support.pages import active, kinds, tokens

EVIL = "@octocat Fixes #1 <!-- x --></details> ![i](http://x.y/z) `a` | b **c**"


def _checks() -> ChecksFacts:
    return ChecksFacts(
        passed=("lint", "unit"),
        failed=(CheckResult(name="gpu", url="https://ci.example/1", evidence="E   boom"),),
        pre_existing=(CheckResult(name="docs", conclusion="FAILURE", evidence="old break"),),
        waiting=("slow",),
        exempt=(Exemption(name="codecov/patch", pattern="*codecov*"),),
    )


def _evil() -> ReportFacts:
    """Every text of foreign origin is hostile."""
    item = path(
        f"{EVIL}\n.py",
        Status.UNRESOLVED,
        kinds=(Kind.RENAME_RENAME,),
        evidence=EVIL,
        messages=(f"CONFLICT: {EVIL}",),
        source_commits=(touch(12, EVIL), touch(None, EVIL)),
        hunks=(hunk(evidence=EVIL),),
    )
    failed = CheckResult(name=EVIL, url=EVIL, conclusion=EVIL, evidence=EVIL)
    return facts(
        item,
        whole(EVIL, Take.TARGET, evidence=EVIL),
        diffs=(patch(item.path).model_copy(update={"text": f"+```\n+{EVIL}\n+</details>\n"}),),
        findings=(finding(EVIL, Severity.ERROR, evidence=f"{EVIL}\n{EVIL}", outcome=EVIL),),
        divergence=EVIL,
        warnings=(EVIL,),
        reason=EVIL,
        source=EVIL,
        tools=(ToolRun(kind="linter", name=EVIL, ok=False, message=EVIL, files=(EVIL,)),),
        checks=ChecksFacts(
            passed=(EVIL,),
            failed=(failed,),
            pre_existing=(failed,),
            waiting=(EVIL,),
            exempt=(Exemption(name=EVIL, pattern=EVIL),),
        ),
        pull_request=EVIL,
    )


def _body(shown: ReportFacts) -> str:
    return body.build(shown, Marker(source=EVIL, target=EVIL, config=EVIL)).text


@pytest.mark.parametrize("render", [report.render, summary.comment, _body])
def test_hostile_text_everywhere_stays_text(render: Callable[[ReportFacts], str]) -> None:
    page = render(_evil())
    assert active(page) == []
    assert not {"image", "link_open", "s_open"} & kinds(page)
    found = {_tags(token.content) for token in tokens(page) if token.type.startswith("html")}
    ours = {"<details><summary></summary>", "</details>", "<code>", "</code>", ""}
    assert {tags for tags in found if not tags.startswith("<!-- nightly-sync:")} <= ours


def _tags(content: str) -> str:
    return "".join(re.findall("<[^>]*>", content))


def test_the_report_begins_with_the_verdict_and_what_needs_a_person() -> None:
    text = report.render(facts(path("a.py", Status.UNRESOLVED), path("b.py")))
    lines = [line for line in text.split("\n") if line]
    assert lines[0] == "# Sync of `main` into `dev`"
    assert lines[1] == "**Stopped: a person has to decide 1 file.**"
    assert lines[2] == "What needs a person:"
    assert lines[3].startswith("- Decide `a.py` (contents)")
    assert "Look at 1 proposal, riskiest first: `b.py`" in lines[4]


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (facts(path("a.py", Status.UNRESOLVED)), "Stopped: a person has to decide 1 file."),
        (facts(path("a.py"), findings=(finding("a.py", Severity.ERROR),)), "Not ready"),
        (facts(path("a.py")), "Needs a look"),
        (facts(findings=(finding("a.py"),)), "Needs a look"),
        (facts(warnings=("An earlier sync was squashed",)), "Needs a look"),
        (facts(tools=(ToolRun(kind="linter", name="ruff", ok=False),)), "Needs a look"),
        (facts(path("a.py", Status.SETTLED), path("b.py", Status.SETTLED)), "Settled"),
        (facts(), "Clean: git merged without a conflict."),
        (facts(path("a.py"), outcome=Outcome.CI_FAILED), "Still a draft: checks fail"),
    ],
)
def test_the_verdict_is_words_for_what_happened(shown: ReportFacts, words: str) -> None:
    assert verdict(shown).startswith(words)


def test_every_outcome_has_its_words() -> None:
    assert set(WORDS) == set(Outcome)


def test_a_settled_night_needs_nobody() -> None:
    text = report.render(facts(path("a.py", Status.SETTLED)))
    assert "Nothing needs a person." in text


def test_errors_and_failing_checks_are_named_as_needing_a_person() -> None:
    error = finding("a.py", Severity.ERROR, kind=FindingKind.SYNTAX, evidence="bad token")
    listed = "\n".join(needs(facts(findings=(error,), checks=_checks(), warnings=("Squashed",))))
    assert "Repair `a.py` line 7: syntax-error. bad token" in listed
    assert "Failing check: [gpu](<https://ci.example/1>)" in listed
    assert "Read: Squashed" in listed
    broken = ToolRun(kind="linter", name="ruff", ok=False)
    assert needs(facts(tools=(broken,))) == ("Failed linter: `ruff`",)
    assert "docs" not in listed


def test_a_long_list_of_needs_is_cut_and_says_so() -> None:
    shown = facts(*(path(f"{n:02}.py", Status.UNRESOLVED) for n in range(25)))
    assert len(needs(shown)) == 11
    assert needs(shown)[-1] == "and 15 more of these, listed below"


def test_a_file_has_its_rule_evidence_commits_and_findings() -> None:
    item = path(
        "core/a.py",
        hunks=0,
        evidence="the source's lines",
        source_commits=tuple(touch(number) for number in range(1, 8)),
        target_commits=(touch(None, "Local fix"),),
    )
    text = report.render(facts(item, findings=(finding("core/a.py"),)))
    entry = text.split("#### `core/a.py`: proposal")[1].split("\n## ")[0]
    assert "- contents, took `main` by rule `fallback`: the source's lines" in entry
    assert "touched on `main` by PR #1 (`0000000000`) Change the loader; PR #2" in entry
    assert "and 4 more" in entry
    assert "touched on `dev` by `0000000000` Local fix" in entry
    assert "warning target-lines-dropped line 7: 2 lines of the target are gone" in entry


def test_a_number_in_a_subject_is_named_once_and_only_as_a_reference() -> None:
    text = report.render(facts(path("a.py", source_commits=(touch(5, "Fix #4"),))))
    assert "PR #5 (`0000000000`) Fix #\u200b4" in text
    assert "(#5)" not in text


def test_hunks_decided_alike_share_a_line_and_open_ones_come_first() -> None:
    hunks = (
        hunk(5, Status.SETTLED, rule="formatting", evidence="equal syntax trees"),
        hunk(20),
        hunk(40),
        hunk(60, Status.UNRESOLVED, take=None, rule="none", evidence="stop"),
    )
    text = report.render(facts(path("a.py", Status.UNRESOLVED, hunks)))
    entry = [line for line in text.split("\n") if " at " in line and "hunk" in line]
    assert entry[0].startswith("- 1 hunk at 60 (1/2/3): left open by rule `none` (unresolved)")
    assert entry[1].startswith("- 2 hunks at 20 (1/2/3), 40 (1/2/3): took `main` by rule")
    assert entry[2].startswith("- 1 hunk at 5 (1/2/3)")


def test_conflicts_are_counted_by_kind_and_rule() -> None:
    settled = hunk(20, Status.SETTLED, rule="formatting")
    mixed = path("a.py", hunks=(hunk(1), hunk(9), settled))
    deleted = path("b.py", Status.SETTLED, 0, kinds=(Kind.MODIFY_DELETE,), rule="deletion")
    text = report.render(facts(mixed, deleted, whole("c.py", Take.SOURCE)))
    assert "| contents | `fallback` | 1 | 0 | 2 | 0 |" in text
    assert "| contents | `formatting` | 1 | 1 | 0 | 0 |" in text
    assert "| modify/delete | `deletion` | 1 | 1 | 0 | 0 |" in text
    assert "take-source` | 1" not in text


def test_whole_files_are_sorted_by_what_happened_to_them() -> None:
    plan = facts(
        whole("source.py", Take.SOURCE),
        whole("target.py", Take.TARGET),
        whole("restored.py", Take.SOURCE, target=None),
        whole("rescued.py", Take.TARGET, source=None),
        whole("gone.py", Take.DELETE, target=None, resolved=None),
        whole("kept_out.py", Take.DELETE, target=None, base=None, resolved=None),
        whole("new.py", Take.SOURCE, target=None, base=None),
        path("hunks.py"),
        path("open.py", Status.UNRESOLVED, 0, take=None),
    ).plan
    lists = whole_files(plan)
    assert lists.from_source == ("source.py", "new.py")
    assert lists.from_target == ("target.py",)
    assert lists.restored == ("restored.py", "rescued.py")
    assert lists.kept_deleted == ("gone.py",)
    assert lists.not_taken_in == ("kept_out.py",)


def test_lists_of_whole_files_have_their_evidence() -> None:
    item = whole("uv.lock", Take.TARGET, evidence="take-target for uv.lock: built on dev")
    text = report.render(facts(item))
    assert "## Kept from dev: 1 file" in text
    assert "- `uv.lock`: take-target for uv.lock: built on dev" in text


def test_findings_are_listed_errors_first_with_evidence_and_outcome() -> None:
    lost = finding("b.py", evidence="lost:\n    x = 1\n    ```", outcome="left for review")
    error = finding("a.py", Severity.ERROR, kind=FindingKind.MARKER)
    text = report.render(facts(findings=(lost, error)))
    part = text.split("## Findings: 1 error, 1 warning")[1]
    assert part.index("**error** conflict-marker, `a.py` line 7") < part.index("`b.py`")
    assert "lost: Outcome: left for review" in part
    assert "  ````\n      x = 1\n      ```\n  ````" in part


def test_tools_checks_and_history_are_told() -> None:
    tool = ToolRun(kind="formatter", name="black", ok=False, message="not found", files=("a.py",))
    text = report.render(
        facts(tools=(tool,), checks=_checks(), divergence="12 commits", warnings=("Squashed",))
    )
    assert "- formatter `black`: **failed**; not found; files: `a.py`" in text
    assert "- Passed: 2 (`lint`, `unit`)" in text
    assert "- **Failed**: [gpu](<https://ci.example/1>)" in text
    assert "- Fails on the target too: docs, FAILURE" in text
    assert "- Exempt: `codecov/patch` by pattern `*codecov*`" in text
    assert "E   boom" in text
    assert "- 12 commits\n- Squashed" in text


def test_the_line_of_figures_stands_alone() -> None:
    assert "\nPython lines: +3 / -1 across 1 files\n" in report.render(facts())


def test_the_report_says_how_to_see_the_same_again() -> None:
    assert f"git show --remerge-diff {MERGE}" in report.render(facts())
    assert f"git diff {MERGE} {SOURCE}" in report.render(facts(head=SOURCE))
    preview = report.render(facts(merge_commit="", head=""))
    assert f"git merge-tree --write-tree {TARGET} {SOURCE}" in preview


def test_patches_are_shown_for_what_is_not_settled() -> None:
    shown = facts(
        path("open.py"), path("done.py", Status.SETTLED), diffs=(patch("open.py"), patch("done.py"))
    )
    text = report.render(shown)
    assert "+line 1 of open.py" in text
    assert "of done.py" not in text


def test_a_long_patch_is_shown_in_part_and_says_where_the_rest_is() -> None:
    name = "a dir/x.py"
    shown = facts(path(name), diffs=(patch(name, 500),))
    rest = f"git show --remerge-diff {MERGE} -- 'a dir/x.py'"
    assert f"... 424 more lines: see {rest}" in report.render(shown)
    final = report.render(shown.model_copy(update={"diffs_are_final": True}))
    assert "... 424 more lines: see remerge.diff" in final


def test_one_line_of_minified_data_does_not_fill_the_report() -> None:
    text = f"diff --git a/a.json b/a.json\n@@ -1 +1 @@\n+{'x' * 1_000_000}\n"
    item = patch("a.json").model_copy(update={"text": text})
    assert len(report.render(facts(path("a.json"), diffs=(item,)))) < 10_000


def test_no_conflicted_file_is_missing_from_a_long_report() -> None:
    shown = large(700)
    text = report.render(shown)
    assert all(f"#### `{item.path}`" in text for item in shown.plan.paths)


def test_paths_only_one_side_ever_had_may_be_missing_on_the_other() -> None:
    item = path("a.py", base=None, target=None, source=FILE, kinds=(Kind.ADD_ADD,))
    assert "- add/add" in report.render(facts(item))


def test_the_same_facts_give_the_same_bytes_also_after_a_trip_through_json() -> None:
    shown = large(40)
    again = ReportFacts.model_validate_json(shown.model_dump_json())
    assert report.render(again) == report.render(shown)


def test_the_summary_tells_outcome_checks_exemptions_known_failures_and_rules() -> None:
    shown = facts(
        path("a.py", hunks=2),
        path("b.py"),
        whole("c.py", Take.TARGET),
        outcome=Outcome.PRE_EXISTING_ONLY,
        reason="docs fails on the target too",
        checks=_checks(),
        pull_request="https://github.com/o/r/pull/9",
    )
    for text in (summary.comment(shown), summary.terminal(shown)):
        assert "each of them fails on the target too" in text
        assert "- fallback: 2\n- take-target: 1" in text
        assert "Checks passed:\n- lint\n- unit" in text
        assert "- docs: FAILURE: old break" in text
        assert "by pattern" in text
        assert "https://ci.example/1" in text
    assert "Pull request: https://github.com/o/r/pull/9" in summary.terminal(shown)


def test_the_terminal_is_never_sent_control_characters() -> None:
    failed = CheckResult(name="\x1b]0;title\x07", evidence="\x1b[2Jgone")
    text = summary.terminal(facts(checks=ChecksFacts(failed=(failed,))))
    assert "\x1b" not in text
    assert "^[]0;title^G: ^[[2Jgone" in text
