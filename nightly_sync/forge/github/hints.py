"""Why did CI never start? What GitHub shows of the usual reasons."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from nightly_sync.forge.github.client import Client, Wire, parse
from nightly_sync.forge.github.pulls import Comment

WORKFLOW_TOKEN = "github-actions[bot]"
QUOTED = 300  # characters of what a bot says
ENDS = (".", "!", "?")  # of a sentence; others may follow


class _Verification(Wire):
    verified: bool = False


class _Git(Wire):
    verification: _Verification | None = None


class _Commit(Wire):
    commit: _Git


def signed(client: Client, sha: str) -> bool | None:
    """Whether GitHub calls a commit's signature verified; None if it does not say."""
    doing = f"read the commit {sha[:12]}"
    commit = parse(_Commit, client.call(client.api.repos.get_commit, doing, ref=sha).data, doing)
    checked = commit.commit.verification
    return checked.verified if checked else None


def hints(
    author: str, comments: Iterable[Comment], verified: bool | None, since: datetime
) -> tuple[str, ...]:
    """One sentence a reason; what others said since the trigger comes first. Pure.

    `author` opened the pull request, `verified` is about the head commit's signature.
    """
    return (*_answers(comments, author, since), *_reasons(author, verified))


def _answers(comments: Iterable[Comment], author: str, since: datetime) -> Iterator[str]:
    for said in comments:
        name = said.user.login if said.user else ""
        if name != author and said.created_at >= since:
            words = " ".join((said.body or "").split())[:QUOTED]
            yield f"{name} said: {words}{'' if words.endswith(ENDS) else '.'}"


def _reasons(author: str, verified: bool | None) -> Iterator[str]:
    if author == WORKFLOW_TOKEN:
        yield (
            "The pull request was opened with a workflow's own token, which starts no other "
            "workflows: use a GitHub App or a personal token."
        )
    if verified is False:
        yield "The head commit has no verified signature, and some bots test only signed commits."
