"""The report as files: report.md, remerge.diff, files/, plan.json and findings.json."""

import shutil
from pathlib import Path

from pydantic import TypeAdapter

from nightly_sync import git, paths, report_facts
from nightly_sync.audits.model import Finding
from nightly_sync.errors import ConfigError
from nightly_sync.merge.model import MergePlan
from nightly_sync.reports import report
from nightly_sync.reports.model import ReportFacts

PLAN = "plan.json"
FINDINGS = "findings.json"
_FINDINGS = TypeAdapter(list[Finding])


def write(out: Path, repo: Path, facts: ReportFacts) -> None:
    """Write all five; an earlier report in the same folder is replaced.

    Raises ConfigError if the folder holds anything that is not a report, or cannot be written.
    """
    try:
        _prepare(out)
        _write(out, repo, facts)
    except OSError as error:
        shown = paths.printable(str(out))
        raise ConfigError(
            f"the report cannot be written to {shown}: {error.strerror}; name another folder"
        ) from error


def _write(out: Path, repo: Path, facts: ReportFacts) -> None:
    _write_files(out / "files", repo, facts)
    (out / "remerge.diff").write_bytes(report_facts.patch_bytes(facts))
    (out / "report.md").write_text(report.render(facts), "utf-8", "backslashreplace")
    (out / FINDINGS).write_bytes(_FINDINGS.dump_json(list(facts.findings), indent=1) + b"\n")
    (out / PLAN).write_text(facts.plan.model_dump_json(indent=1) + "\n", "utf-8")


def read(folder: Path) -> tuple[MergePlan, list[Finding]]:
    """Plan and findings of a report that was written."""
    made = MergePlan.model_validate_json((folder / PLAN).read_bytes())
    return made, _FINDINGS.validate_json((folder / FINDINGS).read_bytes())


def _prepare(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out} is a file; name a folder for the report")
    if out.is_dir() and any(out.iterdir()) and not _is_report(out):
        raise ConfigError(f"{out} holds other files; name a new or empty folder for the report")
    shutil.rmtree(out / "files", ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)


def _is_report(folder: Path) -> bool:
    """Others have a plan.json too, and a files/ beside it that is not ours to remove."""
    try:
        MergePlan.model_validate_json((folder / PLAN).read_bytes())
    except (OSError, ValueError):
        return False
    return True


def _write_files(folder: Path, repo: Path, facts: ReportFacts) -> None:
    """The resolved text of each conflicted path; symlinks and submodules as what they hold."""
    named = {
        item.file: item.resolved.oid
        for item in facts.plan.paths
        if item.file and item.resolved and item.resolved.mode != "160000"
    }
    blobs = git.read_blobs(repo, named.values())
    folder.mkdir()
    for name, oid in named.items():
        file = _inside(folder, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(blobs[oid])


def _inside(folder: Path, name: str) -> Path:
    """git refuses such names on checkout, but a tree can hold them."""
    if ".." in name.split("/") or name.startswith("/"):
        raise ValueError(f"{paths.quote(name)} leaves the folder")
    return folder / paths.fs_name(name)
