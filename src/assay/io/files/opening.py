"""Open a path, a folder, standard input or a table by its content; join files of one table."""

import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath
from typing import Any, cast
from urllib.parse import unquote

import numpy as np
import pandas as pd

from assay._util.errors import Note, RatingsError, as_code
from assay._util.text import counted, listed, some
from assay.io.files.arrow_files import arrow_kind, read_arrow, saved_dataset, with_class_names
from assay.io.files.encodings import decode_text
from assay.io.files.file_paths import (
    FILE,
    SUFFIXES,
    is_archive,
    is_folder,
    is_table_name,
    packed_file,
    packed_names,
    read_bytes,
    short_names,
    unpacked,
)
from assay.io.files.json_records import flattened, looks_like_json, without_lone_surrogates
from assay.io.files.sources import (
    FIRST_RECORDS,
    FilesSource,
    FolderSource,
    FrameSource,
    JsonSource,
    SeveralFiles,
    Source,
    TextSource,
)
from assay.io.files.spreadsheets import is_page, is_spreadsheet, read_sheet, table_of_page
from assay.io.header_rows import with_flat_columns
from assay.io.names import KNOWN, squash
from assay.io.tables import AGAIN, Part, Table, reader_note, told_apart

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
    ``what`` names it in messages; ``lenient`` sets lines aside that are no rows.
    """
    opened = _opened(source, what, encoding, sheet)
    return replace(opened, lenient=True) if lenient else opened


def _opened(source: object, what: str, encoding: str | None, sheet: str | None) -> Source:
    source, from_bytes = as_pandas(source), partial(_from_bytes, encoding=encoding, sheet=sheet)
    if isinstance(source, pd.DataFrame):
        flat, notes = with_flat_columns(source)
        return FrameSource(name=f"{what} (a DataFrame)", frame=flat, notes=notes)
    if isinstance(source, list | tuple) and all(isinstance(one, str | Path) for one in source):
        given = {str(Path(one).absolute()): Path(one) for one in source}
        paths = {name: given[path] for path, name in short_names(given).items()}
        return FilesSource(
            name=f"{what} ({counted(len(paths), 'file')})",
            contents={k: partial(read_bytes, p) for k, p in paths.items()},
            paths={k: str(p) for k, p in paths.items()},
            open_bytes=from_bytes,
            chosen=True,
        )
    if not isinstance(source, str | Path):
        raise RatingsError.of(
            "source-type",
            f"{what} must be a path, a folder or a DataFrame, not {type(source).__name__}",
            what,
            mend="make a table of it: pandas.DataFrame(...)",
        )
    path = Path(source)
    if str(source) == STANDARD_INPUT:
        return from_bytes(sys.stdin.buffer.read(), "standard input")
    if not is_folder(path):
        opened = from_bytes(read_bytes(path), str(path))
    elif (saved := saved_dataset(path)) is not None:
        opened = FrameSource(name=str(path), frame=saved)
    else:
        opener = partial(open_source, encoding=encoding, sheet=sheet)
        opened = FolderSource(name=str(path), path=path, open_file=opener)
    return replace(opened, part=isinstance(source, Part))


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


HIDDEN = (".", "_")
"""How files and folders begin that programs keep for themselves."""
PARTITION = re.compile(r"([^=/]+)=([^/]*)")
"""How folders of parts are called that say the value of a column."""
OF_SYSTEMS = "if each is of another system"
"""Words of the note on files beside a column of raters."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
PART = re.compile(r"\d{3,}")
"""What differs between the names of parts: a number of several digits."""


def joined(
    source: Source, name: str = "", *, as_raters: bool = False, named: bool = False
) -> Source:
    """Return the tables of a folder or an archive as one, if they have the same columns and no file
    has this ``name``; else the source. ``as_raters``: each file is of another rater.
    ``named``: the caller names the column of the files.
    """
    if not isinstance(source, SeveralFiles):
        return source
    if isinstance(source, FolderSource) and any(f"{name}{s}" in source.files for s in SUFFIXES):
        return source
    chosen = isinstance(source, FilesSource) and source.chosen
    files = [file for file in source.files if chosen or _is_table(file)]
    if not files and isinstance(source, FolderSource):
        files = list(filter(_is_table, source.deeper))
    members = {file: source.member(file) for file in files}
    if not members or len({one.kind for one in members.values()}) > 1:
        return source
    deep = not set(members) <= set(source.files)
    unread = [] if deep else note_unread(source)
    if len(members) == 1:
        ((file, member),) = members.items()
        text = f"{file} is read, the only table there"
        only = [] if chosen else [reader_note(text, code="files-joined")]
        return _noted(member, [*only, *unread])
    if all(isinstance(one, JsonSource) for one in members.values()):
        records = cast("dict[str, JsonSource]", members)
        return _noted(_joined_records(source, records, named=named), unread)
    return _noted(_joined_tables(source, members, as_raters=as_raters, named=named), unread)


def _is_table(file: str) -> bool:
    parts = PurePath(file).parts
    return is_table_name(file) and not any(part.startswith(HIDDEN) for part in parts)


def _noted(source: Source, notes: Sequence[Note]) -> Source:
    """Add notes to a file, or to files as one; a folder whose files differ is refused later."""
    if not notes or source.kind == "folder":
        return source
    return replace(source, notes=(*source.notes, *notes))


def note_unread(source: Source) -> list[Note]:
    """Note files in folders of a folder, which are not read beside those above."""
    files = source.deeper if isinstance(source, FolderSource) else ()
    if not files:
        return []
    text = (
        f"{counted(len(files), 'file', 'are')} not read, in folders of the folder: {some(files)}. "
        "To read such files, give a list of their paths"
    )
    return [reader_note(text, code="folders-not-read", files=len(files))]


def _joined_tables(
    source: SeveralFiles, members: dict[str, Source], *, as_raters: bool, named: bool
) -> Source:
    """Put tables of the same columns below each other; each row knows its file."""
    parts = {file: _cells(one) for file, one in members.items()}
    frames = {file: frame for file, (frame, *_) in parts.items()}
    names = max((list(frame.columns) for frame in frames.values()), key=len)
    own = [set(frame.columns) for frame in frames.values()]
    if not all(held <= set(names) and 2 * len(held) > len(names) for held in own):
        return source  # a file may lack a few columns only
    lacking = {file: [c for c in names if c not in frame] for file, frame in frames.items()}
    lacking = {file: columns for file, columns in lacking.items() if columns}
    frames = {file: frame.reindex(columns=names) for file, frame in frames.items()}
    # The column of raters, and those whom the files name.
    rater = next((str(name) for name in names if squash(str(name)) in KNOWN["rater"]), "")
    who = {str(one) for frame in frames.values() if rater for one in frame[rater].unique()}
    called = {} if FILE in names else _names_of(list(parts))
    apart = bool(called)
    column = FILE if not rater else rater if as_raters else ""
    added = dict.fromkeys([column] * bool(column) + [FILE] * named) if apart else {}
    filled = [
        frame.assign(**_of_folders(file), **dict.fromkeys(added, called.get(file, "")))
        for file, frame in frames.items()
    ]
    places = [f"{file}:{n}" for file, (_, lines, _) in parts.items() for n in lines]
    notes = [*dict.fromkeys(note for *_, notes in parts.values() for note in notes)]
    alike = next(iter(who)) if len(who) == 1 and apart and not as_raters else ""
    notes.append(_note(list(parts), FILE in added, alike))
    if apart and (restarted := _restarted(list(frames.values()), rater)):
        key = as_code({"item": [FILE, restarted]})
        text = (
            f"the files share names of {restarted} but no {rater}. If these names start again in "
            f"each file, give {key}"
        )
        notes.append(Note(text, code="files-share-items", numbers={"files": len(frames)}))
    if lacking:
        columns = listed(list(dict.fromkeys(str(c) for held in lacking.values() for c in held)))
        text = f"{listed(list(lacking))} lack columns that other files have: {columns}"
        notes.append(reader_note(text, code="files-joined", files=len(lacking)))
    return FrameSource(
        name=source.name, sha256=_hash(members), lenient=source.lenient,
        frame=pd.concat(filled, ignore_index=True), lines=np.array(places, object),
        notes=tuple(notes),
    )  # fmt: skip


def _restarted(frames: Sequence[pd.DataFrame], rater: str) -> str:
    """Return the column of items whose names most files share, though they share no rater."""
    names = frames[0].columns
    item = next((str(c) for c in names if squash(str(c)) in KNOWN["item"]), "")
    if not item or not rater:
        return ""
    who, what = ([set(frame[c].dropna()) for frame in frames] for c in (rater, item))
    teams = min(map(len, who)) > 1 and sum(map(len, who)) == len(set().union(*who))
    return item if teams and 2 * len(set.intersection(*what)) > len(set().union(*what)) else ""


def _hash(members: Mapping[str, Source]) -> str:
    return hashlib.sha256("".join(one.sha256 for one in members.values()).encode()).hexdigest()


def _cells(member: Source) -> tuple[pd.DataFrame, Any, Sequence[Note]]:
    """Return the cells of a file as they are stored, the places of its rows, and its notes."""
    if isinstance(member, FrameSource):
        frame, notes = told_apart(member.frame)
        lines = range(1, len(frame) + 1) if member.lines is None else member.lines
        return frame, lines, (*member.notes, *notes)
    table = member.plain_table()
    return table.frame, table.lines, table.notes


def _joined_records(source: SeveralFiles, members: dict[str, JsonSource], *, named: bool) -> Source:
    """Put the records of files one after the other, if they have the same keys."""
    keys = {file: set(one.columns) for file, one in members.items()}
    most = max(keys.values(), key=len)
    if not all(held and held <= most for held in keys.values()):
        return source
    own = next(iter(members.values())).records
    rows, _ = flattened(own[:FIRST_RECORDS])
    lists = (cell for row in rows for cell in row.values() if isinstance(cell, list))
    deep = any(isinstance(one, dict) for cell in lists for one in cell)
    names = {str(name) for row in rows for name in row}
    by_file = not deep and KNOWN["rater"].isdisjoint(squash(str(name)) for name in names | most)
    by_file |= named
    called = {} if FILE in names else _names_of(list(members))
    by_file &= bool(called)
    written = [
        json.dumps(record | _of_folders(file) | ({FILE: called[file]} if by_file else {}))
        for file, one in members.items()
        for record in one.records
    ]
    return JsonSource(
        name=source.name, sha256=_hash(members), lenient=source.lenient,
        text="\n".join(written), notes=(_note(list(members), by_file),),
    )  # fmt: skip


NO_NAME = re.compile(r"[\d\W_]*|train.*|test.*|dev|val.*|part.*|batch.*|split.*", re.IGNORECASE)
"""Names of folders of parts of data, and of dates."""


def _names_of(files: Sequence[str]) -> dict[str, str]:
    """Return what tells files apart: their names, or else those of their folders; empty if numbers
    of parts do.

    >>> _names_of(["ann/out.jsonl", "ben/out.jsonl"])
    {'ann/out.jsonl': 'ann', 'ben/out.jsonl': 'ben'}
    """
    if len({PART.sub("", PurePath(file).name) for file in files}) > 1:
        return {file: _stem(file) for file in files}
    folders = {file: PurePath(file).parent.name for file in files}
    told = len(set(folders.values())) == len(files) > 1
    plain = any(PARTITION.fullmatch(f) or NO_NAME.fullmatch(f) for f in folders.values())
    return folders if told and not plain else {}


def _of_folders(file: str) -> dict[str, str]:
    """Return the values that the folders of a file say.

    >>> _of_folders("rater=ann/part-0.parquet")
    {'rater': 'ann'}
    """
    found = (PARTITION.fullmatch(part) for part in PurePath(file).parts[:-1])
    return {one[1]: unquote(one[2]).replace(NO_VALUE, "") for one in found if one}


def _stem(file: str) -> str:
    name = PurePath(file).name
    ends = (name[: -len(end)] for end in SUFFIXES if name.lower().endswith(end))
    return next(ends, name)


def _note(files: Sequence[str], by_file: bool, rater: str = "") -> Note:
    held = f"; column {FILE} has their names" if by_file else ""
    if not by_file and _names_of(files):
        held = f"; {OF_SYSTEMS}, give `system='{FILE}'`"
    if rater:
        held = f"; all name the rater {rater}. If each is of another rater, give `rater='file'`"
    return reader_note(
        f"{counted(len(files), 'file')} of the same columns are read as one table: "
        f"{listed([Path(file).as_posix() for file in files])}{held}",
        code="files-joined",
        files=len(files),
    )
