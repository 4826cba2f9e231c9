"""References, commits, branches and what protects them."""

from tests.github import bare, render
from tests.github.bare import BareError
from tests.github.call import Call, Handler, Reply, paged
from tests.github.errors import ApiError, not_found
from tests.github.state import Protection


def get_ref(call: Call) -> Reply:
    """One reference, `heads/…` or `tags/…`."""
    name = f"refs/{call.params['ref']}"
    sha = bare.refs(call.repo.path).get(name)
    if sha is None:
        raise not_found()
    return Reply(200, render.ref(call.world, call.repo, name, sha))


def create_ref(call: Call) -> Reply:
    """Create a reference to a commit that exists."""
    name, sha, path = str(call.body["ref"]), str(call.body["sha"]), call.repo.path
    if not name.startswith("refs/") or name.count("/") < 2:
        raise ApiError(422, "Reference name must start with 'refs/heads/' or 'refs/tags/'.")
    if name in bare.refs(path):
        raise ApiError(422, "Reference already exists")
    if bare.resolve(path, sha) != sha:
        raise ApiError(422, "Object does not exist")
    _set_ref(call, name, sha)
    return Reply(201, render.ref(call.world, call.repo, name, sha))


def _set_ref(call: Call, name: str, sha: str) -> None:
    try:
        bare.update_ref(call.repo.path, name, sha)
    except BareError:
        raise ApiError(422, "Reference update failed") from None  # a branch is in its way
    call.world.look(call.repo, call.token)


def update_ref(call: Call) -> Reply:
    """Move a reference; only forward, unless forced."""
    name, sha, path = f"refs/{call.params['ref']}", str(call.body["sha"]), call.repo.path
    old = bare.refs(path).get(name)
    if old is None:
        raise ApiError(422, "Reference does not exist")
    if bare.resolve(path, sha) != sha:
        raise ApiError(422, "Object does not exist")
    if not call.body.get("force") and not bare.is_ancestor(path, old, sha):
        raise ApiError(422, "Update is not a fast forward")
    _set_ref(call, name, sha)
    return Reply(200, render.ref(call.world, call.repo, name, sha))


def delete_ref(call: Call) -> Reply:
    """Delete a reference; an open pull request from that branch is closed by it."""
    name = f"refs/{call.params['ref']}"
    if name not in bare.refs(call.repo.path):
        raise ApiError(422, "Reference does not exist")
    bare.delete_ref(call.repo.path, name)
    call.world.look(call.repo, call.token)
    return Reply(204)


def list_commits(call: Call) -> Reply:
    """History of `sha` (default: the default branch), newest first."""
    start = bare.resolve(call.repo.path, call.query.get("sha", call.repo.default_branch))
    if start is None:
        raise not_found()
    spans = [f"--{name}={call.query[name]}" for name in ("since", "until") if name in call.query]
    paths = [call.query["path"]] if "path" in call.query else []
    shas = bare.listed(call.repo.path, *spans, start, "--", *paths)
    return paged(call, shas, lambda sha: render.commit(call.world, call.repo, sha))


def get_commit(call: Call) -> Reply:
    """One commit, by SHA or branch."""
    return Reply(200, render.commit(call.world, call.repo, call.sha()))


def get_branch(call: Call) -> Reply:
    """One branch."""
    name = call.params["branch"]
    sha = call.repo.branches().get(name)
    if sha is None:
        raise ApiError(404, "Branch not found")
    return Reply(200, render.branch(call.world, call.repo, name, sha))


def _protecting(call: Call) -> list[Protection]:
    name = call.params["branch"]
    if name not in call.repo.branches():
        raise ApiError(404, "Branch not found")
    rules = call.repo.protecting(name, ruleset=False)
    if not rules:
        raise ApiError(404, "Branch not protected")
    return rules


def get_protection(call: Call) -> Reply:
    """Classic protection of a branch; rulesets do not show here."""
    rules, name = _protecting(call), call.params["branch"]
    checks = render.required_checks(call.world, call.repo, name, rules)
    shown = {"required_status_checks": checks} if checks["contexts"] else {}
    force = {"allow_force_pushes": {"enabled": any(rule.force_push for rule in rules)}}
    return Reply(200, shown | force)


def get_required_checks(call: Call) -> Reply:
    """The status checks that classic protection demands."""
    rules = _protecting(call)
    if not any(rule.required_checks for rule in rules):
        raise ApiError(404, "Required status checks not enabled")
    name = call.params["branch"]
    return Reply(200, render.required_checks(call.world, call.repo, name, rules))


def get_rules(call: Call) -> Reply:
    """Rules of rulesets for a branch, which need not exist; readable by everybody."""
    return paged(call, render.branch_rules(call.repo, call.params["branch"]), lambda rule: rule)


OPERATIONS: dict[str, Handler] = {
    "git/get-ref": get_ref,
    "git/create-ref": create_ref,
    "git/update-ref": update_ref,
    "git/delete-ref": delete_ref,
    "repos/list-commits": list_commits,
    "repos/get-commit": get_commit,
    "repos/get-branch": get_branch,
    "repos/get-branch-protection": get_protection,
    "repos/get-status-checks-protection": get_required_checks,
    "repos/get-branch-rules": get_rules,
}
