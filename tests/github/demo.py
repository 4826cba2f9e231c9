"""`nightly-sync demo --github`: the demo's repository on the stand-in, and what has to come of it.

The night before, this job opened a pull request that nobody merged. During the day Alice pushed a
module that she had not formatted. Tonight CI, which a comment starts, is red twice:

1. `style` complains about Alice's module. The configured formatter repairs it; the repair is pushed
   and CI is asked again.
2. `pytest` cannot install anything, as a download fails. It is run again on the same commit.

Then all of it is green, and the pull request becomes ready.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import patch

from nightly_sync import git
from nightly_sync.config import SyncConfig
from nightly_sync.demo.build import build
from nightly_sync.demo.model import DemoSite
from nightly_sync.demo.show import Show
from nightly_sync.merge.commit import commit_merge
from nightly_sync.merge.plan import plan
from nightly_sync.record import RunRecord
from nightly_sync.reports import marker
from nightly_sync.reports.marker import Marker
from tests.github import bare, demo_seen
from tests.github.ci import Act
from tests.github.people import Person
from tests.github.server import GitHub
from tests.github.state import Repository

VARIABLE = "NIGHTLY_SYNC_DEMO_TOKEN"
ASK = "/ok to test "
GATE = "CI gate"
FORMATTER = "python -m ruff format"

FEES = "ledger/fees.py"
AS_PUSHED = '''\
"""Fees, in cents."""

FEES = {'cash':0, 'card':25}

def fee(kind): return FEES[kind]
'''
AS_FORMATTED = '''\
"""Fees, in cents."""

FEES = {"cash": 0, "card": 25}


def fee(kind):
    return FEES[kind]
'''

GREEN = [Act("pytest"), Act("style"), Act(GATE, after=1)]
RED_OVER_STYLE = [
    Act("pytest"),
    Act("style", "FAILURE", f"Would reformat: {FEES}\n1 file would be reformatted"),
    Act(GATE, "FAILURE", "Some jobs failed.", after=1),
]
RED_OVER_A_DOWNLOAD = [
    Act(
        "pytest",
        "FAILURE",
        "E: Failed to fetch http://deb.example.com/python3.deb  502 Bad Gateway",
        rerun=Act("pytest"),
    ),
    Act("style"),
    Act(GATE, "FAILURE", "Some jobs failed.", after=1, rerun=Act(GATE, after=1)),
]


@contextmanager
def on_github(folder: Path, now: datetime) -> Iterator[Show]:
    """Serve the demo below `folder`, with a token in the environment, until the context ends."""
    folder = folder.resolve()
    local = build(folder, now)
    with GitHub(folder / "stand-in") as github:
        repository = github.repository("acme/ledger")
        bare.take(repository.path, local.origin)
        config = _config(local.config, github.git_url(repository))
        _set_the_scene(github, repository, config, now)
        token = github.token()
        with patch.dict(os.environ, {VARIABLE: token}):
            yield OnGitHub(replace(local, config=config), github, repository, token)


def _config(local: SyncConfig, url: str) -> SyncConfig:
    """The local demo's, but with checks that GitHub runs, and a formatter for Alice's module."""
    changes = {
        "repository": url,
        "github": {"token": f"env:{VARIABLE}"},
        "checks": (),
        "sentinel": GATE,
        "expected_checks": ("pytest", "style"),
        "trigger": {"kind": "comment", "text": f"{ASK}{{sha}}"},
        "formatters": [{"name": "ruff format", "run": FORMATTER, "paths": [f"/{FEES}"]}],
        "poll_seconds": 0.2,
    }
    return SyncConfig.model_validate({**local.model_dump(), **changes})


def _set_the_scene(
    github: GitHub, repository: Repository, config: SyncConfig, now: datetime
) -> None:
    github.ci.past(repository, repository.branches()[config.target], GREEN)
    _last_night(github.person(repository, "sync-bot"), config, now - timedelta(days=1))
    github.person(repository, "alice").push(config.source, {FEES: AS_PUSHED}, "Fees (#64)")
    github.ci.on_comment(rf"^{ASK}(\w+)$", RED_OVER_STYLE, RED_OVER_A_DOWNLOAD)


def _last_night(bot: Person, config: SyncConfig, then: datetime) -> None:
    """What this job left behind: a merge commit of its own on a branch, and a draft."""
    repo, tips = bot.repository, bot.repository.branches()
    made = plan(repo.path, tips[config.source], tips[config.target], config)
    title, branch = config.title_for(then), config.branch_name(then)
    bot.branch(branch, commit_merge(repo.path, made, config, title, then).commit)
    ours = Marker(source=made.source, target=made.target, config=config.digest())
    body = marker.wrap(ours, "**Still a draft: the checks did not finish in time.**")
    bot.open_pull(branch, config.target, title, body).draft = True


@dataclass(frozen=True)
class OnGitHub:
    """The demo while it is served."""

    site: DemoSite
    github: GitHub
    repository: Repository
    token: str

    def lines(self, record: RunRecord) -> list[str]:
        """What GitHub saw of the run."""
        return demo_seen.transcript(self.github, self.repository, self._heads, record.polls)

    def problems(self, record: RunRecord) -> list[str]:
        """What GitHub saw otherwise than promised."""
        kept = self.promises(record)
        return [f"it does not hold that {text}" for text in kept if not kept[text]]

    def promises(self, record: RunRecord) -> dict[str, bool]:
        """Each promise, and whether it is kept."""
        return {**self._pulls(record), **self._requests(record)}

    def _said(self, number: int) -> list[str]:
        return [item.body for item in self.repository.comments if item.number == number]

    @property
    def _heads(self) -> list[str]:
        """The commits that CI was asked to test, in this order."""
        said = self._said(self.repository.pulls[-1].number)
        return [text.removeprefix(ASK) for text in said if text.startswith(ASK)]

    def _pulls(self, record: RunRecord) -> Mapping[str, bool]:
        old, new = self.repository.pulls[0], self.repository.pulls[-1]
        said, heads = self._said(new.number), self._heads
        state = (new.open, new.draft, tuple(new.labels))
        module = git.read_file(self.repository.path, new.head_sha, FEES)
        return {
            "last night's pull request is closed": not old.open,
            "it says which one replaces it": any(
                f"#{new.number} " in text for text in self._said(old.number)
            ),
            "tonight's is open, ready and labelled": state
            == (True, False, self.site.config.labels),
            "CI was asked about two commits": len(heads) == 2,
            "the head is the second of them": [new.head_sha] == heads[1:] == [record.head_sha],
            "the formatter repaired the module there": module == AS_FORMATTED.encode(),
            "a summary has the last word": len(said) == 3 and said[-1].startswith("**Ready"),
        }

    def _requests(self, record: RunRecord) -> Mapping[str, bool]:
        looks = demo_seen.looks(self.github)
        ready = self.github.requests.of("markPullRequestReadyForReview")
        return {
            "there was one repair and one rerun": (record.fix_rounds, record.reruns) == (1, 1),
            "a look at the checks is one GraphQL request": (
                sum(looks[sha] for sha in self._heads) == record.polls + demo_seen.LAST > 2
            ),
            "one more marks the pull request ready": len(ready) == 1,
            "GitHub's own description allows each request": not self.github.problems,
            "the token is seen nowhere": not self.github.requests.leaks(self.token),
        }
