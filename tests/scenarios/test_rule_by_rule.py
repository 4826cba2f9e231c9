"""Each path rule is asked by itself: a `!` in one never takes back what another holds.

Reported: the patterns of all rules of a name were joined into one list, so a later rule's `!`
let a protected file be pushed, formatted and left out of the audit.
"""

import sys
from pathlib import Path

import pytest

from nightly_sync import sync_branch, tools
from nightly_sync.audits import protected
from nightly_sync.config import Command, PathRule, SyncConfig
from nightly_sync.errors import SyncError
from nightly_sync.fixers.base import Change
from nightly_sync.fixers.formatting import FormattingFixer
from tests.scenarios.test_fixers import failures
from tests.support.audits import made_up
from tests.support.repo import diverged

RULES = (
    PathRule(rule="protect", paths=("/ci/",)),
    PathRule(rule="protect", paths=("/docs/", "!/ci/a.py")),
)
EMPTY = Command(name="empty", run=f"{sys.executable} -c 'import sys; open(sys.argv[1], \"w\")'")
CONFIG = SyncConfig(repository="unused", rules=RULES, formatters=(EMPTY,))


def test_the_check_before_a_push_sees_it(tmp_path: Path) -> None:
    repo = diverged(tmp_path, {"ci/a.py": "1\n"}, {"ci/a.py": "2\n"}, {"b": "1\n"})
    target, merged = repo.git("rev-parse", "dev"), repo.merge("main")
    with pytest.raises(SyncError, match=r"protected path ci/a\.py"):
        sync_branch.check_invariants(repo.path, target, merged, CONFIG)


def test_formatters_do_not_get_it(tmp_path: Path) -> None:
    base, main, dev = "1\n\n\n\n2\n", "0\n\n\n\n2\n", "1\n\n\n\n3\n"
    repo = diverged(tmp_path, {"ci/a.py": base}, {"ci/a.py": main}, {"ci/a.py": dev})
    target, source = repo.git("rev-parse", "dev"), repo.git("rev-parse", "main")
    merged = repo.merge("main")
    tree = repo.git("rev-parse", f"{merged}^{{tree}}")
    assert tools.run_all(repo.path, target, source, tree, CONFIG) == tools.Tooled(tree, ())


def test_the_fixer_does_not_get_it(tmp_path: Path) -> None:
    (tmp_path / "ci").mkdir()
    for name in ("ci/a.py", "b.py"):
        (tmp_path / name).write_text("x\n")
    change = FormattingFixer(CONFIG, ["ci/a.py", "b.py"]).fix(failures(), tmp_path)
    assert isinstance(change, Change)
    assert change.files == ("b.py",)


def test_the_audit_sees_it() -> None:
    facts = made_up({}, {}, {"ci/a.py": "1\n"}, {"ci/a.py": "2\n"}, CONFIG)
    assert [item.path for item in protected.audit(facts)] == ["ci/a.py"]


def test_a_rule_still_takes_back_its_own() -> None:
    own = PathRule(rule="protect", paths=("/ci/*", "!/ci/a.py"))
    config = SyncConfig(repository="unused", rules=(own,))
    assert config.holds("protect", "ci/b.py")
    assert not config.holds("protect", "ci/a.py")
    assert not config.holds("take-source", "ci/b.py")
