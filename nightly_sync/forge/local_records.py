"""Pull requests of the local forge: one JSON file each, with a readable page beside it."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from nightly_sync import paths
from nightly_sync.errors import SyncError
from nightly_sync.forge.base import PullRequest
from nightly_sync.forge.local_files import make_folder, read_model, write_atomic, write_model
from nightly_sync.model import Model, Text

SCHEMA = 1


class Comment(Model):
    """What someone said about a pull request."""

    at: datetime
    text: Text


class PullRecord(Model):
    """A pull request on disk. `head` is the last SHA seen; origin has the present one."""

    schema_version: int = SCHEMA
    number: int
    branch: Text
    target: Text
    head: str
    title: Text
    body: Text
    draft: bool = True
    open: bool = True
    closed_by_us: bool = False  # through the forge; a person edits `open` alone
    labels: tuple[str, ...] = ()
    author: str = ""
    created_at: datetime
    comments: tuple[Comment, ...] = ()


class Records:
    """The folder of the records. Callers that write hold the forge's lock."""

    def __init__(self, folder: Path):
        self.folder = folder

    def all(self) -> list[PullRecord]:
        """Every record, oldest first; SyncError if one of them is damaged."""
        return [self.get(number) for number in sorted(self._numbers())]

    def get(self, number: int) -> PullRecord:
        """One record; SyncError if it is damaged or was never made."""
        file = self._file(number)
        if not file.exists():
            raise SyncError(f"There is no pull request {number} in {self.folder}.")
        record = read_model(file, PullRecord)
        if record.number != number or record.schema_version != SCHEMA:
            raise SyncError(
                f"{file} is not the record of pull request {number} as this version writes it: "
                "restore it, or move it away by hand."
            )
        return record

    def save(self, record: PullRecord) -> None:
        """Write a record and its page."""
        make_folder(self.folder)
        write_model(self._file(record.number), record)
        write_atomic(self.page(record.number), render(record))

    def next_number(self) -> int:
        """One more than the highest number in use."""
        return max(self._numbers(), default=0) + 1

    def page(self, number: int) -> Path:
        """The readable page of a record."""
        return self.folder / f"{number:04}.md"

    def _file(self, number: int) -> Path:
        return self.folder / f"{number:04}.json"

    def _numbers(self) -> Iterator[int]:
        return (int(file.stem) for file in self.folder.glob("*.json") if file.stem.isdecimal())


def pull_request(record: PullRecord, head: str, page: Path) -> PullRequest:
    """A record the way the flow sees it."""
    kept = {*PullRequest.model_fields} & {*PullRecord.model_fields}
    shared = {name: getattr(record, name) for name in kept}
    return PullRequest.model_validate({**shared, "head": head, "url": paths.printable(str(page))})


def render(record: PullRecord) -> str:
    """The page: state, body, comments."""
    state = "closed" if not record.open else "draft" if record.draft else "ready for review"
    head = [
        f"# {record.title}",
        f"Pull request {record.number}, {state}: {record.branch} into {record.target}, "
        f"head {record.head[:12]}",
    ]
    if record.labels:
        head.append(f"Labels: {', '.join(record.labels)}")
    return "\n\n".join([*head, record.body, *map(_comment, record.comments)]) + "\n"


def _comment(comment: Comment) -> str:
    return f"---\n\nComment of {comment.at:%Y-%m-%d %H:%M} UTC\n\n{comment.text}"
