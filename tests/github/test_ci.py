"""The stand-in's CI: triggers, scripts stepped by polls, reruns, logs."""

import re
from collections.abc import Iterator
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from tests.github.ci import FUTURE, NEVER, Act, External, Stage
from tests.github.client import BRANCH, Client, Site
from tests.github.state import Annotation

OK_TO_TEST = r"^/ok to test (\w+)$"


def _ask(site: Site, text: str = "") -> datetime:
    """Comment on the pull request; returns when the comment was made."""
    if not site.repository.pulls:
        site.open_pull()
    made = site.client.post("issues/1/comments", {"body": text or f"/ok to test {site.head}"})
    return datetime.fromisoformat(made.json()["created_at"])


def _nodes(site: Site) -> list[Any]:
    rollup = site.client.rollup(site.head)
    return [] if rollup is None else list(rollup["contexts"]["nodes"])


def test_a_comment_starts_checks_that_queue_run_and_end(site: Site) -> None:
    acts = [Act("tests", queued=1), Act("gate", after=2, running=0)]
    site.github.ci.on_comment(OK_TO_TEST, acts)
    assert site.client.rollup(site.head) is None
    asked = _ask(site)
    seen = [site.client.checks(site.head) for _ in range(3)]
    assert seen[0] == {"tests": ("QUEUED", None)}
    assert seen[1] == {"tests": ("IN_PROGRESS", None)}
    assert seen[2] == {"tests": ("COMPLETED", "SUCCESS"), "gate": ("COMPLETED", "SUCCESS")}
    assert all(datetime.fromisoformat(node["startedAt"]) > asked for node in _nodes(site))


def test_a_comment_that_names_another_commit_starts_nothing(site: Site) -> None:
    site.github.ci.on_comment(OK_TO_TEST, [Act("tests")])
    _ask(site, f"/ok to test {site.head[:8]}")
    assert site.client.rollup(site.head) is None
    comments = site.client.get("issues/1/comments").json()
    assert "not the full SHA" in comments[-1]["body"]


def test_each_trigger_plays_its_script_and_the_last_one_stays(site: Site) -> None:
    site.github.ci.on_label("go", [Act("first")], [Act("second")])
    site.open_pull()
    for _ in range(3):
        site.client.post("issues/1/labels", {"labels": ["go"]})
        site.client.delete("issues/1/labels/go")
    names = [node["name"] for node in _nodes(site)]
    assert names == ["first", "second", "second"]


def test_a_dispatch_starts_a_workflow_on_a_branch(site: Site) -> None:
    github = site.github
    github.workflow(site.repository, "CI", "ci.yml")
    github.workflow(site.repository, "Docs", "docs.yml", dispatch=False)
    github.ci.on_dispatch("ci.yml", [Act("tests")])
    path = "actions/workflows/{}/dispatches"
    assert site.client.post(path.format("ci.yml"), {"ref": BRANCH}).status_code == 204
    assert site.client.post(path.format("docs.yml"), {"ref": BRANCH}).status_code == 422
    assert site.client.post(path.format("no.yml"), {"ref": BRANCH}).status_code == 404
    assert site.client.post(path.format("ci.yml"), {"ref": "nowhere"}).status_code == 422
    runs = site.client.get("actions/runs", head_sha=site.head, event="workflow_dispatch").json()
    (run,) = runs["workflow_runs"]
    assert (run["name"], run["status"], run["path"]) == (
        "CI",
        "in_progress",
        ".github/workflows/ci.yml",
    )


def test_a_push_starts_checks_on_its_branch_only(site: Site) -> None:
    site.github.ci.on_push("main2dev/*", [Act("tests")])
    person = site.github.person(site.repository)
    person.push("dev", {"x": "1"})
    pushed = person.push(BRANCH, {"x": "1"})
    assert site.client.checks(pushed) == {"tests": ("IN_PROGRESS", None)}
    assert site.client.checks(site.tip("dev")) == {}


def test_a_token_that_starts_no_workflows_starts_none(site: Site) -> None:
    site.github.ci.on_comment(OK_TO_TEST, [Act("tests")])
    site.open_pull()
    silent = Client(site.github.url, site.github.token(triggers=False))
    silent.post("issues/1/comments", {"body": f"/ok to test {site.head}"})
    assert site.client.rollup(site.head) is None


def test_a_failed_job_has_a_log_on_another_host_that_gets_no_token(site: Site) -> None:
    text = "FAILED test_x.py::test_a - assert 1 == 2\n1 failed"
    site.github.ci.play(site.repository, site.head, [Act("tests", "FAILURE", log=text)])
    run = site.client.get("actions/runs", head_sha=site.head).json()["workflow_runs"][0]
    job_id = _nodes(site)[0]["databaseId"]
    assert site.client.get(f"actions/jobs/{job_id}/logs").status_code == 404  # still running
    _nodes(site)
    (job,) = site.client.get(f"actions/runs/{run['id']}/jobs").json()["jobs"]
    assert (job["id"], job["conclusion"]) == (job_id, "failure")
    sent = site.client.get(f"actions/jobs/{job_id}/logs")
    assert (sent.status_code, sent.content) == (302, b"")
    log = site.client.http.get(sent.headers["Location"], headers={"Authorization": ""})
    assert (log.status_code, site.github.problems) == (
        400,
        ["a token was sent to the host of the logs"],
    )
    site.github.problems.clear()
    log = Client(site.github.url).http.get(sent.headers["Location"])
    assert log.content.startswith(b"\xef\xbb\xbf")
    assert re.search(r"\d\d:\d\d:\d\d\.\d{7}Z \x1b\[31mFAILED test_x", log.text)
    assert "##[error]Process completed with exit code 1." in log.text


def test_a_rerun_of_failed_jobs_takes_their_place(site: Site) -> None:
    flaky = Act("tests", "FAILURE", rerun=Act("tests"))
    site.github.ci.play(site.repository, site.head, [flaky, Act("lint")])
    run = site.client.get("actions/runs").json()["workflow_runs"][0]
    path = f"actions/runs/{run['id']}/rerun-failed-jobs"
    assert site.client.post(path).status_code == 403  # it still runs
    _nodes(site), _nodes(site)
    assert site.client.post(path).status_code == 201
    again = {"tests": ("IN_PROGRESS", None), "lint": ("COMPLETED", "SUCCESS")}
    assert site.client.checks(site.head) == again
    assert site.client.checks(site.head)["tests"] == ("COMPLETED", "SUCCESS")
    ref = f"commits/{site.head}/check-runs"
    assert site.client.get(ref).json()["total_count"] == 2
    assert site.client.get(ref, filter="all").json()["total_count"] == 3
    assert site.client.get(f"actions/runs/{run['id']}").json()["run_attempt"] == 2


def test_one_name_can_stand_in_several_suites_workflows_and_apps(site: Site) -> None:
    acts = [
        Act("build"),
        Act("build", "FAILURE", suite="b"),
        Act("build", workflow="Nightly"),
        Act("build", app="other-ci"),
    ]
    site.github.ci.play(site.repository, site.head, acts)
    nodes = _nodes(site)
    assert {node["name"] for node in nodes} == {"build"}
    assert len({node["checkSuite"]["databaseId"] for node in nodes}) == 4
    flows = [node["checkSuite"]["workflowRun"] for node in nodes]
    assert [f and f["workflow"]["name"] for f in flows] == ["CI", "CI", "Nightly", None]
    assert nodes[3]["checkSuite"]["app"]["slug"] == "other-ci"
    assert site.client.get(f"commits/{site.head}/check-suites").json()["total_count"] == 4


def test_statuses_of_other_services_are_contexts_too(site: Site) -> None:
    acts: list[Act | External] = [
        External("ci/jenkins"),
        External("dco", "EXPECTED", pending=0),
        Act("tests", running=0),
    ]
    site.github.ci.play(site.repository, site.head, acts)
    assert site.client.checks(site.head)["ci/jenkins"] == ("PENDING", "PENDING")
    assert site.client.checks(site.head)["ci/jenkins"] == ("SUCCESS", "SUCCESS")
    combined = site.client.get(f"commits/{site.head}/status").json()
    assert {s["context"]: s["state"] for s in combined["statuses"]} == {
        "ci/jenkins": "success",
        "dco": "pending",
    }
    assert site.client.get(f"commits/{site.head}/statuses").json()[0]["state"] == "success"


@pytest.mark.parametrize(
    "act",
    [
        Act("gate", queued=NEVER),
        Act("gate", running=NEVER),
        Act("gate", after=NEVER),
        Act("gate", "SKIPPED", running=0),
        Act("gate", FUTURE, running=0),
        Act("gate", "STALE", running=0),
        Act("gate", None, running=0),
    ],
)
def test_checks_can_hang_be_skipped_or_end_in_unknown_words(site: Site, act: Act) -> None:
    site.github.ci.play(site.repository, site.head, [act])
    shown = [site.client.checks(site.head) for _ in range(4)][-1]
    ended = ("COMPLETED", act.conclusion)
    stuck = ("QUEUED", None) if act.queued else ("IN_PROGRESS", None)
    hangs = NEVER in (act.queued, act.running)
    assert shown == ({} if act.after else {"gate": stuck if hangs else ended})
    assert site.client.get(f"commits/{site.head}/check-runs").status_code == 200


def test_a_rollup_can_be_null_although_there_are_checks(site: Site) -> None:
    site.github.ci.play(site.repository, site.head, [Act("tests")])
    site.repository.without_rollup.add(site.head)
    assert site.client.rollup(site.head) is None


def test_an_old_verdict_stays_beside_the_new_one(site: Site) -> None:
    site.github.ci.past(site.repository, site.head, [Act("gate")], seconds=600)
    site.github.ci.on_comment(OK_TO_TEST, [Act("gate", queued=NEVER)])
    asked = _ask(site)
    old, new = _nodes(site)
    assert (old["conclusion"], new["status"]) == ("SUCCESS", "QUEUED")
    assert datetime.fromisoformat(old["startedAt"]) < asked


def test_a_generator_can_play_anything(site: Site) -> None:
    def script(stage: Stage) -> Iterator[None]:
        run = stage.check("matrix (1)")
        yield
        stage.finish(run, "CANCELLED")
        stage.start(stage.check("matrix (2)"))
        yield

    site.github.ci.on_pull_request("opened", script)
    site.open_pull()
    assert site.client.checks(site.head) == {"matrix (1)": ("QUEUED", None)}
    assert site.client.checks(site.head) == {
        "matrix (1)": ("COMPLETED", "CANCELLED"),
        "matrix (2)": ("IN_PROGRESS", None),
    }


def test_a_person_can_push_at_a_poll(site: Site) -> None:
    site.open_pull()
    person = site.github.person(site.repository)
    site.github.ci.play(site.repository, site.head, [Act("tests", running=5)])
    site.github.ci.at_poll(2, lambda: person.push(BRANCH, {"x": "mine"}))
    heads = []
    for _ in range(2):
        site.client.rollup(site.head)
        heads.append(site.client.get("pulls/1").json()["head"]["sha"])
    assert heads[0] == site.head
    assert heads[1] == site.tip(BRANCH) != site.head
    assert site.github.ci.polls == 2


def test_time_moves_with_polls_and_by_hand_not_by_sleeping(site: Site) -> None:
    clock, before = site.github.world.clock, site.github.world.clock.now()
    site.github.ci.poll_seconds = 3600
    for _ in range(3):
        site.client.get(f"commits/{site.head}/check-runs")
    clock.advance(60)
    assert (clock.now() - before).total_seconds() >= 3 * 3600 + 60
    shown = parsedate_to_datetime(site.client.get().headers["Date"])
    assert abs((clock.now() - shown).total_seconds()) < 60


def test_annotations_point_at_lines(site: Site) -> None:
    act = Act("lint", "FAILURE", running=0, annotations=(Annotation("a", 1, "unused import"),))
    site.github.ci.play(site.repository, site.head, [act])
    run = _nodes(site)[0]["databaseId"]
    (note,) = site.client.get(f"check-runs/{run}/annotations").json()
    assert (note["path"], note["start_line"], note["message"]) == ("a", 1, "unused import")
