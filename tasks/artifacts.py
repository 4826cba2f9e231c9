"""Leave things to look at in Prefect: Markdown, tables and progress under stable keys."""

from uuid import UUID

from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)

from nightly_sync.config import SyncConfig
from nightly_sync.reports.artifacts import LIMIT, Row, artifact_key, fit_rows
from nightly_sync.reports.cutting import cut


def _key(kind: str, config: SyncConfig) -> str:
    return artifact_key(kind, config.repository, config.source, config.target)


def markdown(kind: str, text: str, config: SyncConfig, where: str) -> None:
    """A Markdown artifact; what is over the size limit is cut, with a note on where it is."""
    note = f"Cut for size; the whole text is in {where}."
    shown = cut(text, LIMIT, note).encode("utf-8", "backslashreplace").decode()
    create_markdown_artifact(shown, key=_key(kind, config), description=kind)


def table(kind: str, rows: list[Row], config: SyncConfig) -> None:
    """A table artifact, the same keys in every row; none where there is nothing to show."""
    kept, note = fit_rows(rows)
    if kept:
        description = f"{kind}. {note}" if note else kind
        create_table_artifact(kept, key=_key(kind, config), description=description)


def progress(kind: str, config: SyncConfig) -> UUID:
    """A progress bar, to be moved with `move`."""
    made = create_progress_artifact(0.0, key=_key(kind, config), description=kind)
    if not isinstance(made, UUID):
        raise TypeError("a synchronous task got an asynchronous artifact")
    return made


def move(bar: UUID, done: int, total: int) -> None:
    """Show `done` of `total`, within 0 and 100 %."""
    share = 100.0 * done / total if total else 0.0
    update_progress_artifact(bar, progress=min(100.0, max(0.0, share)))
