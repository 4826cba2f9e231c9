"""What Prefect is given: keys, sizes, rows of plain values."""

import json
import re
from datetime import UTC, datetime

import pytest

from nightly_sync.diffs import FileLines, total
from nightly_sync.merge.model import Status, Take
from nightly_sync.record import Outcome, RunRecord
from nightly_sync.reports import artifacts, cutting, report
from nightly_sync.reports import markdown as md
from nightly_sync.reports.artifacts import Row
from tests.support.facts import facts, finding, large, path, touch, whole
from tests.support.pages import MARKDOWN

ODD = "caf\udce9\n.py"
RECORD = RunRecord(
    run_id="1",
    started_at=datetime(2026, 11, 30, 21, tzinfo=UTC),
    seconds=1.5,
    repository="/srv/repo.git",
    source_branch="main",
    target_branch="dev",
    outcome=Outcome.READY,
    conflicts={"contents": 3, "add/add": 1},
)


def _check(rows: list[Row]) -> None:
    """The same keys in every row, plain values, and JSON that any reader takes."""
    assert len({tuple(row) for row in rows}) == 1
    assert {type(value) for row in rows for value in row.values()} <= {
        str, int, float, bool, type(None)
    }  # fmt: skip
    json.dumps(rows, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "repository",
    ["/srv/Repo.git", "https://github.com/NVIDIA/Megatron-LM", "C:\\work\\repo", "räpo/ß_x", "."],
)
def test_keys_hold_lowercase_letters_digits_and_dashes(repository: str) -> None:
    key = artifacts.artifact_key("report", repository, "release/2.0_Ä", "dev")
    assert re.fullmatch(r"report(-[a-z0-9]+)+", key)
    assert key == artifacts.artifact_key("report", repository, "release/2.0_Ä", "dev")


def test_keys_name_what_they_are_about() -> None:
    key = artifacts.artifact_key("findings", "https://github.com/o/My_Repo.git", "main", "dev")
    assert key.startswith("findings-my-repo-main-dev-")


def test_spellings_of_one_repository_share_a_key_and_credentials_stay_out() -> None:
    spellings = (
        "https://github.com/o/r",
        "https://github.com/o/r.git",
        "https://github.com/o/r/",
        "https://user:s3cret@github.com/o/r.git",
    )
    keys = {artifacts.artifact_key("report", name, "main", "dev") for name in spellings}
    assert len(keys) == 1
    assert "s3cret" not in keys.pop()


def test_different_repositories_and_branches_never_share_a_key() -> None:
    pairs = [("/a/r", "x/y", "dev"), ("/b/r", "x/y", "dev"), ("/a/r", "x-y", "dev"),
             ("/a/r", "x", "y-dev"), ("/a/r", "x", "y/dev")]  # fmt: skip
    assert len({artifacts.artifact_key("report", *pair) for pair in pairs}) == len(pairs)


def test_conflict_rows_are_plain_and_hold_the_path_of_any_name() -> None:
    items = (
        path("core/a.py", source_commits=(touch(3), touch(4), touch(3), touch(None))),
        path(ODD, Status.UNRESOLVED, take=None, evidence="a\x00\nb" * 500),
        whole("ruled.py", Take.TARGET),
    )
    rows = artifacts.conflict_rows(facts(*items))
    _check(rows)
    assert [row["path"] for row in rows] == ["core/a.py", '"caf\\351\\n.py"']
    assert rows[0]["source_pull_requests"] == "#3, #4"
    assert rows[0]["category"] == "Focus paths"
    assert len(str(rows[1]["evidence"])) <= artifacts.CELL


def test_stats_rows_begin_with_what_changed_most_and_know_binaries() -> None:
    lines = [("a.py", 1, 1), ("b.py", 9, 0), ("c.bin", None, None), (ODD, 1, 1)]
    stats = total(FileLines(path=name, added=up, deleted=down) for name, up, down in lines)
    rows = artifacts.stats_rows(stats)
    _check(rows)
    assert rows[0]["path"] == "b.py"
    assert rows[-1] == {"path": "c.bin", "added": 0, "deleted": 0, "binary": True}


def test_finding_rows_are_plain_also_without_a_line() -> None:
    rows = artifacts.finding_rows([finding("a.py"), finding(ODD, line=None, outcome="accepted")])
    _check(rows)
    assert (rows[0]["line"], rows[1]["line"]) == (7, None)
    assert rows[1]["outcome"] == "accepted"


def test_metrics_are_one_row_from_which_the_record_can_be_read_back() -> None:
    (row,) = artifacts.metrics_rows(RECORD)
    _check([row])
    assert set(row) == set(RunRecord.model_fields)
    assert json.loads(str(row["conflicts"])) == {"contents": 3, "add/add": 1}
    assert datetime.fromisoformat(str(row["started_at"])) == RECORD.started_at


def test_empty_tables_have_no_rows() -> None:
    assert artifacts.conflict_rows(facts()) == []
    assert artifacts.finding_rows([]) == []
    assert artifacts.stats_rows(total([])) == []


def test_rows_beyond_the_size_are_counted_in_a_note() -> None:
    rows: list[Row] = [{"n": number, "text": "é" * 100} for number in range(1000)]
    kept, note = artifacts.fit_rows(rows, 20_000)
    assert kept == rows[: len(kept)]
    assert 0 < len(json.dumps(kept)) <= 20_000
    assert f"{1000 - len(kept)} rows of 1000 left out" in note
    assert artifacts.fit_rows(rows[:3], 20_000) == (rows[:3], "")


LONG = "\n\n".join(
    [
        "# Title",
        md.details("Patch", md.fence("".join(f"+ line {n}\n" for n in range(3000)), "diff")),
        *(f"Paragraph {n}: é" for n in range(3000)),
        "  " + md.fence("".join(f"x {n}\n" for n in range(3000))).replace("\n", "\n  "),
    ]
)


def _fences_and_details(text: str) -> tuple[int, int]:
    """Details left open, and fences that run to the end because nothing closed them."""
    tokens = MARKDOWN.parse(text)
    blocks = [token.content for token in tokens if token.type == "html_block"]
    depth = sum(b.startswith("<details>") - b.startswith("</details>") for b in blocks)
    ends = [token for token in tokens if token.type == "fence" and "NOTE" in token.content]
    return depth, len(ends)


@pytest.mark.parametrize("limit", [2_000, 10_000, 40_000, 70_000, 100_000])
def test_a_cut_text_fits_renders_and_says_that_it_was_cut(limit: int) -> None:
    short = cutting.cut(LONG, limit, "NOTE: the rest is elsewhere")
    assert len(short.encode()) <= limit
    assert short.rstrip().endswith("NOTE: the rest is elsewhere")
    assert _fences_and_details(short) == (0, 0)
    assert len(short) > limit * 0.4


def test_a_text_that_fits_is_left_alone() -> None:
    assert cutting.cut(LONG, 10**6, "NOTE") == LONG
    assert cutting.split(LONG, 10**6) == (LONG,)


def test_the_parts_of_a_split_text_fit_render_and_hold_every_line() -> None:
    parts = cutting.split(LONG, 30_000)
    assert len(parts) > 3
    for number, part in enumerate(parts, 1):
        assert len(part.encode()) <= 30_000
        assert part.startswith(f"Part {number} of {len(parts)};")
        assert _fences_and_details(f"{part}\nNOTE") == (0, 0)
    assert _in_order(LONG.split("\n"), "\n".join(parts).split("\n"))


def _in_order(lines: list[str], text: list[str]) -> bool:
    found = iter(text)
    return all(line in found for line in lines)


def test_one_endless_line_is_cut_and_says_so() -> None:
    text = md.fence("x" * 2_000_000)
    parts = cutting.split(text, artifacts.LIMIT)
    assert sum(len(part) for part in parts) < 20_000
    assert "more characters cut here" in parts[0]


def test_a_report_of_a_terrible_night_splits_into_artifacts_of_the_right_size() -> None:
    text = report.render(large(1500))
    parts = cutting.split(text, artifacts.LIMIT)
    assert len(parts) > 1
    assert all(cutting.utf8_size(part) <= artifacts.LIMIT for part in parts)
