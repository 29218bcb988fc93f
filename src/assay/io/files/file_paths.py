"""Names of files and the paths to them, also in archives; and which file may be meant."""

import bz2
import gzip
import io
import lzma
import shlex
import struct
import zipfile
import zlib
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path, PurePath

from assay._util.errors import RatingsError, suggest
from assay.io.files.spreadsheets import ZIP, is_spreadsheet
from assay.io.tables import AGAIN

TEXTS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")
SUFFIXES = (
    *(f"{kind}{packed}" for kind in TEXTS for packed in ("", ".gz", ".bz2", ".xz")),
    ".parquet", ".feather", ".arrow", ".xlsx", ".xls", ".ods",
)  # fmt: skip
"""Suffixes of files with records or rows."""

FILE = "file"
"""The column of the files' names, where no column has the raters."""
UNPACK = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ\x00": lzma.decompress}
"""Functions that unpack bytes which begin so."""
ZSTANDARD = 93
"""ZIP method that Python's zipfile may lack; inspect-ai's logs use it."""
LOCAL_HEADER = 30
"""Bytes of a file's header in a ZIP archive, without its name."""


def is_table_name(file: str) -> bool:
    """Whether a file has records or rows, by its name."""
    return file.lower().endswith(SUFFIXES)


def short_names(paths: Iterable[str]) -> dict[str, str]:
    """Return the shortest ending of each path that no other path has, by path.

    >>> short_names(["a/ann/qrels.txt", "a/bob/qrels.txt"])
    {'a/ann/qrels.txt': 'ann/qrels.txt', 'a/bob/qrels.txt': 'bob/qrels.txt'}
    """
    parts = {path: PurePath(path).parts for path in paths}
    for depth in range(1, max(map(len, parts.values()), default=0)):
        names = {path: "/".join(held[-depth:]) for path, held in parts.items()}
        if len(set(names.values())) == len(names):
            return names
    return {path: path for path in parts}


def names_without_suffix(files: Iterable[str], *, first_dot: bool = True) -> dict[str, str]:
    """Return files without suffix (from the first dot on), by file; whole if two would agree."""
    names = {}
    for file in files:
        folders, slash, last = file.rpartition("/")
        stem = last.split(".")[0] if first_dot else PurePath(last).stem
        names[file] = f"{folders}{slash}{stem}"
    return names if len(set(names.values())) == len(names) else {file: file for file in names}


def unpacked(data: bytes, source: str) -> bytes:
    """Return the bytes of the only file in an archive; other bytes unchanged."""
    try:
        for start, unpack in UNPACK.items():
            if data.startswith(start):
                return unpack(data)
        if data.startswith(ZIP) and not is_spreadsheet(data):
            names = packed_names(data)
            return packed_file(data, names[0]) if len(names) == 1 else data
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise RatingsError.of(
            "damaged-file", f"the compressed file is damaged: {error}", source, mend=AGAIN
        ) from None
    return data


def is_archive(data: bytes) -> bool:
    """Whether bytes are a ZIP archive of files."""
    return data.startswith(ZIP) and not is_spreadsheet(data)


def packed_names(data: bytes) -> list[str]:
    """Return the names of the files in a ZIP archive; of two with one name the last counts."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [one.filename for one in archive.infolist() if not one.is_dir()]
    return sorted({name for name in names if "__MACOSX" not in name})


def packed_file(data: bytes, name: str) -> bytes:
    """Return the bytes of a file in a ZIP archive; `BadZipFile` if it cannot be unpacked."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        found = archive.getinfo(name)
        if found.compress_type != ZSTANDARD:
            try:
                return archive.read(name)
            except (NotImplementedError, RuntimeError, ValueError) as error:
                raise zipfile.BadZipFile(f"{name} cannot be unpacked: {error}") from None
    return _zstandard(data, found)


def _zstandard(data: bytes, found: zipfile.ZipInfo) -> bytes:
    """Unpack a Zstandard file."""
    import pyarrow as pa

    start = found.header_offset
    name, extra = struct.unpack("<HH", data[start + 26 : start + LOCAL_HEADER])
    start += LOCAL_HEADER + name + extra
    packed = data[start : start + found.compress_size]
    try:
        content: bytes = pa.decompress(
            packed, decompressed_size=found.file_size, codec="zstd", asbytes=True
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        raise zipfile.BadZipFile(f"{found.filename} cannot be unpacked: {error}") from None
    if zlib.crc32(content) != found.CRC:
        raise zipfile.BadZipFile(f"{found.filename} has a wrong checksum")
    return content


def is_folder(path: Path) -> bool:
    """Whether a path is a folder."""
    try:
        return path.is_dir()
    except (OSError, ValueError):  # names that no file can have
        return False


def read_bytes(path: Path) -> bytes:
    """Read a file, or a file inside of an archive."""
    try:
        packed = None if path.exists() else _in_archive(path)
        return path.read_bytes() if packed is None else packed
    except (OSError, ValueError) as error:
        raise _unread(path, error) from None


def _in_archive(path: Path) -> bytes | None:
    """Return the bytes of a file whose path goes through a ZIP archive."""
    archive = next((one for one in path.parents if one.is_file()), None)
    data = b"" if archive is None else archive.read_bytes()
    if archive is None or not is_archive(data):
        return None
    name = path.relative_to(archive).as_posix()
    return packed_file(data, name) if name in packed_names(data) else None


def _unread(path: Path, error: Exception) -> RatingsError:
    """Say why a file cannot be read, and which one may be meant."""
    reason = getattr(error, "strerror", None) or error
    beside: list[str] = []
    if isinstance(error, FileNotFoundError) and is_folder(path.parent):
        beside = sorted(one.name for one in path.parent.iterdir() if is_table_name(one.name))
    near = get_close_matches(path.name, beside, n=1) or (beside if len(beside) == 1 else [])
    locked = isinstance(error, PermissionError)
    mend = "make it readable" if locked else "give the path of a file that is there"
    return RatingsError.of(
        "unread-file",
        f"the file cannot be read: {reason}",
        str(path),
        mend=suggest(path.name, beside) if beside else mend,
        go_on={"source": str(path.with_name(near[0]))} if near else {},
        first=shlex.join(["chmod", "u+r", str(path)]) if locked else "",
    )
