"""get-uv on machines that lack something. All commands it could start are stand-ins: no network."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "get-uv"
GOOD_GIT = "git version 2.39.5"

# Answers as CPython would; `venv` and `pip install uv` leave what they would leave.
PYTHON = """\
#!/bin/sh
echo "${{0##*/}} $*" >>{log}
case "$*" in
-c*) echo {number} ;;
"-m ensurepip --version") [ {ensurepip} = yes ] || [ -e {bin}/venv-package ] ;;
"-m pip --version") [ {pip} = yes ] ;;
"-m venv"*) {mkdir} -p .uv/bin && {cp} "$0" .uv/bin/python ;;
*"install"*) printf '#!/bin/sh\\nexit 0\\n' >.uv/bin/uv && {chmod} +x .uv/bin/uv ;;
*) exit 64 ;;
esac
"""


@dataclass(frozen=True)
class Machine:
    """A checkout and the only folder on PATH."""

    checkout: Path
    bin: Path
    log: Path

    def command(self, name: str, body: str) -> None:
        """Put a shell script on PATH."""
        file = self.bin / name
        file.write_text(body if body.startswith("#!") else f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)

    def git(self, version: str) -> None:
        """A git that says this."""
        self.command("git", f"echo '{version}'")

    def python(self, name: str, number: int, ensurepip: str = "yes", pip: str = "yes") -> None:
        """A Python of version `number` (311 for 3.11)."""
        tools = {tool: shutil.which(tool) for tool in ("mkdir", "cp", "chmod")}
        body = PYTHON.format(
            log=self.log, bin=self.bin, number=number, ensurepip=ensurepip, pip=pip, **tools
        )
        self.command(name, body)

    def run(self) -> subprocess.CompletedProcess[str]:
        """Run get-uv from another folder."""
        return subprocess.run(
            ["/bin/sh", self.checkout / "get-uv"],
            cwd=self.bin,
            env={"PATH": str(self.bin)},
            capture_output=True,
            text=True,
            check=False,
        )

    def refusal(self) -> str:
        """The one line it ends with when it cannot go on."""
        result = self.run()
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr.count("\n") == 1
        assert not (self.checkout / ".uv").exists()
        return result.stderr

    def started(self) -> list[str]:
        """What was asked of any Python, version questions aside."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if " -c " not in line and "--version" not in line]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with a good git, no Python, and a user who is not root."""
    made = Machine(tmp_path / "the checkout", tmp_path / "bin", tmp_path / "log")
    made.checkout.mkdir()
    made.bin.mkdir()
    shutil.copy(SCRIPT, made.checkout)
    (made.bin / "dirname").symlink_to(shutil.which("dirname") or "")
    made.git(GOOD_GIT)
    made.command("id", "echo 1000")
    return made


def test_a_missing_git_is_named(machine: Machine) -> None:
    (machine.bin / "git").unlink()
    assert "git is missing: install git 2.38 or newer" in machine.refusal()


@pytest.mark.parametrize("version", ["1.9.1", "2.30.2", "2.37.9", "2.4"])
def test_an_old_git_is_named(machine: Machine, version: str) -> None:
    machine.git(f"git version {version}")
    assert f"git {version} is too old: install git 2.38 or newer" in machine.refusal()


@pytest.mark.parametrize("version", ["2.38.0", "2.39.5 (Apple Git-154)", "2.100.1", "3.0.0"])
def test_a_newer_git_will_do(machine: Machine, version: str) -> None:
    machine.git(f"git version {version}")
    assert "Python is missing" in machine.refusal()


def test_a_missing_python_is_named(machine: Machine) -> None:
    assert "Python is missing: install Python 3.11, 3.12 or 3.13" in machine.refusal()


@pytest.mark.parametrize(
    ("name", "number", "shown"),
    [
        ("python3", 309, "3.9"),
        ("python3", 310, "3.10"),
        ("python3", 314, "3.14"),
        ("python3.14", 314, "3.14"),
    ],
)
def test_a_python_that_will_not_do_is_named(
    machine: Machine, name: str, number: int, shown: str
) -> None:
    machine.python(name, number)
    assert f"only Python {shown}: install Python 3.11, 3.12 or 3.13" in machine.refusal()


def test_another_name_of_python_is_tried(machine: Machine) -> None:
    machine.python("python3", 314)
    machine.python("python3.12", 312)
    assert machine.run().returncode == 0
    assert machine.started()[0] == "python3.12 -m venv --clear .uv"


def test_a_python_that_does_not_start_is_passed_over(machine: Machine) -> None:
    """pyenv's shims exist for versions that are not there, and fail."""
    machine.command("python3", "exit 127")
    machine.python("python3.11", 311)
    assert machine.run().returncode == 0


def test_uv_is_installed_by_the_pip_of_its_own_environment(machine: Machine) -> None:
    machine.python("python3", 311)
    assert machine.run().returncode == 0
    create, install = machine.started()
    assert create == "python3 -m venv --clear .uv"
    assert install.startswith("python -m pip install ")
    assert install.endswith(" uv")


def test_without_ensurepip_the_pip_outside_installs_it(machine: Machine) -> None:
    machine.python("python3", 311, ensurepip="no")
    assert machine.run().returncode == 0
    create, install = machine.started()
    assert create == "python3 -m venv --without-pip --clear .uv"
    assert install.startswith("python3 -m pip --python .uv/bin/python install ")


def test_without_any_pip_it_says_what_to_install(machine: Machine) -> None:
    machine.python("python3", 311, ensurepip="no", pip="no")
    assert "(on Debian: apt-get install python3-venv)" in machine.refusal()


def test_root_without_apt_gets_the_same_sentence(machine: Machine) -> None:
    machine.python("python3", 311, ensurepip="no", pip="no")
    machine.command("id", "echo 0")
    assert "install its venv package" in machine.refusal()


def test_apt_is_not_used_by_others_than_root(machine: Machine) -> None:
    machine.python("python3", 311, ensurepip="no", pip="no")
    machine.command("apt-get", ': >"${0%/*}/venv-package"')
    assert "install its venv package" in machine.refusal()


def test_root_on_debian_gets_the_package_and_is_told_so(machine: Machine) -> None:
    machine.python("python3", 311, ensurepip="no", pip="no")
    machine.command("id", "echo 0")
    machine.command("apt-get", 'echo "apt-get $*"\n[ "$1" = update ] || : >"${0%/*}/venv-package"')
    result = machine.run()
    assert result.returncode == 0
    assert "installing python3-venv with apt-get" in result.stderr
    assert "--no-install-recommends python3-venv" in result.stderr
    assert machine.started()[0] == "python3 -m venv --clear .uv"


def test_a_failed_apt_ends_in_one_last_sentence(machine: Machine) -> None:
    machine.python("python3.12", 312, ensurepip="no", pip="no")
    machine.command("id", "echo 0")
    machine.command("apt-get", "exit 100")
    result = machine.run()
    assert result.returncode == 1
    assert "could not install python3.12-venv" in result.stderr.splitlines()[-1]


def test_the_second_time_nothing_is_done(machine: Machine) -> None:
    machine.python("python3", 311)
    machine.run()
    machine.log.unlink()
    assert machine.run().returncode == 0
    assert not machine.log.exists()


def test_an_environment_that_does_not_work_is_made_anew(machine: Machine) -> None:
    machine.python("python3", 311)
    (machine.checkout / ".uv/bin").mkdir(parents=True)
    (machine.checkout / ".uv/bin/uv").write_text("half a download")
    assert machine.run().returncode == 0
    assert "python3 -m venv --clear .uv" in machine.started()


def test_only_its_own_folder_is_touched(machine: Machine) -> None:
    machine.python("python3", 311)
    before = sorted(file.name for file in machine.bin.iterdir())
    machine.run()
    assert sorted(file.name for file in machine.checkout.iterdir()) == [".uv", "get-uv"]
    assert sorted(file.name for file in machine.bin.iterdir()) == before
