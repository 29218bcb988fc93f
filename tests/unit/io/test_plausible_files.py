"""Plausible files: each is read whole, with a note, or refused with the next command."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from reader_notes import note_of
from refusals import refusal
from typer.testing import CliRunner

from assay._util.errors import RatingsError
from assay.cli import app
from assay.data.ratings import Ratings
from assay.io import read_ratings

ROWS = 72


LONG = pd.DataFrame(
    {
        "item": [f"u{n // 3}" for n in range(ROWS)],
        "rater": ["Ann", "Bob", "Cy"] * (ROWS // 3),
        "label": ["xyz"[(n // 3 + (n % 3) * (n % 5 == 0)) % 3] for n in range(ROWS)],
    }
)


WIDE = LONG.pivot(index="item", columns="rater", values="label").reset_index()


def followed(source: Any, **named: Any) -> tuple[Ratings, dict[str, Any]]:
    """Read a source with what its refusals end with; return also the arguments."""
    for _ in range(3):
        try:
            return read_ratings(source, **named), named
        except RatingsError as error:
            if not error.go_on:
                raise
            named |= error.go_on
    return read_ratings(source, **named), named


def codes(ratings: Ratings) -> list[str]:
    return [getattr(note, "code", "") for note in ratings.accounting.notes]


COUNTS = ["n", "Anzahl", "Stimmen", "num_votes", "nombre", "votos", "aantal", "票数", "Zahl", "x"]


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("item", ["item", "Satz"])
def test_numbers_of_votes_count_whatever_their_column_is_called(name: str, item: str) -> None:
    counts = LONG.groupby(["item", "label"]).size().reset_index(name=name)
    counts[name] += counts.index % 2
    ratings, _ = followed(counts.rename(columns={"item": item}))
    assert len(ratings.answers) == counts[name].sum()
    assert len(ratings.items) == ROWS // 3


def test_other_whole_numbers_are_no_votes() -> None:
    years = LONG.drop(columns="rater").assign(year=[1950 + n for n in range(ROWS)])
    _, named = followed(years)
    assert named == {"rater": "row"}


NO_ANSWERS = [
    "keine Angabe", "weiß nicht", "k.A.", "nicht beurteilbar", "je ne sais pas", "ns/nc", "no sé",
    "não sei", "non so", "weet niet", "nie wiem", "не знаю", "不知道",
    "わからない", "don\u2019t know",
]  # fmt: skip


@pytest.mark.parametrize("word", NO_ANSWERS)
def test_words_for_no_answer_are_known_in_other_languages(word: str) -> None:
    frame = LONG.assign(label=LONG["label"].where(LONG.index % 9 > 0, word))
    note = next(n for n in read_ratings(frame).accounting.notes if "may mean no answer" in n)
    assert word in note


@pytest.mark.parametrize("name", ["Final", "final_label", "Adjudicated", "Consensus", "Majority",
                                  "majority_vote", "Mehrheit", "gold"])  # fmt: skip
def test_what_is_made_of_the_raters_is_no_rater(name: str) -> None:
    ratings, named = followed(WIDE.assign(**{name: WIDE["Ann"]}))
    assert named == {"wide": ["Ann", "Bob", "Cy"]}
    assert list(ratings.raters.index) == ["Ann", "Bob", "Cy"]


@pytest.mark.parametrize("name", ["category", "label", "class", "Kategorie"])
def test_a_column_that_describes_items_is_no_answer_beside_those_of_raters(name: str) -> None:
    frame = WIDE.assign(**{name: [("news", "blog")[n % 2] for n in range(len(WIDE))]})
    ratings, named = followed(frame)
    assert named == {"wide": ["Ann", "Bob", "Cy"]}
    assert ratings.task.labels[0].classes == ("x", "y", "z")


def test_the_answers_of_one_rater_beside_attributes_are_answers() -> None:
    frame = WIDE[["item"]].assign(
        label=[("good", "bad")[n % 2] for n in range(len(WIDE))], form="m", who="ann"
    )
    assert followed(frame)[0].task.labels[0].classes == ("bad", "good")


@pytest.mark.parametrize("name", ["Sorte", "topic"])
@pytest.mark.parametrize("size", [5, 14, 24])
def test_a_column_of_many_classes_is_named_by_the_refusal(name: str, size: int) -> None:
    classes = [f"T{(n // 3 + (n % 7 == 0)) % size}" for n in range(ROWS)]
    frame = LONG[["item", "rater"]].assign(**{name: classes})
    ratings, named = followed(frame)
    assert named in ({}, {"labels": name})
    assert len(ratings.task.labels[0].classes) == size


@pytest.mark.parametrize("name", ["label", "response"])
def test_values_that_hardly_repeat_are_no_classes(name: str) -> None:
    texts = [f"reply {n}" for n in range(ROWS)]
    frame = LONG[["item", "rater"]].assign(**{name: texts})
    with pytest.raises(RatingsError, check=refusal("too-many-classes")):
        read_ratings(frame)
    assert len(read_ratings(frame, labels=name).task.labels[0].classes) == ROWS


def test_shares_in_per_cent_are_scores() -> None:
    frame = LONG.assign(label=[f"{(37 * n) % 101}%" for n in range(ROWS)])
    ratings, named = followed(frame)
    assert named["score"] == "label"
    assert ratings.scores.max() <= 1
    assert len(ratings.answers) == ROWS


def test_a_line_of_totals_has_no_class() -> None:
    total = pd.DataFrame({"item": ["Summe"], "rater": [""], "label": [str(ROWS)]})
    ratings = read_ratings(pd.concat([LONG, total], ignore_index=True))
    assert ratings.task.labels[0].classes == ("x", "y", "z")
    assert ratings.accounting.rows_used == ROWS


@pytest.mark.parametrize("sign", ["+", " + ", "&", " & "])
def test_options_are_joined_by_plus_or_and(sign: str) -> None:
    chosen = [["a"], ["b"], ["a", "b"], ["c"], ["b", "c"], ["a", "b", "c"]]
    words = [sign.join(chosen[(n // 3 + (n % 5 == 0)) % 6]) for n in range(ROWS)]
    assert read_ratings(LONG.assign(label=words)).task.label_names == ("a", "b", "c")


@pytest.mark.parametrize("names", [("R&D", "R", "D"), ("A+", "A", "B"), ("x+y", "x", "z")])
def test_signs_in_names_join_nothing(names: tuple[str, ...]) -> None:
    words = [names[(n // 3 + (n % 5 == 0)) % 3] for n in range(ROWS)]
    assert set(read_ratings(LONG.assign(label=words)).task.labels[0].classes) == set(names)


def test_models_in_a_list_of_judgments_are_raters(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    records = [
        {"custom_id": f"q{n}", "judgments": [
            {"model": m, "output": {"score": 1 + (n + k) % 5}} for k, m in enumerate("abc")]}
        for n in range(24)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, records)))
    ratings, _ = followed(path)
    assert list(ratings.raters.index) == ["a", "b", "c"]
    assert len(ratings.items) == 24


def test_where_one_rater_judged_criteria_each_row_is_an_item(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "inputs.question": [f"q{n}" for n in range(40)],
            "run": [f"exp{n % 2}" for n in range(40)],
            "feedback.correctness": [n % 2 for n in range(40)],
            "feedback.helpful": [n // 2 % 2 for n in range(40)],
        }
    )
    ratings, named = followed(frame)
    assert named["item"] == ["inputs.question"]
    assert len(ratings.items) == 40


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_rows_of_questions_under_the_header_are_left_out(kind: str, tmp_path: Path) -> None:
    turned = WIDE.set_index("item").T
    turned.columns = pd.Index([f"Q{n + 1}" for n in range(turned.shape[1])])
    form = turned.reset_index(drop=True)
    form.insert(0, "ResponseId", [f"R_{n}" for n in range(len(form))])
    texts = {c: f"Is reply {c} right?" for c in form}
    names = {c: json.dumps({"ImportId": c}) for c in form}
    whole = pd.concat([pd.DataFrame([texts, names]), form], ignore_index=True)
    path = tmp_path / f"export.{kind}"
    if kind == "csv":
        whole.to_csv(path, index=False)
    else:
        pytest.importorskip("openpyxl")
        whole.to_excel(path, index=False)
    ratings, named = followed(path)
    assert "wide_items" in named
    assert (len(ratings.items), len(ratings.raters), len(ratings.answers)) == (24, 3, ROWS)
    assert "title-rows" in codes(ratings)


def test_whole_numbers_of_a_wide_table_are_codes_and_the_note_of_run_says_so(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "grades.csv")
    WIDE.replace({"x": "1", "y": "2", "z": "3"}).to_csv(path, index=False)
    wide = ["check", path, "--wide", "Ann", "Bob", "Cy"]
    told = CliRunner().invoke(app, wide, env={"COLUMNS": "400"}).output
    assert "If they are grades, give --ordered" in told
    done = CliRunner().invoke(app, [*wide, "--ordered"], env={"COLUMNS": "400"})
    assert done.exit_code == 0
    assert "read as codes" not in done.output


def test_lists_called_annotators_and_labels_belong_together(tmp_path: Path) -> None:
    path = tmp_path / "nested.json"
    groups = LONG[LONG.index % 11 > 0].groupby("item")
    records = [
        {"id": item, "annotators": list(one["rater"]), "labels": list(one["label"])}
        for item, one in groups
    ]
    path.write_text(json.dumps(records))
    ratings = read_ratings(path)
    assert sorted(ratings.raters.index) == ["Ann", "Bob", "Cy"]
    assert len(ratings.answers) == (LONG.index % 11 > 0).sum()


def test_a_file_of_numbers_without_a_header_loses_no_row(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    codes = LONG.apply(lambda column: column.astype("category").cat.codes)
    codes.to_csv(path, index=False, header=False)
    ratings, named = followed(path)
    assert named == {"item": "column 1", "rater": "column 2", "labels": "column 3"}
    assert len(ratings.answers) == ROWS


def test_numbered_columns_are_a_header(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    WIDE.drop(columns="item").replace({"x": "0", "y": "1", "z": "2"}).to_csv(
        path, index=False, header=["0", "1", "2"]
    )
    ratings, _ = followed(path)
    assert (len(ratings.items), len(ratings.raters)) == (24, 3)


def test_names_within_names_may_be_items_within_raters(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    held = {
        r: dict(zip(one["item"], one["label"], strict=True)) for r, one in LONG.groupby("rater")
    }
    path.write_text(json.dumps(held))
    ratings = read_ratings(path)
    assert "outer-names" in codes(ratings)
    assert (len(ratings.items), len(ratings.raters)) == (24, 3)
    other = read_ratings(path, item="rater", rater="task")
    assert (len(other.items), len(other.raters)) == (3, 24)
    people = {f"text {k}": {f"worker {i}": v for i, v in one.items()} for k, one in held.items()}
    path.write_text(json.dumps(people))
    ratings = read_ratings(path)
    assert "outer-names" not in codes(ratings)
    assert (len(ratings.items), len(ratings.raters)) == (3, 24)
    path.write_text(json.dumps({i: dict(zip(one["rater"], one["label"], strict=True))
                                for i, one in LONG.groupby("item")}))  # fmt: skip
    assert "outer-names" not in codes(read_ratings(path))


def book(path: Path, **sheets: pd.DataFrame) -> Path:
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(path) as writer:
        for name, frame in sheets.items():
            frame.to_excel(writer, sheet_name=name, index=False)
    return path


def test_a_sheet_for_each_rater_is_read_by_the_command_of_the_refusal(tmp_path: Path) -> None:
    own = {r: one.drop(columns="rater") for r, one in LONG.groupby("rater")}
    path = book(tmp_path / "raters.xlsx", **own)
    ratings, named = followed(path)
    assert named == {"sheet": "*", "rater": "sheet"}
    assert list(ratings.raters.index) == ["Ann", "Bob", "Cy"]
    wanted = read_ratings(LONG)
    assert len(ratings.answers) == len(wanted.answers) == ROWS
    assert (ratings.answers[ratings.rater == 1] == wanted.answers[wanted.rater == 1]).all()
    assert "sheets-joined" in codes(ratings)


def test_a_guide_beside_the_sheets_of_the_raters_is_left_out_and_named(tmp_path: Path) -> None:
    own = {r: one.drop(columns="rater") for r, one in LONG.groupby("rater")}
    guide = pd.DataFrame(
        {"How to rate": ["x is for ...", "y is for ..."], "More": ["", "see text"]}
    )
    path = book(tmp_path / "raters.xlsx", Guide=guide, **own, Title=pd.DataFrame({"Pilot": []}))
    ratings, named = followed(path)
    assert named == {"sheet": "*", "rater": "sheet"}
    assert list(ratings.raters.index) == ["Ann", "Bob", "Cy"]
    assert len(ratings.answers) == ROWS
    assert "Guide" in note_of(ratings, "sheets-joined")


def test_no_sheet_is_left_out_that_has_columns_of_the_ratings(tmp_path: Path) -> None:
    own = {r: one.drop(columns="rater") for r, one in LONG.groupby("rater")}
    own["Cy"] = own["Cy"].assign(comment="?")
    path = book(tmp_path / "raters.xlsx", **own)
    with pytest.raises(RatingsError, check=refusal("unknown-sheet")):
        read_ratings(path, sheet="*")


def test_batches_in_sheets_keep_their_raters(tmp_path: Path) -> None:
    path = book(tmp_path / "batches.xlsx", one=LONG[:36], two=LONG[36:])
    with pytest.raises(
        RatingsError, match=r"sheet='\*'", check=refusal("several-sheets")
    ) as caught:
        read_ratings(path)
    assert caught.value.go_on == {"sheet": "one"}  # the other may be a trial of the same items
    ratings = read_ratings(path, sheet="*")
    assert (len(ratings.raters), len(ratings.answers)) == (3, ROWS)


def test_sheets_of_different_columns_are_no_table(tmp_path: Path) -> None:
    path = book(tmp_path / "mixed.xlsx", ratings=LONG, texts=WIDE)
    _, named = followed(path)
    assert named == {"sheet": "ratings"}
    with pytest.raises(RatingsError, check=refusal("unknown-sheet")):
        read_ratings(path, sheet="*")


def long(words: list[str]) -> pd.DataFrame:
    rows = [(f"i{n}", r, words[(n + (r == "b") * (n % 4 == 0)) % len(words)])
            for n in range(12) for r in "ab"]  # fmt: skip
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def notes(ratings: Ratings, code: str) -> list[str]:
    return [str(n) for n in ratings.accounting.notes if getattr(n, "code", "") == code]


@pytest.mark.parametrize("word", ["NA", "null", "nan", "N/A", "na"])
def test_a_word_that_is_read_as_no_answer_is_named(word: str) -> None:
    frame = long([word, "US", "DE"])
    ratings = read_ratings(frame)
    note = note_of(ratings, "empty-words")
    assert note.numbers == {"cells": 8}
    assert f"{word} (8 cells) in label" in note
    named = read_ratings(frame, classes={"label": {word: f"class {word}"}})
    assert set(named.task.labels[0].classes) == {f"class {word}", "US", "DE"}
    assert (named.answers >= 0).all()
    assert notes(named, "empty-words") == []


def test_empty_cells_are_no_words() -> None:
    assert notes(read_ratings(long(["", "US", "DE"])), "empty-words") == []


def test_words_of_no_answer_in_columns_of_raters_are_named() -> None:
    frame = pd.DataFrame({"item": range(12), "ann": ["PASS", "N/A", "FAIL"] * 4,
                          "bob": ["PASS", "FAIL", "N/A"] * 4})  # fmt: skip
    ratings = read_ratings(frame, wide=["ann", "bob"])
    assert "N/A among them" in notes(ratings, "columns-read")[0]
    words = {"label": {"N/A": "not to be judged"}}
    assert len(read_ratings(frame, wide=["ann", "bob"], classes=words).answers) == 24


def test_a_header_that_stands_in_the_file_again_is_no_rating(tmp_path: Path) -> None:
    text = long(["x", "y"]).to_csv(index=False)
    (tmp_path / "both.csv").write_text(text + text.replace("i", "k").replace("ktem", "item"))
    ratings = read_ratings(tmp_path / "both.csv")
    assert ratings.task.labels[0].classes == ("x", "y")
    assert (len(ratings.answers), len(ratings.raters)) == (48, 2)
    assert notes(ratings, "header-again")


def test_merged_cells_of_a_sheet_have_their_value(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["Study of tone"])
    book.active.merge_cells("A1:C1")
    book.active.append(["item", "rater", "label"])
    for n in range(12):
        for rater in "ab":
            book.active.append([f"i{n}" if rater == "a" else None, rater, "xy"[n % 2]])
        book.active.merge_cells(f"A{3 + 2 * n}:A{4 + 2 * n}")
    book.save(tmp_path / "merged.xlsx")
    ratings = read_ratings(tmp_path / "merged.xlsx")
    assert (len(ratings.answers), len(ratings.items), len(ratings.raters)) == (24, 12, 2)
    assert note_of(ratings, "merged-cells").numbers == {"cells": 12}


@pytest.mark.parametrize(
    ("words", "said"),
    [(["01", "02", "1"], "01 is 1"), (["1e2", "100", "3"], "1e2 is 100"), (["1.0", "1", "2"], "")],
)
def test_numbers_that_are_one_class_are_named(words: list[str], said: str) -> None:
    found = notes(read_ratings(long(words)), "equal-numbers")
    assert [said in text for text in found] == [True] * bool(said)


def test_lists_of_records_under_several_keys_are_one_table(tmp_path: Path) -> None:
    records = json.loads(long(["x", "y"]).to_json(orient="records"))
    (tmp_path / "splits.json").write_text(json.dumps({"train": records[:12], "test": records[12:]}))
    assert len(read_ratings(tmp_path / "splits.json").answers) == 24
    by_rater = {who: [{k: v for k, v in one.items() if k != "rater"} for one in records
                      if one["rater"] == who] for who in "ab"}  # fmt: skip
    (tmp_path / "raters.json").write_text(json.dumps(by_rater))
    assert list(read_ratings(tmp_path / "raters.json", rater="list").raters.index) == ["a", "b"]


def test_bytes_are_text() -> None:
    frame = long(["x", "y"])
    frame["label"] = [word.encode() for word in frame["label"]]
    assert read_ratings(frame).task.labels[0].classes == ("x", "y")


def test_lines_of_two_encodings_are_each_read_in_their_own(tmp_path: Path) -> None:
    text = long(["gr\u00fcn", "rot", "wei\u00df"]).to_csv(index=False)
    half = text.index("i6")
    data = text[:half].encode("utf-8") + text[half:].encode("cp1252")
    (tmp_path / "both.csv").write_bytes(data)
    ratings = read_ratings(tmp_path / "both.csv")
    assert ratings.task.labels[0].classes == ("gr\u00fcn", "rot", "wei\u00df")
    assert "two encodings" in notes(ratings, "encoding-found")[0]


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_hidden_sheets_are_named_and_not_chosen(tmp_path: Path, state: str) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "study.xlsx"
    rows = [(n // 2, "ab"[n % 2], "xyxxy"[n % 5]) for n in range(20)]
    book = openpyxl.Workbook()
    for name, size in (("old", 20), ("final", 10)):
        sheet = book.create_sheet(name)
        for row in [("item", "rater", "label"), *rows[:size]]:
            sheet.append(row)
    book["old"].sheet_state = state
    book.save(path)
    ratings = read_ratings(path)
    assert len(ratings.answers) == 10
    assert "not read: old. To read one, give `sheet='old'`" in notes(ratings, "hidden-sheets")[0]
    ratings = read_ratings(path, sheet="old")
    assert len(ratings.answers) == 20
    assert notes(ratings, "hidden-sheets") == ["sheet old is hidden in the file"]
    book.create_sheet("other").append(("item", "rater", "label"))
    book["other"].append((1, "a", "x"))
    book.save(path)
    with pytest.raises(
        RatingsError,
        match=r"3 sheets: old \(hidden\), final, other",
        check=refusal("several-sheets"),
    ) as caught:
        read_ratings(path)
    assert caught.value.go_on == {"sheet": "final"}


EACH = [*"xyxyx"] * 4


@pytest.mark.parametrize("more", [{"id": range(20)}, {"model": ["m", "n"] * 10}])
def test_rows_of_a_wide_table_with_equal_texts_are_items_of_their_own(
    more: dict[str, object],
) -> None:
    texts = [f"q{n // 2}" for n in range(20)]
    frame = pd.DataFrame({**more, "question": texts, "Ann": EACH, "Bob": EACH[::-1]})
    ratings = read_ratings(frame, wide=["Ann", "Bob"])
    assert (len(ratings.items), len(ratings.answers)) == (20, 40)


def test_rows_of_one_text_that_nothing_tells_apart_are_asked_about() -> None:
    texts = [f"q{n // 2}" for n in range(20)]
    frame = pd.DataFrame({"question": texts, "Ann": EACH, "Bob": EACH[::-1]})
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame, wide=["Ann", "Bob"])
    assert caught.value.code == "repeated-ratings"


WIDE_OF_R = '"X1" "X2" "X3"\n' + "".join(f'"case no {n}" {n % 2} {n % 3 % 2} 1\n' for n in range(9))


LONG_OF_R = '"item","rater","label"\n' + "".join(
    f'"{n}","i{n // 2}","{"ab"[n % 2]}","{"xyy"[n % 3]}"\n' for n in range(24)
)


def test_names_of_rows_are_kept_that_have_no_name_in_the_header(tmp_path: Path) -> None:
    path = tmp_path / "r.txt"
    path.write_text(WIDE_OF_R, encoding="utf-8")
    ratings = read_ratings(path, wide=["X1", "X2", "X3"])
    assert list(ratings.items.index) == [f"case no {n}" for n in range(9)]
    assert notes(ratings, "nameless-columns")
    path.write_text(LONG_OF_R, encoding="utf-8")
    ratings = read_ratings(path)
    assert (len(ratings.items), len(ratings.raters), len(ratings.answers)) == (12, 2, 24)
    path.write_text(WIDE_OF_R.replace(" ", ",").replace('"X1"', '"","X1"'), encoding="utf-8")
    ratings = read_ratings(path, wide=["X1", "X2", "X3"])
    assert list(ratings.items.index)[:2] == ["case,no,0", "case,no,1"]
