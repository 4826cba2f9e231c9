"""Answers to conflicts: resolutions are accepted, and each mutation of one is rejected."""

from typing import Any

import pytest

from nightly_sync.merge import hunks
from nightly_sync.merge.model import Touch
from nightly_sync.review.acceptance import (
    Dropped,
    HunkAnswer,
    HunkTask,
    HunkText,
    ProblemKind,
    cut,
    hunk_texts,
    problems,
)
from nightly_sync.review.forbidden import Policy

SOURCE_SHA, TARGET_SHA = "5" * 8 + "a" * 32, "7" * 8 + "b" * 32

CONFLICT = '''\
import os

from pkg import load, scale


def train(path, steps):
    """Train for some steps."""
<<<<<<< target
    data = load(path, cache=True)
    log(data)
    for step in range(steps):
        update(data, step)
||||||| base
    data = load(path)
    for step in range(steps):
        update(data, step)
=======
    data = load(path, workers=4)
    for step in range(steps):
        update(scale(data), step)
>>>>>>> source
    return data


def log(data):
    print(len(data))


def update(data, step):
    data.append(step)


<<<<<<< target
LIMIT = 10
DEV_ONLY = os.sep
||||||| base
LIMIT = 10
=======
LIMIT = 20
>>>>>>> source
'''
GOOD = (
    """\
    data = load(path, cache=True, workers=4)
    log(data)
    for step in range(steps):
        update(scale(data), step)
""",
    "LIMIT = 20\nDEV_ONLY = os.sep\n",
)


def task(conflict: str = CONFLICT, path: str = "pkg/train.py", **more: Any) -> HunkTask:
    """The task that a conflicted text is, with the files its sides make."""
    parts = hunks.split(conflict.encode(), 7)

    def side(name: str) -> bytes:
        return hunks.assemble(parts, lambda _, hunk: bytes(getattr(hunk, name)))

    made: dict[str, Any] = {
        "base": side("base"),
        "target": side("target"),
        "source": side("source"),
        "source_commits": (Touch(sha=SOURCE_SHA, subject="Scale the data"),),
        "target_commits": (Touch(sha=TARGET_SHA, subject="Log the data"),),
    }
    return HunkTask(path, parts, **{**made, **more})


def answer(*texts: str, **more: Any) -> HunkAnswer:
    """An answer with a text for each hunk."""
    made: dict[str, Any] = {
        "texts": tuple(HunkText(hunk=at, text=text) for at, text in enumerate(texts)),
        "rationale": "Both sides changed the call; the scaling goes on top of the cache.",
        "confidence": "high",
    }
    return HunkAnswer(**{**made, **more})


def kinds(given: HunkAnswer, wanted: HunkTask | None = None, **policy: Any) -> list[str]:
    """What is wrong with an answer, each kind once."""
    found = problems(wanted or task(), given, Policy(**policy))
    assert all(item.sentence for item in found)
    return sorted({item.kind for item in found})


def replaced(old: str, new: str) -> HunkAnswer:
    """The good answer with one thing replaced in one hunk."""
    assert any(old in text for text in GOOD)
    return answer(*(text.replace(old, new, 1) for text in GOOD))


def assemble(wanted: HunkTask, given: HunkAnswer) -> bytes:
    """The file an answer makes."""
    texts = hunk_texts(wanted, given)
    return hunks.assemble(wanted.parts, lambda index, _: texts[index])


def conflict(target: str, base: str, source: str) -> str:
    """A file that is one hunk."""
    return f"<<<<<<< t\n{target}||||||| b\n{base}=======\n{source}>>>>>>> s\n"


def dropped(lines: str, commit: str = SOURCE_SHA[:7], reason: str = "Replaced.") -> tuple[Dropped]:
    """Lines that an answer leaves out, with who removed them."""
    return (Dropped(lines=lines, commit=commit, reason=reason),)


def test_a_resolution_that_keeps_what_both_sides_did_is_accepted() -> None:
    wanted = task()

    assert problems(wanted, answer(*GOOD), Policy()) == ()
    whole = assemble(wanted, answer(*GOOD)).decode()
    assert whole == hunks.assemble(wanted.parts, lambda at, _: GOOD[at].encode()).decode()
    assert GOOD[0] in whole
    assert "<<<" not in whole


def test_one_side_is_a_resolution_if_the_other_is_accounted_for() -> None:
    wanted = task(conflict("a = 3\n", "a = 1\n", "a = 2\n"))
    source = answer("a = 2\n")

    assert kinds(source, wanted) == [ProblemKind.DROPPED]
    told = source.model_copy(update={"dropped": dropped("a = 3")})
    assert kinds(told, wanted) == []


ADDED = {
    "a line": ("a = 1\nnew = 3\n", "a = 1\n", "a = 2\n", "a = 2\n", "new = 3"),
    "a line beside one that both changed": (
        "a = load(1, 5)\nprint(a, 4)\n",
        "a = load(1, 3)\n",
        "a = load(1, 7)\n",
        "a = load(1, 7)\n",
        "a = load(1, 5)\nprint(a, 4)",
    ),
    "a second value of a name": (
        "a = 1\na = a * 2\n",
        "",
        "a = 3\n",
        "a = 3\n",
        "a = 1\na = a * 2",
    ),
    "a function": (
        "def one():\n    return 1\n\n\nx = 3\n",
        "x = 1\n",
        "x = 2\n",
        "x = 2\n",
        "def one():\n    return 1\nx = 3",
    ),
    "a line that the other side has too": (
        "a = 1\nb = 5\n",
        "",
        "b = 5\na = 2\n",
        "a = 2\n",
        "b = 5",
    ),
}


@pytest.mark.parametrize("case", ADDED)
def test_what_only_one_side_added_no_commit_of_the_other_removed(case: str) -> None:
    """Reported: any commit of the other side that touched the file made such lines go."""
    target, base, source, text, lines = ADDED[case]
    wanted = task("def load(*a): pass\n" + conflict(target, base, source))

    assert ProblemKind.DROPPED in kinds(answer(text, dropped=dropped(lines)), wanted)


def test_what_only_one_side_changed_does_not_go_for_what_was_there_before() -> None:
    text = conflict("a = 2\nb = 2\n", "a = 1\nb = 1\n", "a = 1\nb = 3\n")
    both = dropped("a = 2\nb = 2")

    assert kinds(answer("a = 2\nb = 3\n", dropped=both), task(text)) == []
    assert kinds(answer("a = 1\nb = 3\n", dropped=both), task(text)) == [ProblemKind.DROPPED]


def test_both_versions_of_one_line_do_not_go() -> None:
    """Reported: each side's version went by a commit of the other side."""
    wanted = task(conflict("a = load(5)\n", "a = load(1)\n", "a = load(7)\n"), "a.txt")
    both = (*dropped("a = load(5)"), *dropped("a = load(7)", TARGET_SHA))

    assert kinds(answer("", dropped=both), wanted) == [ProblemKind.DROPPED]


def test_of_two_additions_of_the_same_thing_one_may_go() -> None:
    one = "def load(path):\n    data = open(path)\n    return data\n"
    two = "def load(path):\n    return open(path, 'rb')\n"
    wanted = task(conflict(one, "", two))
    lines = "def load(path):\n    data = open(path)\n    return data\n"

    assert kinds(answer(two, dropped=dropped(lines)), wanted) == []
    assert kinds(answer("load = 1\n", dropped=dropped(lines)), wanted) != []
    names = task(conflict("size: 3\n", "", "size: 4\n"), "a.yaml")
    assert kinds(answer("size: 4\n", dropped=dropped("size: 3")), names) == []


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("run.sh", "# check b"),
        ("run.yaml", "run: a  # check b"),
        ("run.js", "// check b"),
    ],
)
def test_a_line_that_is_no_python_is_not_kept_by_a_comment(path: str, kept: str) -> None:
    """Reported: a line of the target was commented out, and counted as kept."""
    wanted = task(conflict("run: a\ncheck b\n", "run: a\n", "run: a1\n"), path=path)

    assert kinds(answer(f"run: a1\n{kept}\n"), wanted) == [ProblemKind.DROPPED]
    both = task(conflict("# see a\n", "# see\n", "# see, too\n"), path=path)
    assert kinds(answer("# see a, too\n"), both) == []


def test_half_a_character_is_an_objection_and_no_crash() -> None:
    """Reported: a lone surrogate in an answer was an error of our own."""
    assert kinds(replaced("log(data)", "log(data)  # \ud800")) == [ProblemKind.SYNTAX]


def test_a_new_line_is_not_kept_by_its_words_here_and_there() -> None:
    """Reported: the words of a call stood in this order among the arguments of another."""
    sides = conflict("x = load(a)\ncheck(x)\n", "x = load(a)\n", "x = load(a, 1)\n")
    wanted = task("from pkg import check, load\n\na = 0\n" + sides)

    assert kinds(answer("x = load(a, 1)\ncheck(x)\n"), wanted) == []
    assert kinds(answer("x = load(a, 1, check=x)\n"), wanted) == [ProblemKind.DROPPED]


@pytest.mark.parametrize(
    "text",
    [
        "x = None  # load(a, cache=1, workers=2)\n",
        '"x = load(a, cache=1, workers=2)"\nx = None\n',
        '"""\nx = load(a, cache=1)\nx = load(a, workers=2)\n"""\n',
        "# x = load(a, cache=1)\n# x = load(a, workers=2)\n",
        "print(a); 'x = load(a, cache=1, workers=2)'\n",
        'a = "x = load(a, cache=1, workers=2)"\n',
        'a = """\nx = load(a, cache=1)\nx = load(a, workers=2)\n"""\n',
        'print("x = load(a, cache=1)"\n    "x = load(a, workers=2)")\n',
        'exec("x = load(a, cache=1, workers=2)")\n',
        "a = eval('load(a, cache=1, workers=2)')\n",
    ],
)
def test_code_is_not_kept_by_a_comment_or_a_string(text: str) -> None:
    """Reported: a line counted as kept if its words stood in a comment, or in any string."""
    head = "def load(*a, **b): pass\na = 0\n"
    wanted = task(
        head + conflict("x = load(a, cache=1)\n", "x = load(a)\n", "x = load(a, workers=2)\n")
    )

    assert kinds(answer("x = load(a, cache=1, workers=2)  # both\n"), wanted) == []
    assert kinds(answer(text), wanted) == [ProblemKind.DROPPED]


def test_code_is_not_kept_by_a_string_in_another_hunk() -> None:
    text = conflict("run(1)\na = 1\n", "a = 0\n", "a = 2\n")
    other = conflict("b = 1\n", "b = 0\n", "b = 2\n")
    gone = (*dropped("a = 2", TARGET_SHA), *dropped("b = 2", TARGET_SHA))
    wanted = task(f"def run(*a): pass\n{text}c = 0\n{other}")

    assert kinds(answer("run(1)\na = 1\n", "b = 1\n", dropped=gone), wanted) == []
    moved = answer("a = 1\n", 'b = 1\nc = """\nrun(1)\n"""\n', dropped=gone)
    assert kinds(moved, wanted) == [ProblemKind.DROPPED]


def test_what_strings_say_on_both_sides_may_be_woven() -> None:
    sides = ('log("load a", 1)\n', 'log("load", 1)\n', 'log("load b", 1)\n')
    wanted = task("def log(*a): pass\n" + conflict(*sides))

    assert kinds(answer('log("load a b", 1)\n'), wanted) == []
    assert kinds(answer('log("load b", 1)\n'), wanted) == [ProblemKind.DROPPED]


def test_comments_and_docstrings_of_both_sides_may_be_woven_too() -> None:
    sides = (f'def f():\n    """{{}}"""\n    return {n}  # {{}}\n' for n in (1, 1, 1))
    target, base, source = (
        side.format(*words)
        for side, words in zip(
            sides, [("Load a.", "new"), ("Load.", "old"), ("Load b.", "other")], strict=True
        )
    )
    text = 'def f():\n    """Load a b."""\n    return 1  # new other\n'

    assert kinds(answer(text), task(conflict(target, base, source))) == []


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        (ProblemKind.DROPPED, "    log(data)\n", ""),
        (ProblemKind.DROPPED, "cache=True, ", ""),
        (ProblemKind.DROPPED, ", workers=4", ""),
        (ProblemKind.DROPPED, "scale(data)", "data"),
        (ProblemKind.DROPPED, "DEV_ONLY = os.sep\n", ""),
        (ProblemKind.DROPPED, "LIMIT = 20\n", ""),
        (ProblemKind.DROPPED, "LIMIT = 20\n", "LIMIT = 10\n"),
        (ProblemKind.DROPPED, GOOD[0], ""),
        (ProblemKind.DROPPED, "    for step in range(steps):\n        update", "    update"),
        (ProblemKind.MARKER, "    log(data)\n", "    log(data)\n=======\n"),
        (ProblemKind.MARKER, "    log(data)\n", "<<<<<<< ours\n    log(data)\n>>>>>>> theirs\n"),
        (ProblemKind.MARKER, "    log(data)\n", "    log(data)\n" + ">" * 47 + " source\n"),
        (ProblemKind.MARKER, "    log(data)\n", "    log(data)\n|||||||\n"),
        (
            ProblemKind.PLACEHOLDER,
            "    log(data)\n",
            "    log(data)\n    # ... rest unchanged ...\n",
        ),
        (ProblemKind.PLACEHOLDER, "    log(data)\n", "    log(data)\n    # ...\n"),
        (ProblemKind.PLACEHOLDER, GOOD[1], "<resolved text>\n"),
        (ProblemKind.SYNTAX, "    log(data)\n", "    log(data\n"),
        (ProblemKind.SYNTAX, "cache=True", "workers=4, cache=True"),
        (ProblemKind.UNDEFINED, "log(data)", "log(dota)"),
        (ProblemKind.DUPLICATE, "LIMIT = 20\n", "def log(data):\n    pass\n\n\nLIMIT = 20\n"),
        (ProblemKind.INVENTED, "cache=True", "cache=True, retries=steps"),
        (ProblemKind.INVENTED, "workers=4", "workers=4, cache_size=20"),
        (ProblemKind.INVENTED, "scale(data)", "scale(data, 64)"),
        (ProblemKind.INVENTED, "log(data)", "log(data.frames)"),
        (ProblemKind.SIZE, "    log(data)\n", "    log(data)\n" * 900),
        (ProblemKind.LINE_ENDS, "    log(data)\n", "    log(data)\r\n"),
        (ProblemKind.LINE_ENDS, "    log(data)\n", "    log(data)\r    log(data)\n"),
        (ProblemKind.LINE_ENDS, "    log(data)\n", "    log(data)\0\n"),
        (ProblemKind.FORBIDDEN, "    log(data)\n", "    log(data)  # noqa: S101\n"),
        (ProblemKind.FORBIDDEN, "    log(data)\n", "    log(data)  # type: ignore\n"),
    ],
)
def test_a_mutation_of_a_resolution_is_rejected(kind: ProblemKind, old: str, new: str) -> None:
    assert kind in kinds(replaced(old, new))


def test_each_line_of_a_resolution_counts() -> None:
    """Any one of them left out is a problem of its hunk."""
    for at, text in enumerate(GOOD):
        lines = text.splitlines(keepends=True)
        for number in range(len(lines)):
            texts = list(GOOD)
            texts[at] = "".join(lines[:number] + lines[number + 1 :])
            found = problems(task(), answer(*texts), Policy())
            assert ProblemKind.SYNTAX in {item.kind for item in found} or any(
                item.kind is ProblemKind.DROPPED and item.hunk == at for item in found
            )


def test_every_hunk_needs_one_text() -> None:
    for texts in ((), (GOOD[0],), (*GOOD, "more\n")):
        assert kinds(answer(*texts)) == [ProblemKind.HUNKS]
    twice = tuple(HunkText(hunk=0, text=text) for text in GOOD)
    assert kinds(answer(texts=twice)) == [ProblemKind.HUNKS]
    with pytest.raises(ValueError, match="0 to 1"):
        assemble(task(), answer(GOOD[0]))


def test_an_answer_says_why() -> None:
    assert kinds(answer(*GOOD, rationale="  ")) == [ProblemKind.RATIONALE]


def test_a_whole_file_may_differ_in_its_hunks_only() -> None:
    wanted = task()
    whole = assemble(wanted, answer(*GOOD)).decode()

    assert kinds(answer(file=whole), wanted) == []
    assert assemble(wanted, answer(file=whole)).decode() == whole
    assert cut(wanted, whole.encode()) == tuple(text.encode() for text in GOOD)
    assert kinds(answer(*GOOD, file=whole), wanted) == [ProblemKind.HUNKS]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import os\n", "import os\nimport sys\n"),
        ("    return data\n", "    return None\n"),
        ("    return data\n", "    return data \n"),
        ("def update(data, step):\n", "def update(data, step, /):\n"),
        ('    """Train for some steps."""\n', ""),
        ("    print(len(data))\n\n\n", "    print(len(data))\n\n"),
    ],
)
def test_an_edit_outside_of_the_hunks_is_rejected(old: str, new: str) -> None:
    whole = assemble(task(), answer(*GOOD)).decode()
    assert old in whole

    assert kinds(answer(file=whole.replace(old, new, 1))) == [ProblemKind.OUTSIDE]


def test_a_file_that_is_cut_short_is_rejected() -> None:
    wanted = task(CONFLICT + "tail = 1\n")
    whole = assemble(wanted, answer(*GOOD))

    assert [cut(wanted, whole[:end]) for end in range(len(whole))] == [None] * len(whole)


def test_what_stands_before_and_after_a_hunk_is_not_the_same_text_twice() -> None:
    wanted = HunkTask("a", (b"aa", hunks.Hunk(b"", b"", b"x"), b"aa"), b"aaaa", b"aaaa", b"aaxaa")

    assert cut(wanted, b"aaa") is None
    assert cut(wanted, b"aaaa") == (b"",)


# Lines that go need somebody who removed them.


SAID = conflict("keep = 1\nmine = 2\n", "keep = 1\nmine = 1\n", "keep = 3\nmine = 0\ntheirs = 4\n")
LEFT = "keep = 3\nmine = 0\ntheirs = 4\n"


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (dropped("mine = 2"), []),
        (dropped("mine = 2", SOURCE_SHA), []),
        (dropped("mine = 2", SOURCE_SHA.upper()), []),
        (dropped("  mine=2"), []),
        (dropped("keep = 1\nmine = 2\n"), []),
        (dropped("mine = 2", TARGET_SHA), [ProblemKind.COMMIT]),
        (dropped("mine = 2", SOURCE_SHA[:6]), [ProblemKind.COMMIT]),
        (dropped("mine = 2", "1234567"), [ProblemKind.COMMIT]),
        (dropped("mine = 2", ""), [ProblemKind.COMMIT]),
        (dropped("mine = 2", "the source"), [ProblemKind.COMMIT]),
        (dropped("mine = 2", reason=" "), [ProblemKind.DROPPED]),
        (dropped("mine"), [ProblemKind.DROPPED]),
        ((), [ProblemKind.DROPPED]),
    ],
)
def test_a_line_goes_only_if_a_commit_of_the_other_side_removed_it(
    entries: tuple[Dropped, ...], expected: list[str]
) -> None:
    assert kinds(answer(LEFT, dropped=entries), task(SAID)) == expected


def test_lines_of_the_source_need_a_commit_of_the_target() -> None:
    given = answer("keep = 3\nmine = 2\ntheirs = 4\n", dropped=dropped("mine = 0", TARGET_SHA))

    assert kinds(given, task(SAID)) == []
    wrong = given.model_copy(update={"dropped": dropped("mine = 0")})
    assert kinds(wrong, task(SAID)) == [ProblemKind.COMMIT]


def test_two_commits_that_start_alike_are_no_answer() -> None:
    twins = tuple(Touch(sha="5" * 8 + end * 32, subject="") for end in "ab")

    assert kinds(answer(LEFT, dropped=dropped("mine = 2")), task(SAID, source_commits=twins)) == [
        ProblemKind.COMMIT
    ]
    assert (
        kinds(
            answer(LEFT, dropped=dropped("mine = 2", twins[0].sha)),
            task(SAID, source_commits=twins),
        )
        == []
    )


def test_lines_of_both_sides_stay_too() -> None:
    both = conflict("a = 1\nshared = 0\n", "b = 1\n", "shared = 0\na = 2\n")

    assert kinds(answer("a = 1\na = 2\n"), task(both)) == [ProblemKind.DROPPED]
    named = answer("a = 1\na = 2\n", dropped=dropped("shared = 0", TARGET_SHA))
    assert kinds(named, task(both)) == [ProblemKind.DROPPED]


def test_a_line_may_stand_elsewhere_in_the_file_or_in_another_layout() -> None:
    lines = "from pkg import a, b\n"
    text = "import x\n" + conflict(lines + "k = [a, b]\n", "k = []\n", "k = [x]\n") + "print(x)\n"
    moved = "from pkg import (\n    a,\n    b,\n)\nk = [x, a, b]\n"

    assert kinds(answer(moved), task(text)) == []
    there = "from pkg import (\n    a,\n    b,\n)\n" + conflict(
        lines + "k = a\n", "k = 0\n", "k = x\n"
    )
    assert kinds(answer("k = a\nk = x\n"), task(there)) == []
    twice = "m = 1\n" + conflict("m = 1\nk = 2\n", "", "j = 3\n")
    assert kinds(answer("k = 2\nj = 3\n"), task(twice)) == [ProblemKind.DROPPED]


def test_a_line_the_target_added_a_second_time_is_not_kept_by_the_first() -> None:
    text = (
        conflict("use(x)\nk = 1\n", "", "j = 2\n")
        + "mid = 0\n"
        + conflict("", "use(x)\n", "a = 1\n")
    )

    assert kinds(answer("k = 1\nj = 2\n", "a = 1\n"), task(text)) == [ProblemKind.DROPPED]


def test_a_line_made_of_both_sides_keeps_both() -> None:
    text = conflict("call(a, b, dev=1)\n", "call(a, b)\n", "run(a, b, main=2)\n")

    assert kinds(answer("run(a, b, dev=1, main=2)\n"), task(text, "a.txt")) == []
    assert kinds(answer("run(a, b, main=2)\n"), task(text, "a.txt")) == [ProblemKind.DROPPED]
    assert kinds(answer("call(a, b, dev=1)\n"), task(text, "a.txt")) == [ProblemKind.DROPPED]
    word = conflict("flush()\nk = 1\n", "k = 0\n", "k = 2\n")
    assert kinds(answer("k = 1, 2, flush\n"), task(word, "a.txt")) == [ProblemKind.DROPPED]


# What neither side has.


def test_an_invented_name_passes_with_a_reason() -> None:
    given = replaced("cache=True", "cache=True, retries=steps")

    told = given.model_copy(update={"invented": {"retries": "load needs it now"}})
    assert kinds(told) == []
    blank = given.model_copy(update={"invented": {"retries": " ", "steps": "no"}})
    assert kinds(blank) == [ProblemKind.INVENTED]


def test_strings_comments_and_the_language_itself_are_no_inventions() -> None:
    given = replaced("    log(data)\n", '    log(data)  # as before\n    assert data, "nothing"\n')

    assert kinds(given) == []


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("    if False:\n        log(data)\n", "if"),
        ("    log(data)\n    return data\n", "return"),
        ("    for _ in ():\n        log(data)\n", "for"),
    ],
)
def test_a_decision_that_no_side_makes_needs_a_reason(line: str, word: str) -> None:
    """Reported: a line under `if False:`, or behind an early return, counted as kept."""
    given = replaced("    log(data)\n", line)
    assert kinds(given) == [ProblemKind.INVENTED]
    assert kinds(given.model_copy(update={"invented": {word: "data may be empty"}})) == []


def test_decisions_that_the_two_sides_make_add_up() -> None:
    both = conflict("if a:\n    one = 1\n", "one = 0\n", "if b:\n    two = 2\n")

    assert kinds(answer("if a:\n    one = 1\nif b:\n    two = 2\n"), task(both)) == []


def test_prose_may_be_reworded_and_data_not() -> None:
    text = conflict("one two\n", "one\n", "one three\n")

    assert kinds(answer("one two plus three\n"), task(text, "notes.md")) == []
    assert kinds(answer("one two plus three\n"), task(text, "notes.cfg")) == [ProblemKind.INVENTED]


def test_a_number_is_one_word_in_data_too() -> None:
    wanted = task(conflict("a: 1e-5\nb: 2\n", "a: 1e-3\n", "a: 1e-5\nc: 1\n"), "a.yaml")

    assert kinds(answer("a: 1e-5\nb: 2\nc: 1\n"), wanted) == []
    given = answer("a: 1e-2\nb: 2\nc: 1\n")
    assert ProblemKind.INVENTED in kinds(given, wanted)


# Hard limits hold for answers too.


TEST = conflict(
    "def test_a():\n    assert f(1, rtol=1e-5) == 2\n",
    "def test_a():\n    assert f(1) == 2\n",
    "def test_a():\n    assert f(1, g=3) == 2\n",
)
TEST = "from pkg import f\n\n\n" + TEST
FINE = "def test_a():\n    assert f(1, rtol=1e-5, g=3) == 2\n"


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        (ProblemKind.FORBIDDEN, "def test_a", "@pytest.mark.skip\ndef test_a"),
        (
            ProblemKind.FORBIDDEN,
            "    assert",
            "    import pytest\n    pytest.skip('x')\n    assert",
        ),
        (ProblemKind.FORBIDDEN, "    assert", "    return\n    assert"),
        (ProblemKind.FORBIDDEN, "== 2", "== 2  # noqa"),
        (ProblemKind.INVENTED, "1e-5", "1e-2"),
        (ProblemKind.DROPPED, "    assert", "    f"),
        (ProblemKind.DROPPED, " == 2", ""),
        (ProblemKind.DROPPED, "    assert f(1, rtol=1e-5, g=3) == 2\n", "    assert True\n"),
    ],
)
def test_an_answer_can_not_weaken_a_test(kind: ProblemKind, old: str, new: str) -> None:
    wanted = task(TEST, "tests/test_a.py")
    assert kinds(answer(FINE), wanted) == []

    mutated = answer(FINE.replace(old, new), invented={"1e-2": "It is closer to the truth."})
    assert kind in kinds(mutated, wanted)


HOLLOW = {
    "a condition that always holds": "    assert f(1, rtol=1e-5, g=3) == 2 or True\n",
    "the opposite": "    assert not f(1, rtol=1e-5, g=3) == 2\n",
    "a comment": "    pass  # assert f(1, rtol=1e-5, g=3) == 2\n",
    "a string": '    "assert f(1, rtol=1e-5, g=3) == 2"\n',
    "a branch nobody takes": "    if False:\n        assert f(1, rtol=1e-5, g=3) == 2\n",
    "a function nobody calls": "    def g():\n        assert f(1, rtol=1e-5, g=3) == 2\n",
    "a lambda nobody calls": "    lambda: f(1, rtol=1e-5, g=3) == 2\n    assert f\n",
    "nothing": "    assert True\n",
}


@pytest.mark.parametrize("case", HOLLOW)
def test_an_assertion_of_both_sides_still_asserts(case: str) -> None:
    """Reported: the words of both sides were enough, wherever they stood."""
    gone = (
        *dropped("    assert f(1, rtol=1e-5) == 2"),
        *dropped("    assert f(1, g=3) == 2", TARGET_SHA),
    )
    given = answer(f"def test_a():\n{HOLLOW[case]}", dropped=gone)

    assert ProblemKind.FORBIDDEN in kinds(given, task(TEST, "tests/test_a.py"))


def test_a_test_of_one_side_stays() -> None:
    """Reported: it went by any commit of the other side, and so did all tests at once."""
    text = conflict(
        "def test_a():\n    assert f(1) == 2\n\n\ndef test_own():\n    assert f(3) == 4\n",
        "def test_a():\n    assert f(0) == 2\n",
        "def test_a():\n    assert f(5) == 2\n",
    )
    wanted = task(f"from pkg import f\n\n\n{text}", "tests/test_a.py")
    gone = dropped("    assert f(1) == 2\ndef test_own():\n    assert f(3) == 4\n")
    one = "def test_a():\n    assert f(5) == 2\n"
    kept = "\n\ndef test_own():\n    assert f(3) == 4\n"

    assert ProblemKind.FORBIDDEN in kinds(answer(one, dropped=gone), wanted)
    assert ProblemKind.FORBIDDEN in kinds(answer("", dropped=gone), wanted)
    assert kinds(answer(one + kept, dropped=dropped("    assert f(1) == 2")), wanted) == []


def test_check_settings_come_from_a_side_line_by_line() -> None:
    """Reported: a reason for a new number loosened them."""
    text = conflict("fail_under = 95\n", "fail_under = 80\n", "fail_under = 90\n")
    wanted = task(f"[tool.coverage.report]\n{text}", "pyproject.toml")
    gone = (*dropped("fail_under = 95"), *dropped("fail_under = 90", TARGET_SHA))
    loose = answer("fail_under = 0\n", dropped=gone, invented={"0": "It is measured later."})

    assert ProblemKind.FORBIDDEN in kinds(loose, wanted)
    assert ProblemKind.FORBIDDEN in kinds(answer("fail_under = 80\n", dropped=gone), wanted)
    assert kinds(answer("fail_under = 95\n", dropped=gone[1:]), wanted) == []


def test_protected_paths_and_workflows_are_nothing_to_answer_for() -> None:
    def protected(path: str) -> bool:
        return path == "pkg/train.py"

    assert kinds(answer(*GOOD), protected=protected) == [ProblemKind.FORBIDDEN]
    workflow = task(conflict("a: 1\nb: 2\n", "a: 1\n", "a: 3\n"), ".github/workflows/ci.yml")
    assert kinds(answer("a: 3\nb: 2\n"), workflow) == [ProblemKind.FORBIDDEN]
    assert kinds(answer("a: 3\nb: 2\n"), workflow, allow_workflows=True) == []


def test_golden_values_are_one_sides_or_nobodys() -> None:
    golden = task(conflict('{"a": 1}\n', '{"a": 0}\n', '{"a": 2}\n'), "tests/golden/a.json")
    source = answer('{"a": 2}\n', dropped=dropped('{"a": 1}'))

    assert kinds(source, golden) == []
    made_up = answer('{"a": 1, "a2": 2}\n', dropped=dropped('{"a": 1}'), invented={"a2": "x"})
    assert ProblemKind.FORBIDDEN in kinds(made_up, golden)


def test_settings_may_be_merged_as_both_sides_changed_them() -> None:
    text = conflict("[tool.ruff]\na = 1\n", "[tool.ruff]\n", "[tool.ruff]\nb = 2\n")

    assert kinds(answer("[tool.ruff]\na = 1\nb = 2\n"), task(text, "pyproject.toml")) == []


# Other files than Python.


@pytest.mark.parametrize(
    ("path", "sides", "good", "bad"),
    [
        ("a.json", ('{"a": 1}\n', "{}\n", '{"b": 2}\n'), '{"a": 1, "b": 2}\n', '{"a": 1 "b": 2}\n'),
        (
            "a.json",
            ('{"a": 1}\n', "{}\n", '{"b": 2}\n'),
            '{"a": 1, "b": 2}\n',
            '{"a": 1, "a": 1}\n',
        ),
        ("a.toml", ("a = 1\n", "", "b = 2\n"), "a = 1\nb = 2\n", "a = 1\na = 1\nb = 2\n"),
        ("a.yaml", ("a: 1\n", "", "b: 2\n"), "a: 1\nb: 2\n", "a: 1\nb: 2\na: 1\n"),
        ("a.yml", ("a: [1]\n", "", "b: 2\n"), "a: [1]\nb: 2\n", "a: [1\nb: 2\n"),
    ],
)
def test_data_has_to_parse_if_both_sides_do(
    path: str, sides: tuple[str, str, str], good: str, bad: str
) -> None:
    wanted = task(conflict(*sides), path)

    assert ProblemKind.SYNTAX not in kinds(answer(good), wanted)
    assert ProblemKind.SYNTAX in kinds(answer(bad), wanted)
    broken = task(conflict("{[\n", *sides[1:]), path)
    assert ProblemKind.SYNTAX not in kinds(answer(bad), broken)


def test_a_heading_that_looks_like_a_marker_is_a_side_s_own() -> None:
    text = conflict("Title\n_____\nb\n", "", "Name\n_____\nc\n").replace("_", "=")
    wide = conflict("Title\n________\nb\n", "", "Name\nc\n").replace("_", "=")
    parts = hunks.split(wide.encode(), 7)

    assert len(parts) == 3
    assert kinds(answer("Title\n========\nb\nName\nc\n"), task(wide, "a.rst")) == []
    assert kinds(answer("Title\n=====\nb\nName\nc\n"), task(text, "a.rst")) == []
    assert kinds(answer("Title\n=========\nb\nName\nc\n"), task(wide, "a.rst")) == [
        ProblemKind.MARKER
    ]


# Line ends.


def test_the_line_ends_of_the_file_are_kept_whatever_the_model_writes() -> None:
    text = conflict("a = 1\nb = 2\n", "a = 1\n", "a = 1\nc = 3\n").replace("\n", "\r\n")
    wanted = task(text)

    for written in (
        "a = 1\nb = 2\nc = 3\n",
        "a = 1\r\nb = 2\r\nc = 3\r\n",
        "a = 1\nb = 2\r\nc = 3",
    ):
        given = answer(written)
        assert kinds(given, wanted) == []
        assert assemble(wanted, given) == b"a = 1\r\nb = 2\r\nc = 3\r\n"


def test_a_text_never_runs_into_the_line_after_it() -> None:
    wanted = task(conflict("a = 1\n", "", "b = 2\n") + "c = 3\n")

    assert assemble(wanted, answer("a = 1\nb = 2")) == b"a = 1\nb = 2\nc = 3\n"


def test_a_file_ends_as_its_sides_do() -> None:
    text = conflict("a = 1\n", "", "b = 2\n")
    bare = task(text, target=b"a = 1", source=b"b = 2")
    mixed = task(text, target=b"a = 1", source=b"b = 2\n")

    assert assemble(bare, answer("a = 1\nb = 2\n")) == b"a = 1\nb = 2"
    assert assemble(mixed, answer("a = 1\nb = 2")) == b"a = 1\nb = 2\n"
    assert assemble(task(text), answer("a = 1\nb = 2")) == b"a = 1\nb = 2\n"
    two = task(text + text, target=b"a = 1\na = 1", source=b"b = 2\nb = 2")
    assert assemble(two, answer("a = 1\n", "b = 2\n")) == b"a = 1\nb = 2"


@pytest.mark.parametrize(
    "odd", ["", "\n", "\t", "(" * 999, "'", "\\", "é", "\ufeff", "\x0c", '"""']
)
def test_odd_answers_are_no_crash(odd: str) -> None:
    for path in ("a.py", "a.json", "a.toml", "a.yaml", "tests/test_a.py", "a"):
        wanted = task(conflict("a\n", "", "b\n"), path)
        assert isinstance(kinds(answer(odd), wanted), list)
        assert isinstance(kinds(answer(file=odd), wanted), list)


@pytest.mark.parametrize("value", ["!!bool x", "!!int ''", "!!int _"])
def test_a_tag_that_does_not_fit_its_value_is_no_crash(value: str) -> None:
    """Reported: the reader of YAML raised a KeyError or an IndexError."""
    text = f"z: {value}\n" + conflict("a: 1\nb: 1\n", "a: 1\n", "a: 1\nc: 1\n")

    assert kinds(answer("a: 1\nb: 1\nc: 1\n"), task(text, "a.yaml")) == []


def test_an_encoding_that_is_none_of_text_is_no_crash() -> None:
    """Reported: reading the words of such a file raised a LookupError."""
    text = conflict("a = 1\nb = 1\n", "a = 1\n", "a = 1\nc = 1\n")
    wanted = task(f"# coding: rot13\n{text}")

    assert kinds(answer("a = 1\nb = 1\nc = 1\n"), wanted) == []
    assert ProblemKind.INVENTED in kinds(answer("a = 1\nb = 1\nc = 1\nd = a\n"), wanted)


@pytest.mark.parametrize("path", ["pkg/a.py", "tests/test_a.py"])
def test_a_long_chain_of_branches_is_judged_or_refused(path: str) -> None:
    """Reported: such a file is as deep as it is long for whoever reads its syntax tree."""
    sides = ("a = 1\n", "", "b = 1\n")
    chain = "if 0:\n    0\n" + "elif 0:\n    0\n" * 1500
    wanted = task(f"{chain}{conflict(*sides)}", path)

    assert kinds(answer("a = 1\nb = 1\n"), wanted) in ([], [ProblemKind.FORBIDDEN])
    assert kinds(answer("b = 1\n"), wanted) != []
    deep = task(conflict(*sides), path)
    assert kinds(answer(f"a = 1\nb = 1\nc = {'-' * 1500}1\n"), deep) != []
