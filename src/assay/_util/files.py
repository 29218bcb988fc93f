"""Files written whole or not at all, tables in common formats, folders for compiled code."""

import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from assay._util.errors import ArgumentError, FitError
from assay._util.progress import unbroken
from assay._util.table_texts import cells_of, latex, markdown

if TYPE_CHECKING:
    import pandas as pd


TABLE_SUFFIXES = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".md", ".tex", ".xlsx")
SHOWN_SUFFIXES = (".md", ".tex")
"""Suffixes of files that can hold a table as it is shown."""
FIT_SUFFIXES = (".nc", ".zarr")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""First characters that make a spreadsheet read a cell as a formula."""
DRAFTS, LOCK = ".assay-", ".lock"
JUST_MADE = 10.0
"""Seconds in which a folder of drafts counts as in use, locked or not."""


def require_place(path: Path, *, example: str, may_be_folder: bool = False) -> None:
    """Refuse a path that cannot be written to; ``example`` is a suitable file name."""
    if path.is_dir() and not may_be_folder:
        raise FitError(
            f"cannot write {path}: it is a folder; give a file name, e.g. {example}",
            code="output-place",
        )
    if not path.parent.is_dir():
        raise FitError(
            f"cannot write {path}: the folder {path.parent} does not exist", code="output-place"
        )
    if not os.access(path.parent, os.W_OK):
        raise FitError(
            f"cannot write {path}: no permission to write in {path.parent}", code="output-place"
        )


def require_fit_place(path: Path) -> None:
    """Refuse a path that a fit cannot be written to; its suffix is the format."""
    require_place(path, example="fit.nc", may_be_folder=path.suffix == ".zarr")
    if path.suffix not in FIT_SUFFIXES:
        raise ArgumentError(
            f"cannot write {path}: a fit is a .nc file (netCDF) or a .zarr folder. Give a "
            f"name with this ending, e.g. {path.stem}.nc",
            code="output-place",
        )


@contextmanager
def able_to(what: str) -> Iterator[None]:
    """Raise `FitError` if the system does not let the block do ``what``, such as write a file."""
    try:
        yield
    except OSError as error:
        raise FitError(
            f"cannot {what}: {error.strerror or error}", code="file-not-written"
        ) from None


def write_text(path: Path, text: str) -> None:
    """Write a text; the file appears whole or not at all."""
    with able_to(f"write {path}"), draft(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


class Unwritten(KeyboardInterrupt):
    """Ctrl-C before the file was in place."""


@contextmanager
def draft(path: Path) -> Iterator[Path]:
    """Yield a path to write to; on success it replaces ``path`` in one step. Ctrl-C raises
    `Unwritten` during writing, and a plain KeyboardInterrupt after it.
    """
    written = False
    try:
        with _folder_beside(path) as folder:
            unfinished = folder / path.name
            yield unfinished
            with unbroken():
                if path.is_dir():
                    shutil.move(path, folder / "old")
                unfinished.replace(path)
                written = True
    except KeyboardInterrupt:
        if written:
            raise KeyboardInterrupt(f"{path} was written") from None
        old = "; the old file is unchanged" if path.exists() else ""
        raise Unwritten(f"{path} was not written{old}") from None


@contextmanager
def _folder_beside(path: Path) -> Iterator[Path]:
    """Yield a temporary folder on the same disk; leftovers of killed runs are removed first."""
    _remove_left_over(path.parent)
    folder = tempfile.TemporaryDirectory(dir=path.parent, prefix=DRAFTS)
    try:
        with (Path(folder.name) / LOCK).open("wb") as held:
            try_lock(held)
            yield Path(folder.name)
    finally:
        with unbroken():
            folder.cleanup()


def _remove_left_over(place: Path) -> None:
    """Remove draft folders that no living process holds."""
    for folder in place.glob(f"{DRAFTS}*"):
        try:
            # A folder that was just made may not be locked yet.
            if folder.is_symlink() or time.time() - folder.stat().st_mtime < JUST_MADE:
                continue
            with (folder / LOCK).open("rb+") as held:
                dead = try_lock(held)
        except OSError:
            continue
        if dead:
            shutil.rmtree(folder, ignore_errors=True)


def try_lock(file: IO[Any]) -> bool:
    """Lock a file until it is closed or the process ends; False if another process holds it."""
    try:
        import fcntl
    except ImportError:  # Windows, where folders of killed runs stay
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def write_table(frame: "pd.DataFrame", path: Path) -> None:
    """Write a table in the format of the suffix, one of :data:`TABLE_SUFFIXES`. In tables for
    spreadsheets an apostrophe stands before text that would run as a formula.
    """
    with draft(path) as unfinished:
        match path.suffix:
            case ".parquet":
                frame.to_parquet(unfinished, index=False)
            case ".json" | ".jsonl":
                lines: dict[str, Any] = {"indent": 1} if path.suffix == ".json" else {"lines": True}
                text = frame.to_json(orient="records", double_precision=15, **lines)
                # pandas escapes each slash, which no reader needs and makes addresses unreadable.
                unfinished.write_text(text.replace(r"\/", "/"), encoding="utf-8")
            case ".md":
                unfinished.write_text(markdown(cells_of(frame)), encoding="utf-8")
            case ".tex":
                unfinished.write_text(latex(cells_of(frame)), encoding="utf-8")
            case ".xlsx":
                _write_sheet(frame, unfinished)
            case ".tsv":
                _without_formulas(frame).to_csv(unfinished, index=False, sep="\t")
            case _:
                _without_formulas(frame).to_csv(unfinished, index=False)


def _write_sheet(frame: "pd.DataFrame", path: Path) -> None:
    """Write an Excel sheet."""
    try:
        _without_formulas(frame).to_excel(path, index=False, engine="openpyxl")
    except ImportError:
        raise FitError(
            "no package for writing spreadsheets is installed. Install it with "
            "pip install 'assay[excel]', or write .csv",
            code="extra-not-installed",
        ) from None


def _without_formulas(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Put an apostrophe before text that a spreadsheet would run as a formula."""
    import pandas as pd

    found = frame.copy(deep=False)
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            found[name] = frame[name].map(escaped_cell, na_action="ignore")
    return found.rename(columns=escaped_cell)


def escaped_cell(cell: object) -> object:
    """Return a cell; text that looks like a formula and is no number gets an apostrophe."""
    if not isinstance(cell, str) or not cell.startswith(FORMULA_STARTS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def user_cache() -> Path:
    """Return this user's cache folder for the package."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "assay"


def is_writable(folder: Path) -> bool:
    """Whether a folder, made if absent, can be written to by this user alone.

    Code from this folder is run later, so folders of other users or open to everybody do not count.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        about = folder.stat()
    except OSError:
        return False
    if hasattr(os, "getuid") and (about.st_uid != os.getuid() or about.st_mode & stat.S_IWOTH):
        return False
    return os.access(folder, os.W_OK)
