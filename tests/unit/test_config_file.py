"""YAML in, a config or one readable error out."""

from pathlib import Path

import pytest

from nightly_sync.config_file import load
from nightly_sync.errors import ConfigError, Exit

TOP = "repository: ../project\n"


def error_of(tmp_path: Path, content: str | bytes) -> str:
    """The error about a file of this content, from the line number on."""
    file = tmp_path / "x.yaml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ConfigError) as caught:
        load(file)
    assert caught.value.exit_code is Exit.USAGE
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{file}:")


def test_a_good_file_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(TOP + "target: next\nlabels: [a, b]\nsign_off: yes\npoll_seconds: 5\n")
    config = load(file)
    assert (config.target, config.labels, config.sign_off) == ("next", ("a", "b"), True)
    assert config.poll_seconds == 5


def test_a_byte_order_mark_and_crlf_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_bytes(b"\xef\xbb\xbfrepository: a\r\nsource: trunk\r\n")
    assert load(file).source == "trunk"


def test_a_branch_that_looks_like_a_number_or_a_day_stays_text(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(TOP + "source: 1.10\ntarget: 2026-11-30\n")
    assert (load(file).source, load(file).target) == ("1.10", "2026-11-30")


def test_null_means_none(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(TOP + "sentinel: null\nworkspace:\n")
    assert load(file).sentinel is None


def test_an_alias_stands_for_its_anchor(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(TOP + "focus: &core [/core/]\nstat_globs: *core\n")
    assert load(file).stat_globs == ("/core/",)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "1: repository: this key is required"),
        ("# nothing\n", "1: repository: this key is required"),
        ("- a\n", "1: a config is a list of `key: value` lines"),
        ("text\n", "1: a config is a list of `key: value` lines"),
        ("source: main\n", "1: repository: this key is required"),
        ("repository:\n", "1: repository: needs text, but nothing stands there"),
        (TOP + "\nsentinal: x\n", "3: sentinal: unknown key, did you mean 'sentinel'?"),
        (TOP + "Poll-Seconds: 3\n", "2: Poll-Seconds: unknown key, did you mean 'poll_seconds'?"),
        (TOP + "zzzz: 3\n", "2: zzzz: unknown key (see docs/config.md)"),
        (TOP + "committer:\n  nick: x\n", "3: committer.nick: unknown key; known here: name, emai"),
        (TOP + "labels: foo\n", "2: labels: needs a list, not 'foo'"),
        (TOP + "source: [a]\n", "2: source: needs text"),
        (TOP + "sign_off: maybe\n", "2: sign_off: needs true or false, not 'maybe'"),
        (TOP + "poll_seconds: soon\n", "2: poll_seconds: needs a number, not 'soon'"),
        (TOP + "poll_seconds: -1\n", "2: poll_seconds: needs a number above 0, not '-1'"),
        (TOP + "sentinel: ''\n", "2: sentinel: is empty"),
        (TOP + "trigger: comment\n", "2: trigger: needs keys of its own, not 'comment'"),
        (TOP + "fallback: mine\n", "2: fallback: needs one of 'source', 'target' or 'stop', not "),
        (TOP + "timezone: Mars/Base\n", "2: timezone: no time zone is called 'Mars/Base'"),
        (TOP + "source: dev\n", "1: target: the source is 'dev' too"),
        (TOP + "? [a, b]\n: c\n", "2: ?: unknown key"),
        (TOP + "<<: {source: x}\n", "2: <<: unknown key"),
    ],
)
def test_a_mistake_names_line_and_key(tmp_path: Path, content: str, expected: str) -> None:
    assert error_of(tmp_path, content).startswith(expected)


def test_a_bad_pattern_is_named_by_its_own_line(tmp_path: Path) -> None:
    content = TOP + "rules:\n  - rule: protect\n    paths:\n      - /a\n      - ..\n"
    expected = "6: rules[0].paths[1]: the pattern '..' leaves the repository"
    assert error_of(tmp_path, content) == expected


def test_a_contradiction_names_the_line_of_the_later_setting(tmp_path: Path) -> None:
    content = TOP + (
        "rules:\n- rule: protect\n  paths: [/a]\n- rule: take-source\n  paths:\n  - /b\n  - /a\n"
    )
    expected = "8: rules[1].paths[1]: the pattern '/a' is already under rules[0] (protect)"
    assert error_of(tmp_path, content) == expected


def test_of_several_mistakes_the_first_in_the_file_is_named(tmp_path: Path) -> None:
    content = TOP + "zzzz: 1\npoll_seconds: x\nlabels: y\n"
    assert error_of(tmp_path, content) == "2: zzzz: unknown key (see docs/config.md) (and 2 more)"


def test_several_contradictions_are_counted(tmp_path: Path) -> None:
    content = TOP + "expected_checks: [a, b]\nexempt: ['*']\nsentinel: c\n"
    message = error_of(tmp_path, content)
    assert message.startswith("2: expected_checks[0]: ")
    assert message.endswith("(and 2 more)")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (TOP + "source: a\nsource: b\n", "3: source: is given twice, first in line 2"),
        (
            TOP + "committer:\n  name: a\n  email: b\n  name: a\n",
            "5: committer.name: is given twice, first in line 3",
        ),
    ],
)
def test_a_key_given_twice_is_refused(tmp_path: Path, content: str, expected: str) -> None:
    assert error_of(tmp_path, content) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (TOP + "labels: [a\n", "3: is not YAML: while parsing a flow sequence"),
        (TOP + "a: b: c\n", "2: is not YAML: mapping values are not allowed here"),
        (TOP + "\tsource: a\n", "2: is not YAML: while scanning for the next token"),
        (TOP + "---\nsource: a\n", "2: is not YAML: expected a single document"),
        (TOP + "source: *nowhere\n", "2: is not YAML: found undefined alias"),
        (TOP + "source: \x01\n", "2: holds a character that YAML refuses: 0x01"),
        (TOP + "source: !!python/name:os.system\n", "2: source: the YAML tag 'python/name:os.sys"),
        (TOP + 'title: "\\ud800"\n', "2: title: holds half a character"),
        (TOP + '"\\ud800": x\n', "2: \\ud800: unknown key"),
        ("[" * 500, "1: is nested too deeply"),
        (b"repository: a\n# caf\xe9\n", "2: is not UTF-8 text"),
    ],
)
def test_a_broken_file_names_the_line(tmp_path: Path, content: str | bytes, expected: str) -> None:
    assert error_of(tmp_path, content).startswith(expected)


def test_an_alias_inside_its_own_anchor_ends(tmp_path: Path) -> None:
    assert error_of(tmp_path, TOP + "labels: &a [*a]\n").startswith("2: labels[0]: needs text")


def test_aliases_that_multiply_cost_nothing(tmp_path: Path) -> None:
    """The "billion laughs" document: nine levels of ten aliases each."""
    levels = ["a0: &a0 [x]"] + [
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)
    ]
    content = TOP + "\n".join([*levels, "labels: *a9\n"])
    assert error_of(tmp_path, content).startswith("2: a0: unknown key")


def test_a_wrong_value_is_not_repeated_at_length(tmp_path: Path) -> None:
    assert len(error_of(tmp_path, TOP + f"poll_seconds: {'x' * 5000}\n")) < 100


def test_the_value_of_an_unknown_key_is_not_shown(tmp_path: Path) -> None:
    assert "hunter2" not in error_of(tmp_path, TOP + "token: hunter2\n")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "none.yaml"
    with pytest.raises(ConfigError) as caught:
        load(file)
    assert str(caught.value) == f"{file}: cannot be read: No such file or directory"


def test_a_folder_is_not_a_config(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path)


def test_a_file_name_of_odd_bytes_can_be_printed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "caf\udce9.yaml")
    assert "caf\\xe9.yaml" in str(caught.value)
