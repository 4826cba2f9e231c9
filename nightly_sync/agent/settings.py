"""AgentSettings: whether Claude is asked, which model, what it may cost, and what it may run."""

from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from nightly_sync.command_line import CommandLine
from nightly_sync.model import Location, Model
from nightly_sync.secrets import SecretReference

MB = 1024 * 1024  # bytes
Effort = Literal["low", "medium", "high", "xhigh", "max"]
Thinking = Literal["adaptive", "between_tools", "disabled"]
ANTHROPIC_KEY = "env:ANTHROPIC_API_KEY"

# The current model of each family, as the API calls it; clouds have names of their own.
ALIASES = {"opus": "claude-opus-5-5", "sonnet": "claude-sonnet-5-5", "haiku": "claude-haiku-5-5"}


class AgentCommand(Model):
    """A command Claude may run in the sandbox, by its name; nothing else runs there."""

    name: str = Field(min_length=1, description="What Claude calls it by.")
    run: CommandLine = Field(
        description="The command line, run at the top of the checkout. No shell."
    )
    timeout_seconds: float = Field(900, gt=0, description="Killed after this long.")
    arguments: bool = Field(False, description="Claude may add words, such as files to test.")
    options: bool = Field(False, description="Added words may start with a dash.")

    @model_validator(mode="after")
    def _consistent(self) -> "AgentCommand":
        if self.options and not self.arguments:
            raise ValueError("options without arguments can never be given: set arguments too")
        return self


class SandboxSettings(Model):
    """Commands run without network, in bubblewrap; each limit is for one command."""

    commands: tuple[AgentCommand, ...] = Field((), description="What Claude may run.")
    environment: tuple[Location, ...] = Field(
        (),
        description="Folders the commands need besides the system's, such as a virtual "
        "environment and the Python it was made from; seen read-only at the same place. Their bin "
        "folders come first in PATH.",
    )
    processes: int = Field(512, gt=0, description="Processes and threads at a time.")
    memory_mb: int = Field(8192, gt=0, description="Memory of all processes together.")
    scratch_mb: int = Field(1024, gt=0, description="Size of /tmp, which is in memory.")
    file_mb: int = Field(2048, gt=0, description="Size of one file.")
    disk_mb: int = Field(10_240, gt=0, description="Disk space a command may use up.")
    open_files: int = Field(4096, gt=0, description="Open files of one process.")

    @model_validator(mode="after")
    def _one_of_a_name(self) -> "SandboxSettings":
        names = [command.name for command in self.commands]
        for at, name in enumerate(names):
            if name in names[:at]:
                raise ValueError(f"two commands are called {name!r}")
        return self


class Price(Model):
    """Money for a million tokens, all in one currency."""

    input: float = Field(ge=0, description="Tokens read that were not in the cache.")
    output: float = Field(ge=0, description="Tokens written, thinking included.")
    cache_read: float = Field(ge=0, description="Tokens read from the cache.")
    cache_write: float = Field(ge=0, description="Tokens put into the cache.")


class AgentSettings(Model):
    """Claude's part in a sync. Limits hold for one run; the first that is reached ends it."""

    enabled: bool = Field(False, description="Ask Claude where no rule settles it.")
    provider: Literal["anthropic", "bedrock", "vertex"] = Field(
        "anthropic", description="Whose API: Anthropic's own, Amazon Bedrock, Google Vertex AI."
    )
    model: str = Field(
        "opus",
        min_length=1,
        description="opus, sonnet and haiku mean the current one on Anthropic's own API; anything "
        "else is the full id that the provider knows.",
    )
    effort: Effort | None = Field(
        "high", description="How thorough it is; null for the model's own default."
    )
    thinking: Thinking | None = Field(
        None, description="How it thinks; null for the model's own default."
    )
    base_url: str = Field("", description="Address of the API, if it is not the provider's own.")
    key: SecretReference | None = Field(
        ANTHROPIC_KEY,
        description="Where the API key is: env:VARIABLE, or block:NAME for a Prefect Secret "
        "block. null with Bedrock and Vertex: what the cloud's own library finds.",
    )
    region: str = Field("", description="Region of Bedrock or Vertex.")
    project: str = Field("", description="Google Cloud project, for Vertex.")
    turns: int = Field(1500, gt=0, description="Limit: answers of the model.")
    minutes: float = Field(
        360, gt=0, description="Limit: time in requests and tools; waiting for CI is not counted."
    )
    stall_seconds: float = Field(
        600,
        gt=0,
        description="An answer is asked for again after this long without anything new; the signs "
        "of life that the API sends while the model thinks do not count.",
    )
    tokens: int | None = Field(
        None, gt=0, description="Limit: tokens read and written, those of the cache included."
    )
    money: float | None = Field(
        None, gt=0, description="Limit: cost, in the currency of the prices."
    )
    prices: dict[str, Price] = Field({}, description="Price of each model, by its name as above.")
    context_tokens: int = Field(
        150_000, gt=0, description="Old tool results are cleared when a request is longer."
    )
    max_output_tokens: int = Field(
        32_000, gt=0, description="Longest answer, thinking included; the model has its own limit."
    )
    answers: int = Field(3, gt=0, description="Tries at one task, those that were rejected too.")
    guidance: tuple[str, ...] = Field(
        ("CLAUDE.md", "AGENTS.md"),
        description="Files of the target that say how to work on this repository, as paths.",
    )
    workflows: bool = Field(False, description="Claude may change files under .github/.")
    golden: bool = Field(False, description="Claude may change golden values of tests.")
    sandbox: SandboxSettings = Field(
        SandboxSettings(), description="Commands Claude may run, and their limits."
    )

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("write the address as https://HOST")
        if "@" in parts.netloc:
            raise ValueError("the address holds a user name or a password: take it out")
        return value

    @model_validator(mode="after")
    def _usable(self) -> "AgentSettings":
        if self.money is not None and self.price is None:
            raise ValueError(f"a money limit needs a price for {self.model} in prices")
        if self.provider == "anthropic":
            self._check_anthropic()
        else:
            self._check_cloud()
        return self

    def _check_anthropic(self) -> None:
        if self.key is None:
            raise ValueError("Anthropic's own API needs a key")
        if self.region or self.project:
            raise ValueError("region and project are for Bedrock and Vertex only")

    def _check_cloud(self) -> None:
        if self.model in ALIASES:
            raise ValueError(f"{self.provider} has its own names for models: give the full id")
        if self.key == ANTHROPIC_KEY:
            raise ValueError(
                f"{self.provider} takes no key of Anthropic's: name its own, or null for what the "
                "cloud's own library finds"
            )
        if not self.region:
            raise ValueError(f"{self.provider} needs a region")
        if (self.provider == "vertex") != bool(self.project):
            raise ValueError("project is needed for Vertex, and for nothing else")

    @property
    def model_id(self) -> str:
        """The model as the API knows it."""
        return ALIASES.get(self.model, self.model)

    @property
    def price(self) -> Price | None:
        """What the model costs, if the config says so, by alias or full id."""
        return self.prices.get(self.model) or self.prices.get(self.model_id)
