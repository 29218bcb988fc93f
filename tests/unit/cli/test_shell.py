"""The last line of a refusal is a command, and that command goes on."""

import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import Result
from typer.testing import CliRunner

from assay.cli import app
from assay.cli.program import repeated
from assay.cli.shell import with_code, without_options


def test_a_code_ends_the_text() -> None:
    assert (
        with_code("error: no such rater", "unknown-rater") == "error: no such rater [unknown-rater]"
    )


GO_ON = "Go on with: assay "


CASES = Path(__file__).resolve().parents[4] / "shared" / "cases"


LONG = pd.DataFrame(
    {
        "item": [n // 3 for n in range(36)],
        "rater": list("abc") * 12,
        "label": [["x", "y", "z"][(n // 3 + (n % 3) * (n % 5 == 0)) % 3] for n in range(36)],
    }
)


WIDE = LONG.pivot(index="item", columns="rater", values="label").reset_index()


FORM = WIDE.set_index("item").T.add_prefix("Question ").rename_axis("Email").reset_index()


COUNTS = pd.crosstab(LONG["item"], LONG["label"]).reset_index()


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def follow(*words: str, steps: int = 3) -> tuple[Result, list[str]]:
    """Run a command, and then what each refusal says, until one goes through."""
    typed = list(words)
    done = run(*typed)
    for _ in range(steps):
        if GO_ON not in done.output:
            break
        assert done.exit_code in (1, 2)
        last = done.output.strip().splitlines()[-1]
        assert last.startswith(GO_ON), done.output
        typed = shlex.split(last.removeprefix(GO_ON))
        done = run(*typed)
    return done, typed


TABLES: dict[str, tuple[pd.DataFrame, str, list[str]]] = {
    "wide": (WIDE, "36 ratings, 12 items, 3 raters", ["--wide", "a", "b", "c"]),
    "wide without items": (WIDE[list("abc")], "36 ratings, 12 items, 3 raters", ["--wide"]),
    "form": (FORM, "36 ratings, 12 items, 3 raters", ["--wide-items"]),
    "counts": (COUNTS, "36 ratings, 12 items, 3 raters", ["--counts", "x", "y", "z"]),
    "no names": (
        LONG.set_axis(["Beleg", "Wer da urteilt", "Einordnung"], axis=1),
        "36 ratings, 12 items, 3 raters",
        ["--labels", "Einordnung", "--item", "Beleg", "--rater", "Wer da urteilt"],
    ),
    "no rater": (
        LONG.drop(columns="rater").assign(remark=[f"r{n}" for n in range(36)]),
        "36 ratings, 12 items, 3 raters",
        ["--rater", "row"],
    ),
    "scores of another scale": (
        LONG.assign(label=LONG.label.replace("z", "x"), score=range(36)),
        "36 ratings, 12 items, 3 raters",
        ["--score-range", "0", "100"],
    ),
    "minus one": (
        LONG.assign(label=LONG.label.map({"x": "0", "y": "1", "z": "-1"})),
        "36 ratings, 12 items, 3 raters",
        ["--word", "label:-1="],
    ),
    "an item that is no key": (
        LONG.assign(item=LONG.item % 4, query=LONG.item // 4),
        "36 ratings, 12 items, 3 raters",
        ["--item"],
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_command_that_a_refusal_ends_with_goes_on(name: str, tmp_path: Path) -> None:
    frame, read, options = TABLES[name]
    path = tmp_path / f"{name}.csv"  # names with blanks are quoted
    frame.to_csv(path, index=False)
    done, typed = follow("check", str(path), steps=1)
    assert done.exit_code == 0, done.output
    assert read in done.output
    assert [word for word in options if word not in typed] == []


def test_an_option_that_was_wrong_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    COUNTS.assign(w="much").to_csv(path, index=False)
    done, typed = follow("check", str(path), "--counts", "w", "x", "y", "z", "--json", steps=1)
    assert done.exit_code == 0, done.output
    assert typed == ["check", str(path), "--json", "--counts", "x", "y", "z"]


def test_options_are_left_out_with_all_their_values() -> None:
    typed = ["fit", "a.csv", "--item", "x", "--wide", "a", "b", "-o", "f.nc", "--wide=c"]
    assert without_options(typed, {"--wide"}) == ["fit", "a.csv", "--item", "x", "-o", "f.nc"]


def test_an_option_of_several_values_ends_at_the_next_option(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    file.touch()
    assert repeated(["--wide", "a", "b", str(file)]) == [str(file), "--wide", "a", "--wide", "b"]
    assert repeated(["f.csv", "--counts", "a", "-1", "-o", "f.nc", "--json"]) == [
        "f.csv", "--counts", "a", "--counts", "-1", "-o", "f.nc", "--json",
    ]  # fmt: skip


READ = {
    "formats/wide.csv": "90 ratings, 30 items, 3 raters",
    "formats/rater_wide.csv": "90 ratings, 30 items, 3 raters",
    "formats/rater_grouped.csv": "90 ratings, 30 items, 3 raters",
    "formats/x.tsv": "90 ratings, 30 items, 3 raters",
    "formats/x.json": "90 ratings, 30 items, 3 raters",
    "formats/x.jsonl": "90 ratings, 30 items, 3 raters",
    "formats/x.parquet": "90 ratings, 30 items, 3 raters",
    "formats/x.feather": "90 ratings, 30 items, 3 raters",
    "formats/crowdkit.csv": "90 ratings, 30 items, 3 raters",
    "formats/rater_long.csv": "90 ratings, 30 items, 3 raters",
    "reading/07-respondent-rows/input.csv": "100 ratings, 20 items, 5 raters",
    "reading/08-count-table/input.csv": "60 ratings, 15 items, 4 raters",
    "reading/09-wide-single/input.csv": "41 ratings, 12 items, 4 raters",
    "reading/15-anonymous-votes/input.csv": "200 ratings, 40 items, 5 raters",
    "reading/16-long-error/input.csv": "1800 ratings, 300 items, 6 raters",
    "reading/18-file-kinds/input_latin1.csv": "120 ratings, 40 items, 3 raters",
    "reading/18-file-kinds/input.xlsx": "120 ratings, 40 items, 3 raters",
    "first_contact/my_ratings.csv": "1447 ratings, 600 items, 5 raters",
}


@pytest.mark.parametrize("name", READ)
def test_shared_cases_are_read_with_the_commands_that_refusals_end_with(name: str) -> None:
    if not CASES.is_dir():
        pytest.skip("the cases at ../shared/cases are not here")
    if name.endswith("xlsx"):
        pytest.importorskip("python_calamine")
    done, _ = follow("check", str(CASES / name))
    assert READ[name] in done.output
    assert GO_ON not in done.output


def test_a_refusal_of_hundreds_of_columns_is_short(tmp_path: Path) -> None:
    frame: Any = pd.DataFrame({f"{n}_Q{k}": list("xyxyx") for n in range(100) for k in (1, 2, 3)})
    frame.insert(0, "respondent_mail", list("abcde"))
    frame.to_csv(tmp_path / "form.csv", index=False)
    assert len(run("check", str(tmp_path / "form.csv")).output) < 1000


WRONG: dict[str, tuple[str, list[str], str, list[str]]] = {
    "ragged rows": (
        LONG.to_csv(index=False).replace("4,a,", "4,a,,", 1), [],
        "35 used, 1 set aside", ["--set-aside"],
    ),
    "a column that is nearly right": (
        LONG.to_csv(index=False), ["--rater", "ratr"], "36 used", ["--rater", "rater"],
    ),
    "a shape of columns that are nearly right": (
        WIDE.rename(columns={"a": "Anna", "b": "Berta"}).to_csv(index=False),
        ["--wide", "Anne", "Berta", "--json"], "", ["--wide", "Anna", "Berta"],
    ),
    "the column of the answer that is nearly right": (
        LONG.assign(q="label").to_csv(index=False), ["--value", "lable"], "36 used",
        ["--labels", "label"],
    ),
    "a column that is not there": (LONG.to_csv(index=False), ["--truth", "nowhere"], "36 used", []),
    "several choices under a task of one": (
        LONG.assign(label=LONG.label.replace("z", "x|y")).to_csv(index=False),
        ["--task", "single"], "Task options", [],
    ),
    "an option a row": (
        pd.concat([LONG, LONG.assign(label=LONG.label.replace({"x": "y", "y": "z", "z": "x"}))])
        .to_csv(index=False), ["--task", "single"], "36 ratings", ["--replicate", "options"],
    ),
    "a word that is no class": (
        LONG.assign(label=LONG.label.replace({"z": "unsure"})).to_csv(index=False),
        ["--task", "xy.toml"], "11 ratings answer no label", ["--word", "label:unsure="],
    ),
    "many words that are no class": (
        LONG.assign(label=[f"w{n}" if n < 12 else "y" for n in range(36)]).to_csv(index=False),
        ["--task", "xy.toml"], "24 used, 12 set aside", ["--set-aside"],
    ),
    "a format that is nearly right": (
        LONG.to_csv(index=False), ["--format", "tabel"], "36 used", ["--format", "table"],
    ),
    "an encoding that Python does not know": (
        LONG.to_csv(index=False), ["--encoding", "latin-99"], "36 used", [],
    ),
    "two shapes": (
        WIDE.to_csv(index=False), ["--wide", "a", "b", "c", "--counts", "a", "--json"], "36",
        ["--wide", "a", "b", "c", "--json"],
    ),
    "a shape for several labels": (
        WIDE.to_csv(index=False), ["--task", "retrieval", "--wide", "a", "b", "c", "--json"], "36",
        ["--wide", "a", "b", "c", "--json"],
    ),
    "a task that is nearly right": (
        LONG.to_csv(index=False), ["--task", "singel"], "36 used", ["--task", "single"],
    ),
    "a task file that is nearly right": (
        LONG.assign(label=LONG.label.replace("z", "x")).to_csv(index=False),
        ["--task", "xyz.toml"], "36 used", ["--task", "xy.toml"],
    ),
    "several answers in one cell": (
        LONG.assign(label=[*LONG.label[:35], "['x', 'y']"]).to_csv(index=False), [],
        "35 used, 1 set aside", ["--set-aside"],
    ),
    "a session in no column": (LONG.to_csv(index=False), ["--sessions", "May"], "36 used", []),
    "a covariate that changes": (
        LONG.assign(day=range(36)).to_csv(index=False), ["--covariate", "day"], "36 used", [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_command_is_put_right(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, options, read, typed = WRONG[name]
    monkeypatch.chdir(tmp_path)
    Path("ratings.csv").write_text(text, encoding="utf-8")
    Path("xy.toml").write_text('labels = [{name = "label", classes = ["x", "y"]}]', "utf-8")
    done, last = follow("check", *options, "ratings.csv", steps=2)
    assert done.exit_code == 0, done.output
    assert read in done.output
    left = [word for word in last if word not in ("check", "ratings.csv")]
    assert left == typed or set(typed) < set(last)


def test_the_command_of_a_group_keeps_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    WIDE.to_csv("wide.csv", index=False)
    LONG.rename(columns={"rater": "by whom"}).to_csv("long.csv", index=False)
    done, typed = follow("task", "init", "long.csv", steps=1)
    assert done.exit_code == 0, done.output
    assert typed[:3] == ["task", "init", "long.csv"]


@pytest.mark.parametrize("command", [["check"], ["agreement"], ["task", "init"]])
def test_several_files_are_read_as_one_table(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    LONG.iloc[:20].to_csv("a.csv", index=False)
    LONG.iloc[20:].to_csv("b.csv", index=False)
    done = run(*command, "a.csv", "b.csv", "--item", "item")
    assert done.exit_code == 0, done.output
    assert {"check": "36 ratings, 12 items, 3 raters", "agreement": "Agreement",
            "task": "wrote task.toml"}[command[0]] in done.output  # fmt: skip
    assert "assay run a.csv b.csv --task task.toml" in done.output or command[0] != "task"


def test_several_files_may_be_of_a_rater_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for rater, rows in LONG.groupby("rater"):
        rows.drop(columns="rater").to_csv(f"{rater}.csv", index=False)
    done, typed = follow("check", "a.csv", "b.csv", "c.csv", "--task", "single", steps=1)
    assert "36 ratings, 12 items, 3 raters" in done.output
    assert typed == ["check", "a.csv", "b.csv", "c.csv", "--task", "single", "--rater", "file"]


def test_of_several_files_only_the_wrong_name_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    LONG.iloc[:20].to_csv("first.csv", index=False)
    LONG.iloc[20:].to_csv("second.csv", index=False)
    done, typed = follow("check", "first.csv", "secnd.csv", "--json", steps=1)
    assert done.exit_code == 0, done.output
    assert typed == ["check", "first.csv", "second.csv", "--json"]
    FORM.to_csv("form.csv", index=False)
    done, typed = follow("check", "first.csv", "form.csv", steps=1)
    assert typed == ["check", "first.csv"]


def test_a_second_value_of_an_option_is_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    LONG.to_csv("a.csv", index=False)
    done = run("check", "a.csv", "--item", "item", "query")
    assert done.exit_code == 2
    assert "query is no file" in done.output


def test_a_draft_has_the_labels_that_one_model_can_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    grades = {f"q{k}": [(n * (1 + k % 4) + k) % 5 + 1 for n in range(36)] for k in range(7)}
    LONG.drop(columns="label").assign(**grades).to_csv("form.csv", index=False)
    done = run("task", "init", "form.csv")
    assert done.exit_code == 0, done.output
    assert "wrote form.toml: 4 labels" in done.output
    assert ": q4, q5, q6" in done.output
    done = run("check", "form.csv", "--task", "form.toml")
    assert done.exit_code == 0, done.output


def test_columns_of_several_questions_are_advised_together(tmp_path: Path) -> None:
    frame = LONG.rename(columns={"label": "Is it good?"}).assign(
        wrong=["Too long, Rude", "Rude", "", "Too long"] * 9, language="de"
    )
    frame.rename(columns={"wrong": "What is wrong?"}).to_csv(tmp_path / "form.csv", index=False)
    done, typed = follow("check", str(tmp_path / "form.csv"), steps=1)
    assert done.exit_code == 0, done.output
    assert typed[2:] == ["--labels", "Is it good?", "--labels", "What is wrong?"]
    assert "each is a label" in done.output


def test_the_key_of_ranked_lists_is_advised_where_no_column_is_the_item(tmp_path: Path) -> None:
    rows = [
        (f"s{q}", m, k, r, "ja" if (q * k + (r == "y") * (k % 3 == 0)) % 2 else "nein")
        for q in range(6) for m in "AB" for k in range(1, 4) for r in "xy"
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["Suchtext", "Modell", "Rang", "Bewerter", "Relevanz"])
    frame.to_csv(tmp_path / "r.csv", index=False)
    done, typed = follow("check", str(tmp_path / "r.csv"), steps=1)
    assert done.exit_code == 0, done.output
    assert typed[2:] == [
        "--labels", "Relevanz", "--item", "Suchtext", "--item", "Modell", "--item", "Rang",
        "--cluster", "Suchtext",
    ]  # fmt: skip
    assert "36 items" in done.output
    assert "6 clusters, 2 systems" in done.output


def test_a_metric_and_a_baseline_that_are_nearly_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    LONG.assign(model=["m", "new"] * 18, item=[n // 6 for n in range(36)]).to_csv("a.csv")
    typed = ["run", "a.csv", "--item", "item", "--item", "model", "--cluster", "item"]
    done = run(*typed, "--baseline", "neu")
    assert done.output.strip().splitlines()[-1].endswith("--baseline new")
    done = run(*typed, "--metric", "rate[lable=x]")
    assert "--metric 'rate[label" in done.output.strip().splitlines()[-1]
    done = run(*typed, "--metric", "no such number")
    assert "--metric" not in done.output.strip().splitlines()[-1]
