"""Pull requests and the reviewers asked for."""

from collections.abc import Mapping

from tests.github import bare, render
from tests.github.call import Call, Handler, Reply, paged
from tests.github.errors import ApiError, invalid
from tests.github.state import Event, Pull, Repository
from tests.github.texts import check_length

_PULL = "PullRequest"


def _shown(call: Call, pull: Pull, status: int = 200) -> Reply:
    return Reply(status, render.pull(call.world, call.repo, pull, full=True))


def list_pulls(call: Call) -> Reply:
    """Filtered and sorted; `head` without an owner is not a filter, as on GitHub."""
    asked = call.query
    pulls = [pull for pull in call.repo.pulls if _fits(call.repo, pull, asked)]
    by = {"updated": "updated_at"}.get(asked.get("sort", ""), "created_at")
    up = asked.get("direction", "desc") == "asc"
    pulls.sort(key=lambda pull: (getattr(pull, by), pull.number), reverse=not up)
    return paged(call, pulls, lambda pull: render.pull(call.world, call.repo, pull))


def _fits(repo: Repository, pull: Pull, asked: Mapping[str, str]) -> bool:
    state = asked.get("state", "open")
    owner = (pull.head_repository or repo.full_name).partition("/")[0]
    head = asked.get("head", "")
    return (
        (state == "all" or (state == "open") == pull.open)
        and (":" not in head or head.lower() == f"{owner}:{pull.head}".lower())
        and asked.get("base", pull.base) == pull.base
    )


def get_pull(call: Call) -> Reply:
    """One pull request."""
    return _shown(call, call.pull())


def create_pull(call: Call) -> Reply:
    """Open a pull request; refusals in GitHub's words."""
    repo, body = call.repo, call.body
    head = str(body["head"]).removeprefix(f"{repo.owner.login}:")
    base = str(body["base"])
    tips = _tips(repo, head, base)
    _check_new(call, head, base, *tips)
    check_length("Issue", "body", body.get("body"))
    pull = _new(call, head, base, *tips)
    repo.pulls.append(pull)
    call.world.tell(Event("pull_request", repo, pull.head_sha, "opened", head, pull), call.token)
    return _shown(call, pull, 201)


def _tips(repo: Repository, head: str, base: str) -> tuple[str, str]:
    branches = repo.branches()
    for name, field in ((head, "head"), (base, "base")):
        if name not in branches:
            raise invalid(_PULL, field, "invalid")
    return branches[head], branches[base]


def _check_new(call: Call, head: str, base: str, head_sha: str, base_sha: str) -> None:
    repo = call.repo
    if any(p.open and (p.head, p.base) == (head, base) for p in repo.pulls):
        raise _custom(f"A pull request already exists for {repo.owner.login}:{head}.")
    if bare.is_ancestor(repo.path, head_sha, base_sha):
        raise _custom(f"No commits between {base} and {head}")
    if call.body.get("draft") and not repo.drafts:
        raise ApiError(422, "Draft pull requests are not supported in this repository.")


def _custom(message: str) -> ApiError:
    error = {"resource": _PULL, "code": "custom", "message": message}
    return ApiError(422, "Validation Failed", [error])


def _new(call: Call, head: str, base: str, head_sha: str, base_sha: str) -> Pull:
    now, identity = call.world.clock.now(), call.world.id()
    numbers = [pull.number for pull in call.repo.pulls]
    return Pull(
        id=identity,
        number=max(numbers, default=0) + 1,
        author=call.caller.account,
        title=str(call.body.get("title", head)),
        body=call.body.get("body"),
        head=head,
        base=base,
        head_sha=head_sha,
        base_sha=base_sha,
        draft=bool(call.body.get("draft")),
        created_at=now,
        updated_at=now,
    )


def update_pull(call: Call) -> Reply:
    """Title, body, state, base. REST cannot change `draft`."""
    pull, body = call.pull(), call.body
    check_length("Issue", "body", body.get("body"))
    if "base" in body and body["base"] not in call.repo.branches():
        raise invalid(_PULL, "base", "invalid")
    for name in ("title", "base"):
        if name in body:
            setattr(pull, name, body[name])
    if "body" in body:
        pull.write(body["body"], call.world)
    _set_state(call, pull, str(body.get("state", "")))
    pull.updated_at = call.world.clock.now()
    return _shown(call, pull)


def _set_state(call: Call, pull: Pull, state: str) -> None:
    if state == "closed" and pull.open:
        pull.closed_at = call.world.clock.now()
    elif state == "open" and not pull.open:
        _reopen(call, pull)


def _reopen(call: Call, pull: Pull) -> None:
    tip = call.repo.branches().get(pull.head)
    if pull.merged_at or tip is None:
        why = "The pull request was merged." if pull.merged_at else "The head branch was deleted."
        raise invalid(_PULL, "state", "invalid", f"state cannot be changed. {why}")
    pull.head_sha, pull.closed_at = tip, None


def list_commits(call: Call) -> Reply:
    """Commits of a pull request, oldest first; 250 at most."""
    pull = call.pull()
    shas = bare.between(call.repo.path, pull.base_sha, pull.head_sha)[:250]
    return paged(call, shas, lambda sha: render.commit(call.world, call.repo, sha))


def list_reviewers(call: Call) -> Reply:
    """Who was asked for a review."""
    names = call.pull().reviewers
    users = [render.account(call.world, call.world.account(name)) for name in names]
    return Reply(200, {"users": users, "teams": []})


def add_reviewers(call: Call) -> Reply:
    """Ask collaborators for a review; the author and strangers are refused."""
    pull, names = call.pull(), [str(name) for name in call.body.get("reviewers", ())]
    if pull.author.login in names:
        raise ApiError(422, "Review cannot be requested from pull request author.")
    if set(names) - set(call.repo.collaborators):
        who = "One or more of the users or teams you specified is not a collaborator of the"
        where = f"{call.repo.full_name} repository."
        raise ApiError(422, f"Reviews may only be requested from collaborators. {who} {where}")
    pull.reviewers = list(dict.fromkeys((*pull.reviewers, *names)))
    return Reply(201, render.pull(call.world, call.repo, pull))


def remove_reviewers(call: Call) -> Reply:
    """Take requests for a review back."""
    pull = call.pull()
    gone = call.body.get("reviewers", ())
    pull.reviewers = [name for name in pull.reviewers if name not in gone]
    return Reply(200, render.pull(call.world, call.repo, pull))


def pulls_of_commit(call: Call) -> Reply:
    """Pull requests whose commits include this one, merged ones too."""
    sha, path = call.sha("commit_sha"), call.repo.path
    found = [
        pull
        for pull in call.repo.pulls
        if bare.is_ancestor(path, sha, pull.head_sha)
        and not bare.is_ancestor(path, sha, pull.base_sha)
    ]
    return paged(call, found, lambda pull: render.pull(call.world, call.repo, pull))


OPERATIONS: dict[str, Handler] = {
    "pulls/list": list_pulls,
    "pulls/get": get_pull,
    "pulls/create": create_pull,
    "pulls/update": update_pull,
    "pulls/list-commits": list_commits,
    "pulls/list-requested-reviewers": list_reviewers,
    "pulls/request-reviewers": add_reviewers,
    "pulls/remove-requested-reviewers": remove_reviewers,
    "repos/list-pull-requests-associated-with-commit": pulls_of_commit,
}
