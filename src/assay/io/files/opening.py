"""Open a path, a folder, standard input or a table, by its content."""

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import RatingsError
from assay._util.text import counted
from assay.io.files.arrow_files import arrow_kind, read_arrow, saved_dataset, with_class_names
from assay.io.files.encodings import decode_text
from assay.io.files.file_paths import (
    is_archive,
    is_folder,
    packed_file,
    packed_names,
    read_bytes,
    short_names,
    unpacked,
)
from assay.io.files.html_tables import is_page, table_of_page
from assay.io.files.json_records import looks_like_json, without_lone_surrogates
from assay.io.files.source_folders import FilesSource, FolderSource
from assay.io.files.sources import FrameSource, JsonSource, Source, TextSource
from assay.io.files.spreadsheets import is_spreadsheet, read_sheet
from assay.io.tables import AGAIN, Part, Table

STANDARD_INPUT = "-"
LFS = b"version https://git-lfs"
"""How a file begins that stands in the place of the data."""


def open_source(
    source: object,
    *,
    what: str = "the ratings",
    encoding: str | None = None,
    sheet: str | None = None,
    lenient: bool = False,
) -> Source:
    """Open a path, a folder, standard input (``-``), a DataFrame, or a table with ``to_pandas``.

    ``what`` names it in messages. ``encoding`` and ``sheet`` are found if not given. ``lenient``
    sets lines aside that are no rows.
    """
    opened = _opened(source, what, encoding, sheet)
    return replace(opened, lenient=True) if lenient else opened


def _opened(source: object, what: str, encoding: str | None, sheet: str | None) -> Source:
    source = as_pandas(source)
    if isinstance(source, pd.DataFrame):
        return FrameSource(name=f"{what} (a DataFrame)", frame=source)
    if isinstance(source, list | tuple) and all(isinstance(one, str | Path) for one in source):
        given = {str(Path(one).absolute()): Path(one) for one in source}
        paths = {name: given[path] for path, name in short_names(given).items()}
        return FilesSource(
            name=f"{what} ({counted(len(paths), 'file')})",
            contents={k: partial(read_bytes, p) for k, p in paths.items()},
            paths={k: str(p) for k, p in paths.items()},
            open_bytes=partial(_from_bytes, encoding=encoding, sheet=sheet),
            chosen=True,
        )  # fmt: skip
    if not isinstance(source, str | Path):
        raise RatingsError.of(
            "source-type",
            f"{what} must be a path, a folder or a DataFrame, not {type(source).__name__}",
            what,
            mend="make a table of it: pandas.DataFrame(...)",
        )
    path = Path(source)
    if str(source) == STANDARD_INPUT:
        data = sys.stdin.buffer.read()
        return _from_bytes(data, "standard input", encoding=encoding, sheet=sheet)
    if is_folder(path):
        opened = _open_folder(path, encoding, sheet)
    else:
        opened = _from_bytes(read_bytes(path), str(path), encoding=encoding, sheet=sheet)
    return replace(opened, part=isinstance(source, Part))


def _open_folder(path: Path, encoding: str | None, sheet: str | None) -> Source:
    """Open a folder of files, or a saved dataset."""
    if (saved := saved_dataset(path)) is not None:
        return FrameSource(name=str(path), frame=saved)
    opener = partial(open_source, encoding=encoding, sheet=sheet)
    return FolderSource(name=str(path), path=path, open_file=opener)


def as_pandas(source: Any) -> Any:
    """Return a table of another library as a DataFrame, with class names; else the argument."""
    convert = None if isinstance(source, pd.DataFrame) else getattr(source, "to_pandas", None)
    if not callable(convert):
        return source
    frame, features = convert(), getattr(source, "features", None)
    return with_class_names(frame, features) if isinstance(features, Mapping) else frame


def read_beside(source: object, *, name: str, what: str) -> Table:
    """Read a table that accompanies the ratings; its places carry its name."""
    return replace(open_source(source, what=what).plain_table(name), beside=True)


def _from_bytes(data: bytes, name: str, *, encoding: str | None, sheet: str | None) -> Source:
    """Open the bytes of a file by their content, not by the file's name."""
    digest = hashlib.sha256(data).hexdigest()
    data = unpacked(data, name)
    if data.startswith(LFS):
        raise RatingsError.of(
            "lfs-pointer",
            "the file is a pointer of Git LFS, and the data are not here yet",
            name,
            mend="fetch them with git lfs pull",
            first="git lfs pull",
        )
    if is_archive(data):
        contents = {file: partial(packed_file, data, file) for file in packed_names(data)}
        paths = {file: f"{name}/{file}" for file in contents}
        return FilesSource(
            name=name, sha256=digest, contents=contents, paths=paths,
            open_bytes=partial(_from_bytes, encoding=encoding, sheet=sheet),
        )  # fmt: skip
    cells = partial(FrameSource, name=name, sha256=digest)
    if kind := arrow_kind(data, name):
        frame = read_arrow(data, kind, name)
        return cells(frame=frame, lines=np.arange(1, len(frame) + 1))
    if is_spreadsheet(data):
        found = read_sheet(data, name, sheet)
        return cells(frame=found.frame, lines=found.lines, notes=found.notes)
    text, notes = decode_text(data, name, encoding)
    if is_page(data):
        page = table_of_page(text, name)
        return cells(frame=page.frame, lines=page.lines, notes=(*notes, *page.notes))
    if not text.strip():
        raise RatingsError.of("empty-file", "the file is empty", name, mend=AGAIN)
    if looks_like_json(text):
        text = without_lone_surrogates(text)
        return JsonSource(name=name, sha256=digest, text=text, notes=tuple(notes))
    return TextSource(name=name, sha256=digest, text=text, notes=tuple(notes))
