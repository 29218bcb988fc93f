"""Files that appear whole or not at all, and tables in the formats that others read."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import FitError

if TYPE_CHECKING:
    import pandas as pd

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet", ".json")


def require_place(path: Path, *, example: str, may_be_folder: bool = False) -> None:
    """Refuse a path that cannot be written to, before whatever is to be written is computed.

    Parameters
    ----------
    path : path
    example : str
        A file name of the kind that is wanted.
    may_be_folder : bool
        Whether a folder that stands there is replaced.

    Raises
    ------
    FitError
    """
    if path.is_dir() and not may_be_folder:
        raise FitError(f"cannot write {path}: it is a folder; give a file name, e.g. {example}")
    if not path.parent.is_dir():
        raise FitError(f"cannot write {path}: the folder {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK):
        raise FitError(f"cannot write {path}: no permission to write in {path.parent}")


@contextmanager
def draft(path: Path) -> Iterator[Path]:
    """Give a path to write to that takes the place of ``path`` at once, when all went well.

    A folder that stands there is moved away first: only an empty one could be replaced.
    """
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".assay-") as folder:
        unfinished = Path(folder) / path.name
        yield unfinished
        if path.is_dir():
            shutil.move(path, Path(folder) / "old")
        unfinished.replace(path)


def write_table(frame: "pd.DataFrame", path: Path) -> None:
    """Write a table in the format of the path's suffix, one of :data:`TABLE_SUFFIXES`.

    Parameters
    ----------
    frame : DataFrame
    path : path
        An existing file is replaced, and stays as it was if writing fails.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    with draft(path) as unfinished:
        match path.suffix:
            case ".parquet":
                frame.to_parquet(unfinished, index=False)
            case ".json":
                frame.to_json(unfinished, orient="records", double_precision=15, indent=1)
            case ".tsv":
                frame.to_csv(unfinished, index=False, sep="\t")
            case _:
                frame.to_csv(unfinished, index=False)
