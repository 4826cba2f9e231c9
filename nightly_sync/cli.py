"""The command line. The one module above the flows; `preview` runs without Prefect."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from nightly_sync import git, workspace
from nightly_sync.config import SyncConfig
from nightly_sync.errors import SyncError
from nightly_sync.paths import expanded
from nightly_sync.record import RunRecord

if TYPE_CHECKING:
    from rich.table import Table

    from nightly_sync.demo.show import Show
    from nightly_sync.reports.artifacts import Row

app = typer.Typer(
    name="nightly-sync",
    help="Take everything that lands on one branch into another, every night, losing nothing.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
ConfigFile = Annotated[Path, typer.Option("--config", help="The YAML file, see docs/config.md.")]


def main() -> None:
    """Run a command; an error a person can act on is one sentence and its exit code."""
    try:
        app()
    except SyncError as error:
        _say(f"nightly-sync: {error}", err=True)
        sys.exit(error.exit_code)


def _say(text: str, *, err: bool = False) -> None:
    """Print text that may hold undecodable bytes."""
    stream = sys.stderr if err else sys.stdout
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    stream.flush()


@app.command()
def preview(
    repo: Annotated[Path, typer.Option(help="Your clone; it is only read.")] = Path(),
    source: Annotated[str | None, typer.Option(help="Branch or commit to take in.")] = None,
    target: Annotated[str | None, typer.Option(help="Branch or commit that takes it in.")] = None,
    config: Annotated[Path | None, typer.Option(help="The YAML file with rules.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the report.")] = None,
) -> None:
    """What would tonight's sync do? Changes nothing in your clone."""
    from nightly_sync import preview as previews
    from nightly_sync.names import resolve
    from nightly_sync.reports import summary

    git.check_version()
    repo = git.repository_at(repo)
    settings = _preview_config(repo, config)
    taken = resolve(repo, source or settings.source)
    taker = resolve(repo, target or settings.target)
    for side in (taken, taker):
        _say(f"{side.name}: {side.sha} ({side.ref})")
        if side.warning:
            _say(f"warning: {side.warning}", err=True)
    folder = expanded(str(out)) if out else _default_folder(repo, taken.sha, taker.sha)
    found = previews.preview(repo, taken, taker, settings, folder, datetime.now(UTC))
    _say(summary.terminal(found.facts))
    _say(f"Report: {folder / 'report.md'}")
    raise typer.Exit(found.exit_code)


def _preview_config(repo: Path, file: Path | None) -> SyncConfig:
    from nightly_sync import config_file

    if file is not None:
        return config_file.load(file)
    return SyncConfig(repository=str(repo))


def _default_folder(repo: Path, source: str, target: str) -> Path:
    """Outside the clone, so that its worktree stays as it is."""
    name = f"{repo.resolve().name}-{source[:12]}-into-{target[:12]}"
    return workspace.cache_folder() / "previews" / name


@app.command()
def run(config: ConfigFile) -> None:
    """Run a whole sync now: branch, draft pull request, checks, ready or not."""
    from nightly_sync import config_file

    raise typer.Exit(_run_flow(config_file.load(config)).exit_code)


def _run_flow(config: SyncConfig) -> RunRecord:
    """Run the flow in this process. A run that stopped in good order has a record too."""
    from nightly_sync import session

    session.check(config)  # before Prefect is started, which takes its time
    _prefect_defaults()
    from flows.sync import sync
    from nightly_sync.recording import Stopped

    try:
        with _server_answers():
            record = cast(RunRecord, sync(config))
    except Stopped as stop:
        record = stop.record
    _say(f"{record.outcome}: {record.reason}")
    if record.pull_request:
        _say(f"Pull request: {record.pull_request}")
    _say(f"Report: {_report_of(config, record.run_id) / 'report.md'}")
    return record


@contextmanager
def _server_answers() -> Iterator[None]:
    """Prefect's error about its server, as a sentence; any other is not this one's business."""
    try:
        yield
    except RuntimeError as error:
        found = re.match(r"Failed to reach API at (\S+)", str(error))
        if found is None:
            raise
        raise SyncError(
            f"no Prefect server answers at {found[1]}; start it, or unset PREFECT_API_URL to run "
            "without one"
        ) from error


@app.command()
def demo(
    folder: Annotated[Path | None, typer.Option(help="New folder to build it in.")] = None,
    broken: Annotated[bool, typer.Option(help="With traps that only a person can mend.")] = False,
    github: Annotated[bool, typer.Option(help="On a stand-in for GitHub; checkout only.")] = False,
    agent: Annotated[str, typer.Option(help="scripted: Claude by script; checkout only.")] = "",
) -> None:
    """Build a small repository full of traps and run a whole sync on it."""
    from tempfile import mkdtemp

    from nightly_sync.demo.show import staged

    home = folder or Path(mkdtemp(prefix="nightly-sync-demo-"))
    now = datetime.now(UTC)
    with staged(home, now, broken=broken, on_github=github, agent=agent) as show:
        record = _run_flow(show.site.config)
        lines, problems = show.lines(record), _unkept(show, record)
    for line in (*lines, UI_HINT):
        _say(line)
    if problems:
        raise SyncError("the demo did not end as it must: " + "; ".join(problems))
    raise typer.Exit(record.exit_code)


def _unkept(show: Show, record: RunRecord) -> list[str]:
    """Promises of the demo that its run did not keep."""
    from nightly_sync import report_files
    from nightly_sync.demo import check

    site = show.site
    problems = check(site, *report_files.read(_report_of(site.config, record.run_id)))
    if record.outcome is not site.verdict:
        problems.append(f"outcome {site.verdict} expected, {record.outcome} found")
    return [*problems, *show.problems(record)]


UI_HINT = """To see the run in Prefect's UI: prefect server start, then open http://127.0.0.1:4200
(through uv: .uv/bin/uv run prefect server start); reports and tables are under Artifacts."""


def _report_of(config: SyncConfig, run_id: str) -> Path:
    return workspace.home_of(config) / "runs" / run_id / "report"


@app.command()
def history(
    csv: Annotated[Path | None, typer.Option(help="Also write every run to this file.")] = None,
) -> None:
    """What all runs so far add up to."""
    _prefect_defaults()
    from rich.console import Console

    from flows.history import run_history
    from nightly_sync.history import summary

    with _server_answers():
        rows = summary(run_history(csv))
    if not rows:
        _say("No run is recorded yet.")
        return
    Console().print(_table(rows))
    if csv is not None:
        _say(f"Every run: {csv}")


def _table(rows: list[Row]) -> Table:
    from rich.table import Table

    table = Table(*rows[0])
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    return table


def _prefect_defaults() -> None:
    """Settings that must be there before Prefect is imported; the user's own ones win."""
    defaults = {
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
        "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
    }
    for name, value in defaults.items():
        os.environ.setdefault(name, value)
    for name in ("NO_PROXY", "no_proxy"):  # a server of our own is on this machine
        os.environ[name] = ",".join(filter(None, (os.environ.get(name), "127.0.0.1", "localhost")))
