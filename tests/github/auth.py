"""Who asks, and what may they do?

The texts of refusals follow what github.com answers. A classic token without the scope gets 404,
as if there were nothing; fine-grained tokens and installations get 403 and are told why.
"""

import base64
import binascii
from collections.abc import Mapping
from datetime import timedelta

import jwt

from tests.github.errors import ApiError, not_found
from tests.github.state import App, Repository, Token, World

JWT_LONGEST = 600  # seconds an App's assertion may be valid for
JWT_SKEW = 60
INSTALLATION_TOKEN_LIFE = timedelta(hours=1)

_READ_ANY = ("metadata:read",)
_PULLS_READ = ("pull_requests:read", "contents:read")
_ISSUES_READ = ("issues:read", "pull_requests:read")
_ISSUES_WRITE = ("issues:write", "pull_requests:write")
NEEDS: Mapping[str, tuple[str, ...]] = {
    "actions/create-workflow-dispatch": ("actions:write",),
    "actions/download-job-logs-for-workflow-run": ("actions:read",),
    "actions/get-job-for-workflow-run": ("actions:read",),
    "actions/get-workflow": ("actions:read",),
    "actions/get-workflow-run": ("actions:read",),
    "actions/list-jobs-for-workflow-run": ("actions:read",),
    "actions/list-repo-workflows": ("actions:read",),
    "actions/list-workflow-runs": ("actions:read",),
    "actions/list-workflow-runs-for-repo": ("actions:read",),
    "actions/re-run-job-for-workflow-run": ("actions:write",),
    "actions/re-run-workflow": ("actions:write",),
    "actions/re-run-workflow-failed-jobs": ("actions:write",),
    "checks/get": ("checks:read",),
    "checks/get-suite": ("checks:read",),
    "checks/list-annotations": ("checks:read",),
    "checks/list-for-ref": ("checks:read",),
    "checks/list-for-suite": ("checks:read",),
    "checks/list-suites-for-ref": ("checks:read",),
    "checks/rerequest-run": ("checks:write",),
    "checks/rerequest-suite": ("checks:write",),
    "git/create-ref": ("contents:write",),
    "git/delete-ref": ("contents:write",),
    "git/get-ref": ("contents:read",),
    "git/update-ref": ("contents:write",),
    "issues/add-labels": _ISSUES_WRITE,
    "issues/create-comment": _ISSUES_WRITE,
    "issues/create-label": _ISSUES_WRITE,
    "issues/delete-comment": _ISSUES_WRITE,
    "issues/get-comment": _ISSUES_READ,
    "issues/get-label": _ISSUES_READ,
    "issues/list-comments": _ISSUES_READ,
    "issues/list-labels-for-repo": _ISSUES_READ,
    "issues/list-labels-on-issue": _ISSUES_READ,
    "issues/remove-label": _ISSUES_WRITE,
    "issues/update-comment": _ISSUES_WRITE,
    "pulls/create": ("pull_requests:write",),
    "pulls/get": _PULLS_READ,
    "pulls/list": ("pull_requests:read",),
    "pulls/list-commits": ("pull_requests:read",),
    "pulls/list-requested-reviewers": ("pull_requests:read",),
    "pulls/remove-requested-reviewers": ("pull_requests:write",),
    "pulls/request-reviewers": ("pull_requests:write",),
    "pulls/update": ("pull_requests:write",),
    "repos/get": _READ_ANY,
    "repos/get-branch": ("contents:read",),
    "repos/get-branch-protection": ("administration:read",),
    "repos/get-branch-rules": _READ_ANY,
    "repos/get-combined-status-for-ref": ("statuses:read",),
    "repos/get-commit": ("contents:read",),
    "repos/get-status-checks-protection": ("administration:read",),
    "repos/list-commit-statuses-for-ref": ("statuses:read",),
    "repos/list-commits": ("contents:read",),
    "repos/list-pull-requests-associated-with-commit": ("pull_requests:read",),
}
"""What each operation on a repository needs; one of several is enough."""

_REPO_SCOPE = (
    *("actions", "checks", "contents", "issues", "metadata", "pull_requests", "statuses"),
    "administration",
)


def permissions_of(scopes: tuple[str, ...]) -> dict[str, str]:
    """What a classic token's scopes amount to, for an owner of the repository."""
    found = {"metadata": "read"}
    if "repo" in scopes or "public_repo" in scopes:
        found |= dict.fromkeys(_REPO_SCOPE, "write")
    if "workflow" in scopes:
        found["workflows"] = "write"
    return found


def credentials(header: str) -> str:
    """The token in an Authorization header: `Bearer`, `token`, or the password of `Basic`."""
    scheme, _, value = header.partition(" ")
    if scheme.lower() != "basic":
        return value.strip()
    try:
        plain = base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return plain.partition(":")[2]


def token_of(world: World, header: str | None) -> Token | None:
    """The token of a request, None without one. Raises 401 for an unknown or expired one."""
    if not header:
        return None
    found = world.tokens.get(credentials(header))
    if found is None or (found.expires_at and found.expires_at <= world.clock.now()):
        raise ApiError(401, "Bad credentials")
    return found


def app_of(world: World, header: str | None) -> App:
    """The App whose key signed the request's JWT. Raises 401 with GitHub's reasons.

    A client may sign by the real clock or by the stand-in's own.
    """
    text = credentials(header or "")
    for app in world.apps:
        try:
            claims = jwt.decode(
                text,
                app.public_key,
                algorithms=["RS256"],
                options={
                    "require": ["exp", "iat", "iss"],
                    "verify_iss": False,
                    "verify_exp": False,
                    "verify_iat": False,
                },
            )
        except jwt.InvalidTokenError:
            continue
        if str(claims["iss"]) == str(app.id):
            return _timely(app, claims, (world.clock.real(), world.clock.now().timestamp()))
    raise ApiError(401, "A JSON web token could not be decoded")


def _timely(app: App, claims: Mapping[str, float], clocks: tuple[float, ...]) -> App:
    if all(claims["iat"] - JWT_SKEW > now for now in clocks):
        must = "an Integer representing the time that the assertion was issued"
        raise ApiError(401, f"'Issued at' claim ('iat') must be {must}")
    if not any(claims["iat"] - JWT_SKEW <= now < claims["exp"] + JWT_SKEW for now in clocks):
        raise ApiError(401, "'Expiration time' claim ('exp') must be a numeric value")
    if all(claims["exp"] - now > JWT_LONGEST + JWT_SKEW for now in clocks):
        raise ApiError(401, "'Expiration time' claim ('exp') is too far in the future")
    return app


def visible(token: Token | None, repository: Repository) -> bool:
    """Whether this caller may know that the repository exists."""
    if not repository.private:
        return True
    if token is None:
        return False
    return token.kind != "classic" or "repo" in token.scopes


def holds(token: Token, need: str) -> bool:
    """Whether a token has a permission such as `pull_requests:write`."""
    name, _, level = need.partition(":")
    held = token.permissions.get(name)
    return held in ("write", "admin") or (held is not None and level == "read")


def allow(token: Token | None, repository: Repository, operation: str, writes: bool) -> None:
    """Let an operation pass, or raise what GitHub would answer."""
    if not visible(token, repository):
        raise not_found()
    if token is None:
        if writes or NEEDS[operation] == ("administration:read",):
            raise ApiError(401, "Requires authentication")
        return
    needs = NEEDS[operation]
    if any(holds(token, need) for need in needs) or _public_read(token, repository, needs):
        return
    raise refusal(token)


def _public_read(token: Token, repository: Repository, needs: tuple[str, ...]) -> bool:
    reads = all(need.endswith(":read") for need in needs)
    return reads and not repository.private and needs != ("administration:read",)


def refusal(token: Token) -> ApiError:
    """What a token hears that lacks a permission."""
    if token.kind == "classic":
        return not_found()
    kind = "integration" if token.kind == "installation" else "personal access token"
    return ApiError(403, f"Resource not accessible by {kind}")
