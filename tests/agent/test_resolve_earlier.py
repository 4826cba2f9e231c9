"""A merge that an earlier run pushed is told as it is, whatever this machine remembers."""

from pathlib import Path

import pytest

from nightly_sync.agent import earlier
from nightly_sync.agent.hunk_tasks import task_of
from nightly_sync.config import Fallback
from nightly_sync.merge.facts import Touches
from nightly_sync.merge.model import Resolution, Status, Take
from nightly_sync.merge.resolver import Resolved
from nightly_sync.merge.walk import walk
from tests.agent.resolving import BOTH, SOURCE, TARGET, app, conflicts

KNOWN = Resolution(
    rule="agent", take=Take.TEXT, evidence="why", status=Status.PROPOSAL, text=BOTH.encode()
)
MINE = app("load(path, cache=cache, workers=workers)")
OTHER = "load(path, cache=None, workers=workers)"


def told(
    pushed: str | None,
    known: Resolution | None = None,
    fallback: Fallback = "source",
    path: str = "app.py",
) -> Resolved:
    conflict = conflicts()[path]
    task = task_of(conflict, conflict.open, {}, Touches({}, {}))
    text = None if pushed is None else pushed.encode()
    return earlier.described(conflict, task, {0: known} if known else {}, text, fallback)


def test_what_is_remembered_and_stands_there_keeps_its_reasons() -> None:
    assert told(MINE, KNOWN) == Resolved({0: KNOWN})


def test_what_is_remembered_is_recognised_after_a_formatter() -> None:
    wide = MINE.replace("(path, cache=cache, ", "(\n        path,\n        cache=cache,\n        ")
    assert told(wide, KNOWN) == Resolved({0: KNOWN})


def test_the_fallback_answers_for_its_own_text() -> None:
    assert told(app(SOURCE)) == Resolved({})
    assert told(app(TARGET), fallback="target") == Resolved({})
    assert told(app(SOURCE).replace("'", '"').replace("path, steps", "path,  steps")).hunks == {}


@pytest.mark.parametrize("known", [KNOWN, None])
def test_a_text_of_another_machine_is_no_text_of_the_fallback(known: Resolution | None) -> None:
    (found,) = told(app(OTHER), known).hunks.values()
    assert (found.rule, found.take, found.status) == ("earlier-run", Take.TEXT, Status.PROPOSAL)
    assert found.text == f"    data = {OTHER}\n".encode()
    assert "not on this machine" in found.evidence


def test_a_side_that_an_earlier_run_took_is_named() -> None:
    (found,) = told(app(TARGET)).hunks.values()
    assert (found.rule, found.take, found.text) == ("earlier-run", Take.TARGET, None)
    (other,) = told(app(SOURCE), KNOWN).hunks.values()
    assert (other.rule, other.take) == ("earlier-run", Take.SOURCE)


def test_a_formatted_file_that_nobody_here_knows_is_known_as_a_whole() -> None:
    pushed = app(OTHER).replace("def load", "def  load")
    found = told(pushed)
    assert found.text == pushed.encode()
    assert [item.rule for item in found.hunks.values()] == ["earlier-run"]
    draft = walk(conflicts()["app.py"].facts, "source", lambda conflict: found)
    assert draft is not None
    assert draft.text == pushed.encode()


def test_where_nobody_is_to_guess_each_hunk_is_told() -> None:
    (found,) = told(app(SOURCE), fallback="stop").hunks.values()
    assert (found.rule, found.take) == ("earlier-run", Take.SOURCE)


def test_a_file_that_is_no_longer_there_is_left_to_what_moved_it() -> None:
    assert told(None) == Resolved({})


def test_a_newline_at_the_end_makes_no_other_text() -> None:
    assert told("x = 1\ny = 2\nz = 3", path="no_end.py") == Resolved({})
    (found,) = told("x = 1\ny = 2\nz = 4", path="no_end.py").hunks.values()
    assert found.text == b"z = 4"


def test_bytes_that_are_no_text_are_told_too(tmp_path: Path) -> None:
    conflict = conflicts()["latin.txt"]
    task = task_of(conflict, conflict.open, {}, Touches({}, {}))
    found = earlier.described(conflict, task, {}, b"caf\xe9\n9\n", "source")
    assert found.hunks[0].text == b"9\n"
