"""What is judged, by which policy, and what is said of it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from nightly_sync import patterns
from nightly_sync.merge.syntax import is_python
from nightly_sync.model import Model, PathName, Text

FILE = "100644"
WIDTH = 200  # characters of a quoted piece of code

TEST_PATHS = (
    *("tests/", "test/", "*_tests/", "__tests__/", "conftest.py"),
    *("testing/", "*testing_utils.py", "*test_utils.py"),
    *("test_*.py", "*_test.py", "*_tests.py", "*_test.go", "*.test.[jt]s*", "*.spec.[jt]s*"),
)
GOLDEN_PATHS = (
    *("*golden*", "snapshots/", "__snapshots__/", "*.snap", "*.ambr", "*.approved.*"),
    *("*.npy", "*.npz"),
)
SETTINGS_PATHS = (
    *("pytest.ini", ".pytest.ini", "tox.ini", "noxfile.py", "pytest.toml"),
    *("ruff.toml", ".ruff.toml", ".flake8", ".isort.cfg", ".style.yapf", "setup.cfg"),
    *("mypy.ini", ".mypy.ini", "pyrightconfig.json", ".pylintrc", "pylintrc", "pylintrc.toml"),
    *(".coveragerc", "codecov.yml", ".codecov.yml", ".pre-commit-config.yaml", ".bandit"),
    *(".eslintrc*", "eslint.config.*", ".eslintignore", ".prettierrc*", ".prettierignore"),
    *("jest.config.*", "vitest.config.*", ".clang-tidy", ".clang-format", ".golangci.*"),
    *(".importlinter", "ty.toml", "pyrefly.toml", ".codespellrc", "_typos.toml", "tsconfig.json"),
    *("biome.json", ".pydocstyle", ".pycodestyle", ".pytest.toml", "codecov.yaml", "tasks.py"),
    *("appveyor.yml", "bitbucket-pipelines.yml", ".cirrus.yml", ".rubocop.yml"),
    *("Makefile", "makefile", "GNUmakefile", "/justfile", "/Taskfile.yml"),
    *("pyproject.toml", "package.json"),
    *(".gitlab-ci.yml", "/.gitlab/", "Jenkinsfile", "azure-pipelines.yml", "/.circleci/"),
    *(".travis.yml", "/.buildkite/", "/.ci/", "/ci/", ".gitattributes", ".editorconfig"),
)


class RefusalKind(StrEnum):
    """One name for each thing that is refused; counted in the report."""

    PROTECTED = "protected-path"
    WORKFLOW = "workflow"
    FILE_TYPE = "file-type"
    SYNTAX = "syntax-error"
    SETTINGS = "check-settings"
    GOLDEN = "golden-values"
    FILE_REMOVED = "file-removed"
    TEST_REMOVED = "test-removed"
    TEST_SKIPPED = "test-skipped"
    TEST_LOOSENED = "test-loosened"
    SUPPRESSION = "suppression"


@dataclass(frozen=True)
class FileChange:
    """One file before and after a repair.

    `before` is the file of the commit to be repaired: what the merge made, maybe broken. Content
    and mode are None where there is no file; modes are git's, six digits. `sides` is the file on
    source and target, None for a side without it, and `base` the file in their merge base. What
    comes from a side is a restoration, and `base` tells what a side deleted from what it never
    had; without them less can be excused, nothing more gets through.

    `merging`: an answer to a conflict. `before` is one side then, an assertion may be woven of both
    sides', and that the file is one side's excuses nothing in a test.
    """

    path: str
    before: bytes | None
    after: bytes | None
    mode_before: str | None = FILE
    mode_after: str | None = FILE
    sides: tuple[bytes | None, ...] = ()
    base: bytes | None = None
    merging: bool = False

    @property
    def restored(self) -> bool:
        """Is it now, byte for byte, what a side has?"""
        return self.after is not None and self.after in self.sides

    @property
    def dropped_by_a_side(self) -> bool:
        """Did a side delete the file?"""
        return self.base is not None and None in self.sides

    @property
    def texts(self) -> tuple[bytes, ...]:
        """The file on the sides that have it."""
        return tuple(text for text in self.sides if text is not None)


def _nothing(_: str) -> bool:
    return False


@dataclass(frozen=True)
class Policy:
    """What a site allows. Paths are gitignore patterns; `protected` tells of any path."""

    protected: Callable[[str], bool] = _nothing
    allow_workflows: bool = False
    allow_golden: bool = False
    test_paths: tuple[str, ...] = TEST_PATHS
    golden_paths: tuple[str, ...] = GOLDEN_PATHS
    settings_paths: tuple[str, ...] = SETTINGS_PATHS

    def is_test(self, path: str) -> bool:
        """Tests, their helpers and their data."""
        return patterns.matches(path, self.test_paths)

    def is_golden(self, path: str) -> bool:
        """Values that tests compare with; Python is judged as Python."""
        return not is_python(path) and patterns.matches(path, self.golden_paths)

    def is_settings(self, path: str) -> bool:
        """Files that say what is checked, and how strictly."""
        return patterns.matches(path, self.settings_paths)


class Refusal(Model):
    """One reason why a change is refused: a sentence for the model and for people."""

    path: PathName
    kind: RefusalKind
    evidence: Text


def clip(text: str) -> str:
    """Code on one line, cut where it gets too long to read."""
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else f"{line[:WIDTH]}..."
