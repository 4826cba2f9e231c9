"""The tool that runs commands: which it runs, and what it undoes of what they did."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nightly_sync import git
from nightly_sync.agent.checkout import kept
from nightly_sync.agent.command_tool import Commands
from nightly_sync.agent.guard import Refusal
from nightly_sync.agent.settings import AgentCommand
from tests.agent.benches import Workplace, workplace
from tests.support.sandboxes import sandbox

COMMANDS = (
    AgentCommand(name="sh", run="/bin/sh -c", arguments=True, options=True, timeout_seconds=20),
    AgentCommand(name="say", run="echo said", arguments=True),
    AgentCommand(name="fixed", run="echo fixed"),
    AgentCommand(name="slow", run="sleep 60", timeout_seconds=0.3),
)
PROTECTED = "it is protected: it stays as the target has it"


@contextmanager
def commanded(tmp_path: Path, **guard: object) -> Iterator[Workplace]:
    """A workplace with `run_command` among its tools."""
    with workplace(tmp_path, **guard) as made, kept(made.bench.files) as originals:
        box = sandbox(made.folder, environment=())
        made.tools += (Commands(made.bench, COMMANDS, box, originals).tool(),)
        yield made


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Workplace]:
    """A task that may change whatever no rule forbids."""
    with commanded(tmp_path) as made:
        yield made


def shell(work: Workplace, script: str) -> str:
    """What the model reads after a script has run."""
    result = work.call("run_command", command="sh", arguments=[script])
    assert not result.is_error, result.text
    return result.text


def test_a_command_is_run_by_its_name_and_its_output_is_data(work: Workplace) -> None:
    text = work.call("run_command", command="fixed").text
    assert text.startswith("fixed ended with exit code 0 after ")
    assert 'what="output of fixed">\nfixed\n</data-' in text
    assert "slow was stopped after 0.3 s." in work.call("run_command", command="slow").text


def test_only_configured_commands_with_the_arguments_they_take_are_run(work: Workplace) -> None:
    none: list[str] = []
    for command, arguments, reason in (
        ("rm", none, "No command is called 'rm'"),
        ("fixed; rm -r .", none, "No command is called"),
        ("/bin/sh", ["-c", "rm -r ."], "No command is called"),
        ("fixed", ["more"], "takes no arguments"),
        ("say", ["-n"], "takes no options"),
    ):
        result = work.call("run_command", command=command, arguments=arguments)
        assert result.is_error
        assert reason in result.text
    said = work.call("run_command", command="say", arguments=["$HOME; rm -r . #", "two  words"])
    assert "said $HOME; rm -r . # two  words\n" in said.text


def test_what_a_command_may_change_stays_and_is_told(work: Workplace) -> None:
    text = shell(work, "echo 'x = 2' > src/app.py; rm src/odd.txt; mkdir new; touch new/file")
    assert 'changed, made or removed">\nnew/file\nsrc/app.py\nsrc/odd.txt\n</data-' in text
    assert work.read("src/app.py") == b"x = 2\n"
    assert not (work.folder / "src" / "odd.txt").exists()
    assert work.guard.refusals == []
    assert not work.call("edit_file", path="src/app.py", old="2", new="3").is_error
    assert "x = 3" in shell(work, "cat src/app.py")


UNDONE = [
    ("echo '* @me' > CODEOWNERS", "CODEOWNERS", PROTECTED),
    ("rm CODEOWNERS", "CODEOWNERS", PROTECTED),
    ("mv kept away", "kept/own.py", PROTECTED),
    ("chmod +x CODEOWNERS", "CODEOWNERS", PROTECTED),
    ("rm CODEOWNERS; mkdir CODEOWNERS; touch CODEOWNERS/x", "CODEOWNERS", PROTECTED),
    ("ln -sf /etc/passwd CODEOWNERS", "CODEOWNERS", PROTECTED),
    ("rm -r kept; ln -s /etc kept", "kept/own.py", PROTECTED),
    ("rm -r kept; touch kept", "kept/own.py", PROTECTED),
    ("ln CODEOWNERS other; echo >> other; rm other", "CODEOWNERS", PROTECTED),
    ("touch kept/new.py", "kept/new.py", PROTECTED),
    ("echo 2 > VERSION", "VERSION", "a path rule takes this file from one side"),
    ("rm -r .github", ".github/workflows/ci.yml", "files under .github/ may not be changed"),
    ("touch .github/new.yml", ".github/new.yml", "files under .github/ may not be changed"),
    ("echo '* eol=crlf' > src/.gitattributes", "src/.gitattributes", "it decides how git reads"),
    ("mkdir -p src/.git/hooks; touch src/.git/hooks/x", "src/.git", "git's own files"),
    ("echo 'gitdir: /tmp' > .git", ".git", "git's own files are out of reach"),
    ("ln -sf app.py src/odd.txt", "src/odd.txt", "a file may not become anything else"),
    ("rm src/odd.txt; mkfifo src/odd.txt", "src/odd.txt", "a file may not become anything else"),
    # Same size, and its times set back.
    ("echo '* @OWNERS' > x; touch -r CODEOWNERS x; cp -p x CODEOWNERS", "CODEOWNERS", PROTECTED),
]


def test_what_a_command_may_not_change_is_put_back_told_and_counted(work: Workplace) -> None:
    before = snapshot(work.folder)
    for script, path, reason in UNDONE:
        text = shell(work, script)
        assert f"\n{path}: {reason}" in text, script
        last = {item.path: item for item in work.guard.refusals}[path]
        assert last.by == "command sh"
        for extra in ("x", "other"):
            (work.folder / extra).unlink(missing_ok=True)
        shutil.rmtree(work.folder / "away", ignore_errors=True)
        assert snapshot(work.folder) == before, script


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and content of every file; the target of every link."""
    found = {}
    for item in folder.rglob("*"):
        mode = item.lstat().st_mode
        if item.is_symlink():
            found[str(item)] = (mode, str(item.readlink()).encode())
        elif not item.is_dir():
            found[str(item)] = (mode, item.read_bytes() if item.is_file() else b"")
    return found


def test_a_file_that_is_only_touched_is_no_refusal(work: Workplace) -> None:
    text = shell(work, "touch CODEOWNERS VERSION; cat kept/own.py > x; cat x > kept/own.py; rm x")
    assert "undone" not in text  # no such list
    assert work.guard.refusals == []


def test_files_of_other_tasks_are_put_back_and_by_products_stay(tmp_path: Path) -> None:
    with commanded(tmp_path, allowed={"src/app.py"}) as work:
        text = shell(work, "echo 1 > src/app.py; echo 1 > src/odd.txt; mkdir out; touch out/a.o")
        assert 'changed, made or removed">\nout/a.o\nsrc/app.py\n</data-' in text
        assert work.read("src/app.py") == b"1\n"
        assert work.read("src/odd.txt") == b"caf\xe9 one\n"
        assert (work.folder / "out" / "a.o").exists()
        reason = "it is not one of this task's files"
        assert work.guard.refusals == [Refusal("src/odd.txt", reason, "command sh")]


def test_a_command_that_ends_badly_is_undone_too(work: Workplace) -> None:
    text = shell(work, "echo x > CODEOWNERS; kill -9 $$")
    assert "exit code 137" in text
    assert work.read("CODEOWNERS") == b"* @owners\n"


@pytest.fixture
def shallow() -> Iterator[None]:
    """A low limit on recursion: folders nested beyond the usual one take seconds to remove."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("shallow")
def test_folders_without_end_and_shut_ones_are_dealt_with(work: Workplace) -> None:
    deep = "mkdir -p $(printf 'd/%.0s' $(seq 160))"  # over Python's limit on recursion
    text = shell(work, f"mkdir shut; touch shut/file; chmod 0 shut; {deep}")
    assert "folders are nested too deeply" in text
    assert "shut/file" in text
    assert not work.call("list_files", recursive=True).is_error


def test_a_link_a_command_puts_in_a_folders_place_leads_no_tool_out(
    work: Workplace, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "app.py").write_text("return outside\n")
    shell(work, f"mv src src2; ln -s {tmp_path}/outside src")
    assert work.call("read_file", path="src/app.py").is_error
    assert work.call("edit_file", path="src/app.py", old="outside", new="x").is_error
    assert work.call("create_file", path="src/new.py", content="x").is_error
    assert work.call("search", path="src/app.py", text="outside").is_error
    assert "0 lines" in work.call("search", text="outside").text
    assert [item.name for item in (tmp_path / "outside").iterdir()] == ["app.py"]
    assert (tmp_path / "outside" / "app.py").read_text() == "return outside\n"


def test_a_repository_a_command_plants_makes_git_run_nothing(
    work: Workplace, tmp_path: Path
) -> None:
    planted = tmp_path / "planted"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {planted}\n")
    program.chmod(0o755)
    settings = "".join(
        f"\t{name} = {program}\n" for name in ("fsmonitor", "pager", "sshCommand", "editor")
    )
    config = f'[core]\n{settings}\thooksPath = /agent-checkout/hooks\n[filter "x"]\n'
    config += f"\tclean = {program}\n\tsmudge = {program}\n"
    script = (
        "mkdir -p .git/hooks .git/objects .git/refs hooks; echo ref: refs/heads/main > .git/HEAD\n"
        f"cat > .git/config <<'END'\n{config}END\n"
        f"for hook in pre-commit post-index-change post-checkout; do\n"
        f"    cp /bin/true hooks/$hook; printf '#!/bin/sh\\ntouch {planted}\\n' > hooks/$hook\n"
        "    chmod +x hooks/$hook; cp hooks/$hook .git/hooks/$hook\n"
        "done\n"
        "echo '* filter=x' > .gitattributes; echo 'x = 2' > src/app.py\n"
    )
    # Without the tool, which would remove it: git on its own must not be led by it.
    box = sandbox(work.folder, environment=())
    assert box.run(["/bin/sh", "-c", script], 20).ok
    assert (work.folder / ".git" / "hooks" / "pre-commit").exists()
    changed = git.add_files(work.repo.path, work.folder, work.index, ["src/app.py"])
    tree = git.write_index(work.repo.path, work.folder, work.index)
    assert changed == ("src/app.py",)
    assert git.read_file(work.repo.path, tree, "src/app.py") == b"x = 2\n"
    assert not planted.exists()


def test_a_script_is_told_to_leak_and_has_nothing_to_leak(
    work: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "token-value")
    text = shell(work, "env; cat /proc/*/environ; git push origin HEAD:main; curl example.com")
    assert "token-value" not in text
    assert "PATH=" in text
