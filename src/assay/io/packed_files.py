"""Files in a gzip or ZIP archive."""

import gzip
import io
import zipfile
import zlib

from assay._util.errors import RatingsError
from assay._util.text import listed
from assay.io.spreadsheets import ZIP, is_spreadsheet

GZIP = b"\x1f\x8b"


def unpacked(data: bytes, source: str) -> bytes:
    """Return the bytes of the only file in an archive; other bytes as they are.

    Raises
    ------
    RatingsError
        If the archive is damaged, or holds several files.
    """
    try:
        if data.startswith(GZIP):
            return gzip.decompress(data)
        if data.startswith(ZIP) and not is_spreadsheet(data):
            return _from_zip(data, source)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise RatingsError.of(
            "damaged-file", f"the compressed file is damaged: {error}", source
        ) from None
    return data


def _from_zip(data: bytes, source: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [n for n in archive.namelist() if not n.endswith("/") and "__MACOSX" not in n]
        if len(names) == 1:
            return archive.read(names[0])
    raise RatingsError.of(
        "several-files",
        f"the archive holds {len(names)} files: {listed(names)}",
        source,
        mend="unpack it, and give one of its files, or the folder",
    )
