"""What GitHub's refusals mean, in one sentence that says what to do. Pure.

Texts of the API: docs.github.com, "Troubleshooting the REST API". Texts of pushes: what
github.com prints after `remote:` (GH006, GH013 and the reason in brackets).
"""

import re
from collections.abc import Callable
from urllib.parse import SplitResult, urlsplit

from nightly_sync.errors import SyncError, Unreachable
from nightly_sync.forge.github.reply import Trouble

_Match = re.Match[str]
_BY_NUMBER = re.compile(r"(?:/api/v3)?/repositories/\d+(?:/|$)")


class GitHubError(SyncError):
    """GitHub refused, or could not be reached; the sentence says what to do."""

    def __init__(self, sentence: str, status: int = 0):
        super().__init__(sentence)
        self.status = status


class GitHubUnreachable(GitHubError, Unreachable):
    """GitHub did not recover in time; the same may work later."""


# Pushes


def explain_push(text: str, branch: str) -> str:
    """Why GitHub took no push of `branch`, from what git printed; "" if the text is unknown.

    `branch` may be "" where it is not known, or where git only wanted to read.
    """
    what = f" the push of {branch}" if branch else ""
    for pattern, sentence in _PUSHES:
        found = pattern.search(text)
        if found:
            return f"GitHub refused{what}: {sentence(found)}."
    return ""


def _said(sentence: str) -> Callable[[_Match], str]:
    return lambda _: sentence


def _named(template: str) -> Callable[[_Match], str]:
    return lambda found: template.format(*found.groups())


# The first that fits speaks: the reasons stand before the general GH006 and GH013.
_PUSHES: tuple[tuple[re.Pattern[str], Callable[[_Match], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), sentence)
    for pattern, sentence in (
        (
            r"refusing to allow .*? workflow `([^`]*)` without `(workflows?)`",
            _named(
                "it changes {0}, and the token may not touch workflow files; give a classic token "
                "the workflow scope, an App or fine-grained token the permission Workflows: write"
            ),
        ),
        (
            r"must have verified signatures",
            _said(
                "a rule demands signed commits there; take the sync branches out of that rule, or "
                "let a key of the job's account sign"
            ),
        ),
        (
            r"push cannot contain secrets|GH009",
            _said(
                "its commits hold something that looks like a secret; look at the alert on GitHub "
                "before anything else"
            ),
        ),
        (
            r"cannot (?:force-push|update) to this|cannot force-push",
            _said("a rule forbids to rewrite it; take the sync branches out of that rule"),
        ),
        (
            r"changes must be made through a pull request",
            _said(
                "a rule demands a pull request for it; the rule's pattern must not match the sync "
                "branches"
            ),
        ),
        (
            r"GH006[^\n]*",
            _said(
                "branch protection holds it (GH006); take the sync branches out of the protected "
                "pattern, or allow the job's account to push"
            ),
        ),
        (
            r"GH013[^\n]*|repository rule violations",
            _said(
                "a ruleset holds it (GH013); take the sync branches out of the ruleset, or put the "
                "job's account on its bypass list"
            ),
        ),
        (
            r"GH001|exceeds GitHub's file size limit",
            _said("a file is larger than GitHub takes; it needs Git LFS or must go"),
        ),
        (
            r"archived so it is read-only|repository was archived",
            _said("the repository is archived and read-only; unarchive it or end this job"),
        ),
        (
            r"'refs/heads/([^']+)' exists; cannot create|directory/file conflict",
            lambda found: (
                f"a branch {found[1] or 'of a part of its name'} exists, and git cannot hold both; "
                "delete that branch or change branch_prefix"
            ),
        ),
        (
            r"permission to (\S+) denied to ([^\s.]+)|write access to repository not granted",
            _said(
                "the token may not push; it needs Contents: write (classic: the repo scope), and "
                "the account needs write access"
            ),
        ),
        (
            r"invalid username or (?:token|password)|authentication failed|could not read username",
            _said("the token is not valid, or has expired; put a new one into the environment"),
        ),
        (
            r"repository not found",
            _said("there is no such repository, or the token may not see it"),
        ),
    )
)


# The API


def refusal(doing: str, trouble: Trouble) -> GitHubError:
    """The error for an answer that asking again does not change."""
    return GitHubError(f"could not {doing}: {_reason(trouble)}", trouble.status)


def moved(doing: str, name: str, page: str) -> GitHubError:
    """The error where GitHub points to another name; `name` is "" if that is not known."""
    where = f"{name} now" if name else f"another one now, and {page} leads a browser there"
    return GitHubError(
        f"could not {doing}: the repository was renamed or transferred. It is {where}: put its "
        "new address into the config, as the old one may be given to another repository",
        301,
    )


def is_renamed(trouble: Trouble, api: str) -> bool:
    """Does a redirect lead to a repository's number? So GitHub leads from an old name, no other."""
    to = _led_to(trouble)
    here = to.hostname in (None, urlsplit(api).hostname)
    return here and _BY_NUMBER.match(to.path) is not None


def led_away(doing: str, trouble: Trouble, api: str) -> GitHubError:
    """The error for any other redirect. A temporary one may be a proxy's and be gone again."""
    kind = GitHubError if trouble.status in (301, 308) else GitHubUnreachable
    # Not the whole address: a login page's may hold a secret.
    asked, to = urlsplit(api).hostname, _led_to(trouble).hostname or "another path"
    return kind(
        f"could not {doing}: {asked} leads to {to} (HTTP {trouble.status}), and no token is sent "
        "there; if that is the server's own address, put it into the config as `repository` or "
        "`github.api`, else look which proxy or login page is in the way",
        trouble.status,
    )


def _led_to(trouble: Trouble) -> SplitResult:
    try:
        return urlsplit(trouble.headers.get("location", ""))
    except ValueError:
        return urlsplit("")


def gave_up(doing: str, trouble: Trouble) -> GitHubUnreachable:
    """The error after the last try."""
    status = f" (HTTP {trouble.status})" if trouble.status else ""
    words = trouble.words or "no usable answer"
    return GitHubUnreachable(
        f"could not {doing}: GitHub did not recover in time: {words}{status}; run again later",
        trouble.status,
    )


def _reason(trouble: Trouble) -> str:
    words = " ".join((trouble.words, *trouble.details))
    for status, pattern, sentence in _ANSWERS:
        if status in (0, trouble.status) and re.search(pattern, words, re.IGNORECASE):
            return sentence
    said = "; ".join((trouble.words, *trouble.details)) or "no reason given"
    return f"GitHub says: {said} (HTTP {trouble.status})"


_ANSWERS = (
    (401, "", "the token is not valid, or has expired; put a new one into the environment"),
    (0, "archived", "the repository is archived and read-only; unarchive it or end this job"),
    (
        0,
        "resource not accessible|not been granted the required scopes|insufficient_scopes",
        "the token lacks a permission for it; docs/github.md lists what the job needs",
    ),
    (403, "sso|saml", "the organization wants the token authorized for single sign-on first"),
    (403, "ip allow list", "the organization's IP allow list does not have this machine"),
    (
        403,
        "cannot be retried|unable to retry",
        "GitHub does not run it again: it is over a month old, was run too often or never started",
    ),
    (
        403,
        "",
        "the token may not do that; docs/github.md lists the permissions the job needs",
    ),
    (
        422,
        "draft pull requests are not supported",
        "this repository's plan has no draft pull requests, and without a draft the job opens none",
    ),
    (422, "no commits between", "the branch has no commit that the target lacks"),
    (422, "too long", "the text is longer than the 65,536 characters GitHub takes"),
    (
        422,
        "workflow_dispatch",
        "the workflow has no workflow_dispatch trigger; add one, or choose another trigger",
    ),
    (
        422,
        "collaborator",
        "a reviewer is no collaborator of the repository",
    ),
    (
        404,
        "",
        "it is not there, or the token may not see it; a classic token without the repo scope, or "
        "a token without access to this repository, gets this answer too",
    ),
    (0, "could not resolve", "it is not there, or the token may not see it"),
    (410, "", "it is gone; GitHub deletes old logs, and issues may be switched off"),
)
