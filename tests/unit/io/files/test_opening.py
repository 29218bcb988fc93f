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
from refusals import refusal

from assay._util.errors import RatingsError
from assay.io import read_ratings

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
