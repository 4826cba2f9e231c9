"""The example configs hold what they promise."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from nightly_sync.checks.names import is_exempt
from nightly_sync.config import SyncConfig, check_runnable
from nightly_sync.config_file import load
from nightly_sync.patterns import matches

FOLDER = Path(__file__).parents[2] / "deployments"
TODAY = datetime(2026, 11, 30, 21, tzinfo=UTC)


@pytest.fixture(scope="module")
def megatron() -> SyncConfig:
    """The config of the job this project grew from."""
    return load(FOLDER / "megatron-lm.yaml")


@pytest.mark.parametrize("name", ["megatron-lm.yaml", "local.yaml"])
def test_an_example_loads_and_can_be_run(name: str) -> None:
    check_runnable(load(FOLDER / name))


def test_megatron_syncs_main_into_dev(megatron: SyncConfig) -> None:
    assert megatron.repository.endswith("/NVIDIA/Megatron-LM.git")
    assert megatron.branch_name(TODAY) == "main2dev/30_11_2026"
    assert megatron.title_for(TODAY) == "chore: nightly sync main into dev (30_11_2026)"
    assert (megatron.source, megatron.target, megatron.timezone) == ("main", "dev", "UTC")


def test_megatron_commits_as_its_service_account(megatron: SyncConfig) -> None:
    assert megatron.committer.name == "svcnvidia-nemo-ci"


def _patterns(config: SyncConfig, rule: str) -> int:
    return sum(len(item.paths) for item in config.rules if item.rule == rule)


def test_megatron_protects_who_owns_what(megatron: SyncConfig) -> None:
    assert megatron.holds("protect", ".github/CODEOWNERS")
    assert not megatron.holds("protect", "docs/.github/CODEOWNERS")


@pytest.mark.parametrize("path", ["pyproject.toml", "uv.lock", "docker/Dockerfile.ci.dev"])
def test_megatron_keeps_the_build_from_dev(megatron: SyncConfig, path: str) -> None:
    assert megatron.holds("take-target", path)
    assert not megatron.holds("take-target", f"examples/{path}")
    assert _patterns(megatron, "take-target") == 3


@pytest.mark.parametrize(
    "path",
    [
        "megatron/training/training.py",
        "megatron/training/initialize.py",
        "megatron/training/utils.py",
        "megatron/training/datasets/data_samplers.py",
        "megatron/core/optimizer/layer_wise_optimizer.py",
    ],
)
def test_megatron_takes_five_files_from_main(megatron: SyncConfig, path: str) -> None:
    assert megatron.holds("take-source", path)
    assert not megatron.holds("take-source", f"tests/{path}")
    assert _patterns(megatron, "take-source") == 5


def test_megatron_resolves_the_rest_from_main(megatron: SyncConfig) -> None:
    assert megatron.fallback == "source"


def test_megatron_labels_its_pull_request(megatron: SyncConfig) -> None:
    assert megatron.labels == ("nightly-sync", "Run functional tests", "Run MBridge tests")


def test_megatron_starts_ci_with_a_comment(megatron: SyncConfig) -> None:
    assert megatron.trigger.kind == "comment"
    assert megatron.trigger.text.format(sha="abc") == "/ok to test abc"


def test_megatron_waits_for_the_aggregate_check(megatron: SyncConfig) -> None:
    assert megatron.sentinel == "Nemo_CICD_Test"


@pytest.mark.parametrize(
    "name",
    [
        "codeowners-approval",
        "check-approval",
        "multi-approval-bot-summary",
        "is-not-external-contributor",
        "Code Review (bot)",
        "Needs Approval",
        "Coverage (unit-test)",
        "Coverage (e2e)",
        "Coverage_Fake",
        "codecov/patch",
        "build-docs",
        "Build docs",
        "build-docs-summary",
        "doc-build",
        "docs/readthedocs.org:project",
        "sphinx",
    ],
)
def test_megatron_exempts_what_says_nothing_about_the_merge(
    megatron: SyncConfig, name: str
) -> None:
    assert is_exempt(name, megatron.exempt)


@pytest.mark.parametrize("name", ["Nemo_CICD_Test", "linting", "cicd-unit-tests-latest", "build"])
def test_megatron_counts_every_other_check(megatron: SyncConfig, name: str) -> None:
    assert not is_exempt(name, megatron.exempt)


def test_megatron_shows_the_core_first(megatron: SyncConfig) -> None:
    assert matches("megatron/core/a/b.py", megatron.focus)
    assert not matches("megatron/training/a.py", megatron.focus)
    assert megatron.stat_globs == ("*.py",)


def test_megatron_formats_with_black_and_isort_and_lints_the_core(megatron: SyncConfig) -> None:
    assert [command.name for command in megatron.formatters] == ["black", "isort"]
    (pylint,) = megatron.linters
    assert pylint.name == "pylint"
    assert matches("megatron/core/a/b.py", pylint.paths)
    assert not matches("megatron/core/a/b.cpp", pylint.paths)
    assert not matches("megatron/training/a.py", pylint.paths)


def test_megatron_states_its_schedule_in_the_header() -> None:
    header = (FOLDER / "megatron-lm.yaml").read_text().split("\n\n")[0]
    assert 'cron: "0 21 * * *"' in header
    assert "timezone: UTC" in header


def test_the_local_example_runs_tests_and_linter() -> None:
    assert [check.run for check in load(FOLDER / "local.yaml").checks] == [
        "pytest -q",
        "ruff check .",
    ]
