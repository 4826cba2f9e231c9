"""People who work on the repository while the program under test does."""

from collections.abc import Callable, Mapping

from tests.github import bare
from tests.github.state import HEADS, Account, Comment, Event, Label, Pull, Repository, World


class Person:
    """Somebody with write access who needs no API. Everything happens at once."""

    def __init__(self, world: World, repository: Repository, login: str):
        self.world = world
        self.repository = repository
        self.account: Account = world.account(login)

    def push(
        self, branch: str, files: Mapping[str, str | bytes | None], message: str = "Work"
    ) -> str:
        """One commit on top of a branch; returns its SHA. Content None removes a file."""
        with self.world.lock:
            path, tip = self.repository.path, self.repository.branches()[branch]
            changed = {k: v.encode() if isinstance(v, str) else v for k, v in files.items()}
            sha = bare.commit_files(path, tip, changed, message, self.account.login)
            self._move(branch, sha)
            return sha

    def branch(self, name: str, start: str) -> str:
        """A new branch at a commit or another branch; returns the SHA."""
        with self.world.lock:
            sha = bare.resolve(self.repository.path, start)
            if sha is None:
                raise LookupError(start)
            self._move(name, sha)
            return sha

    def rewrite(self, branch: str, sha: str) -> None:
        """Force a branch to another commit."""
        with self.world.lock:
            self._move(branch, sha)

    def delete(self, branch: str) -> None:
        """Delete a branch."""
        with self.world.lock:
            bare.delete_ref(self.repository.path, HEADS + branch)
            self.world.look(self.repository)

    def _move(self, branch: str, sha: str) -> None:
        bare.update_ref(self.repository.path, HEADS + branch, sha)
        self.world.look(self.repository)

    def open_pull(
        self, head: str, base: str, title: str = "Work", body: str = "", fork: str = ""
    ) -> Pull:
        """A pull request from a branch; with `fork` the branch counts as that repository's."""
        with self.world.lock:
            self.world.look(self.repository)
            tips, now = self.repository.branches(), self.world.clock.now()
            pull = Pull(
                id=self.world.id(),
                number=max((p.number for p in self.repository.pulls), default=0) + 1,
                author=self.account,
                title=title,
                body=body,
                head=head,
                base=base,
                head_sha=tips[head],
                base_sha=tips[base],
                draft=False,
                created_at=now,
                updated_at=now,
                head_repository=fork,
            )
            self.repository.pulls.append(pull)
            return pull

    def comment(self, number: int, text: str) -> Comment:
        """A comment; it may start CI like anybody's."""
        with self.world.lock:
            now = self.world.clock.now()
            comment = Comment(self.world.id(), number, self.account, text, now, now)
            self.repository.comments.append(comment)
            pull = self.repository.pull(number)
            if pull:
                event = Event("comment", self.repository, pull.head_sha, text, pull.head, pull)
                self.world.tell(event)
            return comment

    def write(self, number: int, text: Callable[[str], str]) -> None:
        """Change the text of a pull request."""
        with self.world.lock:
            pull = self.repository.pull(number)
            if pull is None:
                raise LookupError(number)
            pull.write(text(pull.body or ""), self.world)

    def label(self, number: int, name: str) -> None:
        """Put a label on a pull request, making it if the repository lacks it."""
        with self.world.lock:
            pull = self.repository.pull(number)
            if pull is None:
                raise LookupError(number)
            if self.repository.label(name) is None:
                self.repository.labels.append(Label(self.world.id(), name))
            pull.labels.append(name)

    def merge(self, number: int) -> str:
        """Merge a pull request with a merge commit, taking its tree; returns the SHA."""
        with self.world.lock:
            pull = self.repository.pull(number)
            if pull is None:
                raise LookupError(number)
            path, base = self.repository.path, self.repository.branches()[pull.base]
            tree, text = bare.commit(path, pull.head_sha).tree, f"Merge pull request #{number}"
            parents = (base, pull.head_sha)
            sha = bare.commit_tree(path, tree, parents, text, self.account.login)
            self._move(pull.base, sha)
            pull.merged_by = self.account
            return sha
