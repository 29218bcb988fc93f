"""Data sets in several files: every file is read, and has a name of its own."""

import gzip
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from assay.io import read_ratings
from assay.io.files.file_paths import names_without_suffix, short_names

QRELS = "".join(f"{n // 5} 0 d{n} {n % 2}\n" for n in range(10))
DOCCANO = "".join(
    json.dumps({"id": n, "text": f"text {n}", "label": ["ab"[n % 2]], "Comments": []}) + "\n"
    for n in range(6)
)


def written(folder: Path, files: dict[str, str]) -> list[Path]:
    paths = [folder / name for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return paths


def zipped(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize(
    ("files", "raters"),
    [
        (["ann/qrels.txt", "bob/qrels.txt"], ["ann/qrels.txt", "bob/qrels.txt"]),
        (["ann.txt", "bob.txt"], ["ann.txt", "bob.txt"]),
    ],
)
def test_qrels_in_files_of_one_name_are_raters_of_their_own(
    files: list[str], raters: list[str], tmp_path: Path
) -> None:
    named = dict.fromkeys(files, QRELS)
    for source in (written(tmp_path, named), zipped(tmp_path / "all.zip", named)):
        ratings = read_ratings(source)
        assert ratings.raters.index.tolist() == raters
        assert len(ratings.answers) == 20


@pytest.mark.parametrize(
    ("files", "raters"),
    [
        (["p1/admin.jsonl", "p2/admin.jsonl"], ["p1/admin", "p2/admin"]),
        (["ann.smith.jsonl", "ann.jones.jsonl"], ["ann.jones.jsonl", "ann.smith.jsonl"]),
        (["ann.jsonl.gz", "bob.ndjson"], ["ann", "bob"]),
        (["ann.JSONL", "bob.jsonl"], ["ann", "bob"]),
        (["ann.export", "bob.export"], ["ann", "bob"]),
    ],
)
def test_doccano_files_are_all_read(files: list[str], raters: list[str], tmp_path: Path) -> None:
    ratings = read_ratings(written(tmp_path, dict.fromkeys(files, DOCCANO)))
    assert sorted(ratings.raters.index) == raters
    assert len(ratings.answers) == 12


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    ann, bob = written(tmp_path, {"ann.jsonl": DOCCANO, "bob.jsonl": DOCCANO})
    assert len(read_ratings([ann, bob, str(ann)]).answers) == 12


def test_files_in_folders_of_a_folder_are_counted(tmp_path: Path) -> None:
    names = ["ann.jsonl", "bob.jsonl", "late/cy.jsonl", "late/more/dan.jsonl", ".old/eve.jsonl"]
    written(tmp_path, dict.fromkeys(names, DOCCANO))
    notes = {note.code: note for note in read_ratings(tmp_path).accounting.notes}
    assert notes["folders-not-read"].numbers == {"files": 2}


def test_tables_of_one_name_are_all_read(tmp_path: Path) -> None:
    table = pd.DataFrame({"item": [1, 2], "rater": ["a", "b"], "label": ["x", "y"]})
    other = table.assign(rater=["c", "d"])
    texts = {"a/ratings.csv": table.to_csv(index=False), "b/ratings.csv": other.to_csv(index=False)}
    assert len(read_ratings(written(tmp_path, texts)).answers) == 4


def test_names_have_folders_only_where_they_need_them() -> None:
    assert list(short_names(["/x/a.csv", "/y/b.csv"]).values()) == ["a.csv", "b.csv"]
    assert list(short_names(["a.csv", "x/a.csv"]).values()) == ["a.csv", "x/a.csv"]
    assert list(short_names(["/a.csv"]).values()) == ["a.csv"]
    assert list(names_without_suffix(["x/a.csv", "b.jsonl.gz"]).values()) == ["x/a", "b"]
