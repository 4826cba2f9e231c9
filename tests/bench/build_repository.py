"""Build a large repository with diverged branches: 3,300 files, 150 of them in conflict.

    python -m tests.bench.build_repository FOLDER

The shape is that of a large Python project (Megatron-LM: 16 MB of Python): packages of modules
with some 300 lines, recorded values as JSON, pages of text, some binary files. Each branch has a
few hundred commits. The same SHAs come out every time.
"""

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from pathlib import Path

from nightly_sync import git
from nightly_sync.demo.history import Commit, Content, write

PYTHON, DATA, PAGES, BINARY = 1500, 1000, 650, 70  # files of each kind
SHARED = 600  # modules that others import
FUNCTIONS = 13  # in a module
STARTS = datetime(2026, 1, 1, tzinfo=UTC)
AUTHOR = git.Signature("Bench", "bench@example.com")
A_COMMIT = 3  # files one commit touches

Edits = dict[str, Content]
Change = Callable[["Repository", str], tuple[Content, Content]]
"""From a file's name to what main and dev make of it."""


def build(folder: Path) -> Path:
    """Make a bare repository in `folder`, which must not exist; returns it."""
    git.init_bare(folder)
    write(folder, _commits(Repository.new()))
    return folder


@dataclass
class Repository:
    """The files both branches start from, and the changes each of them makes."""

    dice: random.Random
    files: dict[str, bytes] = field(default_factory=dict)
    main: Edits = field(default_factory=dict)
    dev: Edits = field(default_factory=dict)

    @classmethod
    def new(cls) -> "Repository":
        """All files, then all changes, from one seed."""
        made = cls(random.Random(2026))
        made.files.update(_python(made.dice))
        made.files.update(_other_files(made.dice))
        _diverge(made)
        return made

    def take(self, number: int, pattern: str) -> list[str]:
        """That many files with such a name that no branch has changed yet."""
        free = (name for name in self.files if name not in self.main and name not in self.dev)
        return self.dice.sample([name for name in free if fnmatch(name, pattern)], number)


# Files


def _python(dice: random.Random) -> Iterator[tuple[str, bytes]]:
    modules = [_module_name(number) for number in range(PYTHON)]
    folders = {folder for name in modules for folder in _folders(name)}
    yield from ((f"{folder}/__init__.py", b'"""A package."""\n') for folder in sorted(folders))
    for name in modules:
        yield f"{name}.py", _module(dice, name, dice.sample(modules[:SHARED], 5)).encode()


def _module_name(number: int) -> str:
    kind = "unit" if number < SHARED else "leaf"
    return f"core/part_{number % 12}/area_{number % 60}/{kind}_{number}"


def _folders(name: str) -> Iterator[str]:
    parts = name.split("/")[:-1]
    return ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))


def _module(dice: random.Random, name: str, needed: list[str]) -> str:
    lines = [f'"""What {name} does."""', "", "import math", ""]
    lines += [f"from {module.replace('/', '.')} import step_0" for module in needed[:1]]
    lines += [f"import {module.replace('/', '.')}" for module in needed[1:]]
    for number in range(FUNCTIONS):
        lines += ["", "", *_function(dice, number)]
    return "\n".join([*lines, ""])


_WORDS = ("gradient", "layer", "bucket", "shard", "stage", "expert", "token", "kernel", "buffer")


def _function(dice: random.Random, number: int) -> Iterator[str]:
    one, two = dice.sample(_WORDS, 2)
    yield f"def step_{number}({one}, {two}=None, scale={dice.random():.4f}):"
    yield f'    """Combine the {one} with the {two}, scaled."""'
    yield f"    {two} = {two} or []"
    yield f"    total, {one}_sizes = 0.0, []"
    for _ in range(4):
        yield f"    for index, value in enumerate({one}):"
        yield f"        if value > {dice.randrange(10_000)} and index % {dice.randrange(9, 99)}:"
        yield f"            total += math.sqrt(abs(value)) * scale + {dice.randrange(10_000)}"
        yield f"            {one}_sizes.append((index, value))"
    yield f"    return total, {one}_sizes, {two}"


def _other_files(dice: random.Random) -> Iterator[tuple[str, bytes]]:
    for number in range(DATA):
        yield f"tests/golden/case_{number % 40}/values_{number}.json", _json(dice).encode()
    for number in range(PAGES):
        yield f"docs/chapter_{number % 20}/page_{number}.md", _page(dice).encode()
    for number in range(BINARY):
        yield f"assets/blob_{number}.bin", b"\0" + dice.randbytes(4000)


def _json(dice: random.Random) -> str:
    rows = (f'    "{step}": {dice.random():.6f}' for step in range(300))
    return '{\n  "loss": {\n' + ",\n".join(rows) + "\n  }\n}\n"


def _page(dice: random.Random) -> str:
    return "".join(f"{' '.join(dice.choices(_WORDS, k=9))}.\n\n" for _ in range(40))


# Changes


def _diverge(made: Repository) -> None:
    for number, pattern, change in _CONFLICTS:
        for name in made.take(number, pattern):
            made.main[name], made.dev[name] = change(made, name)
    for edits in (made.main, made.dev):
        edits.update((name, _reworked(made, name, 3)) for name in made.take(250, "*[0-9].py"))
        edits.update((name, _reworked(made, name, 9)) for name in made.take(120, "*.json"))
        edits.update(dict.fromkeys(made.take(40, "*/leaf_*.py")))
        for name in made.take(40, "*/leaf_*.py"):
            edits[name] = None
            edits[name.replace("leaf_", "renamed_")] = made.files[name]
        for name in made.take(60, "*/unit_*.py"):
            edits[name.replace("unit_", "added_")] = _module(made.dice, name, [name[:-3]] * 2)


def _reworked(made: Repository, name: str, places: int) -> bytes:
    """A few lines changed, far from each other."""
    lines = made.files[name].split(b"\n")
    for at in made.dice.sample(_places(lines), places):
        lines[at] = _line(made.dice, lines[at])
    return b"\n".join(lines)


def _places(lines: list[bytes]) -> list[int]:
    """Lines that can be replaced by an assignment; in text, any but the first and last ones."""
    assignments = [at for at, line in enumerate(lines) if b" total += " in line]
    return assignments or list(range(4, len(lines) - 4))


def _line(dice: random.Random, line: bytes) -> bytes:
    indent = line[: len(line) - len(line.lstrip())]
    return b"%s_value_%d = %d" % (indent, dice.randrange(100), dice.randrange(10**9))


def _contents(made: Repository, name: str) -> tuple[Content, Content]:
    """One to six lines changed on both branches, and others on one of them."""
    sides = [made.files[name].split(b"\n") for _ in range(2)]
    places = made.dice.sample(_places(sides[0]), 12)
    shared = made.dice.randrange(1, 7)
    for number, at in enumerate(places):
        for side in sides if number < shared else [sides[number % 2]]:
            side[at] = _line(made.dice, side[at])
    return b"\n".join(sides[0]), b"\n".join(sides[1])


def _layout(made: Repository, name: str) -> tuple[Content, Content]:
    """dev breaks the line of every function that main gives another argument."""
    text = made.files[name].decode()
    heads = [line for line in text.split("\n") if line.startswith("def ")][:3]
    main = dev = text
    for head in heads:
        main = main.replace(head, head.replace("scale=", "more=0, scale="))
        dev = dev.replace(head, head.replace("(", "(\n    ").replace("):", ",\n):"))
    return main.encode(), dev.encode()


def _deleted(made: Repository, name: str) -> tuple[Content, Content]:
    return _reworked(made, name, 3), None


def _binary(made: Repository, name: str) -> tuple[Content, Content]:
    return b"\0" + made.dice.randbytes(4000), b"\0" + made.dice.randbytes(4000)


_CONFLICTS: tuple[tuple[int, str, Change], ...] = (
    (104, "*/unit_*.py", _contents),
    (12, "*/unit_*.py", _layout),
    (5, "*/unit_*.py", _deleted),
    (5, "*/leaf_*.py", _deleted),
    (14, "*.json", _contents),
    (6, "*.md", _contents),
    (4, "*.bin", _binary),
)


# Commits


def _commits(made: Repository) -> Iterator[Commit]:
    yield Commit("main", "Start\n", AUTHOR, STARTS, made.files)
    yield from _branch("dev", made.dev, "main")
    yield from _branch("main", made.main, None)


def _branch(branch: str, edits: Edits, start: str | None) -> Iterator[Commit]:
    names = sorted(edits)
    for number, at in enumerate(range(0, len(names), A_COMMIT)):
        files = {name: edits[name] for name in names[at : at + A_COMMIT]}
        when = STARTS + timedelta(hours=number + 1)
        message = f"Change {branch} (#{number})\n"
        yield Commit(branch, message, AUTHOR, when, files, None if number else start)


if __name__ == "__main__":
    print(build(Path(sys.argv[1]).resolve()))
