"""Groups of the report, and what in a group comes first."""

from nightly_sync.audits.model import Severity
from nightly_sync.config import Category
from nightly_sync.conflicts import Kind
from nightly_sync.merge.model import Status, Take
from nightly_sync.reports.categories import FOCUS, OTHER, category_of, groups, riskiest
from tests.support.facts import facts, finding, hunk, path, whole

CATEGORIES = (
    Category(name="Tests", paths=("/tests/**",)),
    Category(name="Data", paths=("*.json",)),
)


def test_focus_paths_win_over_categories_and_the_first_category_wins() -> None:
    assert category_of("core/tests/x.json", ("/core/",), CATEGORIES) == FOCUS
    assert category_of("tests/golden.json", ("/core/",), CATEGORIES) == "Tests"
    assert category_of("data/golden.json", ("/core/",), CATEGORIES) == "Data"
    assert category_of("lib/x.py", ("/core/",), CATEGORIES) == OTHER


def test_without_focus_paths_nothing_is_in_focus() -> None:
    assert category_of("x.py", (), ()) == OTHER


def test_groups_come_in_the_order_focus_other_source_then_as_configured() -> None:
    names = ("data/x.json", "tests/test_x.py", "lib/x.py", "core/x.py")
    found = groups(facts(*(path(name) for name in names), categories=CATEGORIES))
    assert [group.name for group in found] == [FOCUS, OTHER, "Tests", "Data"]


def test_a_group_begins_with_what_is_riskiest() -> None:
    shown = facts(
        path("settled.py", Status.SETTLED),
        path("b_small.py", hunks=1),
        path("a_small.py", hunks=1),
        path("large.py", hunks=9),
        path("error.py", hunks=1),
        path("worse.py", Status.SETTLED, hunks=0),
        path("stuck.py", Status.UNRESOLVED),
        findings=(
            finding("error.py", Severity.ERROR),
            finding("worse.py", Severity.ERROR),
            finding("worse.py", Severity.ERROR),
            finding("a_small.py", Severity.WARNING),
        ),
    )
    (group,) = groups(shown)
    assert [item.path for item in group.paths] == [
        "stuck.py", "worse.py", "error.py", "large.py", "a_small.py", "b_small.py", "settled.py"
    ]  # fmt: skip


def test_settled_hunks_of_a_proposal_do_not_count() -> None:
    hunks = (hunk(1), hunk(5, Status.SETTLED), hunk(9, Status.SETTLED))
    shown = facts(path("mixed.py", hunks=hunks), path("two.py", hunks=2))
    (group,) = groups(shown)
    assert [item.path for item in group.paths] == ["two.py", "mixed.py"]


def test_a_path_without_conflict_is_shown_only_if_it_is_not_settled() -> None:
    restored = path("restored.py", hunks=0, kinds=())
    conflict = path("fight.py", Status.SETTLED, kinds=(Kind.ADD_ADD,))
    (group,) = groups(facts(restored, whole("ruled.py", Take.TARGET), conflict))
    assert [item.path for item in group.paths] == ["restored.py", "fight.py"]


def test_among_equals_focus_paths_need_a_look_first() -> None:
    shown = facts(
        path("a.py", hunks=5), path("core/z.py", hunks=1), path("b.py", Status.UNRESOLVED)
    )
    assert [item.path for item in riskiest(shown)] == ["b.py", "core/z.py", "a.py"]
