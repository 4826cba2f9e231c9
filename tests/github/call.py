"""One REST call and its answer, and how long lists come in pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests.github import bare
from tests.github.errors import ApiError, not_found
from tests.github.limits import Limits
from tests.github.state import App, Pull, Repository, Token, World

DEFAULT_PAGE = 30
LARGEST_PAGE = 100


@dataclass(frozen=True)
class Call:
    """A call after authentication; `url` is the one asked for, without its query."""

    world: World
    limits: Limits
    url: str
    params: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, Any]
    token: Token | None = None
    app: App | None = None
    place: Repository | None = None

    @property
    def repo(self) -> Repository:
        """The repository in the path."""
        if self.place is None:
            raise not_found()
        return self.place

    @property
    def caller(self) -> Token:
        """The token of a call that needs one."""
        if self.token is None:
            raise ApiError(401, "Requires authentication")
        return self.token

    def pull(self, key: str = "pull_number") -> Pull:
        """The pull request in the path."""
        found = self.repo.pull(self.number(key))
        if found is None:
            raise not_found()
        return found

    def number(self, key: str) -> int:
        """A number in the path; 404 for anything else."""
        text = self.params[key]
        if not text.isdigit():
            raise not_found()
        return int(text)

    def sha(self, key: str = "ref") -> str:
        """The commit a path parameter stands for; GitHub answers 422 for one it lacks."""
        found = bare.resolve(self.repo.path, self.params[key])
        if found is None:
            raise ApiError(422, f"No commit found for SHA: {self.params[key]}")
        return found


@dataclass(frozen=True)
class Reply:
    """What goes back: JSON, or nothing for 204 and 302."""

    status: int = 200
    data: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[[Call], Reply]


def paged(
    call: Call, items: Sequence[Any], render: Callable[[Any], Any], envelope: str = ""
) -> Reply:
    """The page that was asked for, with links to the others.

    With `envelope` the list comes below that name, beside `total_count`.
    """
    size = min(int(call.query.get("per_page", DEFAULT_PAGE)), LARGEST_PAGE)
    page = max(int(call.query.get("page", 1)), 1)
    shown = [render(item) for item in items[(page - 1) * size : page * size]]
    data = {"total_count": len(items), envelope: shown} if envelope else shown
    last = -(-len(items) // size)
    return Reply(200, data, _links(call, page, last))


def _links(call: Call, page: int, last: int) -> dict[str, str]:
    targets = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
    if page <= 1:
        targets = {word: at for word, at in targets.items() if word not in ("prev", "first")}
    if page >= last:
        targets = {word: at for word, at in targets.items() if word not in ("next", "last")}
    links = [f'<{_at(call, at)}>; rel="{word}"' for word, at in targets.items()]
    return {"Link": ", ".join(links)} if links else {}


def _at(call: Call, page: int) -> str:
    return f"{call.url}?{urlencode({**call.query, 'page': str(page)})}"
