"""assay example: the list, and a table that the other commands read."""

from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import assay
from assay import cli


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli.app, ["example", *map(str, arguments)])


def test_the_list_names_each_example_with_its_licence() -> None:
    lines = run().stdout.splitlines()
    listed = assay.load_example()
    assert [line.split(":")[0] for line in lines] == list(listed.index)
    assert all(
        line.endswith(f"licence: {one})")
        for line, one in zip(lines, listed["licence"], strict=True)
    )


def test_a_table_is_written_that_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("rater_audit").exit_code == 0
    found = pd.read_csv("rater_audit.csv", dtype=str)
    assert found.equals(assay.load_example("rater_audit", table=True))
    assert len(assay.read_ratings("rater_audit.csv").answers) == len(found)


def test_an_unknown_name_ends_with_the_names(tmp_path: Path) -> None:
    done = run("audit", "-o", tmp_path / "audit.csv")
    assert done.exit_code == 1
    assert "rater_audit" in done.stderr
    assert not (tmp_path / "audit.csv").exists()
