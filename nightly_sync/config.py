"""SyncConfig: one model for the command line, the YAML file, Prefect's parameters and UI form.

The YAML side (line numbers, readable errors) is `config_file.py`.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from string import Formatter
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, field_validator, model_validator

from nightly_sync import labels
from nightly_sync.agent.settings import AgentSettings
from nightly_sync.checks.names import is_exempt
from nightly_sync.command_line import CommandLine
from nightly_sync.errors import ConfigError
from nightly_sync.model import Location, Model
from nightly_sync.paths import expanded
from nightly_sync.patterns import check_pattern, matches
from nightly_sync.refnames import branch_problem
from nightly_sync.secrets import SecretReference

RuleName = Literal["protect", "take-source", "take-target", "delete-wins"]
Fallback = Literal["source", "target", "stop"]
Loc = tuple[str | int, ...]
"""Where a value stands, as pydantic writes it: `("rules", 2, "paths", 0)`."""

SAMPLE_DAY = datetime(2026, 11, 30, tzinfo=UTC)
# Days and hours of one digit and of two: %e and %l fill up with a blank.
SAMPLES = (SAMPLE_DAY, datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC), SAMPLE_DAY - timedelta(hours=1))


def _pattern(value: str) -> str:
    check_pattern(value)
    return value


def _check_template(template: str, known: tuple[str, ...]) -> None:
    """Raise ValueError unless every {placeholder} is one of `known`, plain."""
    allowed = ", ".join(f"{{{name}}}" for name in known)
    try:
        pieces = list(Formatter().parse(template))
    except ValueError as error:
        raise ValueError(f"the template {template!r} has a stray brace: {error}") from error
    for _, name, spec, conversion in pieces:
        if name is not None and (name not in known or spec or conversion):
            raise ValueError(f"unknown placeholder {{{name}}}: this template knows {allowed}")


def _some(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value:
        raise ValueError("needs at least one pattern")
    return value


Name = Annotated[str, Field(min_length=1)]
Pattern = Annotated[str, AfterValidator(_pattern)]
# Not min_length: pydantic counts only valid items, and would report a bad pattern twice.
Patterns = Annotated[tuple[Pattern, ...], AfterValidator(_some)]


@dataclass(frozen=True)
class Clash:
    """Two settings that contradict each other: the key of the later one, and why."""

    loc: Loc
    reason: str


class Contradiction(ValueError):
    """Settings that are each right and cannot hold together; the first speaks for all."""

    def __init__(self, clashes: tuple[Clash, ...]):
        self.clashes = clashes
        more = f" (and {len(clashes) - 1} more)" if len(clashes) > 1 else ""
        super().__init__(f"{dotted(clashes[0].loc)}: {clashes[0].reason}{more}")


def dotted(loc: Loc) -> str:
    """A place in the config the way people write it: `rules[2].paths[0]`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return text.removeprefix(".")


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
    paths: Patterns = Field(description="gitignore patterns; a leading / anchors.")
    reason: str = Field("", description="Why the rule exists; shown as evidence in the report.")


class Command(Model):
    """A command run on files: a formatter or a linter."""

    name: Name = Field(description="Name in reports.")
    run: CommandLine = Field(description="The command line; the files are appended. No shell.")
    paths: Patterns = Field(("*.py",), description="gitignore patterns of its files.")
    required: bool = Field(False, description="Stop the run when it fails or is missing.")


class CheckCommand(Model):
    """A check the local forge runs on a checkout of the head commit."""

    name: Name = Field(description="Name of the check in the rollup.")
    run: CommandLine = Field(
        description="The command line, run at the top of a checkout. No shell."
    )
    timeout_seconds: float = Field(3600, gt=0, description="Killed and failed after this long.")


class Category(Model):
    """A group of paths in the report; the first that matches a path names it."""

    name: Name = Field(description="Heading in the report.")
    paths: Patterns = Field(description="gitignore patterns.")


class Trigger(Model):
    """How the forge is told to start its checks; the local forge starts them by itself."""

    kind: Literal["none", "comment", "workflow", "label"] = Field(
        "none",
        description="none: the push itself starts them. comment: a comment on the pull request. "
        "workflow: a workflow is dispatched. label: a label is added.",
    )
    text: str = Field("", description="Comment template ({sha}), workflow file or label.")

    @model_validator(mode="after")
    def _has_text(self) -> "Trigger":
        if (self.kind == "none") == bool(self.text):
            needs = "has no text: name another kind" if self.text else "needs its text"
            raise ValueError(f"a trigger of kind {self.kind} {needs}")
        if self.kind == "comment":
            _check_template(self.text, ("sha",))
        return self


class GitHub(Model):
    """How the job reaches GitHub, where the repository lives there."""

    token: SecretReference = Field(
        "env:GITHUB_TOKEN",
        description="Where the token is: env:VARIABLE, or block:NAME for a Prefect Secret block.",
    )
    app_id: str = Field("", description="Work as this GitHub App instead; needs app_key.")
    app_key: SecretReference | None = Field(
        None, description="Where the App's private key (PEM) is; replaces token."
    )
    api: str = Field("", description="Base URL of the API, if it is not where GitHub puts it.")

    @model_validator(mode="after")
    def _whole_app(self) -> "GitHub":
        if bool(self.app_id) != bool(self.app_key):
            missing = "app_key" if self.app_id else "app_id"
            raise ValueError(f"a GitHub App needs app_id and app_key; {missing} is missing")
        return self

    @property
    def secret(self) -> str:
        """The one reference that is used."""
        return self.app_key or self.token


class Baseline(Model):
    """Extra ways to find out whether a check fails on the untouched target too."""

    commands: tuple[CheckCommand, ...] = Field(
        (), description="Commands to run on a checkout of the target, by the check they stand for."
    )
    branch: bool = Field(
        False, description="Run CI on a throw-away branch at the target's commit, on GitHub."
    )
    minutes: float = Field(120, gt=0, description="Longest wait for such a branch's check.")


LOCKFILES = ("uv.lock", "poetry.lock", "package-lock.json", "Cargo.lock", "go.sum")
DATA = ("*golden*", "*.json", "*.csv", "*.npz")
DEFAULT_CATEGORIES = (
    Category(name="Golden values and data", paths=(*DATA, "!package-lock.json")),
    Category(name="Tests", paths=("/tests/**", "/test/**", "test_*.py", "*_test.py")),
    Category(name="Docs", paths=("/docs/**", "*.md", "*.rst")),
    Category(name="Lockfiles and build", paths=(*LOCKFILES, "pyproject.toml", "Dockerfile*")),
)


class SyncConfig(Model):
    """Everything one sync needs to know. Secrets never go in here."""

    repository: Location = Field(description="Origin: path or URL of the repository to sync.")
    source: Name = Field("main", description="Branch whose commits are taken in.")
    target: Name = Field("dev", description="Long-lived branch that takes them in.")
    branch_prefix: str = Field(
        "{source}2{target}/",
        description="Start of the sync branch's name; ends in /. Knows {source} and {target}.",
    )
    date_format: str = Field("%d_%m_%Y", description="strftime format of the date in names.")
    timezone: str = Field("UTC", description="Time zone the date is taken in.")
    title: str = Field(
        "chore: nightly sync {source} into {target} ({date})",
        description="Title of the pull request and the merge commit. Knows {source}, {target} and "
        "{date}.",
    )
    labels: tuple[str, ...] = Field((), description="Labels for the pull request.")
    reviewers: tuple[Name, ...] = Field(
        (), description="Accounts to ask for a review of the pull request."
    )
    manual_label: Name = Field(
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
    stat_globs: tuple[Pattern, ...] = Field(("*.py",), description="Files the line count counts.")
    focus: tuple[Pattern, ...] = Field((), description="Paths a reviewer should see first.")
    categories: tuple[Category, ...] = Field(
        DEFAULT_CATEGORIES, description="Groups of the report, after the focus paths."
    )
    formatters: tuple[Command, ...] = Field((), description="Run in order on merged files.")
    linters: tuple[Command, ...] = Field((), description="Run after the formatters; report only.")
    checks: tuple[CheckCommand, ...] = Field((), description="CI of the local forge.")
    exempt: tuple[str, ...] = Field(
        (), description="Checks that never count: names with * wildcards, case ignored."
    )
    sentinel: Name | None = Field(
        None, description="The check that must succeed; started by this run's trigger."
    )
    expected_checks: tuple[Name, ...] = Field((), description="Checks that must be there.")
    no_ci: bool = Field(
        False, description="The repository has no checks at all; without this, none is an error."
    )
    accept_pre_existing: bool = Field(
        False, description="Mark ready although checks fail that fail on the target too."
    )
    baseline: Baseline = Field(
        Baseline(), description="More ways to prove that a failure is the target's own."
    )
    rerun_limit: int = Field(
        2, ge=0, description="How often failures of infrastructure are run again on one commit."
    )
    poll_seconds: float = Field(120, gt=0, description="Time between two looks at the checks.")
    grace_minutes: float = Field(15, gt=0, description="CI must have started after this long.")
    time_limit_minutes: float = Field(360, gt=0, description="The wait for CI ends after this.")
    git_timeout_seconds: float = Field(600, gt=0, description="No git command may take longer.")
    delete_stale_branches: bool = Field(
        False, description="Delete the branch of a stale pull request that is closed."
    )
    agent: AgentSettings = Field(AgentSettings(), description="Claude's part, if any.")
    github: GitHub = Field(GitHub(), description="Access to GitHub.")
    workspace: Location | None = Field(
        None, description="Folder for clones and locks; default: the user's cache folder."
    )

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
        _check_template(value, ("source", "target"))
        return value

    @field_validator("date_format")
    @classmethod
    def _date_format(cls, value: str) -> str:
        for sample in (moment.strftime(value) for moment in SAMPLES):
            unknown = "holds an unknown % directive" if "%" in sample else ""
            problem = unknown or branch_problem(f"x/{sample}")
            if problem:
                raise ValueError(f"the format gives {sample!r}, which {problem}")
        return value

    @field_validator("title")
    @classmethod
    def _title(cls, value: str) -> str:
        _check_template(value, ("source", "target", "date"))
        if not value.strip() or len(value.splitlines()) > 1:
            raise ValueError("a title is one line that is not empty")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> "SyncConfig":
        clashes = tuple(contradictions(self))
        if clashes:
            raise Contradiction(clashes)
        return self

    def digest(self) -> str:
        """12 hex digits that change when the outcome of a sync could: the resume marker's part."""
        text = self.model_dump_json(exclude=_VOLATILE)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def holds(self, rule: RuleName, path: str) -> bool:
        """Does a rule of this name hold for the path? A `!` takes back in its own rule only."""
        return any(matches(path, item.paths) for item in self.rules if item.rule == rule)

    def pins(self, path: str) -> bool:
        """Does a rule give the whole file to one side, so that nobody else may change it?"""
        rules: tuple[RuleName, ...] = ("protect", "take-source", "take-target")
        return any(self.holds(rule, path) for rule in rules)

    def prefix(self) -> str:
        """The sync branches' common start, e.g. `main2dev/`."""
        return self.branch_prefix.format(source=self.source, target=self.target)

    def date(self, now: datetime) -> str:
        """The date in names: `now` (aware) in the configured time zone."""
        if now.tzinfo is None:
            raise ValueError("the time needs a time zone")
        return now.astimezone(ZoneInfo(self.timezone)).strftime(self.date_format)

    def branch_name(self, now: datetime) -> str:
        """The sync branch of the day, e.g. `main2dev/30_11_2026`."""
        return self.prefix() + self.date(now)

    def title_for(self, now: datetime) -> str:
        """The title of the day's pull request and merge commit."""
        return self.title.format(source=self.source, target=self.target, date=self.date(now))

    def home(self) -> Path | None:
        """The configured workspace folder, absolute. Raises ConfigError for an unknown `~user`."""
        return expanded(self.workspace) if self.workspace else None


# Say how a run works, waits and pays, not what comes of it.
_VOLATILE: dict[str, bool | dict[str, bool]] = {
    "repository": True,
    "reviewers": True,
    "rerun_limit": True,
    "poll_seconds": True,
    "time_limit_minutes": True,
    "git_timeout_seconds": True,
    "github": True,
    "workspace": True,
    "agent": dict.fromkeys(
        ("key", "base_url", "region", "project", "turns", "minutes", "tokens", "money", "prices"),
        True,
    ),
}


def contradictions(config: SyncConfig) -> Iterator[Clash]:
    """Every pair of settings that cannot hold together, in the order of the fields."""
    yield from _branch_clashes(config)
    yield from _label_clashes(config)
    yield from _rule_clashes(config.rules)
    yield from _check_clashes(config)


def _branch_clashes(config: SyncConfig) -> Iterator[Clash]:
    if config.source == config.target:
        reason = f"the source is {config.source!r} too: there is nothing to sync"
        yield Clash(("target",), reason)
    sample = config.branch_name(SAMPLE_DAY)
    problem = branch_problem(sample)
    if problem:
        yield Clash(("branch_prefix",), f"the sync branch would be {sample!r}, which {problem}")
    for branch in (config.source, config.target):
        if sample.startswith(f"{branch}/"):
            reason = f"{sample!r} lies below the branch {branch!r}, and git cannot hold both"
            yield Clash(("branch_prefix",), reason)


def _label_clashes(config: SyncConfig) -> Iterator[Clash]:
    if labels.has(config.labels, config.manual_label):
        at = [name.casefold() for name in config.labels].index(config.manual_label.casefold())
        reason = "this label says hands off (manual_label): the job would never touch its own work"
        yield Clash(("labels", at), reason)


def _rule_clashes(rules: Iterable[PathRule]) -> Iterator[Clash]:
    seen: dict[str, tuple[int, RuleName]] = {}
    for at, rule in enumerate(rules):
        for number, pattern in enumerate(rule.paths):
            first, name = seen.setdefault(_anchored(pattern), (at, rule.rule))
            # A pattern with "!" only takes paths back, which many rules may do.
            if name != rule.rule and not pattern.startswith("!"):
                reason = f"the pattern {pattern!r} is already under rules[{first}] ({name})"
                yield Clash(("rules", at, "paths", number), reason)


def _anchored(pattern: str) -> str:
    """One spelling for patterns that mean the same: a slash inside anchors like a leading one."""
    text = pattern.rstrip("/")
    return f"/{text}" if "/" in text and not text.startswith("/") else text


def _check_clashes(config: SyncConfig) -> Iterator[Clash]:
    names = [check.name for check in config.checks]
    for at, name in enumerate(names):
        if name in names[:at]:
            yield Clash(("checks", at, "name"), f"an earlier check is called {name!r} too")
    for loc, name in _named_checks(config):
        if is_exempt(name, config.exempt):
            yield Clash(loc, f"the check {name!r} is exempt too, so it could never count")


def _named_checks(config: SyncConfig) -> Iterator[tuple[Loc, str]]:
    if config.sentinel:
        yield ("sentinel",), config.sentinel
    for at, name in enumerate(config.expected_checks):
        yield ("expected_checks", at), name


def check_runnable(config: SyncConfig, required: tuple[str, ...] | None = ()) -> None:
    """Raise ConfigError unless a green pull request of this config would mean something.

    `required` are the names that branch protection demands; None if nobody has looked yet. Not
    part of the model: `preview` needs no CI.
    """
    named = [check.name for check in config.checks] + [name for _, name in _named_checks(config)]
    named += required or ()
    if config.no_ci and named:
        raise ConfigError(
            f"no_ci says that the repository has no checks, but {named[0]!r} is expected: "
            "drop no_ci, or the checks, sentinel and expected_checks."
        )
    known = config.no_ci or required is None
    if not known and all(is_exempt(name, config.exempt) for name in named):
        raise ConfigError(
            "Nothing is expected of CI, so every pull request would pass: name checks, a sentinel "
            "or expected_checks, or say no_ci: true."
        )
