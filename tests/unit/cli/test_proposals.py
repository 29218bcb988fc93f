"""What a refusal proposes: commands for files with names of their own, and for files refused."""

import gzip
import os
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result
from typer.testing import CliRunner

import assay
from assay.cli import app
from assay.cli.proposals import CHEAP

GO_ON = "Go on with: assay "


PROMPTS, RATERS, SYSTEMS = 40, ["Anna", "Ben", "Cem", "Dora", "Eve"], ["bot-A", "bot-B"]


NAMES = ["Prompt_No", "ChatSystem", "who_rated", "Answer OK?"]


OTHERS = [
    ["Beleg", "ChatBot", "wer hat bewertet", "Urteil stimmt"],
    ["Frage-Nr", "Variante", "bewertet von", "passt"],
    ["case number", "bot", "Rated by", "verdict ok"],
    ["page", "arm", "Judge name", "good"],
]


def chats(names: list[str], *, repeats: int = 3) -> pd.DataFrame:
    """Answers of two systems to each prompt, rated by three of five raters; a few rated twice."""
    rng = np.random.default_rng(1)
    rows = [
        (f"Q{n:03}", system, rater, "yes" if rng.random() < 0.6 else "no", f"{1 + n % 28}. 5.")
        for n in range(PROMPTS) for system in SYSTEMS
        for rater in rng.choice(RATERS, 3, replace=False)
    ]  # fmt: skip
    again = [(*row[:3], "no" if row[3] == "yes" else "yes", row[4]) for row in rows[:repeats]]
    rng.shuffle(rows)
    frame = pd.DataFrame(rows + again, columns=[*names, "when"])
    return frame.assign(comment=["", "too long", "hm"] * (len(frame) // 3))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def proposal(*words: str) -> list[str]:
    """Return the command that a refusal ends with; nothing if it ends with none."""
    done = run(*words)
    assert done.exit_code == 1, done.output
    last = done.output.strip().splitlines()[-1]
    return shlex.split(last.removeprefix(GO_ON)) if last.startswith(GO_ON) else []


def options(typed: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in pairwise(typed):
        if name.startswith("--"):
            found.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize("names", [NAMES, *OTHERS], ids=lambda names: names[1])
def test_rater_and_system_are_proposed_as_such(names: list[str]) -> None:
    chats(names, repeats=0).to_csv("chats.csv", index=False)
    typed = proposal("check", "chats.csv")
    item, system, _, answer = names
    given = options(typed)
    assert (given["--item"], given["--labels"]) == ([item, system], [answer])
    assert (given["--system"], given["--cluster"]) == ([system], [item])
    assert "--replicate" not in given
    done = run(*typed)
    assert done.exit_code == 0, done.output
    assert "240 ratings, 80 items, 5 raters, 40 clusters, 2 systems" in done.output


@pytest.mark.parametrize(
    "given",
    [
        [],
        ["--item", "Prompt_No", "--rater", "who_rated"],
        ["--item", "Prompt_No", "--rater", "who_rated", "--system", "ChatSystem"],
        ["--item", "Prompt_No", "--labels", "Answer OK?"],
        ["--seconds", "", "--encoding", "utf-8", "--set-aside"],
        ["--task", "retrieval"],
    ],
    ids=" ".join,
)
def test_one_proposal_leads_to_a_reading_that_keeps_the_systems_apart(given: list[str]) -> None:
    chats(NAMES).to_csv("chats.csv", index=False)
    typed = proposal("check", "chats.csv", *given)
    kept = set(given) - {"--task", "retrieval"}  # no column answers a label of this task
    assert kept <= set(typed)
    assert options(typed)["--replicate"] == ["row"]
    done = run(*typed)
    assert done.exit_code == 0, done.output
    assert "243 ratings, 80 items, 5 raters, 40 clusters, 2 systems" in done.output


def test_a_proposal_names_no_column_that_the_reader_made() -> None:
    chats(NAMES).to_csv("chats.csv", index=False)
    done = run("check", "chats.csv", "--task", "retrieval", "--item", "Prompt_No", "--rater", "row")
    assert "(numbered)" not in done.output
    last = done.output.strip().splitlines()[-1]
    assert options(shlex.split(last))["--labels"] == ["Answer OK?"]
    assert run(*shlex.split(last.removeprefix(GO_ON))).exit_code == 0


def test_a_label_of_the_task_that_ends_in_the_name_of_a_column_is_kept() -> None:
    chats(["query", "model", "rater", "relevant"], repeats=0).to_csv("r.csv", index=False)
    typed = proposal("check", "r.csv", "--task", "retrieval")
    given = options(typed)
    assert given["--task"] == ["retrieval"]
    assert given["--labels"] == ["topically_relevant=relevant"]
    assert run(*typed).exit_code == 0


def test_the_key_of_query_and_system_is_proposed_where_a_few_ratings_repeat() -> None:
    chats(["query", "model", "rater", "relevant"]).to_csv("r.csv", index=False)
    typed = proposal("check", "r.csv")
    assert options(typed)["--item"] == ["query", "model"]
    assert run(*typed).exit_code == 0


def test_a_column_of_systems_explains_repeats_whatever_its_name_is() -> None:
    chats(["item", "Zug", "rater", "label"]).to_csv("r.csv", index=False)
    assert options(proposal("check", "r.csv"))["--item"] == ["item", "Zug"]


def test_what_only_a_person_can_mend_ends_without_a_command() -> None:
    frame = chats(["item", "system", "rater", "label"], repeats=0)
    frame.assign(label="").to_csv("r.csv", index=False)
    assert proposal("check", "r.csv", "--item", "item", "--item", "system") == []
    assert proposal("check", "r.csv", "--item", "itm", "--item", "system") == []


def test_a_large_file_is_not_read_again_for_a_proposal(monkeypatch: pytest.MonkeyPatch) -> None:
    chats(NAMES).to_csv("chats.csv", index=False)
    monkeypatch.setattr("assay.cli.proposals.CHEAP", 0)
    assert CHEAP > 0
    assert "--replicate" not in proposal("check", "chats.csv")


def test_a_draft_keeps_replicates_by_row_and_raters_without_names() -> None:
    chats(NAMES).to_csv("chats.csv", index=False)
    done = run(*proposal("task", "init", "chats.csv"))
    assert done.exit_code == 0, done.output
    done = run("check", "chats.csv", "--task", "chats.toml")
    assert "243 ratings, 80 items, 5 raters, 40 clusters, 2 systems" in done.output
    done = run("task", "init", "chats.csv", "-o", "b.toml", "--item", "Prompt_No", "--rater", "row")
    (following,) = [line for line in done.output.splitlines() if line.startswith("next: ")]
    typed = shlex.split(following.partition("assay run ")[2])
    assert run("check", *typed).exit_code == 0


def test_the_draft_that_a_refusal_offers_has_the_columns_given() -> None:
    frame = chats(["Prompt_No", "day", "who_rated", "tone"], repeats=0)
    frame.assign(form=frame["tone"][::-1].to_numpy()).to_csv("r.csv", index=False)
    done = run("check", "r.csv", "--item", "Prompt_No", "--item", "day", "--rater", "who_rated")
    draft = done.output.partition("assay task init ")[2].partition(" [no-answers]")[0]
    done = run("task", "init", *shlex.split(draft))
    assert done.exit_code == 0, done.output


def test_a_folder_of_raters_with_a_column_for_each_system_is_read_with_its_systems() -> None:
    rng = np.random.default_rng(2)
    Path("raters").mkdir()
    for rater in RATERS:
        columns = {name: rng.choice(["Ja", "Nein"], PROMPTS) for name in ("alt", "neu", "dritte")}
        table = pd.DataFrame({"Frage": [f"F{n}" for n in range(PROMPTS)], **columns})
        table.to_csv(f"raters/{rater}.csv", index=False)
    assert options(proposal("task", "init", "raters"))["--system"] == ["system"]
    done = run(*proposal("check", "raters"))
    assert "600 ratings, 120 items, 5 raters, 40 clusters, 3 systems" in done.output


def test_a_run_that_fails_leaves_no_empty_folder(folder: Path) -> None:
    chats(NAMES).to_csv("chats.csv", index=False)
    (folder / "mine").mkdir()
    for more in ([], ["-o", "new"], ["-o", "mine"]):
        assert run("run", "chats.csv", *more).exit_code == 1
    assert sorted(path.name for path in folder.iterdir()) == ["chats.csv", "mine"]


@pytest.mark.parametrize("places", [False, True])
def test_a_table_that_is_joined_unasked_is_noted_and_stands_first(
    folder: Path, places: bool
) -> None:
    rows = [
        (f"q{n}-{system}", k, rater, *("True" if n % 2 else "False",) * 2, "False", "submitted", "")
        for n in range(6) for system in "AB" for k in range(3) for rater in "xy"
    ]  # fmt: skip
    columns = [
        "record_uuid", "chunk_id", "annotator_id", "topically_relevant", "evidence_sufficient",
        "misleading", "response_status", "constraint_violated",
    ]  # fmt: skip
    export = folder / "export"
    export.mkdir()
    frame = pd.DataFrame(rows, columns=columns)
    frame.assign(chunk_rank=frame["chunk_id"] + 1).to_csv(export / "retrieval.csv", index=False)
    keys = ["record_uuid", "chunk_id"] if places else ["record_uuid"]
    side = frame[keys].drop_duplicates().assign(chunk_rank=frame["chunk_id"] + 1)
    side = side if places else side.drop(columns="chunk_rank")
    side.assign(system=side["record_uuid"].str[-1]).to_csv(export / "systems.csv", index=False)
    accounting = assay.read_ratings(export).accounting
    (note,) = [n for n in accounting.notes if getattr(n, "code", "") == "table-joined"]
    assert note.numbers == ({"places": 36} if places else {"columns": 1})
    first = accounting.roles.iloc[: len(side.columns) + 1 if places else 1]
    assert "system" in set(first["role"])
    assert "2 systems" in run("check", str(export)).output


NEXT = "Go on with: "


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
    assert line == NEXT + command
    done = run(*shlex.split(command)[1:])
    assert done.exit_code == 0, done.output


def test_a_file_of_another_program_is_made_a_table_by_the_last_line() -> None:
    TABLE.to_stata("r.dta", write_index=False, version=118)
    line = last_line(run("check", "r.dta")).removeprefix(NEXT)
    convert, _, command = line.rpartition(" && ")
    in_shell(convert)
    assert command == "assay check r.csv"
    assert "36 ratings" in run(*shlex.split(command)[1:]).output


def test_what_git_has_not_fetched_is_fetched_by_the_last_line() -> None:
    write("r.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n")
    assert last_line(run("check", "r.csv")) == f"{NEXT}git lfs pull && assay check r.csv"


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0,
                    reason="who may read all is refused nothing")  # fmt: skip
def test_a_file_that_may_not_be_read_is_made_readable_by_the_last_line() -> None:
    write("r.csv", GOOD)
    Path("r.csv").chmod(0)
    line = last_line(run("check", "r.csv")).removeprefix(NEXT)
    assert line == "chmod u+r r.csv && assay check r.csv"


def test_the_packages_for_spreadsheets_are_installed_by_the_last_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    write("r.xls", b"\xd0\xcf\x11\xe0 an old sheet")
    assert last_line(run("check", "r.xls")) == (
        f"{NEXT}pip install 'assay[excel]' && assay check r.xls"
    )


@pytest.mark.parametrize("file", ["absent", "of other items"])
def test_going_on_without_the_truth_needs_no_truth(file: str) -> None:
    """The box of page one asks for TRUTH.csv and `--reference gold`; the advice kept the latter."""
    table = chats(["question", "system", "rater", "label"], repeats=0)
    table[["question", "system", "rater", "label"]].to_csv("study.csv", index=False)
    if file != "absent":
        Path("TRUTH.csv").write_text("question,system,label\nx,y,yes\nz,y,no\n")
    words = ["fit", "study.csv", "--item", "question", "--item", "system", "--truth", "TRUTH.csv"]
    words += ["--reference", "gold", "--gold-chosen", "random", "--raters", "pooled"]
    words += ["--method", "map", "--draws", "20", "--chains", "1", "-q", "-o", "x.nc"]
    refused = run(*words)
    assert refused.exit_code
    if file == "absent":
        assert "write this file, with the columns question, system, label" in refused.output
    advised = shlex.split(refused.output.strip().splitlines()[-1].removeprefix(GO_ON))
    assert run(*advised).exit_code == 0
    assert "--raters" in advised
