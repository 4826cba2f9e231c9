"""Who is calling: users, Apps, installations, and what is left of their quotas."""

from secrets import token_hex

from tests.github import render
from tests.github.auth import INSTALLATION_TOKEN_LIFE, refusal
from tests.github.call import Call, Handler, Reply
from tests.github.clock import stamp
from tests.github.errors import ApiError, not_found
from tests.github.limits import QUOTA
from tests.github.state import App, Token


def _app(call: Call) -> App:
    if call.app is None:
        raise ApiError(401, "A JSON web token could not be decoded")
    return call.app


def get_app(call: Call) -> Reply:
    """The App that signed the call."""
    return Reply(200, render.app(call.world, _app(call).slug))


def get_installation(call: Call) -> Reply:
    """An installation by its number."""
    return Reply(200, render.installation(call.world, _installed(call)))


def _installed(call: Call) -> App:
    app = _app(call)
    if call.number("installation_id") != app.installation:
        raise not_found()
    return app


def installation_of_repository(call: Call) -> Reply:
    """Where the App is installed for this repository."""
    return Reply(200, render.installation(call.world, _app(call), call.repo))


def create_token(call: Call) -> Reply:
    """A token for an hour; it may have fewer permissions than the App, never more."""
    app, world = _installed(call), call.world
    asked = dict(call.body.get("permissions") or app.permissions)
    if any(app.permissions.get(name) not in (level, "write") for name, level in asked.items()):
        raise ApiError(422, "The permissions requested are not granted to this installation.")
    expires = world.clock.now() + INSTALLATION_TOKEN_LIFE
    text = f"ghs_{token_hex(18)}"
    world.tokens[text] = Token(text, app.account, "installation", asked, expires_at=expires)
    shown = {"token": text, "expires_at": stamp(expires), "permissions": asked}
    return Reply(201, shown | {"repository_selection": "all"})


def get_user(call: Call) -> Reply:
    """The account of the token; an installation is no user."""
    token = call.caller
    if token.kind == "installation":
        raise refusal(token)
    who = render.account(call.world, token.account)
    return Reply(200, who | {"name": token.account.login, "user_view_type": "private"})


def get_repository(call: Call) -> Reply:
    """The repository."""
    return Reply(200, render.repository(call.world, call.repo, call.token))


def rate_limit(call: Call) -> Reply:
    """Quotas; asking costs nothing."""
    buckets = {name: call.limits.bucket(call.token, name) for name in QUOTA}
    shown = {
        name: (bucket.limit, bucket.remaining, int(bucket.reset.timestamp()), bucket.used)
        for name, bucket in buckets.items()
    }
    return Reply(200, render.quota(shown))


OPERATIONS: dict[str, Handler] = {
    "apps/get-authenticated": get_app,
    "apps/get-installation": get_installation,
    "apps/get-repo-installation": installation_of_repository,
    "apps/create-installation-access-token": create_token,
    "users/get-authenticated": get_user,
    "repos/get": get_repository,
    "rate-limit/get": rate_limit,
}
BY_APP = frozenset(name for name in OPERATIONS if name.startswith("apps/"))
"""Operations that an App calls with its own signature."""
