"""From an export, a form or a German sheet to metrics with intervals, in three commands at most."""

import re
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from assay.cli import app

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
ROOT = FIXTURES.parents[1]
QUICK = [
    "--raters", "pooled", "--method", "map", "--draws", "20", "--chains", "1", "--no-report",
    "--quiet",
]  # fmt: skip
INTERVAL = r"\d\.\d+ \(\d\.\d+ to \d\.\d+\)"
GO_ON = "Go on with: assay "

PATHS: dict[str, tuple[str, list[list[str]], list[str]]] = {
    "label studio": (
        "formats/label_studio_plain.json", [["run", "label_studio_plain.json"]],
        ["Share of label = neg", "Share of label = pos"],
    ),
    "argilla": (
        "formats/argilla_plain.parquet", [["run", "argilla_plain.parquet"]],
        ["Share of label = neg", "Share of label = pos"],
    ),
    "a form of items": (
        "first_contact/Is the answer correct (Responses).csv",
        [["run", "Is the answer correct (Responses).csv"], []],
        ["Share of label = Yes"],
    ),
    "a form of several choices": (
        "first_contact/What is wrong (Responses).csv",
        [["run", "What is wrong (Responses).csv"], []],
        ["Share of Too long = yes", "Share of Wrong facts = yes"],
    ),
    "a grid of a form": (
        "first_contact/Reply quality (Responses).csv",
        [["run", "Reply quality (Responses).csv"], []],
        ["Share of label = Very good"],
    ),
    "a form of several questions": (
        "first_contact/reviews.csv", [["run", "reviews.csv"], []],
        ["Share of Did it answer the question that was asked? = Yes", "Share of Too long = yes"],
    ),
    "a form of several questions, by a task file": (
        "first_contact/reviews.csv",
        [["task", "init", "reviews.csv"], [], ["run", "reviews.csv", "--task", "reviews.toml"]],
        ["Share of Was the assistant helpful? = Yes", "Share of Too long = yes"],
    ),
    "a German sheet": (
        "first_contact/Auswertung.xlsx", [["run", "Auswertung.xlsx"]],
        ["Precision@5 of Relevanz", "MRR of Relevanz", "nDCG of Relevanz", "BM25 - Hybrid"],
    ),
}  # fmt: skip
"""The file, the commands (an empty one follows the refusal), and what the metrics are called."""


@pytest.mark.parametrize("name", PATHS)
def test_three_commands_lead_to_metrics(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, commands, metrics = PATHS[name]
    if file.endswith("xlsx"):
        pytest.importorskip("python_calamine")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    shutil.copy(FIXTURES / file, tmp_path)
    assert len(commands) <= 3
    output = ""
    for command in commands:
        typed = command or _advised(output)
        quick = QUICK if typed[0] == "run" and not set(QUICK) & set(typed) else []
        done = CliRunner().invoke(app, [*typed, *quick])
        output = done.output
    assert done.exit_code == 0, output
    assert re.search(INTERVAL, output)
    for metric in metrics:
        assert metric in output
    for line in _shown(typed):
        assert line in output


def _shown(typed: list[str]) -> list[str]:
    """Return notes and names of metrics that the page shows below a command."""
    page = (ROOT / "docs" / "from_exports.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^\$ assay (.*)\n((?:(?!\$ |```).*\n)*)", page, re.MULTILINE)
    found = [text for command, text in blocks if shlex.split(command)[: len(typed)] == typed]
    lines = [line for text in found for line in text.splitlines()]
    metrics = [m[1] for line in lines if (m := re.match(rf"(.+?)  +{INTERVAL}", line))]
    return metrics + [line for line in lines if line.startswith(("note:", "wrote reviews"))]


def test_a_german_sheet_whose_names_say_less_is_run_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openpyxl")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    sheet = pd.read_excel(
        FIXTURES / "first_contact" / "Auswertung.xlsx", dtype=object, engine="openpyxl"
    )
    sheet.rename(columns={"Abfrage": "Suchtext"}).to_excel("Auswertung.xlsx", index=False)
    refused = CliRunner().invoke(app, ["run", "Auswertung.xlsx"])
    assert refused.exit_code == 1
    typed = _advised(refused.output)
    page = (ROOT / "docs" / "from_exports.md").read_text(encoding="utf-8")
    assert f"$ assay {shlex.join(typed)}" in page
    done = CliRunner().invoke(app, [*typed, *QUICK])
    assert done.exit_code == 0, done.output
    assert "note: column Konfidenz has decimal commas" in done.output
    for metric in PATHS["a German sheet"][2]:
        assert metric in done.output


def test_grades_with_decimal_commas_have_a_mean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openpyxl")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    rows = [
        (f"s{n}", system, rater, ["1,0", "1,5", "2,0", "3,0"][(n + (system == "B") + (k > n)) % 4])
        for n in range(12) for system in "AB" for k, rater in enumerate(["Müller", "Weiß", "Öz"])
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["Suchtext", "Modell", "Bewerter", "Note"])
    frame.to_excel("Noten.xlsx", index=False)
    typed = _advised(CliRunner().invoke(app, ["run", "Noten.xlsx"]).output)
    assert typed[-2:] == ["--cluster", "Suchtext"]
    done = CliRunner().invoke(app, [*typed, *QUICK])
    assert done.exit_code == 0, done.output
    assert "Mean Note (mean[Note])" in done.output


def _advised(output: str) -> list[str]:
    """Return the command that a refusal ends with."""
    last = output.strip().splitlines()[-1]
    assert last.startswith(GO_ON), output
    return shlex.split(last.removeprefix(GO_ON))


def test_a_file_for_each_rater_is_offered_as_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for who in ("ann", "bob", "cy"):
        rows = [(f"i{n}", "xy"[(n + len(who) * (n % 4 == 0)) % 2]) for n in range(12)]
        pd.DataFrame(rows, columns=["item", "label"]).to_csv(f"{who}.csv", index=False)
    typed = _advised(CliRunner().invoke(app, ["run", "ann.csv", "bob.csv", "cy.csv"]).output)
    page = (ROOT / "docs" / "from_exports.md").read_text(encoding="utf-8")
    assert f"Go on with: assay {shlex.join(typed)}" in page
    done = CliRunner().invoke(app, [*typed, *QUICK])
    assert done.exit_code == 0, done.output
    assert re.search(INTERVAL, done.output)


def test_the_page_shows_commands_of_these_files() -> None:
    page = (ROOT / "docs" / "from_exports.md").read_text(encoding="utf-8")
    for file, _, metrics in PATHS.values():
        assert Path(file).name in page
        assert metrics[0] in page


def test_every_format_has_a_row_in_the_docs() -> None:
    from assay.io.formats import all_formats

    rows = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert [name for name in all_formats() if f"| `{name}` |" not in rows] == []
