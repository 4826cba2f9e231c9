"""Triage reads logs the way the tools print them; the samples here were cut from real output."""

from typing import Any

import pytest

from nightly_sync.checks.logs import CUT, LONGEST, lines_of, stable, stable_name
from nightly_sync.checks.triage import Failure, group, triage
from nightly_sync.forge.base import Check, CheckStatus

PYTEST = """\
.F.F                                                                     [100%]
=================================== FAILURES ===================================
___________________________________ test_one ___________________________________

    def test_one(tmp_path):
>       assert read(tmp_path) == 1
E       AssertionError: assert 2 == 1

tests/test_a.py:{line}: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_one - AssertionError: assert 2 == 1
FAILED tests/test_b.py::test_two[a b] - OSError: {tmp}/test_two0/x at {address}
2 failed, 2 passed in {seconds}s
"""

BROKEN_IMPORT = """\
==================================== ERRORS ====================================
_____________________ ERROR collecting tests/test_a.py _________________________
ImportError while importing test module '/srv/checkout/tests/test_a.py'.
tests/test_a.py:1: in <module>
    from pkg.gone import thing
E   ModuleNotFoundError: No module named 'pkg.gone'
=========================== short test summary info ============================
ERROR tests/test_a.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
1 error in 0.21s
"""


def failed(name: str = "tests", conclusion: str = "FAILURE", **fields: Any) -> Check:
    """A failed check."""
    return Check(name=name, status=CheckStatus.COMPLETED, conclusion=conclusion, **fields)


def pytest_log(**fields: str) -> str:
    """The sample on one machine or another."""
    here = {"line": "7", "tmp": "/tmp/pytest-of-ann/pytest-3", "address": "0x7f1a2b3c4d5e"}
    return PYTEST.format(**{**here, "seconds": "0.42", **fields})


def of(log: str, **fields: Any) -> Failure:
    """Triage of a failed check's log."""
    return triage(failed(**fields), log)


def test_the_same_failure_on_another_machine_has_the_same_signature() -> None:
    other = pytest_log(
        line="912", tmp="/tmp/pytest-of-bob/pytest-81", address="0x55d0aa", seconds="61.07"
    )
    assert of(other).signature == of(pytest_log()).signature


@pytest.mark.parametrize(
    "change",
    [
        (
            "FAILED tests/test_b.py::test_two[a b] - OSError",
            "FAILED tests/test_c.py::test_x - OSError",
        ),
        ("[a b]", "[a c]"),
        ("assert 2 == 1", "assert 3 == 1"),
        ("2 failed", "FAILED tests/test_z.py::test_three - KeyError: 1\n3 failed"),
        ("FAILED tests/test_b.py", "ERROR tests/test_b.py"),
    ],
)
def test_another_set_of_failures_has_another_signature(change: tuple[str, str]) -> None:
    log = pytest_log()
    assert of(log.replace(*change)).signature != of(log).signature


def test_the_order_of_the_failures_does_not_matter() -> None:
    lines = pytest_log().splitlines()
    lines[-3], lines[-2] = lines[-2], lines[-3]
    assert of("\n".join(lines)).signature == of(pytest_log()).signature


def test_a_github_log_reads_like_a_plain_one() -> None:
    """Runner logs start with a byte order mark and carry timestamps and colours."""
    stamped = "\ufeff" + "".join(
        f"2026-11-30T21:00:0{number % 10}.1234567Z \x1b[31m{line}\x1b[0m\r\n"
        for number, line in enumerate(pytest_log().splitlines())
    )
    assert of(stamped).signature == of(pytest_log()).signature
    with_job = "".join(f"tests (3.12)\tRun pytest\t{line}\n" for line in stamped.splitlines())
    assert of(with_job.replace("\ufeff", "")).signature == of(pytest_log()).signature


def test_progress_bars_leave_only_what_stays_on_the_screen() -> None:
    assert lines_of("10%\r50%\r100%\r\n\x1b]0;title\x07done\n") == ["100%", "done", ""]


def test_a_failing_test_is_named_with_the_lines_that_matter() -> None:
    failure = of(pytest_log())
    assert failure.kind == "test"
    assert (
        failure.title
        == "FAILED tests/test_a.py::test_one - AssertionError: assert 2 == 1 (and 1 more)"
    )
    assert (
        failure.items[1]
        == "FAILED tests/test_b.py::test_two[a b] - OSError: <tmp>/test_two0/x at 0x?"
    )
    assert "E       AssertionError: assert 2 == 1" in failure.excerpt.splitlines()
    assert "2 failed, 2 passed in 0.42s" in failure.excerpt.splitlines()
    assert "FAILURES" not in failure.excerpt
    assert failure.unfinished == ""


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("tests/tmp/test_a.py::test_x", "tests/tmp/test_a.py::test_x"),
        ("pkg/root/test_a.py::test_x[5s]", "pkg/root/test_a.py::test_x[5s]"),
        ("a/lib/python3/b.py::t", "a/lib/python3/b.py::t"),
        ("t.py::test_x[/tmp/ab12-c]", "t.py::test_x[<tmp>]"),
        ("/var/tmp/nightly-sync-ci-0a1b2c3d/4/tests/t.py::t", "tests/t.py::t"),
        ("/tmp/nightly-sync-tree-a_1b2c3d/tree/tests/t.py::t", "tests/t.py::t"),
        ("/home/runner/work/repo/repo/tests/t.py::t", "tests/t.py::t"),
    ],
)
def test_a_tests_name_loses_only_what_the_machine_adds(name: str, kept: str) -> None:
    assert stable_name(name) == kept


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("took 3.21s", "took 14 s"),
        ('File "/home/ann/x.py", line 3', 'File "/home/bob/x.py", line 88'),
        ("at commit abcdef1 now", "at commit 1234567 now"),
        ("tree " + "a1" * 20, "tree " + "0f" * 20),
        ("pkg/a.py:10:4: bad", "pkg/a.py:999: bad"),
        ("/opt/venv/lib/python3.11/site-packages/x.py", "/usr/lib/python3/dist-packages/x.py"),
        ("at 2026-11-30 21:00:00,123 sharp", "at 2025-01-01 00:00:00,001 sharp"),
        ("listening on 127.0.0.1:43211", "listening on 127.0.0.1:9"),
        ("[gw0] pid 123", "[gw3] pid 7"),
        ("id 01234567-89ab-cdef-0123-456789abcdef", "id 11111111-2222-3333-4444-555555555555"),
        ("<object object at 0x7f1...", "<object object at 0x55..."),
    ],
)
def test_what_moves_between_two_runs_is_not_part_of_a_message(left: str, right: str) -> None:
    assert stable(left) == stable(right)


def test_numbers_that_mean_something_stay_in_a_message() -> None:
    assert stable("assert 2 == 1") != stable("assert 3 == 1")
    assert stable("exit status 1") == "exit status 1"


def test_a_line_without_end_is_cut_but_stays_different_from_others() -> None:
    """A line of 100,000 path characters once took nine minutes to normalise."""
    long = "/a" * 50_000
    assert len(lines_of(long)[0]) < LONGEST + 20
    assert of(f"{long}1").signature != of(f"{long}2").signature


def test_the_rootdir_pytest_prints_is_taken_off_paths() -> None:
    log = "rootdir: {0}, configfile: pyproject.toml\n{0}/pkg/a.py:3:1: F401 `os` imported\n"
    assert of(log.format("/srv/one")).items == ("pkg/a.py F401 `os` imported",)
    assert of(log.format("/opt/a b")).signature == of(log.format("/srv/one")).signature


def test_a_broken_import_names_the_module() -> None:
    failure = of(BROKEN_IMPORT)
    assert (failure.kind, failure.roots) == ("import", ("pkg.gone",))
    assert failure.title == "Broken import: pkg.gone"


@pytest.mark.parametrize(
    ("line", "root"),
    [
        ("E   ImportError: cannot import name 'f' from 'pkg.a' (/x/pkg/a.py)", "pkg.a:f"),
        (
            "ImportError: cannot import name 'f' from partially initialized module 'p.a' (most",
            "p.a:f",
        ),
        ("FAILED t.py::t - ModuleNotFoundError: No module named 'pkg.b'", "pkg.b"),
        ('pkg/a.py:2: error: Module "pkg.b" has no attribute "f"  [attr-defined]', "pkg.b:f"),
        ("pkg/a.py:2:0: E0611: No name 'f' in module 'pkg.b' (no-name-in-module)", "pkg.b:f"),
    ],
)
def test_import_errors_of_every_tool_name_their_root(line: str, root: str) -> None:
    assert (of(line).kind, of(line).roots) == ("import", (root,))


def test_an_import_error_behind_another_failure_is_not_the_whole_story() -> None:
    log = pytest_log() + "E   ImportError: cannot import name 'f' from 'pkg'\n"
    assert of(log).kind == "test"


LINT_LINES = [
    "pkg/a.py:1:8: F401 [*] `os` imported but unused",
    "./pkg/a.py:10:80: E501 line too long (99 > 79 characters)",
    "pkg/a.py:1:0: C0114: Missing module docstring (missing-module-docstring)",
    'pkg/a.py:3: error: Incompatible return value type (got "int")  [return-value]',
    "would reformat pkg/a.py",
    "Would reformat: pkg/a.py",
    "ERROR: /home/runner/work/r/r/pkg/a.py Imports are incorrectly sorted and/or formatted.",
    "black....................................................................Failed",
    "F401 [*] `os` imported but unused\n --> pkg/a.py:1:8",
    "unformatted: File would be reformatted\n --> pkg/a.py:3:1",
]
COMPILE_LINES = [
    "src/a.cpp:3:5: error: expected ';' after expression",
    'src/kernel.cu(12): error: identifier "x" is undefined',
    "error[E0308]: mismatched types\n --> src/main.rs:3:4",
    "web/a.ts(3,4): error TS2304: Cannot find name 'x'.",
    "./cmd/a.go:3:2: undefined: x",
    "/usr/bin/ld: a.o: in function `main': undefined reference to `f'",
    '  File "pkg/a.py", line 3\n    x = = 1\n        ^\nSyntaxError: invalid syntax',
]
INFRASTRUCTURE_LINES = [
    "E: Failed to fetch http://archive.example.org/x.deb  Connection failed",
    "W: Failed to fetch x  Temporary failure resolving 'archive.example.org'",
    "WARNING: Retrying (Retry(total=4, connect=None)) after connection broken",
    "curl: (6) Could not resolve host: example.org",
    "OSError: [Errno 28] No space left on device",
    "##[error]The runner has received a shutdown signal.",
    "The command 'pytest' could not be started: No such file or directory",
]


@pytest.mark.parametrize(
    ("kind", "line"),
    [("lint", line) for line in LINT_LINES]
    + [("compile", line) for line in COMPILE_LINES]
    + [("infrastructure", line) for line in INFRASTRUCTURE_LINES],
)
def test_a_tools_message_says_the_kind_and_survives_a_moved_line(kind: str, line: str) -> None:
    failure = of(f"Running things\n{line}\ndone\n")
    assert failure.kind == kind
    moved = line.replace(":3", ":33").replace(":1:", ":71:").replace("(12)", "(13)")
    assert of(f"{moved.replace('line 3', 'line 8')}\n").signature == failure.signature


def test_two_messages_of_one_kind_in_one_file_are_two_items() -> None:
    one = "pkg/a.py:1:1: F821 undefined name `x`\n"
    assert of(one).signature != of(one + one.replace(":1:", ":5:")).signature


def test_a_network_word_in_a_failing_test_does_not_make_it_infrastructure() -> None:
    assert of(pytest_log() + "Connection refused\n").kind == "test"


def test_unittest_output_is_read() -> None:
    log = "FAIL: test_u (tests.test_b.T.test_u)\nAssertionError: 1 != 2\n\nFAILED (failures=1)\n"
    assert of(log).items == ("FAIL test_u (tests.test_b.T.test_u)",)
    assert of(log).unfinished == ""
    assert of(log.replace("=1)", "=2)")).unfinished == "its log lists 1 of 2 failing tests"


def test_an_unknown_log_is_compared_line_by_line() -> None:
    first = of("step one\nThe widget is bent\n")
    assert (first.kind, first.title) == ("unknown", "The widget is bent")
    assert of("step one\nThe widget is broken\n").signature != first.signature
    assert of("2026-11-30T21:00:00Z step one\nThe widget is bent").signature == first.signature


def test_every_line_of_a_long_unknown_log_counts() -> None:
    log = "first\n" + "".join(f"line number {number} of many\n" for number in range(1500))
    assert of(log).signature != of(log.replace("first", "other")).signature


def test_a_log_that_says_nothing_can_be_compared_with_nothing() -> None:
    failure = of("##[command]test -f x\n\n##[error]Process completed with exit code 1.\n")
    assert failure.signature == ""
    assert (failure.title, failure.unfinished) == ("The log says nothing.", "the log says nothing")


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (pytest_log() + f"{CUT}\n", "a part of its log is left out"),
        (pytest_log().replace("2 failed", "3 failed"), "its log lists 2 of 3 failing tests"),
        (pytest_log().rpartition("2 failed")[0], "its tests never reached their summary"),
        (f"=== test session starts ===\n{PYTEST.split('====')[0]}", "never reached their summary"),
        (BROKEN_IMPORT, "it was broken off: Interrupted: 1 error during collection"),
        ("!!!!!! stopping after 1 failures !!!!!!\n" + pytest_log(), "stopping after 1 failures"),
        ("boom\n##[error]Process completed with exit code 137.\n", "exit code 137"),
        ("boom\n##[error]Process completed with exit code 127.\n", "exit code 127"),
        ("Segmentation fault (core dumped)\n", "Segmentation fault"),
        ("[gw1] node down: Not properly terminated\n", "node down"),
    ],
)
def test_a_check_that_did_not_run_to_the_end_says_why(log: str, reason: str) -> None:
    assert reason in of(log).unfinished


@pytest.mark.parametrize("conclusion", ["TIMED_OUT", "CANCELLED", "SUCCESS"])
def test_only_a_failure_ran_to_the_end(conclusion: str) -> None:
    assert of(pytest_log(), conclusion=conclusion).unfinished == f"it ended as {conclusion}"


def test_a_check_that_took_too_long_is_a_timeout_whatever_it_printed() -> None:
    assert of(pytest_log(), conclusion="TIMED_OUT").kind == "timeout"


@pytest.mark.parametrize(
    "summary", ["== 2 failed, 2 passed in 61.20s (0:01:01) ==", "2 failed, 1 subtests passed in 1s"]
)
def test_pytests_summary_is_recognised_in_its_forms(summary: str) -> None:
    log = pytest_log().replace("2 failed, 2 passed in 0.42s", summary)
    assert of(log).unfinished == ""


def test_one_broken_import_that_fails_every_job_is_one_finding() -> None:
    logs = {
        "unit": BROKEN_IMPORT,
        "smoke": "Traceback:\nModuleNotFoundError: No module named 'pkg.gone'",
        "both": "ImportError: cannot import name 'f' from 'pkg'\n" + BROKEN_IMPORT,
        "other": "ImportError: cannot import name 'f' from 'pkg'\n",
        "lint": LINT_LINES[0],
    }
    groups = group(triage(failed(name), log) for name, log in logs.items())
    assert [set(item.checks) for item in groups] == [{"unit", "smoke", "both", "other"}, {"lint"}]


def test_the_same_failing_tests_in_two_jobs_are_one_finding_and_others_are_not() -> None:
    same = [triage(failed(name), pytest_log()) for name in ("py311", "py312")]
    other = triage(failed("py313"), pytest_log().replace("test_one", "test_1"))
    assert [item.checks for item in group([*same, other])] == [("py311", "py312"), ("py313",)]


def test_logs_that_say_nothing_are_not_one_finding() -> None:
    assert len(group([triage(failed("a"), ""), triage(failed("b"), "")])) == 2


@pytest.mark.parametrize(
    "log",
    [
        "Some jobs failed\n##[error]Process completed with exit code 1.\n",
        '##[group]Run check\n{"tests": {"result": "failure"}}\n',
        "Found 3 failed jobs\n",
        "One or more required jobs did not succeed\n",
    ],
)
def test_a_job_that_only_reports_on_others_is_an_aggregate_and_comes_last(log: str) -> None:
    summary = triage(failed("CI summary"), log)
    assert summary.aggregate
    groups = group([summary, triage(failed("lint"), LINT_LINES[0])])
    assert [(item.checks, item.aggregate) for item in groups] == [
        (("lint",), False),
        (("CI summary",), True),
    ]


def test_a_job_with_findings_of_its_own_is_no_aggregate() -> None:
    assert not of(pytest_log() + "Some jobs failed\n").aggregate
    assert not of("The widget is bent\n").aggregate


def test_a_failure_survives_json() -> None:
    failure = of(BROKEN_IMPORT)
    assert Failure.model_validate_json(failure.model_dump_json()) == failure
