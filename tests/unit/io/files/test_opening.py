"""Files that end early or are damaged are refused, and never read in part."""

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reader_notes import note_of
from refusals import refusal

import assay
from assay._util.errors import RatingsError
from assay.data.ratings import Ratings
from assay.io import read_ratings
from tests.studies import FIXTURES

STUDY = pd.DataFrame(
    [(f"item{n}", rater, "xy"[(n + k) % 2]) for n in range(90) for k, rater in enumerate("ab")],
    columns=["item", "rater", "label"],
)


def label_studio() -> bytes:
    result = {"from_name": "mood", "to_name": "text", "type": "choices"}
    tasks = [
        {"id": n, "data": {"text": f"text {n}"}, "annotations": [
            {"id": 10 * n + k, "completed_by": k, "result": [
                result | {"value": {"choices": ["xy"[(n + k) % 2]]}}
            ]} for k in range(2)
        ]} for n in range(6)
    ]  # fmt: skip
    return json.dumps(tasks).encode()


def parquet() -> bytes:
    buffer = io.BytesIO()
    STUDY.to_parquet(buffer)
    return buffer.getvalue()


def feather() -> bytes:
    buffer = io.BytesIO()
    STUDY.to_feather(buffer)
    return buffer.getvalue()


def stream() -> bytes:
    pa = pytest.importorskip("pyarrow")
    table, buffer = pa.Table.from_pandas(STUDY), io.BytesIO()
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=20):
            writer.write_batch(batch)
    return buffer.getvalue()


def sheet() -> bytes:
    pytest.importorskip("openpyxl")
    buffer = io.BytesIO()
    STUDY.to_excel(buffer, index=False)
    return buffer.getvalue()


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("study.csv", STUDY.to_csv(index=False))
    return buffer.getvalue()


def records(*, lines: bool) -> bytes:
    return str(STUDY.to_json(orient="records", lines=lines)).encode()


KINDS: dict[str, Callable[[], bytes]] = {
    "Label Studio": label_studio,
    "json": lambda: records(lines=False),
    "json of columns": lambda: str(STUDY.to_json()).encode(),
    "jsonl.gz": lambda: gzip.compress(records(lines=True)),
    "parquet": parquet,
    "feather": feather,
    "arrow stream": stream,
    "sheet": sheet,
    "zip": zipped,
}


def cuts(data: bytes) -> list[int]:
    """Return ends of many cut files: spread, near the end, and after each record or batch."""
    spread = np.linspace(20, len(data) - 1, 12).astype(int).tolist()
    near = [len(data) - n for n in (1, 2, 7, 8, 9, 16)]
    marks = [n for mark in (b"}, {", b"},{", b"\xff\xff\xff\xff") if (n := data.rfind(mark)) > 0]
    return sorted({*spread, *near, *marks, *(n + 1 for n in marks), *(n + 2 for n in marks)})


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_ends_early_is_refused(kind: str, tmp_path: Path) -> None:
    data = KINDS[kind]()
    path = tmp_path / "study"
    path.write_bytes(data)
    whole = len(read_ratings(path).answers)
    for end in cuts(data):
        path.write_bytes(data[:end])
        read = whole
        with suppress(RatingsError):
            read = len(read_ratings(path).answers)
        assert read == whole, f"{end} of {len(data)} bytes give {read} of {whole} ratings"


def test_json_lines_whose_last_line_is_cut_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    path.write_bytes(records(lines=True).rstrip()[:-4])
    with pytest.raises(RatingsError, match="after 179 whole records", check=refusal("json-file")):
        read_ratings(path)


def test_json_tells_how_many_records_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    path.write_bytes(records(lines=False).rstrip()[:-4])
    with pytest.raises(RatingsError, match="after 179 whole records", check=refusal("json-file")):
        read_ratings(path)


def test_a_packed_file_with_a_wrong_checksum_is_refused() -> None:
    pa = pytest.importorskip("pyarrow")
    from assay.io.files.file_paths import LOCAL_HEADER, _zstandard

    content = b"a text that was packed"
    packed = pa.compress(content, codec="zstd", asbytes=True)
    found = zipfile.ZipInfo("samples/1.json")
    found.header_offset, found.compress_size, found.file_size = 0, len(packed), len(content)
    found.CRC = zlib.crc32(content)
    assert _zstandard(bytes(LOCAL_HEADER) + packed, found) == content
    found.CRC += 1
    with pytest.raises(zipfile.BadZipFile, match="checksum"):
        _zstandard(bytes(LOCAL_HEADER) + packed, found)


@pytest.mark.parametrize("quoted", ["'why, 5", "'why 5 ''or'' so", "'", "'why, 5 ''"])
def test_a_quote_that_is_never_closed_is_refused(quoted: str, tmp_path: Path) -> None:
    path = tmp_path / "study.csv"
    rows = [f"i{n},{'ab'[n % 2]},{'xy'[n // 2 % 2]}," for n in range(12)]
    before = "item,rater,label,note\n" + "".join(f'{row}"why, 5"\n' for row in rows[:6])
    for end in ("", "\n", "\n" + "\n".join(f"{row}why" for row in rows[7:])):
        path.write_text(before + rows[6] + quoted.replace("'", '"') + end)
        with pytest.raises(RatingsError, check=refusal("unparsed-file", line=8)):
            read_ratings(path)


@pytest.mark.parametrize("note", ["''", "'a'", "'a''b'", "'''a'''", "5' pipe", "a'", "", "'a\nb'"])
def test_quotes_that_are_closed_are_read(note: str, tmp_path: Path) -> None:
    path = tmp_path / "study.csv"
    rows = [f"i{n},{'ab'[n % 2]},{'xy'[n // 2 % 2]},{note}" for n in range(12)]
    for end in ("", "\n", "\r\n"):
        path.write_text("\n".join(["item,rater,label,note", *rows]).replace("'", '"') + end)
        assert len(read_ratings(path).answers) == 12


def test_an_archive_of_wrong_places_is_refused(tmp_path: Path) -> None:
    data = bytearray(zipped())
    place = data.rindex(b"PK\x05\x06") + 16  # where the list of files would begin
    data[place : place + 4] = (int.from_bytes(data[place : place + 4], "little") + 100).to_bytes(
        4, "little"
    )
    path = tmp_path / "study.zip"
    path.write_bytes(data)
    with pytest.raises(RatingsError, check=refusal("damaged-file")):
        read_ratings(path)


LONG = pd.DataFrame(
    [(f"t{n}", rater, "xy"[(n + (rater == "b")) % 3 == 0]) for n in range(12) for rater in "abc"],
    columns=["item", "rater", "label"],
)
PARTS = [LONG.iloc[:10], LONG.iloc[10:20], LONG.iloc[20:]]
SPARK = "part-0000{n}-5f9a-c000"
HUGGING_FACE = "train-0000{n}-of-00003"


def answers(ratings: Ratings) -> set[tuple[str, str, str]]:
    classes = ratings.task.labels[0].classes
    return {
        (str(ratings.items.index[i]), str(ratings.raters.index[r]), classes[int(a)])
        for i, r, a in zip(ratings.item, ratings.rater, ratings.answers[:, 0], strict=True)
    }


def notes(ratings: Ratings, code: str) -> list[str]:
    return [str(n) for n in ratings.accounting.notes if getattr(n, "code", "") == code]


WHOLE = answers(read_ratings(LONG))
WRITE: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    ".csv": lambda part, path: part.to_csv(path, index=False),
    ".parquet": lambda part, path: part.to_parquet(path, index=False),
    ".feather": lambda part, path: part.reset_index(drop=True).to_feather(path),
    ".json": lambda part, path: part.to_json(path, orient="records"),
    ".jsonl": lambda part, path: part.to_json(path, orient="records", lines=True),
}


@pytest.mark.parametrize("named", [SPARK, HUGGING_FACE])
@pytest.mark.parametrize("suffix", WRITE)
def test_the_parts_of_a_table_are_read_as_one(suffix: str, named: str, tmp_path: Path) -> None:
    for n, part in enumerate(PARTS):
        WRITE[suffix](part, tmp_path / f"{named.format(n=n)}{suffix}")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "_metadata.json").write_text("{}")
    (tmp_path / ".part.csv").write_text("crc")
    ratings = read_ratings(tmp_path)
    assert answers(ratings) == WHOLE
    assert note_of(ratings, "files-joined").numbers == {"files": 3}


def test_a_folder_of_a_value_is_a_column(tmp_path: Path) -> None:
    for rater, part in LONG.groupby("rater"):
        folder = tmp_path / f"rater={rater}%20c"
        folder.mkdir()
        part.drop(columns="rater").to_parquet(folder / "part-00000.parquet", index=False)
    ratings = read_ratings(tmp_path)
    assert set(ratings.raters.index) == {"a c", "b c", "c c"}
    assert len(ratings.answers) == 36


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_file_for_each_rater_names_the_raters(suffix: str, tmp_path: Path) -> None:
    for rater, part in LONG.groupby("rater"):
        WRITE[suffix](part.drop(columns="rater"), tmp_path / f"{rater}{suffix}")
    with pytest.raises(RatingsError) as caught:
        read_ratings(tmp_path, task="single")
    assert caught.value.go_on == {"rater": "file"}
    assert answers(read_ratings(tmp_path, task="single", rater="file")) == WHOLE


def test_files_of_an_archive_and_of_a_list_are_read_as_one(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.csv" for name in "abc"]
    for part, path in zip(PARTS, paths, strict=True):
        part.to_csv(path, index=False)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as packed:
        for path in paths:
            packed.write(path, f"export/{path.name}")
    assert answers(read_ratings(tmp_path / "all.zip")) == WHOLE
    assert answers(read_ratings(paths)) == WHOLE
    assert len(read_ratings(tmp_path / "all.zip" / "export" / "a.csv").answers) == 10


@pytest.mark.parametrize("suffix", [".CSV", ".Xlsx", ".JSONL"])
def test_the_case_of_a_suffix_does_not_matter(suffix: str, tmp_path: Path) -> None:
    write = WRITE | {".xlsx": lambda part, path: part.to_excel(path, index=False)}
    for n, (rater, part) in enumerate(LONG.groupby("rater")):
        end = suffix if n else suffix.lower()
        plain = tmp_path / f"{rater}{suffix.lower()}"
        write[suffix.lower()](part.drop(columns="rater"), plain)
        plain.rename(tmp_path / f"{rater}{end}")
    assert answers(read_ratings(tmp_path, task="single", rater="file")) == WHOLE


def test_files_that_the_caller_names_are_read_whatever_their_names(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.csv", "b.txt", "c")]
    for part, path in zip(PARTS, paths, strict=True):
        part.to_csv(path, index=False)
    assert answers(read_ratings(paths)) == WHOLE


def test_files_in_folders_beside_tables_are_named_as_unread(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    for name, part in zip(("a", "b", "more/c"), PARTS, strict=True):
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    ratings = read_ratings(tmp_path)
    assert len(ratings.answers) == 20
    assert "more/c.csv" in notes(ratings, "folders-not-read")[0]


def test_encoding_and_sheet_hold_for_each_of_several_files(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "sheets").mkdir()
    for n, part in enumerate(PARTS):
        words = part.assign(label=part["label"].replace({"x": "\u017elut\u00fd"}))
        words.to_csv(tmp_path / f"texts/{n}.csv", index=False, encoding="iso8859-2")
        with pd.ExcelWriter(tmp_path / f"sheets/{n}.xlsx") as book:
            pd.DataFrame({"note": ["about"]}).to_excel(book, sheet_name="About", index=False)
            part.to_excel(book, sheet_name="Data", index=False)
    read = read_ratings(tmp_path / "texts", encoding="iso8859-2")
    assert read.task.labels[0].classes == ("y", "\u017elut\u00fd")
    assert answers(read_ratings(tmp_path / "sheets", sheet="Data")) == WHOLE


def test_rows_are_named_with_their_file(tmp_path: Path) -> None:
    for name, part in zip("abc", PARTS, strict=True):
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "b.csv").write_text("item,rater,label\nt1,a,perhaps\n")
    classes = tmp_path / "xy.toml"
    classes.write_text('labels = [{name = "label", classes = ["x", "y"]}]')
    with pytest.raises(RatingsError, match=r"b\.csv:2", check=refusal("unknown-class")):
        read_ratings(tmp_path, task=classes)


def test_tasks_of_label_studio_in_a_file_each_are_one_export(tmp_path: Path) -> None:
    for n in range(3):
        result = [{"from_name": "tone", "type": "choices", "value": {"choices": ["xy"[n % 2]]}}]
        said = [{"id": 9 * n + k, "completed_by": k, "result": result} for k in (1, 2)]
        task = {"id": n, "data": {"text": "t"}, "annotations": said}
        (tmp_path / f"{n}.json").write_text(json.dumps([task]))
    ratings = read_ratings(tmp_path)
    assert (len(ratings.items), len(ratings.raters), len(ratings.answers)) == (3, 2, 6)


def test_the_only_table_of_a_folder_is_read(tmp_path: Path) -> None:
    LONG.to_csv(tmp_path / "ratings.csv", index=False)
    (tmp_path / "README.md").write_text("about")
    ratings = read_ratings(tmp_path)
    assert answers(ratings) == WHOLE
    assert "ratings.csv is read" in notes(ratings, "files-joined")[0]


def test_files_that_all_name_the_same_rater_may_be_of_one_rater_each(tmp_path: Path) -> None:
    for rater, part in LONG.groupby("rater"):
        part.assign(rater="1").to_csv(tmp_path / f"{rater}.csv", index=False)
    with pytest.raises(RatingsError):
        read_ratings(tmp_path, task="single")
    assert answers(read_ratings(tmp_path, task="single", rater="file")) == WHOLE
    for n, part in enumerate(PARTS):
        part.assign(rater="1").drop_duplicates("item").to_csv(tmp_path / f"{'abc'[n]}.csv")
    told = note_of(read_ratings(tmp_path, task="single", replicate="row"), "files-joined")
    assert told.numbers == {"files": 3}
    assert "the rater 1" in told


def test_files_name_the_raters_where_nothing_else_does(tmp_path: Path) -> None:
    for rater, part in LONG.groupby("rater"):
        rows = part.drop(columns="rater").assign(remark=[f"{rater}{n}" for n in range(len(part))])
        rows.assign(source=["u", "v"] * 6).to_csv(tmp_path / f"{rater}.csv", index=False)
    with pytest.raises(RatingsError) as caught:
        read_ratings(tmp_path, task="single")
    assert caught.value.go_on == {"rater": "file"}


def test_a_file_may_lack_a_few_columns_of_others(tmp_path: Path) -> None:
    for n, part in enumerate(PARTS):
        more = part.assign(unclear=["x", *[""] * (len(part) - 1)]) if n == 1 else part
        more.to_csv(tmp_path / f"{n}.csv", index=False)
    ratings = read_ratings(tmp_path)
    assert answers(ratings) == WHOLE
    whole, lacking = (n for n in ratings.accounting.notes if n.code == "files-joined")
    assert (whole.numbers, lacking.numbers) == ({"files": 3}, {"files": 2})
    assert "0.csv, 2.csv" in lacking
    assert "unclear" in lacking
    (tmp_path / "4.csv").write_text("town,mayor\nUlm,Ann\n")
    with pytest.raises(RatingsError):
        read_ratings(tmp_path)


def test_a_list_of_files_is_read_as_a_folder_of_them() -> None:
    files = sorted((FIXTURES / "prodigy_files").iterdir())
    ratings = assay.read_ratings(files)
    assert list(ratings.raters.index) == ["ann", "bob", "cy"]


def test_files_in_a_folder_that_nobody_reads_may_be_damaged(tmp_path: Path) -> None:
    (tmp_path / "single.csv").write_text("item,rater,label\n1,a,x\n1,b,y\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    assert len(assay.read_ratings(tmp_path, task="single").answers) == 2
