"""The command line with a stopwatch on each git command: `python -m tests.bench.timed FILE ...`.

FILE receives a JSON object: git subcommand to [how often, seconds]. Waiting for git's output and
reading it count as git's time.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from nightly_sync import cli, git

Spent = dict[str, tuple[int, float]]


def watch() -> Spent:
    """From now on, book each git command of this process."""
    spent: Spent = {}
    plain = git.run

    def timed(repo: Path, *args: str, **options: Any) -> git.Result:
        started = time.perf_counter()
        try:
            return plain(repo, *args, **options)
        finally:
            name = subcommand(args)
            times, seconds = spent.get(name, (0, 0.0))
            spent[name] = times + 1, seconds + time.perf_counter() - started

    git.run = timed
    return spent


def subcommand(args: tuple[str, ...]) -> str:
    """`log` of `--literal-pathspecs log -p`; settings given with -c are skipped."""
    words = iter(args)
    for word in words:
        if word == "-c":
            next(words)
        elif not word.startswith("-"):
            return word
    return "git"


def main() -> None:
    """Run, then write the figures, whatever the exit code."""
    file = Path(sys.argv.pop(1))
    spent = watch()
    try:
        cli.main()
    finally:
        file.write_text(json.dumps(spent))


if __name__ == "__main__":
    main()
