"""Files that appear whole or not at all, and tables in the formats that others read."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet", ".json")


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
