"""Records as GitHub's REST API shows them, with what a client may look at.

The rest of each shape is filled in from GitHub's description (`filler.py`).
"""

from collections.abc import Mapping
from typing import Any

from tests.github import bare
from tests.github.clock import stamp
from tests.github.state import (
    Account,
    App,
    Comment,
    Label,
    Protection,
    Pull,
    Repository,
    Token,
    World,
)

Shape = dict[str, Any]


def api_url(world: World, repository: Repository, *parts: object) -> str:
    """An address of the API below a repository."""
    return "/".join([world.url, "repos", repository.full_name, *map(str, parts)])


def page_url(world: World, repository: Repository, *parts: object) -> str:
    """An address a person would open."""
    return "/".join([world.url, repository.full_name, *map(str, parts)])


def account(world: World, who: Account) -> Shape:
    """A user, bot or organization in brief."""
    return {
        "id": who.id,
        "login": who.login,
        "node_id": f"U_{who.id}",
        "type": who.kind,
        "url": f"{world.url}/users/{who.login}",
        "html_url": f"{world.url}/{who.login}",
    }


def repository(world: World, repo: Repository, token: Token | None = None) -> Shape:
    """A repository; `permissions` are the asking token's."""
    held = token.permissions if token else {}
    writes = held.get("contents") == "write"
    return {
        "id": repo.id,
        "node_id": f"R_{repo.id}",
        "name": repo.name,
        "full_name": repo.full_name,
        "owner": account(world, repo.owner),
        "private": repo.private,
        "archived": repo.archived,
        "default_branch": repo.default_branch,
        "url": api_url(world, repo),
        "html_url": page_url(world, repo),
        "clone_url": f"{page_url(world, repo)}.git",
        "created_at": stamp(repo.created_at),
        "has_issues": True,
        "permissions": {
            "admin": held.get("administration") == "write",
            "maintain": held.get("administration") == "write",
            "push": writes,
            "triage": writes,
            "pull": True,
        },
    }


def label(world: World, repo: Repository, item: Label) -> Shape:
    """A label."""
    return {
        "id": item.id,
        "node_id": f"LA_{item.id}",
        "name": item.name,
        "color": item.color,
        "description": item.description,
        "url": api_url(world, repo, "labels", item.name.replace(" ", "%20")),
    }


def _worn(world: World, repo: Repository, item: Label) -> Shape:
    """A label of a pull request; without a description it has an empty one there."""
    return label(world, repo, item) | {"description": item.description or ""}


def _end(world: World, repo: Repository, branch: str, sha: str) -> Shape:
    return {
        "label": f"{repo.owner.login}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": account(world, repo.owner),
        "repo": repository(world, repo),
    }


def _head(world: World, repo: Repository, item: Pull) -> Shape:
    end = _end(world, repo, item.head, item.head_sha)
    if not item.head_repository:
        return end
    owner, _, name = item.head_repository.partition("/")
    fork = end["repo"] | {"id": item.id, "full_name": item.head_repository, "name": name}
    who = account(world, world.account(owner))
    fork |= {"owner": who, "fork": True}
    return end | {"label": f"{owner}:{item.head}", "user": who, "repo": fork}


def pull(world: World, repo: Repository, item: Pull, full: bool = False) -> Shape:
    """A pull request, as lists have it or in full."""
    made = {
        "id": item.id,
        "node_id": f"PR_{item.id}",
        "number": item.number,
        "state": "open" if item.open else "closed",
        "title": item.title,
        "body": item.body,
        "draft": item.draft,
        "user": account(world, item.author),
        "author_association": "COLLABORATOR",
        "labels": [_worn(world, repo, i) for n in item.labels if (i := repo.label(n))],
        "requested_reviewers": [account(world, world.account(n)) for n in item.reviewers],
        "head": _head(world, repo, item),
        "base": _end(world, repo, item.base, item.base_sha),
        "created_at": stamp(item.created_at),
        "updated_at": stamp(item.updated_at),
        "closed_at": stamp(item.closed_at),
        "merged_at": stamp(item.merged_at),
        "merge_commit_sha": item.merge_commit_sha,
        "url": api_url(world, repo, "pulls", item.number),
        "html_url": page_url(world, repo, "pull", item.number),
        "issue_url": api_url(world, repo, "issues", item.number),
        "comments_url": api_url(world, repo, "issues", item.number, "comments"),
        "statuses_url": api_url(world, repo, "statuses", item.head_sha),
    }
    return made | (_full(world, repo, item) if full else {})


def _full(world: World, repo: Repository, item: Pull) -> Shape:
    commits = bare.between(repo.path, item.base_sha, item.head_sha)
    return {
        "merged": item.merged_at is not None,
        "merged_by": account(world, item.merged_by) if item.merged_by else None,
        "mergeable": True if item.open else None,
        "mergeable_state": "draft" if item.draft else "clean",
        "comments": sum(c.number == item.number for c in repo.comments),
        "commits": len(commits),
    }


def brief_pull(world: World, repo: Repository, item: Pull) -> Shape:
    """A pull request as check runs mention it."""
    inner = {"id": repo.id, "name": repo.name, "url": api_url(world, repo)}
    return {
        "id": item.id,
        "number": item.number,
        "url": api_url(world, repo, "pulls", item.number),
        "head": {"ref": item.head, "sha": item.head_sha, "repo": inner},
        "base": {"ref": item.base, "sha": item.base_sha, "repo": inner},
    }


def comment(world: World, repo: Repository, item: Comment) -> Shape:
    """A comment on a pull request or issue."""
    page = f"{page_url(world, repo, 'pull', item.number)}#issuecomment-{item.id}"
    return {
        "id": item.id,
        "node_id": f"IC_{item.id}",
        "body": item.body,
        "user": account(world, item.author),
        "author_association": "COLLABORATOR",
        "created_at": stamp(item.created_at),
        "updated_at": stamp(item.updated_at),
        "url": api_url(world, repo, "issues", "comments", item.id),
        "issue_url": api_url(world, repo, "issues", item.number),
        "html_url": page,
    }


UNSIGNED: Shape = {
    "verified": False,
    "reason": "unsigned",
    "payload": None,
    "signature": None,
    "verified_at": None,
}
"""Of every commit: nobody here has a key."""


def commit(world: World, repo: Repository, sha: str) -> Shape:
    """A commit. Its author is an account only if the login is known."""
    facts = bare.commit(repo.path, sha)
    people = {"author": facts.author, "committer": facts.committer}
    signed = {k: {"name": v.name, "email": v.email, "date": v.date} for k, v in people.items()}
    known = {k: world.accounts.get(v.name) for k, v in people.items()}
    return {
        "sha": sha,
        "node_id": f"C_{sha}",
        "url": api_url(world, repo, "commits", sha),
        "html_url": page_url(world, repo, "commit", sha),
        "commit": {
            **signed,
            "message": facts.message,
            "tree": {"sha": facts.tree},
            "verification": UNSIGNED,
        },
        "parents": [{"sha": p, "url": api_url(world, repo, "commits", p)} for p in facts.parents],
        **{k: account(world, who) if who else None for k, who in known.items()},
    }


def simple_commit(repo: Repository, sha: str) -> Shape:
    """A commit as runs and suites mention it."""
    facts = bare.commit(repo.path, sha)
    who = {"name": facts.author.name, "email": facts.author.email}
    text = {"id": sha, "tree_id": facts.tree, "message": facts.message}
    return text | {"timestamp": facts.committer.date, "author": who, "committer": who}


def ref(world: World, repo: Repository, name: str, sha: str) -> Shape:
    """A git reference; `name` starts with `refs/`."""
    return {
        "ref": name,
        "node_id": f"REF_{name}",
        "url": api_url(world, repo, "git", name),
        "object": {
            "type": "commit",
            "sha": sha,
            "url": api_url(world, repo, "git", "commits", sha),
        },
    }


def branch(world: World, repo: Repository, name: str, sha: str) -> Shape:
    """A branch with what protects it."""
    classic = repo.protecting(name, ruleset=False)
    url = api_url(world, repo, "branches", name, "protection")
    return {
        "name": name,
        "commit": commit(world, repo, sha),
        "protected": bool(classic or repo.protecting(name, ruleset=True)),
        "protection_url": url,
        "protection": {"enabled": bool(classic), "required_status_checks": _checks(classic)},
    }


def _checks(rules: list[Protection]) -> Shape:
    names = [name for rule in rules for name in rule.required_checks]
    checks = [{"context": name, "app_id": None} for name in names]
    level = "non_admins" if names else "off"
    return {"enforcement_level": level, "contexts": names, "checks": checks}


def required_checks(world: World, repo: Repository, name: str, rules: list[Protection]) -> Shape:
    """The required status checks of a protected branch."""
    url = api_url(world, repo, "branches", name, "protection", "required_status_checks")
    shown = _checks(rules) | {"strict": any(rule.strict for rule in rules), "url": url}
    return shown | {"contexts_url": f"{url}/contexts"}


def branch_rules(repo: Repository, name: str) -> list[Shape]:
    """The rules of rulesets that hold for a branch, one entry a rule."""
    found: list[Shape] = []
    for at, rule in enumerate(repo.protecting(name, ruleset=True), start=1):
        origin = {"ruleset_id": at, "ruleset_source_type": "Repository"}
        origin["ruleset_source"] = repo.full_name
        found += [{"type": kind, **more, **origin} for kind, more in _rule_parts(rule)]
    return found


def _rule_parts(rule: Protection) -> list[tuple[str, Shape]]:
    parts: list[tuple[str, Shape]] = []
    if rule.required_checks:
        checks = [{"context": name} for name in rule.required_checks]
        settings = {"strict_required_status_checks_policy": rule.strict}
        parameters = settings | {"required_status_checks": checks}
        parts.append(("required_status_checks", {"parameters": parameters}))
    if rule.signatures:
        parts.append(("required_signatures", {}))
    if not rule.force_push:
        parts.append(("non_fast_forward", {}))
    return parts


def app(world: World, slug: str) -> Shape:
    """An App, known by its slug."""
    known = next((item for item in world.apps if item.slug == slug), None)
    owner = world.account("github", "Organization")
    return {
        "id": known.id if known else world.account(slug, "Bot").id,
        "node_id": f"A_{slug}",
        "slug": slug,
        "name": known.name if known else slug.replace("-", " ").title(),
        "owner": account(world, owner),
        "permissions": dict(known.permissions) if known else {},
    }


def installation(world: World, item: App, repo: Repository | None = None) -> Shape:
    """Where an App is installed."""
    owner = repo.owner if repo else next(iter(world.repositories.values())).owner
    base = f"{world.url}/app/installations/{item.installation}"
    return {
        "id": item.installation,
        "app_id": item.id,
        "app_slug": item.slug,
        "account": account(world, owner),
        "target_id": owner.id,
        "target_type": owner.kind,
        "repository_selection": "all",
        "permissions": dict(item.permissions),
        "access_tokens_url": f"{base}/access_tokens",
        "created_at": stamp(item.created_at),
        "updated_at": stamp(item.created_at),
    }


def quota(buckets: Mapping[str, tuple[int, int, int, int]]) -> Shape:
    """The rate limits; each bucket as limit, remaining, reset, used."""
    names = ("limit", "remaining", "reset", "used")
    shown = {name: dict(zip(names, values, strict=True)) for name, values in buckets.items()}
    return {"resources": {"search": shown["core"], **shown}, "rate": shown["core"]}
