"""What the stand-in saw of a run, as plain text."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from nightly_sync.reports.markdown import ZERO_WIDTH, visible
from tests.github.server import GitHub
from tests.github.state import Comment, Pull, Repository

NOT_MODIFIED = 304


LAST = 2  # looks right before and after marking it ready


def looks(github: GitHub) -> Counter[str]:
    """GraphQL requests that read the checks of a commit, by its SHA."""
    asked = github.requests.of("statusCheckRollup")
    return Counter(json.loads(entry.body)["variables"]["oid"] for entry in asked)


def transcript(
    github: GitHub, repository: Repository, heads: Sequence[str], polls: int
) -> list[str]:
    """Comments, checks, pull requests and requests.

    `heads` are the commits that CI was asked to test, `polls` says how often the run looked.
    """
    last = repository.pulls[-1]
    return [
        f"GitHub was a stand-in at {github.url}, which ends with this command.",
        *_titled("Comments on GitHub", _comments(repository.comments)),
        *_titled("Checks of the head commits", (_checks(repository, sha) for sha in heads)),
        *_titled(f"How the body of #{last.number} begins", _head(last.body or "")),
        *_titled("Pull requests in the end", (_pull(pull) for pull in repository.pulls)),
        *_titled("What was asked of GitHub", _requests(github, heads, polls)),
        "",
    ]


def _titled(title: str, lines: Iterable[str]) -> list[str]:
    return ["", f"{title}:", *(f"  {line}".rstrip() for line in lines)]


def _comments(comments: Iterable[Comment]) -> Iterator[str]:
    for item in comments:
        yield f"{item.author.login} on #{item.number}:"
        yield from (f"  {line}" for line in _plain(item.body))


def _plain(text: str) -> list[str]:
    """What a reader of the page sees: no hidden comments, nothing that a terminal obeys."""
    shown = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).replace(ZERO_WIDTH, "")
    return visible(shown).strip().splitlines()


def _head(body: str) -> list[str]:
    """All above the first section."""
    return _plain(body.partition("\n## ")[0])


def _checks(repository: Repository, sha: str) -> str:
    """Each check with its results, those of reruns last."""
    results: dict[str, list[str]] = {}
    for run in repository.runs_of(sha, latest=False):
        results.setdefault(run.name, []).append(run.conclusion or run.status)
    return f"{sha[:12]}: " + ", ".join(
        f"{name} {' then '.join(words)}" for name, words in results.items()
    )


def _pull(pull: Pull) -> str:
    state = ("draft" if pull.draft else "ready") if pull.open else "closed"
    labels = f", labelled {', '.join(pull.labels)}" if pull.labels else ""
    return f"#{pull.number} {pull.head} into {pull.base}: {state}{labels}"


def _requests(github: GitHub, heads: Iterable[str], polls: int) -> Iterator[str]:
    asked = github.requests.all
    kinds = Counter(entry.kind for entry in asked)
    pushes = sum(entry.method == "POST" and "receive-pack" in entry.target for entry in asked)
    free = sum(entry.kind == "rest" and entry.status == NOT_MODIFIED for entry in asked)
    yield f"{kinds['git']:4} by git, {pushes} of them pushes"
    yield f"{kinds['graphql']:4} GraphQL"
    yield from _graphql(github, heads, polls)
    yield f"{kinds['rest']:4} REST; {free} got the answer that nothing changed, which is free"
    operations = Counter(entry.operation for entry in asked if entry.kind == "rest")
    yield from (f"{count:8} {name}" for name, count in operations.most_common())
    yield f"{kinds['logs']:4} for logs, from a host that gets no token"


def _graphql(github: GitHub, heads: Iterable[str], polls: int) -> Iterator[str]:
    seen = looks(github)
    ours = sum(seen[sha] for sha in heads)
    ready = len(github.requests.of("markPullRequestReadyForReview"))
    yield f"{ours:8} for {polls + LAST} looks at the checks of the pull request"
    yield f"{seen.total() - ours:8} for the target's checks: what fails there too?"
    yield f"{ready:8} to mark the pull request ready"
