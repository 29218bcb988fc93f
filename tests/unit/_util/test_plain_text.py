"""What is shown and exported holds no control characters, no page-long cells and no formulas."""

import io
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console
from typer.testing import CliRunner

import assay
from assay import cli
from assay._util.errors import AssayError, FitWarning, RatingsError, UnknownNameError
from assay._util.files import DRAFTS, draft, write_table
from assay._util.plain_text import in_message, plain, short_cells
from assay._util.progress import waiting
from assay.display.table import make_table
from assay.display.terminal import make_console, print_parts

BAD = "a\x1b[2J\x07\x9b31m\u202eb"
"""Clears the screen, rings, begins a sequence of one character, and turns the direction round."""
CLEAN = "a?[2J??31m?b"


@pytest.mark.parametrize("kind", [AssayError, RatingsError, UnknownNameError, FitWarning])
def test_an_error_shows_names_without_control_characters(kind: type[Exception]) -> None:
    said = str(kind(f"no rater is called {BAD}"))
    assert f"no rater is called {CLEAN}" in said


def test_long_cells_are_cut_and_long_messages_are_not() -> None:
    cell = "word " * 2_000
    said = str(RatingsError(f"the class {cell!r} is unknown; the classes are a, b"))
    assert len(said) < 300
    assert said.endswith("is unknown; the classes are a, b")
    sentence = "Nothing here is long. " * 100
    assert in_message(sentence) == sentence
    assert len(in_message("x" * 10_000)) < 200
    # What stands between two short cells is a sentence.
    between = f"panel 'A/q0'{' and so on' * 60} (weight='')"
    assert in_message(between) == between
    assert in_message(f"{between}, class '{'y' * 5000}'").startswith(f"{between}, class 'yyy")
    assert len(in_message(f"{between}, class '{'y' * 5000}'")) < len(between) + 150


def table(name: str) -> pd.DataFrame:
    items = [f"{name}{n}" for n in range(6)]
    return pd.DataFrame(
        {
            "item": items * 3, "rater": [f"r{name}1"] * 6 + [f"r{name}2"] * 6 + ["other"] * 6,
            "label": ["no", "yes", "yes", "no", "no", "yes"] * 3, "system": [f"s{name}", "B"] * 9,
        }
    )  # fmt: skip


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        ratings = assay.read_ratings(table(BAD), task="single")
        fit = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    return assay.save(fit, tmp_path_factory.mktemp("fits") / "fit.nc")


@pytest.mark.parametrize("command", ["metrics", "raters", "labels", "compare"])
def test_no_command_shows_control_characters(stored: Path, command: str) -> None:
    done = CliRunner().invoke(cli.app, [command, str(stored)])
    assert done.exit_code in (0, 1), done.output
    assert all(c.isprintable() or c == "\n" for c in done.output.replace("\xa0", " "))
    if command != "metrics":
        assert "a?[2J" in done.output


@pytest.mark.parametrize("command", ["check", "agreement", "fit"])
def test_no_command_that_reads_shows_control_characters(tmp_path: Path, command: str) -> None:
    source = tmp_path / "ratings.csv"
    frame = table(BAD)
    frame.loc[0, "label"] = ""
    frame.to_csv(source, index=False)
    more = ["-o", str(tmp_path / "fit.nc"), "--reference", BAD] if command == "fit" else []
    done = CliRunner().invoke(cli.app, [command, str(source), "--task", "single", *more])
    assert all(c.isprintable() or c == "\n" for c in done.output.replace("\xa0", " "))


def test_a_terminal_keeps_its_own_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    console: Console = type(make_console())(
        file=io.StringIO(), force_terminal=True, color_system="standard", width=80
    )
    print_parts(console, [make_table(f"Title {BAD}", ["head"], [[BAD]], note=BAD)])
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert shown.count("a?[2J") == 3
    assert "\x1b[1m" in shown
    assert "\x1b[2J" not in shown


def test_a_wait_shows_the_name_of_a_file_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Braces and brackets were taken for fields and markup."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("assay._util.progress.PATIENCE", 0.0)
    with waiting("reading a{b}[/red].csv", show=True):
        time.sleep(0.3)


CELLS: dict[str, Any] = {
    "=1+1": "'=1+1", "+cmd|' /C calc'!A0": "'+cmd|' /C calc'!A0", "-1": "-1", "-x": "'-x",
    "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "+1.5": "+1.5", "B - A": "B - A", "x": "x",
}  # fmt: skip


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_text_that_a_spreadsheet_would_run_is_escaped(tmp_path: Path, suffix: str) -> None:
    frame = pd.DataFrame({"=name": list(CELLS), "number": [-0.5] * len(CELLS)})
    write_table(frame, tmp_path / f"table{suffix}")
    back = pd.read_csv(
        tmp_path / f"table{suffix}", sep="," if suffix == ".csv" else "\t", dtype={"'=name": "str"}
    )
    assert back["'=name"].tolist() == list(CELLS.values())
    assert (back["number"] == -0.5).all()
    assert list(frame["=name"]) == list(CELLS)


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_formats_for_programs_hold_text_as_it_is(tmp_path: Path, suffix: str) -> None:
    write_table(pd.DataFrame({"name": list(CELLS)}), tmp_path / f"table{suffix}")
    read = pd.read_parquet if suffix == ".parquet" else pd.read_json
    assert list(read(tmp_path / f"table{suffix}")["name"]) == list(CELLS)


HANG = """
import sys, time
from pathlib import Path
from assay._util.files import draft
with draft(Path(sys.argv[1])) as unfinished:
    unfinished.write_text("half")
    print("there", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files are locked otherwise there")
def test_what_a_kill_leaves_is_removed_by_the_next_run(tmp_path: Path) -> None:
    def begin() -> subprocess.Popen[str]:
        arguments = [sys.executable, "-c", HANG, str(tmp_path / "a.txt")]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        return process

    killed, living = begin(), begin()
    killed.kill()
    killed.wait()
    left = sorted(tmp_path.glob(f"{DRAFTS}*"), key=lambda folder: folder.stat().st_mtime)
    assert len(left) == 2
    for folder in left:
        os.utime(folder, (0, 0))
    with draft(tmp_path / "b.txt") as unfinished:
        unfinished.write_text("whole")
    assert [path for path in left if path.exists()] == left[1:]
    living.kill()
    living.wait()
    os.utime(left[1], (0, 0))
    with draft(tmp_path / "b.txt") as unfinished:
        unfinished.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]
    for process in (killed, living):
        assert process.stdout is not None
        process.stdout.close()


def test_control_characters_become_question_marks() -> None:
    assert (plain("a\x1b[2Jb\n90\u00a0%"), plain("abc\u202edcba")) == (
        "a?[2Jb\n90\xa0%",
        "abc?dcba",
    )


def test_long_cells_are_cut() -> None:
    assert len(short_cells("the class 'x" + 5000 * "y" + "' is unknown")) == 125
