"""Sets of paths as gitignore patterns."""

import pytest

from nightly_sync import paths
from nightly_sync.patterns import check_pattern, matches


@pytest.mark.parametrize(
    ("path", "patterns"),
    [
        ("a.py", ["*.py"]),
        ("deep/in/a.py", ["*.py"]),
        ("pyproject.toml", ["/pyproject.toml"]),
        ("docs/a/b.md", ["/docs/"]),
        ("docs/a/b.md", ["docs"]),
        ("src/x/y/z.py", ["/src/**/z.py"]),
        ("a b.py", ["a b.py"]),
        ("-x.py", ["*.py"]),
        (".github/CODEOWNERS", ["/.github/CODEOWNERS"]),
        ("a.md", ["*.py", "*.md"]),
    ],
)
def test_a_path_belongs_to_the_set(path: str, patterns: list[str]) -> None:
    assert matches(path, patterns)


@pytest.mark.parametrize(
    ("path", "patterns"),
    [
        ("a.pyc", ["*.py"]),
        ("sub/pyproject.toml", ["/pyproject.toml"]),
        ("a/docs.md", ["/docs/"]),
        ("sub/docs/a.md", ["/docs/"]),
        ("src/keep.py", ["/src/", "!/src/keep.py"]),
        ("anything", []),
        ("A.PY", ["*.py"]),
    ],
)
def test_a_path_does_not_belong_to_the_set(path: str, patterns: list[str]) -> None:
    assert not matches(path, patterns)


@pytest.mark.parametrize(
    ("name", "pattern", "expected"),
    [
        (b"a.py\n", "*.py", False),
        (b"d\nx/a.py", "*.py", True),
        (b"d/a\nb.py", "/d/", True),
        (b"d\n/a", "/d/", False),
        (b"d/x\ny/z", "d/**/z", True),
        (b"x\ny", "x\ny", True),
        (b"caf\xe9.py", "*.py", True),
        (b"caf\xe9.py", "/caf?.py", True),
    ],
)
def test_odd_bytes_match_as_in_git(name: bytes, pattern: str, expected: bool) -> None:
    """The newline cases: pathspec takes the text up to a newline for the whole path."""
    assert matches(paths.from_bytes(name), [pattern]) is expected


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("# note", "comment"),
        ("..", "leaves the repository"),
        ("a/../b", "leaves the repository"),
        ("!../b", "leaves the repository"),
        ("/", "matches nothing"),
        ("!", "matches nothing"),
        ("./a", "matches nothing"),
        ("a//b", "matches nothing"),
        ("[a", "matches nothing"),
        ("[z-a]", "malformed"),
        ("a\\", "malformed"),
    ],
)
def test_a_bad_pattern_is_refused_with_the_reason(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        check_pattern(pattern)


@pytest.mark.parametrize("pattern", ["*", "**", "/a/", "!a", "a..b", "\\#x", "a b", "[ab]*", ".x"])
def test_a_good_pattern_is_accepted(pattern: str) -> None:
    check_pattern(pattern)
