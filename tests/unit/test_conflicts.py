"""Reading `git merge-tree -z`: nothing that git reports may pass for a clean merge."""

from nightly_sync.conflicts import Conflict, Kind, parse

TREE = b"1" * 40
OID = {number: str(number).encode() * 40 for number in range(1, 10)}


def _stage(path: bytes, number: int, mode: bytes = b"100644", oid: int | None = None) -> bytes:
    return mode + b" " + OID[oid or number] + b" %d\t" % number + path + b"\0"


def _message(kind: bytes, *paths: bytes) -> bytes:
    names = b"".join(path + b"\0" for path in paths)
    return b"%d\0" % len(paths) + names + kind + b"\0" + kind + b": words\n\0"


def _parse(stages: bytes, messages: bytes) -> dict[str, Conflict]:
    found = parse(TREE + b"\0" + stages + b"\0" + messages)
    assert found.tree == TREE.decode()
    return {item.path: item for item in found.conflicts}


def _three(path: bytes = b"a") -> bytes:
    return b"".join(_stage(path, number) for number in (1, 2, 3))


def test_a_clean_merge_has_no_conflicts() -> None:
    assert parse(TREE + b"\0").conflicts == ()
    assert _parse(b"", _message(b"Auto-merging", b"a")) == {}


def test_contents_without_a_base_are_add_add() -> None:
    message = _message(b"CONFLICT (contents)", b"a")
    assert _parse(_three(), message)["a"].kinds == (Kind.CONTENTS,)
    two = _stage(b"a", 2) + _stage(b"a", 3)
    assert _parse(two, message)["a"].kinds == (Kind.ADD_ADD,)


def test_a_kind_nobody_knows_is_kept_and_cannot_be_resolved() -> None:
    found = _parse(_three(), _message(b"CONFLICT (from the future)", b"a"))["a"]
    assert found.kinds == (Kind.OTHER,)
    assert not found.resolvable


def test_stages_without_a_message_are_a_conflict_nobody_may_resolve() -> None:
    assert _parse(_stage(b"a", 2), b"")["a"].kinds == (Kind.OTHER,)


def test_a_message_about_paths_without_stages_is_kept() -> None:
    found = _parse(b"", _message(b"CONFLICT(directory rename unclear split)", b"old"))
    assert found["old"].kinds == (Kind.DIRECTORY_RENAME,)
    assert not found["old"].resolvable


def test_the_other_names_of_a_rename_are_related() -> None:
    stages = _stage(b"new", 1) + _stage(b"new", 3)
    found = _parse(stages, _message(b"CONFLICT (rename/delete)", b"new", b"old"))
    assert list(found) == ["new"]
    assert found["new"].related == ("old",)
    assert found["new"].resolvable


def test_the_stages_tell_symlinks_submodules_and_mixed_types_apart() -> None:
    message = _message(b"CONFLICT (contents)", b"a")

    def kinds(target: bytes, source: bytes) -> tuple[Kind, ...]:
        stages = _stage(b"a", 1, target) + _stage(b"a", 2, target) + _stage(b"a", 3, source)
        return _parse(stages, message)["a"].kinds

    assert kinds(b"120000", b"120000") == (Kind.SYMLINK,)
    assert kinds(b"160000", b"160000") == (Kind.SUBMODULE,)
    assert kinds(b"100644", b"120000") == (Kind.DISTINCT_TYPES,)


def test_a_mode_conflict_with_one_changed_content_is_about_the_mode_only() -> None:
    message = _message(b"CONFLICT (contents)", b"a")
    same = _stage(b"a", 2, b"100644", 5) + _stage(b"a", 3, b"100755", 5)
    assert _parse(same, message)["a"].kinds == (Kind.MODE,)
    both = _stage(b"a", 1) + _stage(b"a", 2, b"100644") + _stage(b"a", 3, b"100755")
    assert _parse(both, message)["a"].kinds == (Kind.CONTENTS, Kind.MODE)


def test_text_that_git_adds_after_the_messages_is_not_taken_for_one() -> None:
    """git 2.39 prints advice on submodules into the -z output."""
    found = _parse(_three(), _message(b"CONFLICT (contents)", b"a") + b"Recursive merging\n\0")
    assert found["a"].kinds == (Kind.CONTENTS,)


def test_names_of_any_bytes_survive() -> None:
    name = b"\xff \n\t-x"
    found = _parse(_three(name), _message(b"CONFLICT (contents)", name))
    assert [item.encode("utf-8", "surrogateescape") for item in found] == [name]
