"""Kinds of files, encodings and shapes of JSON: the same study gives the same ratings from each."""

import bz2
import gzip
import io
import json
import lzma
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay._util.errors import ArgumentError, RatingsError
from assay.data.ratings import Ratings
from assay.io import read_ratings
from assay.io.files.encodings import decode_text
from tests.refusals import refusal

WORDS = ["gut", "mäßig", "schlecht"]
STUDY = pd.DataFrame(
    [
        (f"t{n}", rater, WORDS[(n * (1 + k) + k // 2) % 3])
        for n in range(12)
        for k, rater in enumerate(["Ann", "Jäger", "Müller"])
    ],
    columns=["item", "rater", "label"],
)


def same(one: Ratings, two: Ratings) -> None:
    """Hold two readings of one study against each other."""
    assert one.items.index.tolist() == two.items.index.tolist()
    assert one.raters.index.tolist() == two.raters.index.tolist()
    assert one.task.labels[0].classes == two.task.labels[0].classes
    for name in ("answers", "item", "rater", "replicate"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


REFERENCE = read_ratings(STUDY)


def codes(ratings: Ratings) -> list[str]:
    return [getattr(note, "code", "") for note in ratings.accounting.notes]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "mac_roman"])
def test_delimited_text_is_read_in_any_encoding(
    separator: str, encoding: str, tmp_path: Path
) -> None:
    path = tmp_path / "study.txt"
    path.write_text(STUDY.to_csv(index=False, sep=separator), encoding=encoding)
    ratings = read_ratings(path)
    same(ratings, REFERENCE)
    assert ("encoding-found" in codes(ratings)) == (not encoding.startswith("utf-8"))


def test_the_encoding_that_is_named_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "study.csv"
    path.write_bytes(STUDY.to_csv(index=False).encode("cp850"))
    same(read_ratings(path, encoding="cp850"), REFERENCE)
    with pytest.raises(ArgumentError, check=refusal("unknown-encoding")):
        read_ratings(path, encoding="latin-0")
    with pytest.raises(RatingsError, check=refusal("encoding")):
        read_ratings(path, encoding="utf-8")


def test_columns_may_be_separated_by_spaces(tmp_path: Path) -> None:
    path = tmp_path / "study.txt"
    path.write_text(STUDY.to_csv(index=False, sep=" ").replace(" ", "   "), encoding="utf-8")
    same(read_ratings(path), REFERENCE)


@pytest.mark.parametrize("separator", [",", "\t", " "])
def test_without_a_header_columns_have_numbers_and_the_first_line_is_a_row(
    separator: str, tmp_path: Path
) -> None:
    path = tmp_path / "study.txt"
    path.write_text(STUDY.to_csv(index=False, header=False, sep=separator), encoding="utf-8")
    with pytest.raises(RatingsError, check=refusal("no-item")) as caught:
        read_ratings(path)
    ratings = read_ratings(path, **caught.value.go_on)
    same(ratings, REFERENCE)
    assert "no-header" in codes(ratings)
    empty = path.read_text(encoding="utf-8").replace(f"t0{separator}Müller", f"t0{separator}", 1)
    path.write_text(empty, encoding="utf-8")
    if separator != " ":
        again = read_ratings(path, **caught.value.go_on)
        assert again.accounting.set_aside["line"].tolist() == [3]


TEXTS = {
    "French": ("item,juge,note\n1,Hélène,très bon\n2,François,moyen\n", ["cp1252", "mac_roman"]),
    "Polish": ("item,kto\n1,Łukasz zły\n2,Żaneta świetny\n3,Gęś dość\n", ["cp1250", "iso8859_2"]),
    "Russian": ("item,эксперт\n1,Иванов хорошо\n2,Петров плохо\n", ["cp1251", "koi8_r"]),
    "Greek": ("item,κριτής\n1,Γιώργος καλό\n2,Μαρία κακό\n", ["cp1253"]),
    "Japanese": ("item,評価者,評価\n1,田中,良い\n2,鈴木,悪い\n3,佐藤,普通\n", ["cp932"]),
    "Chinese": ("item,评审,评价\n1,王伟,好\n2,李娜,差\n3,张敏,一般\n", ["gb18030"]),
    "one word": ("item,rater\n1,José\n2,Smith\n", ["cp1252"]),
    "quotes": ("item,rater\n1,O\u2019Brien\n2,Smith \u2013 Jones\n", ["cp1252"]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_encoding_of_a_short_text_is_found(name: str) -> None:
    text, encodings = TEXTS[name]
    for encoding in encodings:
        found, notes = decode_text(text.encode(encoding), "file")
        assert found == text
        assert [note.code for note in notes] == ["encoding-found"]


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(bytes(range(256)) * 40)
    with pytest.raises(RatingsError, check=refusal("binary-file")):
        read_ratings(path)


def to_feather(path: Path) -> None:
    STUDY.to_feather(path)


def to_stream(path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pandas(STUDY)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def to_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("folder/study.csv", STUDY.to_csv(index=False))


WAYS: dict[str, Any] = {
    "parquet": lambda path: STUDY.to_parquet(path),
    "feather": to_feather,
    "arrow stream": to_stream,
    "zip": to_zip,
    "csv.gz": lambda path: path.write_bytes(gzip.compress(STUDY.to_csv(index=False).encode())),
    "csv.bz2": lambda path: path.write_bytes(bz2.compress(STUDY.to_csv(index=False).encode())),
    "csv.xz": lambda path: path.write_bytes(lzma.compress(STUDY.to_csv(index=False).encode())),
    "json": lambda path: STUDY.to_json(path, orient="records"),
    "jsonl": lambda path: STUDY.to_json(path, orient="records", lines=True),
    "jsonl.gz": lambda path: path.write_bytes(
        gzip.compress(STUDY.to_json(orient="records", lines=True).encode())
    ),
    "json of columns": lambda path: STUDY.to_json(path),
    "json of lists": lambda path: path.write_text(json.dumps(STUDY.to_dict("list"))),
    "json split": lambda path: STUDY.to_json(path, orient="split"),
    "json by index": lambda path: STUDY.to_json(path, orient="index"),
    "json of a table": lambda path: STUDY.to_json(path, orient="table", index=False),
    "json of rows": lambda path: path.write_text(
        json.dumps([list(STUDY.columns), *STUDY.to_numpy().tolist()])
    ),
    "nested json": lambda path: path.write_text(
        json.dumps(
            {"version": 2, "data": [
                {"item": {"id": name}, "ratings": [
                    {"rater": {"name": r}, "label": x}
                    for r, x in zip(g.rater, g.label, strict=True)
                ]}
                for name, g in STUDY.groupby("item", sort=False)
            ]}
        )
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_study_is_the_same_in_every_kind_of_file(way: str, tmp_path: Path) -> None:
    path = tmp_path / "study"
    WAYS[way](path)
    same(read_ratings(path), REFERENCE)


def test_nested_records_keep_the_place_of_each_rating(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    records = [{"item": n, "ratings": [{"rater": "a", "label": "x"}, {"label": "y"}]} for n in "ab"]
    path.write_text("\n\n".join(map(json.dumps, records)))
    ratings = read_ratings(path)
    assert ratings.accounting.set_aside["line"].tolist() == [1, 3]
    assert ratings.accounting.reasons == {"no rater": 2}


def test_standard_input_is_a_file_called_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    data = STUDY.to_csv(index=False, sep=";").encode("cp1252")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    ratings = read_ratings("-")
    same(ratings, REFERENCE)
    assert ratings.accounting.source == "standard input"


class TestSpreadsheets:
    @pytest.fixture(autouse=True)
    def _needs_excel(self) -> None:
        pytest.importorskip("openpyxl")

    def test_the_only_filled_sheet_is_read_under_its_title(self, tmp_path: Path) -> None:
        path = tmp_path / "study.xlsx"
        with pd.ExcelWriter(path) as book:
            pd.DataFrame().to_excel(book, sheet_name="Tabelle2")
            STUDY.to_excel(book, sheet_name="Tabelle1", index=False, startrow=2)
            book.sheets["Tabelle1"]["A1"] = "Auswertung"
        ratings = read_ratings(path)
        same(ratings, REFERENCE)
        assert "title-rows" in codes(ratings)

    def test_of_several_sheets_one_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "study.xlsx"
        with pd.ExcelWriter(path) as book:
            STUDY.to_excel(book, sheet_name="Antworten", index=False)
            STUDY.head(3).to_excel(book, sheet_name="Probe", index=False)
        with pytest.raises(RatingsError, check=refusal("several-sheets")) as caught:
            read_ratings(path)
        assert caught.value.go_on == {"sheet": "Antworten"}
        same(read_ratings(path, **caught.value.go_on), REFERENCE)
        with pytest.raises(RatingsError, check=refusal("unknown-sheet"), match="Probe"):
            read_ratings(path, sheet="Prob")

    def test_decimal_commas_are_numbers_and_places_are_rows_of_the_sheet(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "study.xlsx"
        scored = STUDY.assign(label=["gut", "schlecht"] * 18, confidence=["0,75", "1", "0,5"] * 12)
        scored.loc[4, "rater"] = None
        scored.to_excel(path, index=False)
        ratings = read_ratings(path)
        assert np.nanmin(ratings.scores) == 0.0
        assert set(np.unique(ratings.scores[np.isfinite(ratings.scores)])) == {
            0,
            0.25,
            0.5,
            0.75,
            1,
        }
        assert any("decimal commas" in note for note in ratings.accounting.notes)
        assert ratings.accounting.set_aside["line"].tolist() == [6]

    def test_without_a_package_the_extra_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "study.xlsx"
        STUDY.to_excel(path, index=False)
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(RatingsError, check=refusal("excel-missing"), match=r"assay\[excel\]"):
            read_ratings(path)


def test_decimal_commas_of_a_german_csv_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "study.csv"
    rows = [f"t{n // 2};{'ab'[n % 2]};{'ja' if n % 3 else 'nein'};0,{n % 9}5" for n in range(20)]
    path.write_bytes("\r\n".join(["item;rater;label;score", *rows]).encode("cp1252"))
    ratings = read_ratings(path)
    assert ratings.scores[:3, 0].tolist() == [0.05, 0.15, 0.25]


def test_classes_of_a_hugging_face_dataset_have_their_names(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    names = sorted(set(STUDY.label))
    coded = STUDY.assign(label=STUDY.label.map(names.index))
    feature = {"names": names, "_type": "ClassLabel"}
    about = json.dumps({"info": {"features": {"label": feature, "item": {"_type": "Value"}}}})
    table = pa.Table.from_pandas(coded).replace_schema_metadata({"huggingface": about})
    parquet.write_table(table, tmp_path / "study.parquet")
    same(read_ratings(tmp_path / "study.parquet"), REFERENCE)

    class Dataset:
        def __init__(self) -> None:
            self.features = {"label": SimpleNamespace(names=names), "item": SimpleNamespace()}

        def to_pandas(self) -> pd.DataFrame:
            return coded

    same(read_ratings(Dataset()), REFERENCE)  # type: ignore[arg-type]


def test_half_characters_of_json_are_question_marks(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    rows = [{"item": f"{n}\ud83d", "rater": "\U0001f600", "label": "xy"[n % 2]} for n in range(4)]
    path.write_text(json.dumps(rows))
    ratings = read_ratings(path)
    assert ratings.items.index.tolist() == ["0?", "1?", "2?", "3?"]
    assert ratings.raters.index.tolist() == ["\U0001f600"]
