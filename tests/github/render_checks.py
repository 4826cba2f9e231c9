"""Check runs, suites, workflow runs, jobs and statuses as GitHub's REST API shows them."""

from tests.github import render
from tests.github.clock import stamp
from tests.github.render import Shape
from tests.github.state import CheckRun, Repository, Run, Status, Suite, Workflow, World

_WORST_FIRST = (
    *("FAILURE", "TIMED_OUT", "STARTUP_FAILURE", "CANCELLED", "ACTION_REQUIRED", "STALE"),
    *("SUCCESS", "NEUTRAL", "SKIPPED"),
)


def check_run(world: World, repo: Repository, run: CheckRun) -> Shape:
    """A check run."""
    notes = render.api_url(world, repo, "check-runs", run.id, "annotations")
    output = {"title": None, "summary": None, "text": None, "annotations_url": notes}
    return {
        "id": run.id,
        "node_id": f"CR_{run.id}",
        "name": run.name,
        "head_sha": run.suite.sha,
        "external_id": "",
        "status": run.status.lower(),
        "conclusion": run.conclusion.lower() if run.conclusion else None,
        "started_at": stamp(run.started_at),
        "completed_at": stamp(run.completed_at),
        "url": render.api_url(world, repo, "check-runs", run.id),
        "html_url": details_url(world, repo, run),
        "details_url": details_url(world, repo, run),
        "check_suite": {"id": run.suite.id},
        "app": render.app(world, run.suite.app),
        "output": output | {"annotations_count": len(run.annotations)},
        "pull_requests": _pulls_at(world, repo, run.suite.sha),
    }


def details_url(world: World, repo: Repository, run: CheckRun) -> str:
    """The page a check run links to."""
    if run.suite.run is None:
        return render.page_url(world, repo, "runs", run.id)
    return render.page_url(world, repo, "actions", "runs", run.suite.run.id, "job", run.id)


def _pulls_at(world: World, repo: Repository, sha: str) -> list[Shape]:
    pulls = (p for p in repo.pulls if p.open and p.head_sha == sha and not p.head_repository)
    return [render.brief_pull(world, repo, item) for item in pulls]


def annotations(world: World, repo: Repository, run: CheckRun) -> list[Shape]:
    """What a check run says about lines of code."""
    return [
        {
            "path": note.path,
            "blob_href": render.page_url(world, repo, "blob", run.suite.sha, note.path),
            "start_line": note.line,
            "end_line": note.line,
            "annotation_level": note.level,
            "message": note.message,
        }
        for note in run.annotations
    ]


def overall(runs: list[CheckRun]) -> tuple[str, str | None]:
    """Status and conclusion of a suite or workflow run, from its latest check runs."""
    states = {run.status for run in runs}
    if states - {"COMPLETED"} or not runs:
        return ("QUEUED" if states <= {"QUEUED"} else "IN_PROGRESS"), None
    found = {run.conclusion for run in runs}
    return "COMPLETED", next((word for word in _WORST_FIRST if word in found), "FAILURE")


def state_of(repo: Repository, suite: Suite) -> tuple[str, str | None]:
    """Status and conclusion of a suite now; one that was asked to run again is queued at once."""
    runs = [run for run in repo.runs_of(suite.sha) if run.suite is suite]
    begun = max((run.attempt for run in runs), default=1)
    return ("QUEUED", None) if suite.run and suite.run.attempt > begun else overall(runs)


def _summed_up(repo: Repository, suite: Suite) -> Shape:
    status, conclusion = state_of(repo, suite)
    return {"status": status.lower(), "conclusion": conclusion.lower() if conclusion else None}


def suite(world: World, repo: Repository, item: Suite) -> Shape:
    """A check suite."""
    runs = [run for run in repo.runs_of(item.sha) if run.suite is item]
    return {
        "id": item.id,
        "node_id": f"CS_{item.id}",
        "head_branch": item.branch,
        "head_sha": item.sha,
        "app": render.app(world, item.app),
        "repository": render.repository(world, repo),
        "head_commit": render.simple_commit(repo, item.sha),
        "created_at": stamp(item.created_at),
        "updated_at": stamp(item.created_at),
        "latest_check_runs_count": len(runs),
        "check_runs_url": render.api_url(world, repo, "check-suites", item.id, "check-runs"),
        "url": render.api_url(world, repo, "check-suites", item.id),
        "pull_requests": _pulls_at(world, repo, item.sha),
        **_summed_up(repo, item),
    }


def workflow(world: World, repo: Repository, item: Workflow) -> Shape:
    """A workflow."""
    return {
        "id": item.id,
        "node_id": f"W_{item.path.rpartition('/')[2]}",
        "name": item.name,
        "path": item.path,
        "state": "active",
        "created_at": stamp(item.created_at),
        "updated_at": stamp(item.created_at),
        "url": render.api_url(world, repo, "actions", "workflows", item.id),
    }


def run(world: World, repo: Repository, item: Suite, found: Run) -> Shape:
    """A workflow run."""
    url = render.api_url(world, repo, "actions", "runs", found.id)
    links = {word: f"{url}/{word.removesuffix('_url')}" for word in ("jobs_url", "logs_url")}
    return {
        "id": found.id,
        "node_id": f"WFR_{found.id}",
        "name": found.workflow.name,
        "display_title": found.workflow.name,
        "path": found.workflow.path,
        "workflow_id": found.workflow.id,
        "run_number": found.number,
        "run_attempt": found.attempt,
        "event": found.event,
        "head_branch": item.branch,
        "head_sha": item.sha,
        "head_commit": render.simple_commit(repo, item.sha),
        "check_suite_id": item.id,
        "repository": render.repository(world, repo),
        "head_repository": render.repository(world, repo),
        "created_at": stamp(found.created_at),
        "updated_at": stamp(found.created_at),
        "run_started_at": stamp(found.created_at),
        "url": url,
        "html_url": render.page_url(world, repo, "actions", "runs", found.id),
        "pull_requests": _pulls_at(world, repo, item.sha),
        **links,
        **_summed_up(repo, item),
    }


def job(world: World, repo: Repository, item: CheckRun, found: Run) -> Shape:
    """A job of a workflow run; its id is its check run's."""
    return {
        "id": item.id,
        "node_id": f"CR_{item.id}",
        "run_id": found.id,
        "run_attempt": item.attempt,
        "run_url": render.api_url(world, repo, "actions", "runs", found.id),
        "name": item.name,
        "workflow_name": found.workflow.name,
        "head_sha": item.suite.sha,
        "head_branch": item.suite.branch,
        "status": item.status.lower(),
        "conclusion": item.conclusion.lower() if item.conclusion else None,
        "created_at": stamp(item.started_at or found.created_at),
        "started_at": stamp(item.started_at or found.created_at),
        "completed_at": stamp(item.completed_at),
        "url": render.api_url(world, repo, "actions", "jobs", item.id),
        "html_url": details_url(world, repo, item),
        "check_run_url": render.api_url(world, repo, "check-runs", item.id),
        "labels": ["ubuntu-latest"],
        "steps": [],
    }


def status(world: World, repo: Repository, item: Status) -> Shape:
    """A commit status. REST has no word for EXPECTED and calls it pending."""
    return {
        "id": item.id,
        "node_id": f"SC_{item.id}",
        "context": item.context,
        "state": "pending" if item.state == "EXPECTED" else item.state.lower(),
        "description": item.description,
        "target_url": item.target_url,
        "creator": render.account(world, item.creator),
        "created_at": stamp(item.created_at),
        "updated_at": stamp(item.created_at),
        "url": render.api_url(world, repo, "statuses", item.sha),
    }


def combined(world: World, repo: Repository, sha: str) -> Shape:
    """The combined status of a commit; pending if it has none, as on GitHub."""
    found = [status(world, repo, item) for item in repo.statuses_of(sha)]
    states = {item["state"] for item in found}
    worst = "failure" if states & {"failure", "error"} else "pending"
    return {
        "state": "success" if states == {"success"} else worst,
        "sha": sha,
        "total_count": len(found),
        "statuses": found,
        "repository": render.repository(world, repo),
        "url": render.api_url(world, repo, "commits", sha, "status"),
        "commit_url": render.api_url(world, repo, "commits", sha),
    }
