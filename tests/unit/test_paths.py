"""Names of any bytes: there and back again."""

import random

import pytest

from nightly_sync import paths
from nightly_sync.model import Model, PathName, Text

NAMES = [
    b"",
    b"a.py",
    b"with space/and more.py",
    b"new\nline.py",
    b"tab\there",
    b"-dash",
    b'"',
    b'""',
    b'"quoted"',
    b"back\\slash",
    b"\\101",
    b"ends in backslash\\",
    b"\xff\xfe",
    b"caf\xe9",
    "caf\u00e9/\u4e2d\u6587 \U0001f600".encode(),
    b"\xc3",
    b"\x01\x7f\x1b[0m",
    bytes(range(1, 256)),
]


class Holder(Model):
    """A model with one path."""

    path: PathName


class Quoted(Model):
    """A model with one text."""

    text: Text


@pytest.mark.parametrize("name", NAMES)
def test_any_name_survives_quoting(name: bytes) -> None:
    text = paths.from_bytes(name)
    assert paths.to_bytes(text) == name
    assert paths.to_bytes(paths.unquote(paths.quote(text))) == name


@pytest.mark.parametrize("name", NAMES)
def test_any_name_survives_json(name: bytes) -> None:
    holder = Holder(path=paths.from_bytes(name))
    assert Holder.model_validate_json(holder.model_dump_json()) == holder


def test_random_names_survive_quoting_and_json() -> None:
    choose = random.Random(20261130)
    for _ in range(3000):
        name = bytes(choose.choices(range(1, 256), k=choose.randrange(30)))
        text = paths.from_bytes(name)
        assert paths.to_bytes(paths.unquote(paths.quote(text))) == name
        assert Holder.model_validate_json(Holder(path=text).model_dump_json()).path == text


def test_two_names_are_never_quoted_alike() -> None:
    choose = random.Random(7)
    alphabet = b'ab"\\1\n\xff'
    names = {bytes(choose.choices(alphabet, k=choose.randrange(7))) for _ in range(5000)}
    assert len({paths.quote(paths.from_bytes(name)) for name in names}) == len(names)


@pytest.mark.parametrize("name", NAMES)
def test_a_quoted_name_is_one_printable_line(name: bytes) -> None:
    quoted = paths.quote(paths.from_bytes(name))
    assert paths.printable(quoted) == quoted
    assert len(quoted.splitlines()) <= 1


def test_plain_names_stay_as_they_are() -> None:
    assert paths.quote("src/a b.py") == "src/a b.py"
    assert paths.quote("caf\u00e9") == "caf\u00e9"


def test_odd_names_look_as_git_shows_them() -> None:
    assert paths.quote("a\nb") == '"a\\nb"'
    assert paths.quote(paths.from_bytes(b"\xe9")) == '"\\351"'


def test_text_with_odd_bytes_can_be_written_as_json() -> None:
    text = Quoted(text=paths.from_bytes(b"caf\xe9"))
    assert text.model_dump_json() == '{"text":"caf\\\\xe9"}'


def test_a_path_in_memory_is_not_unquoted() -> None:
    assert Holder(path='"a\\nb"').path == '"a\\nb"'


def test_an_escape_of_no_byte_is_left_as_it_is() -> None:
    """Reported: a quoted path with an octal number above 377 raised a ValueError."""
    assert paths.unquote('"a\\777"') == "a\\777"
    assert paths.unquote('"\\400\\377"') == paths.from_bytes(b"\\400\xff")
