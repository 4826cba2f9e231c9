"""The checks that a branch's protection and rulesets demand."""

from nightly_sync.forge.github.client import Client, Wire, parse
from nightly_sync.forge.github.refusals import GitHubError


class _Contexts(Wire):
    contexts: tuple[str, ...] = ()


class _Protection(Wire):
    required_status_checks: _Contexts | None = None


class _Branch(Wire):
    protection: _Protection | None = None


class _Named(Wire):
    context: str


class _Parameters(Wire):
    required_status_checks: tuple[_Named, ...] = ()


class _Rule(Wire):
    type: str
    parameters: _Parameters | None = None


def required_checks(client: Client, branch: str) -> tuple[str, ...]:
    """Names of required checks, without doubles. A token that only reads is enough."""
    return tuple(dict.fromkeys((*_protected(client, branch), *_ruled(client, branch))))


def _protected(client: Client, branch: str) -> tuple[str, ...]:
    doing = f"read the protection of {branch}"
    reply = client.call(client.api.repos.get_branch, doing, branch=branch)
    protection = parse(_Branch, reply.data, doing).protection
    wanted = protection.required_status_checks if protection else None
    return wanted.contexts if wanted else ()


def _ruled(client: Client, branch: str) -> tuple[str, ...]:
    doing = f"read the rulesets of {branch}"
    try:
        found = client.pages(client.api.repos.get_branch_rules, doing, branch=branch)
    except GitHubError as error:
        if error.status == 404:  # servers older than rulesets
            return ()
        raise
    rules = (parse(_Rule, item, doing) for item in found)
    chosen = [rule.parameters for rule in rules if rule.type == "required_status_checks"]
    return tuple(n.context for item in chosen if item for n in item.required_status_checks)
