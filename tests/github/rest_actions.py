"""GitHub Actions: workflows, their runs, jobs and logs."""

from tests.github import bare, render, render_checks
from tests.github.call import Call, Handler, Reply, paged
from tests.github.errors import ApiError, not_found
from tests.github.state import CheckRun, Event, Run, Suite, Workflow

Ran = tuple[Suite, Run]
FAILED = ("FAILURE", "CANCELLED", "TIMED_OUT", "STARTUP_FAILURE", "ACTION_REQUIRED")


def _workflow(call: Call) -> Workflow:
    found = call.repo.workflow(call.params["workflow_id"])
    if found is None:
        raise not_found()
    return found


def list_workflows(call: Call) -> Reply:
    """All workflows."""

    def one(item: Workflow) -> render.Shape:
        return render_checks.workflow(call.world, call.repo, item)

    return paged(call, call.repo.workflows, one, "workflows")


def get_workflow(call: Call) -> Reply:
    """One workflow by id or file name."""
    return Reply(200, render_checks.workflow(call.world, call.repo, _workflow(call)))


def dispatch(call: Call) -> Reply:
    """Start a workflow on a branch or tag."""
    workflow, ref, repo = _workflow(call), str(call.body["ref"]), call.repo
    if not workflow.dispatch:
        raise ApiError(422, "Workflow does not have 'workflow_dispatch' trigger")
    sha = bare.refs(repo.path).get(f"refs/heads/{ref.removeprefix('refs/heads/')}")
    if sha is None:
        raise ApiError(422, f"No ref found for: {ref}")
    file, before = workflow.path.rpartition("/")[2], len(_runs(call))
    event = Event("dispatch", repo, sha, file, ref, inputs=call.body.get("inputs", {}))
    call.world.tell(event, call.token)
    if not call.body.get("return_run_details"):
        return Reply(204)
    return _started(call, _runs(call)[before:])


def _started(call: Call, runs: list[Ran]) -> Reply:
    if not runs:
        return Reply(204)
    shown = render_checks.run(call.world, call.repo, *runs[0])
    links = {"run_url": shown["url"], "html_url": shown["html_url"]}
    return Reply(200, {"workflow_run_id": shown["id"], **links})


def _runs(call: Call) -> list[Ran]:
    return [(suite, suite.run) for suite in call.repo.suites if suite.run]


def list_runs(call: Call) -> Reply:
    """Workflow runs, newest first, by the query's filters and those of one workflow if named."""
    workflow = _workflow(call) if "workflow_id" in call.params else None
    runs = [ran for ran in _runs(call) if workflow in (None, ran[1].workflow)]
    chosen = [ran for ran in runs if _chosen(call, render_checks.run(call.world, call.repo, *ran))]

    def one(ran: Ran) -> render.Shape:
        return render_checks.run(call.world, call.repo, *ran)

    return paged(call, chosen[::-1], one, "workflow_runs")


def _chosen(call: Call, shown: render.Shape) -> bool:
    asked = call.query
    filters = {"branch": "head_branch", "head_sha": "head_sha", "event": "event"}
    status = asked.get("status", shown["status"])
    return (
        all(asked.get(name, shown[key]) == shown[key] for name, key in filters.items())
        and status in (shown["status"], shown["conclusion"])
        and _created(asked.get("created", ""), str(shown["created_at"]))
    )


def _created(asked: str, at: str) -> bool:
    """`>=T`, `>T`, `<=T`, `<T`, `T..T`, or a prefix such as a day."""
    first, dots, last = asked.partition("..")
    if dots:
        return first <= at <= last
    for sign, fits in ((">=", at >= asked[2:]), ("<=", at <= asked[2:])):
        if asked.startswith(sign):
            return fits
    if asked[:1] in ("<", ">"):
        return at < asked[1:] if asked[0] == "<" else at > asked[1:]
    return at.startswith(asked)


def _run(call: Call) -> Ran:
    wanted = call.number("run_id")
    found = next((ran for ran in _runs(call) if ran[1].id == wanted), None)
    if found is None:
        raise not_found()
    return found


def get_run(call: Call) -> Reply:
    """One workflow run."""
    return Reply(200, render_checks.run(call.world, call.repo, *_run(call)))


def _jobs_of(call: Call, suite: Suite, latest: bool = True) -> list[CheckRun]:
    return [run for run in call.repo.runs_of(suite.sha, latest) if run.suite is suite]


def list_jobs(call: Call) -> Reply:
    """Jobs of a run; of its latest attempt unless all are asked for."""
    suite, run = _run(call)
    jobs = _jobs_of(call, suite, call.query.get("filter", "latest") == "latest")
    return paged(call, jobs, lambda job: render_checks.job(call.world, call.repo, job, run), "jobs")


def _job(call: Call) -> tuple[CheckRun, Run]:
    wanted = call.number("job_id")
    for job in call.repo.check_runs:
        if job.id == wanted and job.suite.run:
            return job, job.suite.run
    raise not_found()


def get_job(call: Call) -> Reply:
    """One job."""
    return Reply(200, render_checks.job(call.world, call.repo, *_job(call)))


def job_log(call: Call) -> Reply:
    """Where the log is: on another host. A job that has not ended has none yet."""
    job, _ = _job(call)
    if job.status != "COMPLETED" or job.log is None:
        raise not_found()
    return Reply(302, headers={"Location": f"{call.world.logs_url}/{job.id}?sig=stand-in"})


def rerun_job(call: Call) -> Reply:
    """Run one job again."""
    job, _ = _job(call)
    return _again(call, job.suite, [job])


def rerun_run(call: Call) -> Reply:
    """Run all jobs of a run again."""
    suite, _ = _run(call)
    return _again(call, suite, _jobs_of(call, suite))


def rerun_failed(call: Call) -> Reply:
    """Run the failed jobs of a run again, and those that were skipped because they need them."""
    suite, _ = _run(call)
    return _again(call, suite, [job for job in _jobs_of(call, suite) if _runs_again(job)])


def _runs_again(job: CheckRun) -> bool:
    skipped = job.conclusion == "SKIPPED" and getattr(job.origin, "rerun", None)
    return job.conclusion in FAILED or bool(skipped)


def _again(call: Call, suite: Suite, jobs: list[CheckRun]) -> Reply:
    if render_checks.state_of(call.repo, suite)[0] != "COMPLETED":
        raise ApiError(403, "This workflow is already running")
    if not jobs:
        raise ApiError(403, "This workflow run cannot be retried")
    event = Event("rerun", call.repo, suite.sha, suite.app, suite.branch, rerun=tuple(jobs))
    call.world.tell(event, call.token)
    return Reply(201, {})


OPERATIONS: dict[str, Handler] = {
    "actions/list-repo-workflows": list_workflows,
    "actions/get-workflow": get_workflow,
    "actions/create-workflow-dispatch": dispatch,
    "actions/list-workflow-runs-for-repo": list_runs,
    "actions/list-workflow-runs": list_runs,
    "actions/get-workflow-run": get_run,
    "actions/list-jobs-for-workflow-run": list_jobs,
    "actions/get-job-for-workflow-run": get_job,
    "actions/download-job-logs-for-workflow-run": job_log,
    "actions/re-run-job-for-workflow-run": rerun_job,
    "actions/re-run-workflow": rerun_run,
    "actions/re-run-workflow-failed-jobs": rerun_failed,
}
