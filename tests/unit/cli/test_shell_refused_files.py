"""Files that are refused: the last line is the command that goes on, if another one does."""

import gzip
import os
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import Result
from typer.testing import CliRunner

from assay.cli import app

GO_ON = "Go on with: "
GOOD = "item,rater,label\n" + "".join(
    f"{n},{rater},{'xy'[n % 3 == (rater == 'b')]}\n" for n in range(12) for rater in "abc"
)
TABLE = pd.read_csv(pd.io.common.StringIO(GOOD))
RECORDS = TABLE.to_json(orient="records", lines=True)
PARQUET = TABLE.to_parquet(index=False)
EMPTY_EXPORT = '[{"id": 1, "data": {}, "annotations": []}]'
FEW = '[{"id": 1, "data": {}, "annotations": [%s]}, {"id": 2, "data": {}, "annotations": [%s]}]'
CHOICE = (
    '{"id": %d, "completed_by": %d, "result": [{"from_name": "tone", "to_name": "text", '
    '"type": "choices", "value": {"choices": ["%s"]}}]}'
)
EXPORT = FEW % (
    ", ".join(CHOICE % (n, n, "xy"[n % 2]) for n in (1, 2, 3)),
    ", ".join(CHOICE % (n, n, "xy"[n < 3]) for n in (1, 2, 3)),
)


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def last_line(done: Result) -> str:
    assert done.exit_code == 1, done.output
    return str(done.output.strip().splitlines()[-1])


def in_shell(line: str) -> str:
    """Run a line as a terminal does, with the programs of this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", line], env={**os.environ, "PATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, data: str | bytes) -> None:
    path = Path(name)
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


BY_HAND: dict[str, tuple[str, str | bytes, str | bytes, str]] = {
    "empty": ("ratings.csv", "", GOOD, "empty-file"),
    "a header alone": ("ratings.csv", "item,rater,label\n", GOOD, "empty-file"),
    "bytes": ("ratings.csv", bytes(range(256)) * 9, GOOD, "binary-file"),
    "a sheet cut off": ("r.xlsx", b"PK\x03\x04 a sheet", GOOD, "damaged-file"),
    "gzip cut off": ("r.csv.gz", gzip.compress(GOOD.encode())[:50], gzip.compress(GOOD.encode()),
                     "damaged-file"),
    "Parquet cut off": ("r.parquet", PARQUET[:-9], PARQUET, "damaged-file"),
    "a web page": ("r.csv", "<!DOCTYPE html><html></html>", GOOD, "web-page"),
    "JSON cut off": ("r.json", '[{"item": "u1", ', RECORDS, "json-file"),
    "no records": ("r.json", "[1, 2]", RECORDS, "json-shape"),
    "a quotation mark": ("r.csv", 'item,"' + "x" * 200_000, GOOD, "unparsed-file"),
    "no annotations": ("export.json", EMPTY_EXPORT, EXPORT, "no-ratings"),
    "no answers": ("r.csv", TABLE.assign(label="").to_csv(index=False), GOOD, "no-answer-given"),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_what_has_to_be_mended_by_hand_says_so_and_repeats_no_command(name: str) -> None:
    file, broken, mended, code = BY_HAND[name]
    write(file, broken)
    done = run("check", file)
    assert f"[{code}]" in last_line(done)
    assert "assay check" not in done.output
    write(file, mended)
    assert run("check", file).exit_code == 0


def archive(**files: str) -> bytes:
    with zipfile.ZipFile("made.zip", "w") as packed:
        for name, text in files.items():
            packed.writestr(f"{name}.csv", text)
    data = Path("made.zip").read_bytes()
    Path("made.zip").unlink()
    return data


def other() -> str:
    return "item,remark\n1,well\n"


GOES_ON: dict[str, tuple[Callable[[], dict[str, str | bytes]], str, str]] = {
    "a line that is no JSON": (
        lambda: {"r.jsonl": RECORDS + '{"item": 3, \n'}, "r.jsonl",
        "assay check r.jsonl --set-aside",
    ),
    "JSON cut off in a record": (
        lambda: {"r.json": TABLE.to_json(orient="records")[:-9]}, "r.json",
        "assay check r.json --set-aside",
    ),
    "an export with a broken place": (
        lambda: {"r.json": EXPORT.replace('"completed_by": 3, ', "", 1)}, "r.json",
        "assay check r.json --set-aside",
    ),
    "a name that is nearly right": (
        lambda: {"ratings.csv": GOOD, "b.csv": GOOD}, "./rating.csv", "assay check ratings.csv",
    ),
    "the only table beside": (lambda: {"my.csv": GOOD}, "ratings.xlsx", "assay check my.csv"),
    "an archive of different tables": (
        lambda: {"r.zip": archive(a=GOOD, b=other())}, "r.zip", "assay check r.zip/a.csv",
    ),
    "a folder of different tables": (
        lambda: {"all/a.csv": GOOD, "all/b.csv": other()}, "all", "assay check all/a.csv",
    ),
    "numbers that are no classes": (
        lambda: {"r.csv": pd.DataFrame({
            "item": [n // 2 for n in range(600)], "rater": list("ab") * 300,
            "label": [100 * n / 600 for n in range(600)]}).to_csv(index=False)}, "r.csv",
        "assay check r.csv --score label --score-range 0 100",
    ),
    "a column of raters that is empty": (
        lambda: {"r.csv": TABLE.assign(rater="").to_csv(index=False)}, "r.csv",
        "assay check r.csv --rater row",
    ),
    "several columns of a few values": (
        lambda: {"r.csv": TABLE.assign(tone=TABLE.label, form=TABLE.label[::-1].to_numpy(), key=3)
                 .drop(columns="label").to_csv(index=False)}, "r.csv",
        "assay check r.csv --labels tone --labels form",
    ),
    "votes in a cell": (
        lambda: {"r.csv": pd.DataFrame({"item": range(9), "label": ["x;x;y", "y;x;x", "y;y;y"] * 3})
                 .to_csv(index=False)}, "r.csv", "assay check r.csv --rater row",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GOES_ON)
def test_a_file_that_is_refused_is_read_by_the_command_on_the_last_line(name: str) -> None:
    files, source, command = GOES_ON[name]
    for file, data in files().items():
        write(file, data)
    line = last_line(run("check", source))
    assert line == GO_ON + command
    done = run(*shlex.split(command)[1:])
    assert done.exit_code == 0, done.output


def test_a_file_of_another_program_is_made_a_table_by_the_last_line() -> None:
    TABLE.to_stata("r.dta", write_index=False, version=118)
    line = last_line(run("check", "r.dta")).removeprefix(GO_ON)
    convert, _, command = line.rpartition(" && ")
    in_shell(convert)
    assert command == "assay check r.csv"
    assert "36 ratings" in run(*shlex.split(command)[1:]).output


def test_what_git_has_not_fetched_is_fetched_by_the_last_line() -> None:
    write("r.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n")
    assert last_line(run("check", "r.csv")) == f"{GO_ON}git lfs pull && assay check r.csv"


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0,
                    reason="who may read all is refused nothing")  # fmt: skip
def test_a_file_that_may_not_be_read_is_made_readable_by_the_last_line() -> None:
    write("r.csv", GOOD)
    Path("r.csv").chmod(0)
    line = last_line(run("check", "r.csv")).removeprefix(GO_ON)
    assert line == "chmod u+r r.csv && assay check r.csv"


def test_the_packages_for_spreadsheets_are_installed_by_the_last_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    write("r.xls", b"\xd0\xcf\x11\xe0 an old sheet")
    assert last_line(run("check", "r.xls")) == (
        f"{GO_ON}pip install 'assay[excel]' && assay check r.xls"
    )
