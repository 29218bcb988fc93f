"""What may be lost or turned into something else: each such file is read whole, or with a note."""

import json
from pathlib import Path

import pandas as pd
import pytest
from reader_notes import note_of
from refusals import refusal

from assay._util.errors import RatingsError
from assay.data.ratings import Ratings
from assay.io import read_ratings


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


WIDE = '"X1" "X2" "X3"\n' + "".join(f'"case no {n}" {n % 2} {n % 3 % 2} 1\n' for n in range(9))
LONG_OF_R = '"item","rater","label"\n' + "".join(
    f'"{n}","i{n // 2}","{"ab"[n % 2]}","{"xyy"[n % 3]}"\n' for n in range(24)
)


def test_names_of_rows_are_kept_that_have_no_name_in_the_header(tmp_path: Path) -> None:
    path = tmp_path / "r.txt"
    path.write_text(WIDE, encoding="utf-8")
    ratings = read_ratings(path, wide=["X1", "X2", "X3"])
    assert list(ratings.items.index) == [f"case no {n}" for n in range(9)]
    assert notes(ratings, "nameless-columns")
    path.write_text(LONG_OF_R, encoding="utf-8")
    ratings = read_ratings(path)
    assert (len(ratings.items), len(ratings.raters), len(ratings.answers)) == (12, 2, 24)
    path.write_text(WIDE.replace(" ", ",").replace('"X1"', '"","X1"'), encoding="utf-8")
    ratings = read_ratings(path, wide=["X1", "X2", "X3"])
    assert list(ratings.items.index)[:2] == ["case,no,0", "case,no,1"]
