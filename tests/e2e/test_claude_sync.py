"""The whole flow with Claude: its API is a stand-in over HTTP, its answers are scripted."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nightly_sync.errors import Exit
from nightly_sync.record import Outcome, RunRecord
from tests.agent.demo_stories import PRICE
from tests.agent.resolving import BASE, BOTH, SOURCE, TARGET, app
from tests.agent.standin import KEY, StandIn, Turn, calls, message, use
from tests.support.kept import kept_by_prefect, newest_table
from tests.support.sandboxes import sandbox
from tests.support.site import Site

pytestmark = pytest.mark.usefixtures("prefect")

COST = {  # of `_one_answer`
    "input": 1000,
    "output": 5,
    "cache_read": 2000,
    "cache_write": 3000,
    "turns": 1,
    "money": (1000 * 5 + 5 * 25 + 2000 * 0.5 + 3000 * 6.25) / 1_000_000,
}
MERGED = app(BOTH.strip().removeprefix("data = "))

PRICES_BEFORE = "def price(net):\n    return net + net * 20 // 100\n"
PRICES = "def price(net, rate):\n    return net + net * rate // 100\n"
SHOP = "import prices\n\n\ndef sold(net):\n    return prices.price(net)\n"
BILL = "import prices\n\n\ndef billed(nets):\n    return [prices.price(net) for net in nets]\n"
TEST = "import shop\n\n\ndef test_sums():\n    assert shop.sold(100) == 120\n"
BOTH_CALLS = "import shop, bill; assert (shop.sold(100), bill.billed([50])) == (120, [60])"
RUNS_TEST = "import sys; sys.path.insert(0, '.'); from tests.test_sums import *; test_sums()"
SKIPPED = "import pytest\n\n\n@pytest.mark.skip\ndef test_sums():"


@pytest.fixture(autouse=True)
def key(claude: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """After `claude`, which clears the environment of every setting of the SDK."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def _sync(site: Site, claude: StandIn, *turns: Turn, **fields: Any) -> RunRecord:
    from flows.sync import sync

    claude.play(*turns)
    agent = {"enabled": True, "base_url": claude.url, "prices": {"opus": PRICE}}
    record = sync(site.config(**{**fields, "agent": {**agent, **fields.get("agent", {})}}))
    assert isinstance(record, RunRecord)
    site.repo.git("fetch", "-q", "origin")
    return record


def _conflicted(folder: Path) -> Site:
    """Each side passes another option in one line."""
    base, main, dev = ({"app.py": app(load)} for load in (BASE, SOURCE, TARGET))
    return Site(folder).diverge({**base}, {**main}, {**dev})


def _called(folder: Path, **more: str) -> Site:
    """main's function takes another argument; dev has new code that calls it without."""
    base, dev = {"prices.py": PRICES_BEFORE}, {"shop.py": SHOP, "bill.py": BILL, **more}
    return Site(folder).diverge({**base}, {"prices.py": PRICES}, {**dev})


def _check(code: str) -> dict[str, Any]:
    return {"checks": [{"name": "tests", "run": f'python -c "{code}"'}], "sentinel": "tests"}


def _resolve(text: str, **changes: Any) -> Turn:
    said = {"rationale": "Both options are passed.", "confidence": "high"}
    return calls(("resolve", {"texts": [{"hunk": 0, "text": text}], **said, **changes}))


def _edit(path: str, old: str, new: str) -> Turn:
    return calls(("edit_file", {"path": path, "old": old, "new": new}))


def _submit(summary: str) -> Turn:
    return calls(("submit", {"summary": summary}))


def _gives_the_rate(path: str) -> tuple[Turn, Turn]:
    return _edit(path, "price(net)", "price(net, 20)"), _submit(f"{path} passes the rate")


def _file(site: Site, record: RunRecord, path: str) -> str:
    return site.repo.git("show", f"{record.head_sha}:{path}") + "\n"


def _said(claude: StandIn, at: int) -> str:
    """The newest tool result in a request."""
    return str(claude.bodies[at]["messages"][-1]["content"][-1]["content"])


def _pull(site: Site, record: RunRecord) -> dict[str, Any]:
    (pull,) = site.pulls()
    assert pull["branch"] == record.sync_branch
    return pull


def _report(site: Site, record: RunRecord) -> str:
    (report,) = site.folder.glob(f"home/*/runs/{record.run_id}/report/report.md")
    return report.read_text()


def _subjects(site: Site, record: RunRecord) -> Sequence[str]:
    """The commits that the sync branch has and no side, newest first."""
    return site.repo.git(
        "log", "--format=%s", record.head_sha, "^origin/main", "^origin/dev"
    ).splitlines()


# Conflicts


def _one_answer() -> Turn:
    """A right answer, with its cost."""
    given = {"texts": [{"hunk": 0, "text": BOTH}], "rationale": "Both are passed."}
    answer = use("toolu_1", "resolve", **given, confidence="high")
    return message(
        answer, input_tokens=1000, cache_read_input_tokens=2000, cache_creation_input_tokens=3000
    )


def test_a_conflict_is_resolved_and_needs_a_look(tmp_path: Path, claude: StandIn) -> None:
    site = _conflicted(tmp_path)
    record = _sync(site, claude, _one_answer())
    assert record.outcome is Outcome.READY_NEEDS_LOOK
    assert (record.rules, record.proposals) == ({"agent": 1}, 1)
    assert _file(site, record, "app.py") == MERGED
    pull = _pull(site, record)
    assert not pull["draft"]
    for text in (pull["body"], _report(site, record)):
        assert "by rule `agent` (proposal): Claude, high confidence: Both are passed" in text
    _tells_the_cost(site, pull["comments"][-1]["text"])


def _tells_the_cost(site: Site, summary: str) -> None:
    (metrics,) = newest_table("metrics", site.config())
    assert {name: metrics[f"agent_{name}"] for name in COST} == COST
    rows = newest_table("claude", site.config())
    names = [(row["what"], row["name"]) for row in rows]
    assert names == [("run", ""), ("task", "resolve"), ("file", "app.py")]
    assert all({name: row[name] for name in COST} == COST for row in rows)
    assert "Claude: 1 answer, 6,000 tokens read (2,000 from the cache), 5 written" in summary


def test_an_answer_that_is_rejected_twice_is_given_again(tmp_path: Path, claude: StandIn) -> None:
    site = _conflicted(tmp_path)
    lossy = _resolve(f"    data = {SOURCE}\n")
    marked = _resolve(f"<<<<<<< dev\n{BOTH}")
    record = _sync(site, claude, lossy, marked, _resolve(BOTH))
    assert _file(site, record, "app.py") == MERGED
    assert "lines that only the target has are neither kept nor named" in _said(claude, 1)
    assert "is a conflict marker" in _said(claude, 2)
    assert (record.agent_turns, record.agent_rejected) == (3, 2)
    assert "2 problems of its answers went back to it" in _report(site, record)


def test_without_a_key_the_rest_works_and_the_report_says_what_was_left(
    tmp_path: Path, claude: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    site = _conflicted(tmp_path)
    record = _sync(site, claude)
    assert (record.outcome, record.rules) == (Outcome.READY_NEEDS_LOOK, {"fallback": 1})
    report = _report(site, record)
    assert "Claude was not asked: the environment variable ANTHROPIC_API_KEY is not set" in report
    assert "resolve: not asked about 1 file" in report
    assert claude.bodies == []


# Repairs


def test_a_failing_check_is_repaired_in_two_rounds(tmp_path: Path, claude: StandIn) -> None:
    site = _called(tmp_path)
    rounds = (*_gives_the_rate("shop.py"), *_gives_the_rate("bill.py"))
    record = _sync(site, claude, *rounds, **_check(BOTH_CALLS))
    assert (record.outcome, record.fix_rounds) == (Outcome.READY_NEEDS_LOOK, 2)
    assert "price(net, 20)" in _file(site, record, "shop.py")
    assert "price(net, 20)" in _file(site, record, "bill.py")
    assert len(_subjects(site, record)) == 2  # the merge, and one fix commit
    fix = site.repo.git("log", "-1", "--format=%B", record.head_sha)
    assert "shop.py passes the rate" in fix
    assert "bill.py passes the rate" in fix
    assert "Repairs of this run that were pushed" in json.dumps(claude.bodies[2])
    assert not _pull(site, record)["draft"]


def test_a_skipped_test_is_refused_and_then_the_code_is_repaired(
    tmp_path: Path, claude: StandIn
) -> None:
    site = _called(tmp_path, **{"tests/test_sums.py": TEST})
    cheap = _edit("tests/test_sums.py", "def test_sums():", SKIPPED), _submit("Not for now")
    undone = _edit("tests/test_sums.py", SKIPPED, "def test_sums():")
    turns = (*cheap, undone, *_gives_the_rate("shop.py"))
    record = _sync(site, claude, *turns, **_check(RUNS_TEST))
    assert (record.outcome, record.fix_rounds) == (Outcome.READY_NEEDS_LOOK, 1)
    assert "Not taken" in _said(claude, 2)
    assert _file(site, record, "tests/test_sums.py") == TEST
    assert record.agent_refused > 0
    report = _report(site, record)
    assert "that no task may make" in report
    assert "tests/test_sums.py`, `test-skipped`" in report


def test_an_error_of_the_audits_is_mended_before_the_checks_start(
    tmp_path: Path, claude: StandIn
) -> None:
    twice = "def rounded(cents):\n    return cents // 100\n"
    gap = "".join(f"x{number} = {number}\n" for number in range(20))
    site = Site(tmp_path).diverge({"a.py": gap}, {"a.py": twice + gap}, {"a.py": gap + twice})
    turns = _edit("a.py", f"x19 = 19\n{twice}", "x19 = 19\n"), _submit("rounded is there once")
    record = _sync(site, claude, *turns)
    assert (record.outcome, record.errors) == (Outcome.READY_NEEDS_LOOK, 0)
    assert _file(site, record, "a.py") == twice + gap
    assert len(_subjects(site, record)) == 2
    assert list(tmp_path.rglob("tests.log")) != []
    suites = {file.parent for file in tmp_path.rglob("tests.log")}
    assert len(suites) == 1  # of the commit with the repair; the merge itself was never tested
    assert "gone after the fix commit" in _report(site, record)


# Limits


def test_a_budget_that_ends_among_conflicts_keeps_what_is_done(
    tmp_path: Path, claude: StandIn
) -> None:
    files = [{name: app(load) for name in ("a.py", "b.py")} for load in (BASE, SOURCE, TARGET)]
    site = Site(tmp_path).diverge({**files[0]}, {**files[1]}, {**files[2]})
    record = _sync(site, claude, _resolve(BOTH), agent={"turns": 1})
    assert (record.outcome, record.exit_code) == (Outcome.BUDGET_SPENT, Exit.NEEDS_LOOK)
    assert record.rules == {"agent": 1, "fallback": 1}
    assert _file(site, record, "a.py") == MERGED
    assert _file(site, record, "b.py") == app(SOURCE)
    pull = _pull(site, record)
    assert pull["draft"]
    assert "the limit of 1 turns is reached" in pull["body"]


def test_the_key_is_seen_nowhere(tmp_path: Path, claude: StandIn) -> None:
    """In no file, log or artifact, in no request's body, and in no command's environment."""
    sandbox(tmp_path / "probe")  # skips the test where there is none
    site = Site(tmp_path).diverge(
        {"prices.py": PRICES_BEFORE, "app.py": app(BASE)},
        {"prices.py": PRICES, "app.py": app(SOURCE)},
        {"shop.py": SHOP, "app.py": app(TARGET)},
    )
    (tmp_path / "spy.py").write_text(
        "import os, pathlib\n"
        f"pathlib.Path({str(tmp_path / 'seen')!r}).write_text(repr(dict(os.environ)))\n"
    )
    look = {"name": "look", "run": "/bin/sh -c 'env; cat /proc/[0-9]*/environ'"}
    agent = {"sandbox": {"commands": [look]}}
    spy = {"name": "spy", "run": f"{sys.executable} {tmp_path / 'spy.py'}"}
    turns = (
        _resolve(BOTH),
        calls(("run_command", {"command": "look"})),
        *_gives_the_rate("shop.py"),
    )
    checks = _check("import shop; assert shop.sold(100) == 120")
    record = _sync(site, claude, *turns, agent=agent, formatters=[spy], **checks)
    assert record.outcome is Outcome.READY_NEEDS_LOOK
    assert "PATH" in (tmp_path / "seen").read_text()
    assert "PATH=" in _said(claude, 2)
    texts = [file.read_text(errors="replace") for file in tmp_path.rglob("*") if file.is_file()]
    assert any('"event": "started"' in text for text in texts)  # the transcript is among them
    assert [text for text in texts if KEY in text] == []
    assert KEY not in kept_by_prefect(record.run_id)
    assert KEY not in json.dumps(claude.bodies)
