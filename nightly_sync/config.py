"""SyncConfig: one model for the command line, the YAML file, Prefect's parameters and UI form.

The YAML side (line numbers, readable errors) is `config_file.py`.
"""

import hashlib
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator, model_validator

from nightly_sync.model import Model
from nightly_sync.patterns import check_pattern

RuleName = Literal["protect", "take-source", "take-target", "delete-wins"]
Fallback = Literal["source", "target", "stop"]


class Identity(Model):
    """Who commits: name and address on every commit this job makes."""

    name: str = Field("nightly-sync", description="Committer and author name.")
    email: str = Field("nightly-sync@localhost", description="Committer and author address.")


class PathRule(Model):
    """One rule for a set of paths; holds for every matching path of the merged tree."""

    rule: RuleName = Field(
        description="protect: the paths equal the target's, new files included. take-source, "
        "take-target: that side's file. delete-wins: a deletion on either side stands."
    )
    paths: tuple[str, ...] = Field(description="gitignore patterns; a leading / anchors.")
    reason: str = Field("", description="Why the rule exists; shown as evidence in the report.")

    @field_validator("paths")
    @classmethod
    def _patterns(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _checked_patterns(value)


class Command(Model):
    """A command run on files: a formatter or a linter."""

    name: str = Field(description="Name in reports.")
    run: str = Field(description="The command line; the files are appended. No shell.")
    paths: tuple[str, ...] = Field(("*.py",), description="gitignore patterns of its files.")
    required: bool = Field(False, description="Stop the run when it fails or is missing.")

    @field_validator("paths")
    @classmethod
    def _patterns(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _checked_patterns(value)


class CheckCommand(Model):
    """A check the local forge runs on a checkout of the head commit."""

    name: str = Field(description="Name of the check in the rollup.")
    run: str = Field(description="The command line, run at the top of a checkout. No shell.")
    timeout_seconds: float = Field(3600, gt=0, description="Killed and failed after this long.")


class Category(Model):
    """A group of paths in the report; the first that matches a path names it."""

    name: str = Field(description="Heading in the report.")
    paths: tuple[str, ...] = Field(description="gitignore patterns.")

    @field_validator("paths")
    @classmethod
    def _patterns(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _checked_patterns(value)


class Trigger(Model):
    """How the forge is told to start its checks; the local forge starts them by itself."""

    kind: Literal["none", "comment", "workflow", "label"] = Field(
        "none", description="none: the push itself starts them."
    )
    text: str = Field("", description="Comment template ({sha}), workflow file or label.")

    @model_validator(mode="after")
    def _has_text(self) -> "Trigger":
        if self.kind != "none" and not self.text:
            raise ValueError(f"a trigger of kind {self.kind} needs its text")
        return self


LOCKFILES = ("uv.lock", "poetry.lock", "package-lock.json", "Cargo.lock", "go.sum")
DEFAULT_CATEGORIES = (
    Category(name="Tests", paths=("/tests/**", "/test/**", "test_*.py", "*_test.py")),
    Category(name="Docs", paths=("/docs/**", "*.md", "*.rst")),
    Category(name="Lockfiles and build", paths=(*LOCKFILES, "pyproject.toml", "Dockerfile*")),
    Category(name="Golden values and data", paths=("*golden*", "*.json", "*.csv", "*.yaml")),
)


class SyncConfig(Model):
    """Everything one sync needs to know. Secrets never go in here."""

    repository: str = Field(description="Origin: path or URL of the repository to sync.")
    source: str = Field("main", description="Branch whose commits are taken in.")
    target: str = Field("dev", description="Long-lived branch that takes them in.")
    branch_prefix: str = Field(
        "{source}2{target}/", description="Start of the sync branch's name; ends in /."
    )
    date_format: str = Field("%d_%m_%Y", description="strftime format of the date in names.")
    timezone: str = Field("UTC", description="Time zone the date is taken in.")
    title: str = Field(
        "chore: nightly sync {source} into {target} ({date})",
        description="Title template of the pull request and the merge commit.",
    )
    labels: tuple[str, ...] = Field((), description="Labels for the pull request.")
    manual_label: str = Field(
        "nightly-sync/manual", description="A pull request with this label is left alone."
    )
    trigger: Trigger = Field(Trigger(), description="How CI is started.")
    committer: Identity = Field(Identity(), description="Identity on every commit.")
    sign_off: bool = Field(False, description="Add a Signed-off-by trailer.")
    rules: tuple[PathRule, ...] = Field(
        (), description="Path rules; protect is strongest, then the first match in this order."
    )
    fallback: Fallback = Field(
        "source", description="Side taken in a hunk no rule settles, or stop for a person."
    )
    stat_globs: tuple[str, ...] = Field(("*.py",), description="Files the line count counts.")
    focus: tuple[str, ...] = Field((), description="Paths a reviewer should see first.")
    categories: tuple[Category, ...] = Field(
        DEFAULT_CATEGORIES, description="Groups of the report, after the focus paths."
    )
    formatters: tuple[Command, ...] = Field((), description="Run in order on merged files.")
    linters: tuple[Command, ...] = Field((), description="Run after the formatters; report only.")
    checks: tuple[CheckCommand, ...] = Field((), description="CI of the local forge.")
    exempt: tuple[str, ...] = Field(
        (), description="Checks that never count: names with * wildcards, case ignored."
    )
    sentinel: str | None = Field(
        None, description="The check that must succeed; started by this run's trigger."
    )
    expected_checks: tuple[str, ...] = Field((), description="Checks that must be there.")
    no_ci: bool = Field(False, description="Say so when the repository has no checks at all.")
    accept_pre_existing: bool = Field(
        False, description="Mark ready although checks fail that fail on the target too."
    )
    poll_seconds: float = Field(120, gt=0, description="Time between two looks at the checks.")
    grace_minutes: float = Field(15, gt=0, description="CI must have started after this long.")
    time_limit_minutes: float = Field(360, gt=0, description="The wait for CI ends after this.")
    git_timeout_seconds: float = Field(600, gt=0, description="No git command may take longer.")
    delete_stale_branches: bool = Field(
        False, description="Delete the branch of a stale pull request that is closed."
    )
    workspace: str | None = Field(
        None, description="Folder for clones and locks; default: the user's cache folder."
    )

    @field_validator("stat_globs", "focus")
    @classmethod
    def _patterns(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _checked_patterns(value)

    @field_validator("timezone")
    @classmethod
    def _zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (KeyError, ValueError, OSError) as error:
            raise ValueError(f"no time zone is called {value!r}") from error
        return value

    @field_validator("branch_prefix")
    @classmethod
    def _prefix(cls, value: str) -> str:
        if not value.endswith("/") or value.startswith("/"):
            raise ValueError("a branch prefix ends in / and does not start with one")
        return value

    def digest(self) -> str:
        """12 hex digits that change when the outcome of a sync could: the resume marker's part."""
        volatile = {"poll_seconds", "time_limit_minutes", "git_timeout_seconds", "workspace"}
        text = self.model_dump_json(exclude=volatile)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def paths_of(self, rule: RuleName) -> tuple[str, ...]:
        """Every pattern of one rule."""
        return tuple(p for item in self.rules if item.rule == rule for p in item.paths)

    def prefix(self) -> str:
        """The sync branches' common start, e.g. `main2dev/`."""
        return self.branch_prefix.format(source=self.source, target=self.target)

    def home(self) -> Path | None:
        """The configured workspace folder, `~` resolved."""
        return Path(self.workspace).expanduser() if self.workspace else None


def _checked_patterns(value: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in value:
        check_pattern(pattern)
    return value
