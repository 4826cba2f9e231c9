"""Thousands of random conflicts and answers from a fixed seed: nothing is lost without a word."""

from functools import cache
from random import Random

from nightly_sync.merge import hunks
from nightly_sync.merge.hunks import Hunk
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
from nightly_sync.review.harm import Objection

SOURCE, TARGET = Touch(sha="5" * 40, subject="s"), Touch(sha="7" * 40, subject="t")
Case = tuple[HunkTask, tuple[tuple[str, ...], ...]]
"""A task, and for each hunk the lines that an answer has to hold."""


def random_hunk(random: Random, at: int) -> tuple[Hunk, tuple[str, ...]]:
    """A hunk whose sides keep, remove and add lines, and what of it must survive."""
    base = [f"old_{at}_{n} = {n}\n" for n in range(random.randrange(4))]
    removed = {side: {line for line in base if random.random() < 0.3} for side in "ts"}
    added = {
        side: [f"new_{side}_{at}_{n} = {n}\n" for n in range(random.randrange(1, 4))]
        for side in "ts"
    }
    shared = [f"both_{at}_{n} = {n}\n" for n in range(random.randrange(2))]
    sides = {
        side: [*(line for line in base if line not in removed[side]), *shared, *added[side]]
        for side in "ts"
    }
    kept = [line for line in base if line not in removed["t"] | removed["s"]]
    texts = ("".join(lines).encode() for lines in (base, sides["t"], sides["s"]))
    return Hunk(*texts), (*kept, *shared, *added["t"], *added["s"])


@cache
def cases() -> tuple[Case, ...]:
    """The random tasks."""
    random = Random(20261130)
    return tuple(random_case(random) for _ in range(120))


def random_case(random: Random) -> Case:
    found = [random_hunk(random, at) for at in range(random.randrange(1, 4))]
    parts: list[bytes | Hunk] = [b"head = 0\n"]
    for at, (hunk, _) in enumerate(found):
        parts += [hunk, f"rest_{at} = {at}\n".encode() * random.randrange(2)]

    def side(name: str) -> bytes:
        return hunks.assemble(tuple(parts), lambda _, hunk: bytes(getattr(hunk, name)))

    base, target, source = map(side, ("base", "target", "source"))
    task = HunkTask("pkg/a.py", tuple(parts), base, target, source, (TARGET,), (SOURCE,))
    return task, tuple(lines for _, lines in found)


def answered(texts: list[list[str]], dropped: tuple[Dropped, ...] = ()) -> HunkAnswer:
    """An answer with these lines for each hunk."""
    return HunkAnswer(
        texts=tuple(HunkText(hunk=at, text="".join(lines)) for at, lines in enumerate(texts)),
        rationale="Both.",
        confidence="medium",
        dropped=dropped,
    )


def check(task: HunkTask, texts: list[list[str]], *dropped: Dropped) -> tuple[Objection, ...]:
    """What is wrong with an answer."""
    return problems(task, answered(texts, dropped), Policy())


def test_every_answer_that_keeps_all_lines_is_accepted_in_any_order() -> None:
    random = Random(1)
    for task, lines in cases():
        texts = [random.sample(own, len(own)) for own in lines]
        assert check(task, texts) == ()


def test_without_any_one_line_it_is_rejected_whoever_is_named() -> None:
    random = Random(2)
    for task, lines in cases():
        at = random.randrange(len(lines))
        line = random.choice(lines[at])
        texts = [[item for item in own if item != line] for own in lines]
        (problem,) = check(task, texts)
        assert (problem.kind, problem.hunk) == (ProblemKind.DROPPED, at)
        assert line.strip() in problem.sentence
        other = TARGET if line.startswith("new_s") else SOURCE
        named = Dropped(lines=line, reason="It was replaced.", commit=other.sha[:9])
        # Both sides may have given a line of the base a new name: of these one may go.
        found = [item.kind for item in check(task, texts, named)]
        renamed = line.startswith("new_") and b"old_" in task.hunks[at].base
        assert found == [ProblemKind.DROPPED] or (renamed and found == [])
        if line.startswith("new_"):
            own = SOURCE if other is TARGET else TARGET
            wrong = named.model_copy(update={"commit": own.sha})
            assert [item.kind for item in check(task, texts, wrong)] == [ProblemKind.COMMIT]


def test_one_more_line_of_any_bad_kind_is_rejected() -> None:
    random = Random(3)
    bad = {
        "made_up = 0\n": ProblemKind.INVENTED,
        "head = 4711\n": ProblemKind.INVENTED,
        "<<<<<<< target\n": ProblemKind.MARKER,
        "=======\n": ProblemKind.MARKER,
        ">" * 77 + "\n": ProblemKind.MARKER,
        "# ... existing code ...\n": ProblemKind.PLACEHOLDER,
        "head = (\n": ProblemKind.SYNTAX,
        "print(undefined)\n": ProblemKind.UNDEFINED,
        "head = 0\r\n": ProblemKind.LINE_ENDS,
    }
    for task, lines in cases():
        at, line = random.randrange(len(lines)), random.choice(list(bad))
        texts = [list(own) for own in lines]
        texts[at].insert(random.randrange(len(texts[at]) + 1), line)
        assert bad[line] in {item.kind for item in check(task, texts)}


def filled(task: HunkTask, texts: tuple[bytes, ...] | None) -> bytes | None:
    """The file with these texts for its hunks."""
    if texts is None:
        return None
    return hunks.assemble(task.parts, lambda index, _: texts[index])


def test_whatever_is_answered_the_rest_of_the_file_is_as_it_was() -> None:
    random = Random(4)
    for task, lines in cases():
        texts = [random.sample(own, random.randrange(len(own) + 1)) for own in lines]
        whole = filled(task, hunk_texts(task, answered(texts))) or b""
        assert filled(task, cut(task, whole)) == whole
        at = random.randrange(len(whole))
        edited = whole[:at] + b"!" + whole[at + 1 :]
        assert filled(task, cut(task, edited)) in (None, edited)


def test_the_random_conflicts_are_of_every_kind() -> None:
    """A property of hunks that are all alike would prove little."""
    every = [hunk for task, _ in cases() for hunk in task.hunks]

    assert any(not hunk.base for hunk in every)
    assert any(hunk.base and hunk.base in hunk.target for hunk in every)
    assert any(hunk.base and hunk.base not in hunk.target + hunk.source for hunk in every)
    assert len({len(task.hunks) for task, _ in cases()}) == 3
