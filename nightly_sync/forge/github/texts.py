"""The text of a pull request: replaced without losing what a person writes at the same moment.

GitHub replaces a text without asking which one its writer had read, so a person's change between
our look and our write is overwritten. It stands in the history of the text, though, and is put
back from there. GitHub calls an entry's `diff` a summary; it is the whole text after that edit,
newest first. Nothing is taken from there unless our own text is found among the entries.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import Field

from nightly_sync.forge.github.client import Client, Wire, parse
from nightly_sync.forge.github.pulls import LAGS, Pulls, same
from nightly_sync.forge.github.refusals import GitHubError, GitHubUnreachable

TRIES = 3
ENTRIES = 20  # of the history; more edits than that within a second are no people's
CROSSED = (
    "Two changes of the text above crossed, and one that this job did not make was overwritten. "
    'It is in the history of the text (the word "edited" at its top opens it); please put it back.'
)
_QUERY = f"""query($owner: String!, $name: String!, $number: Int!, $texts: Boolean!) {{
  repository(owner: $owner, name: $name) {{ pullRequest(number: $number) {{
    body
    userContentEdits(first: {ENTRIES}) {{ nodes {{ id diff @include(if: $texts) }} }} }} }} }}"""


class Edit(Wire):
    """One entry of the history."""

    id: str
    diff: str | None = None  # the text; None if it was not asked for, or removed from the history


class _Edits(Wire):
    nodes: tuple[Edit | None, ...] | None = None


class _Pull(Wire):
    body: str
    edits: _Edits | None = Field(None, alias="userContentEdits")


class _Repository(Wire):
    pull: _Pull = Field(alias="pullRequest")


class _Answer(Wire):
    repository: _Repository


@dataclass(frozen=True)
class Seen:
    """A text and the newest entries of its history, newest first."""

    text: str
    edits: tuple[Edit, ...] = ()

    def since(self, before: "Seen") -> tuple[Edit, ...]:
        """The entries that came since."""
        known = {edit.id for edit in before.edits}
        return tuple(edit for edit in self.edits if edit.id not in known)

    def lags(self, before: "Seen", ours: str) -> bool:
        """Did GitHub answer after our write as if it were not there yet?"""
        unchanged = same(self.text, before.text) and not same(self.text, ours)
        return unchanged and not self.since(before)


def overwritten(before: Seen, ours: str, after: Seen) -> str | None:
    """A text that somebody wrote between `before` and our write; None if there is none. Pure."""
    texts = [edit.diff for edit in after.since(before) if edit.diff is not None]
    at = next((number for number, text in enumerate(texts) if same(text, ours)), len(texts))
    # The first edit of all brings the original text into the history too.
    theirs = (text for text in texts[at:] if not same(text, ours) and not same(text, before.text))
    return next(theirs, None)


@dataclass(frozen=True)
class Texts:
    """The texts of one repository's pull requests."""

    client: Client
    pulls: Pulls

    def revise(self, number: int, revise: Callable[[str], str]) -> None:
        """Replace the text by what `revise` makes of it, and of what a person wrote meanwhile.

        Where that cannot be joined, as a third change came on top, a comment says so.
        """
        before = self._read(number)
        text = before.text
        for _ in range(TRIES):
            ours = revise(text)
            if ours == before.text:
                return
            self.pulls.update_body(number, ours)
            after = self._after(number, before, ours)
            theirs = overwritten(before, ours, after)
            if theirs is None:
                return
            if not same(after.text, ours):
                break
            before, text = after, theirs
        self.pulls.comment(number, CROSSED)

    def _after(self, number: int, before: Seen, ours: str) -> Seen:
        """What is there now; with the texts of the history only where they may matter."""
        after = self._read(number)
        for pause in LAGS[:3]:
            if not after.lags(before, ours):
                break
            self.pulls.sleep(pause)
            after = self._read(number)
        return self._read(number, texts=True) if len(after.since(before)) > 1 else after

    def _read(self, number: int, texts: bool = False) -> Seen:
        doing, place = f"read the text of pull request {number}", self.client.address
        names = {"owner": place.owner, "name": place.name, "number": number}
        try:
            data = self.client.graphql(_QUERY, doing, texts=texts, **names)
            pull = parse(_Answer, data, doing).repository.pull
        except GitHubUnreachable:
            raise
        except GitHubError:  # a token that may not see the history still may write the text
            return Seen(self.pulls.get(number).body or "")
        entries = pull.edits.nodes if pull.edits else None
        return Seen(pull.body, tuple(edit for edit in entries or () if edit))
