"""Pull requests, labels and comments over REST; draft and ready over GraphQL, as REST cannot."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import quote

from nightly_sync.errors import StopForPerson, SyncError
from nightly_sync.forge.base import PullRequest
from nightly_sync.forge.github.client import Client, Wire, parse
from nightly_sync.forge.github.refusals import GitHubError
from nightly_sync.forge.github.reply import Reply

CLOSED_BY_US = "<!-- nightly-sync: closed by this job -->"
"""In the comment that goes with a closing, so that a person's closing can be told apart."""

LABEL_COLOUR = "ededed"
LAGS = (2.0, 4.0, 8.0, 16.0, 30.0)  # seconds; GitHub may show an old head for a while after a push

_DRAFT = """mutation($id: ID!) { convertPullRequestToDraft(input: {pullRequestId: $id}) {
  pullRequest { isDraft } } }"""
_READY = """mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) {
  pullRequest { isDraft } } }"""


class _Account(Wire):
    login: str


class _Repository(Wire):
    full_name: str


class _End(Wire):
    ref: str
    sha: str
    repo: _Repository | None = None  # None for a fork that is gone


class _Label(Wire):
    name: str


class Pull(Wire):
    """A pull request as REST gives it, in lists and alone."""

    number: int
    node_id: str
    html_url: str
    title: str
    body: str | None = None
    state: str
    draft: bool = False
    head: _End
    base: _End
    user: _Account | None = None
    labels: tuple[_Label, ...] = ()
    requested_reviewers: tuple[_Account, ...] = ()
    created_at: datetime
    merged_at: datetime | None = None
    merged_by: _Account | None = None  # not in lists

    def view(self) -> PullRequest:
        """The way the flow sees it."""
        return PullRequest(
            number=self.number,
            url=self.html_url,
            branch=self.head.ref,
            target=self.base.ref,
            head=self.head.sha,
            title=self.title,
            body=self.body or "",
            draft=self.draft,
            open=self.state == "open",
            labels=tuple(label.name for label in self.labels),
            author=self.user.login if self.user else "",
            created_at=self.created_at,
            merged=self.merged_at is not None,
            merged_by=self.merged_by.login if self.merged_by else "",
        )


class Comment(Wire):
    """What someone said about a pull request."""

    id: int
    body: str | None = None
    user: _Account | None = None
    created_at: datetime


@dataclass(frozen=True)
class Pulls:
    """The pull requests of one repository."""

    client: Client
    sleep: Callable[[float], None]
    # Comments whose fate is not known, and GitHub's time from before the first try.
    _unsure: dict[tuple[int, str], datetime] = field(default_factory=dict, compare=False)

    # Looking

    def open_below(self, prefix: str) -> list[PullRequest]:
        """Open ones with their head in this repository and below `prefix`, oldest first."""
        doing = "list the open pull requests"
        found = self._list(doing, state="open", sort="created", direction="asc")
        return [pull.view() for pull in found if pull.head.ref.startswith(prefix)]

    def of_branch(self, branch: str, state: str, base: str = "") -> list[Pull]:
        """Those of one branch, newest first; of one target if `base` is named."""
        head = f"{self.client.address.owner}:{branch}"
        filters = {"base": base} if base else {}
        doing = f"look for pull requests of {branch}"
        found = self._list(doing, state=state, head=head, direction="desc", **filters)
        return [pull for pull in found if pull.head.ref == branch]

    def in_use(self, branch: str) -> tuple[int, ...]:
        """Numbers of the open ones that come from a branch or, from wherever, go into it."""
        doing = f"look for pull requests into {branch}"
        into = self._all(doing, state="open", base=branch)
        found = (*self.of_branch(branch, "open"), *into)
        return tuple(sorted({pull.number for pull in found}))

    def _list(self, doing: str, **filters: str) -> list[Pull]:
        """Those with their head in this repository."""
        # A filter by owner does not tell two repositories of one owner apart.
        ours = self.client.address.full_name.lower()
        found = self._all(doing, **filters)
        return [p for p in found if p.head.repo and p.head.repo.full_name.lower() == ours]

    def _all(self, doing: str, **filters: str) -> list[Pull]:
        data = self.client.pages(self.client.api.pulls.list, doing, **filters)
        return [parse(Pull, item, doing) for item in data]

    def get(self, number: int) -> Pull:
        """One, as it is now."""
        return self.timed(number)[0]

    def timed(self, number: int) -> tuple[Pull, datetime]:
        """One, and the server's own time of the answer."""
        doing = f"read pull request {number}"
        reply = self.client.get(self.client.api.pulls.get, doing, pull_number=number)
        return parse(Pull, reply.data, doing), reply.date()

    def closed_by_person(self, branch: str) -> Pull | None:
        """The newest closed one of a branch that this job did not close."""
        closed = self.of_branch(branch, "closed")
        return next((pull for pull in closed if not self._closed_by_us(pull)), None)

    def _closed_by_us(self, pull: Pull) -> bool:
        return any(CLOSED_BY_US in (said.body or "") for said in self.comments(pull.number))

    # Changing

    def create_draft(self, branch: str, target: str, title: str, body: str) -> Pull:
        """A new draft, or the open pull request that the branch has into this target."""
        found = self.of_branch(branch, "open", target)
        if found:
            return found[0]
        doing = f"open a draft pull request from {branch} into {target}"
        try:
            reply = self.client.call(
                self.client.api.pulls.create,
                doing,
                title=title,
                head=branch,
                base=target,
                body=body,
                draft=True,
            )
        except GitHubError:
            # Opened by a try without an answer, or by somebody else this very moment.
            found = self.of_branch(branch, "open", target)
            if found:
                return found[0]
            raise
        return parse(Pull, reply.data, doing)

    def update_body(self, number: int, body: str) -> None:
        """Replace the body."""
        doing = f"update the text of pull request {number}"
        self.client.call(self.client.api.pulls.update, doing, pull_number=number, body=body)

    def close(self, number: int, comment: str) -> None:
        """Comment, then close. Nothing is deleted."""
        self.comment(number, f"{comment}\n\n{CLOSED_BY_US}")
        doing = f"close pull request {number}"
        self.client.call(self.client.api.pulls.update, doing, pull_number=number, state="closed")

    def mark_ready(self, number: int, sha: str) -> None:
        """Draft to ready while the head is `sha`; looks again afterwards.

        Raises StopForPerson if it is closed, or if someone pushed; then it is a draft again.
        """
        pull = self.at_head(number, sha)
        self.client.graphql(_READY, f"mark pull request {number} ready", id=pull.node_id)
        after = self._look_again(pull)
        if after.head.sha == sha and after.state == "open":
            return
        if after.state == "open":
            self._to_draft(after)
        raise _moved(after, sha)

    def _look_again(self, pull: Pull) -> Pull:
        """The pull request that was just marked ready; a draft again if it cannot be read."""
        try:
            return self.get(pull.number)
        except GitHubError:
            self._to_draft(pull)
            raise

    def mark_draft(self, number: int) -> None:
        """Ready back to draft."""
        self._to_draft(self.get(number))

    def _to_draft(self, pull: Pull) -> None:
        doing = f"turn pull request {pull.number} back into a draft"
        self.client.graphql(_DRAFT, doing, id=pull.node_id)

    def at_head(self, number: int, sha: str) -> Pull:
        """The pull request, if its head is `sha`; StopForPerson if not, or if it is closed."""
        return self.at_head_timed(number, sha)[0]

    def at_head_timed(self, number: int, sha: str) -> tuple[Pull, datetime]:
        """The same, with the server's own time of the answer."""
        for pause in (*LAGS, None):
            pull, moment = self.timed(number)
            if pull.state != "open":
                raise _moved(pull, sha)
            if pull.head.sha == sha:
                return pull, moment
            if pause is None or self.tip(pull.head.ref) != sha:
                break
            self.sleep(pause)
        raise _moved(pull, sha)

    def tip(self, branch: str) -> str:
        """Where a branch is; "" if it is gone."""
        doing = f"read the branch {branch}"
        try:
            reply = self.client.call(self.client.api.git.get_ref, doing, ref=f"heads/{branch}")
        except GitHubError as error:
            if error.status == 404:
                return ""
            raise
        return parse(_Ref, reply.data, doing).object.sha

    # Labels and comments

    def add_labels(self, number: int, labels: Iterable[str]) -> None:
        """Add labels, making those that the repository lacks; those that are on it stay."""
        has = {label.name.casefold() for label in self.get(number).labels}
        wanted = [label for label in labels if label.casefold() not in has]
        for label in wanted:
            self._make_label(label)
        if wanted:
            doing = f"label pull request {number}"
            add = self.client.api.issues.add_labels
            self.client.call(add, doing, issue_number=number, labels=wanted)

    def _make_label(self, name: str) -> None:
        # Asked for at once, since a name with a slash cannot be looked up by every client.
        make = self.client.api.issues.create_label
        try:
            self.client.call(make, f"make the label {name}", name=name, color=LABEL_COLOUR)
        except GitHubError as error:
            if error.status != 422 or "already_exists" not in str(error):
                raise

    def remove_label(self, number: int, name: str) -> None:
        """Take a label off; it need not be there."""
        doing = f"take the label {name} off pull request {number}"
        try:
            self.client.delete(f"issues/{number}/labels/{quote(name, safe='')}", doing)
        except GitHubError as error:
            if error.status != 404:
                raise

    def ask_for_review(self, number: int, people: Iterable[str]) -> None:
        """Ask people for a review; one who was asked already is not asked twice."""
        ask, doing = self.client.api.pulls.request_reviewers, f"ask for a review of {number}"
        wanted = list(people)
        asked = self.get(number).requested_reviewers if wanted else ()
        known = {who.login.casefold() for who in asked}
        names = [name for name in wanted if name.casefold() not in known]
        if names:
            self.client.call(ask, doing, pull_number=number, reviewers=names)

    def comment(self, number: int, text: str) -> Comment:
        """Say something, once: a try without an answer may have been carried out.

        So may all tries of an earlier call that was given up; then nothing is said again.
        """
        doing, key = f"comment on pull request {number}", (number, text)
        earlier = self._unsure.get(key)
        since = earlier or self.timed(number)[1]
        reply = self._said(number, text, since) if earlier else None
        self._unsure[key] = since
        reply = reply or self.client.call(
            self.client.api.issues.create_comment,
            doing,
            done=lambda: self._said(number, text, since),
            issue_number=number,
            body=text,
        )
        del self._unsure[key]
        return parse(Comment, reply.data, doing)

    def _said(self, number: int, text: str, since: datetime) -> Reply | None:
        """The newest comment of this text, if it was made since then by GitHub's clock."""
        for said in reversed(self.comments(number)):
            if same(said.body, text) and said.created_at >= since:
                return Reply(200, said.model_dump(mode="json"), {})
        return None

    def comments(self, number: int) -> list[Comment]:
        """All comments, oldest first."""
        doing = f"read the comments of pull request {number}"
        found = self.client.pages(self.client.api.issues.list_comments, doing, issue_number=number)
        return [parse(Comment, item, doing) for item in found]


class _Object(Wire):
    sha: str


class _Ref(Wire):
    object: _Object


def same(body: str | None, text: str) -> bool:
    """Is it the same text, however the lines end?"""
    return (body or "").replace("\r\n", "\n").strip() == text.replace("\r\n", "\n").strip()


def _moved(pull: Pull, sha: str) -> SyncError:
    if pull.state != "open":
        how = pull.view().ended
        return StopForPerson(f"pull request {pull.number} {how} meanwhile; it is left alone")
    return StopForPerson(
        f"{pull.head.ref} is at {pull.head.sha[:12]}, not at {sha[:12]} as this run left it: "
        f"look at what happened there. Pull request {pull.number} stays a draft."
    )
