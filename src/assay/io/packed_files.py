"""Files in gzip and ZIP archives."""

import gzip
import io
import struct
import zipfile
import zlib

from assay._util.errors import RatingsError
from assay.io.spreadsheets import ZIP, is_spreadsheet
from assay.io.tables import AGAIN

GZIP = b"\x1f\x8b"
ZSTANDARD = 93
"""ZIP method that Python's zipfile may lack; inspect-ai's logs use it."""
LOCAL_HEADER = 30
"""Bytes of a file's header in a ZIP archive, without its name."""


def unpacked(data: bytes, source: str) -> bytes:
    """Return the bytes of the only file in an archive; other bytes unchanged."""
    try:
        if data.startswith(GZIP):
            return gzip.decompress(data)
        if data.startswith(ZIP) and not is_spreadsheet(data):
            names = packed_names(data)
            return packed_file(data, names[0]) if len(names) == 1 else data
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
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
            except (NotImplementedError, RuntimeError) as error:
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
