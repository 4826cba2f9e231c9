"""Check runs, check suites and commit statuses."""

from tests.github import render, render_checks
from tests.github.call import Call, Handler, Reply, paged
from tests.github.errors import not_found
from tests.github.state import CheckRun, Event, Suite


def _chosen(call: Call, runs: list[CheckRun]) -> list[CheckRun]:
    """By the query's check_name, status and app_id."""
    asked = call.query
    return [
        run
        for run in runs
        if asked.get("check_name", run.name) == run.name
        and asked.get("status", run.status.lower()) == run.status.lower()
        and asked.get("app_id", "") in ("", str(render.app(call.world, run.suite.app)["id"]))
    ]


def _shown(call: Call, runs: list[CheckRun]) -> Reply:
    def one(run: CheckRun) -> render.Shape:
        return render_checks.check_run(call.world, call.repo, run)

    return paged(call, _chosen(call, runs), one, "check_runs")


def _latest(call: Call) -> bool:
    return call.query.get("filter", "latest") == "latest"


def runs_for_ref(call: Call) -> Reply:
    """Check runs of a commit or branch; reading the first page is a poll."""
    sha = call.sha()
    if call.query.get("page", "1") == "1":
        call.world.polled(call.repo, sha)
    return _shown(call, call.repo.runs_of(sha, _latest(call)))


def _suite(call: Call) -> Suite:
    wanted = call.number("check_suite_id")
    found = next((suite for suite in call.repo.suites if suite.id == wanted), None)
    if found is None:
        raise not_found()
    return found


def runs_of_suite(call: Call) -> Reply:
    """Check runs of one suite."""
    suite = _suite(call)
    runs = call.repo.runs_of(suite.sha, _latest(call))
    return _shown(call, [run for run in runs if run.suite is suite])


def suites_for_ref(call: Call) -> Reply:
    """Suites of a commit or branch."""
    sha = call.sha()
    suites = [suite for suite in call.repo.suites if suite.sha == sha]
    app_id = call.query.get("app_id")
    if app_id:
        suites = [s for s in suites if str(render.app(call.world, s.app)["id"]) == app_id]

    def one(suite: Suite) -> render.Shape:
        return render_checks.suite(call.world, call.repo, suite)

    return paged(call, suites, one, "check_suites")


def get_suite(call: Call) -> Reply:
    """One suite."""
    return Reply(200, render_checks.suite(call.world, call.repo, _suite(call)))


def rerun_suite(call: Call) -> Reply:
    """Ask for a whole suite again."""
    suite = _suite(call)
    runs = [run for run in call.repo.runs_of(suite.sha) if run.suite is suite]
    _ask_again(call, suite, runs)
    return Reply(201, {})


def _ask_again(call: Call, suite: Suite, runs: list[CheckRun]) -> None:
    event = Event("rerun", call.repo, suite.sha, suite.app, suite.branch, rerun=tuple(runs))
    call.world.tell(event, call.token)


def _run(call: Call) -> CheckRun:
    wanted = call.number("check_run_id")
    found = next((run for run in call.repo.check_runs if run.id == wanted), None)
    if found is None:
        raise not_found()
    return found


def get_run(call: Call) -> Reply:
    """One check run."""
    return Reply(200, render_checks.check_run(call.world, call.repo, _run(call)))


def annotations(call: Call) -> Reply:
    """What a check run says about lines of code."""
    notes = render_checks.annotations(call.world, call.repo, _run(call))
    return paged(call, notes, lambda note: note)


def rerun_run(call: Call) -> Reply:
    """Ask for one check run again."""
    run = _run(call)
    _ask_again(call, run.suite, [run])
    return Reply(201, {})


def combined_status(call: Call) -> Reply:
    """All statuses of a commit as one; check runs do not count here."""
    return Reply(200, render_checks.combined(call.world, call.repo, call.sha()))


def statuses(call: Call) -> Reply:
    """Every status ever set on a commit, newest first."""
    sha = call.sha()
    found = [status for status in call.repo.statuses if status.sha == sha][::-1]
    return paged(call, found, lambda status: render_checks.status(call.world, call.repo, status))


OPERATIONS: dict[str, Handler] = {
    "checks/list-for-ref": runs_for_ref,
    "checks/list-for-suite": runs_of_suite,
    "checks/list-suites-for-ref": suites_for_ref,
    "checks/get-suite": get_suite,
    "checks/rerequest-suite": rerun_suite,
    "checks/get": get_run,
    "checks/list-annotations": annotations,
    "checks/rerequest-run": rerun_run,
    "repos/get-combined-status-for-ref": combined_status,
    "repos/list-commit-statuses-for-ref": statuses,
}
