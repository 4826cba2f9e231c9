"""Formatters and linters: on what the merge wrote, never on protected paths, and never silent."""

from pathlib import Path

import pytest

from nightly_sync import git, tools
from nightly_sync.audits.model import FindingKind
from nightly_sync.errors import StopForPerson
from tests.support.repo import TestRepo, diverged
from tests.support.sync import config, planned, rule

# Appends a line to each file it is given.
APPEND = 'python -c \'import sys; [open(f, "a").write("# formatted\\n") for f in sys.argv[1:]]\''
FAIL = "python -c 'print(\"bad style\"); raise SystemExit(3)'"


def _command(run: str, **fields: object) -> dict[str, object]:
    return {"name": "tool", "run": run, **fields}


def _repo(tmp_path: Path) -> TestRepo:
    """a.py and p.py are written by the merge; s.py is the source's, t.py the target's."""
    text = "".join(f"x{number} = 0\n" for number in range(20))
    base: dict[str, str | bytes | None] = dict.fromkeys(("a.py", "p.py", "a.txt"), text)
    main = {name: text.replace("x1 = 0", "x1 = 1") for name in base}
    dev = {name: text.replace("x18 = 0", "x18 = 1") for name in base}
    return diverged(tmp_path, base, {**main, "s.py": "s=1\n"}, {**dev, "t.py": "t=1\n"})


def _run(repo: TestRepo, **fields: object) -> tools.Tooled:
    settings = config(repo, **fields)
    made = planned(repo)
    assert made.resolved_tree is not None
    return tools.run_all(repo.path, made.target, made.source, made.resolved_tree, settings)


def _changed(repo: TestRepo, tooled: tools.Tooled) -> set[str]:
    before = planned(repo).resolved_tree
    assert before is not None
    return {item.path for item in git.changes(repo.path, before, tooled.tree)}


def test_a_formatter_sees_only_files_that_stand_on_neither_side(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    tooled = _run(repo, formatters=[_command(APPEND)], rules=[rule("protect", "/p.py")])
    assert _changed(repo, tooled) == {"a.py"}
    assert [run.files for run in tooled.runs] == [("a.py",)]
    assert (git.read_file(repo.path, tooled.tree, "a.py") or b"").endswith(b"# formatted\n")


def test_path_globs_choose_the_files_and_formatters_run_in_order(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    second = APPEND.replace("formatted", "second")
    commands = [_command(APPEND, paths=["a.*"]), _command(second, paths=["*.txt"])]
    tooled = _run(repo, formatters=commands)
    text = git.read_file(repo.path, tooled.tree, "a.txt") or b""
    assert text.endswith(b"# formatted\n# second\n")


def test_a_formatter_that_fails_changes_nothing_and_is_reported(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    tooled = _run(repo, formatters=[_command(FAIL)])
    assert _changed(repo, tooled) == set()
    (finding,) = tools.findings(tooled.runs)
    assert finding.kind is FindingKind.FORMATTER
    assert "bad style" in finding.evidence


def test_a_missing_tool_is_reported_by_name(tmp_path: Path) -> None:
    tooled = _run(_repo(tmp_path), linters=[_command("no-such-linter --strict")])
    (finding,) = tools.findings(tooled.runs)
    assert finding.kind is FindingKind.LINTER
    assert "no-such-linter is not installed" in finding.evidence


def test_a_required_tool_that_fails_stops_the_run(tmp_path: Path) -> None:
    with pytest.raises(StopForPerson, match="required linter tool failed"):
        _run(_repo(tmp_path), linters=[_command(FAIL, required=True)])


def test_a_linter_changes_nothing_even_if_it_writes(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    assert _changed(repo, _run(repo, linters=[_command(APPEND)])) == set()


def test_the_checkout_honours_line_end_attributes_both_ways(tmp_path: Path) -> None:
    text = "".join(f"x{number} = 0\n" for number in range(20))
    repo = diverged(
        tmp_path,
        {".gitattributes": "*.py text eol=crlf\n", "a.py": text},
        {"a.py": text.replace("x1 = 0", "x1 = 1")},
        {"a.py": text.replace("x18 = 0", "x18 = 1")},
    )
    tooled = _run(repo, formatters=[_command(APPEND)])
    assert b"\r" not in (git.read_file(repo.path, tooled.tree, "a.py") or b"\r")


def test_a_formatter_that_changes_nothing_leaves_every_byte(tmp_path: Path) -> None:
    """Reported: files with CR LF came out with LF, as adding them anew converts line ends."""
    text = "".join(f"x{number} = 0\r\n" for number in range(20))
    repo = TestRepo(tmp_path)
    repo.commit("Base", {"a.py": text})
    repo.branch("dev")
    repo.checkout("main")
    repo.commit("Main", {"a.py": text.replace("x1 = 0", "x1 = 1")})
    repo.checkout("dev")
    repo.commit("Dev", {"a.py": text.replace("x18 = 0", "x18 = 1")})
    repo.git("config", "core.autocrlf", "false")
    repo.write({".gitattributes": "*.py text\n"})
    repo.git("add", ".gitattributes")
    repo.git("commit", "-q", "-m", "Attributes")
    tooled = _run(repo, formatters=[_command("python -c pass")])
    assert tooled.tree == planned(repo).resolved_tree


def test_what_a_failing_formatter_began_is_taken_back(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    broken = APPEND.replace("sys.argv[1:]]", "sys.argv[1:]]; raise SystemExit(1)")
    marker = APPEND.replace("# formatted", "# second")
    tooled = _run(repo, formatters=[_command(broken), _command(marker)])
    text = git.read_file(repo.path, tooled.tree, "a.py") or b""
    assert b"# formatted" not in text
    assert text.endswith(b"# second\n")
