"""The files of a data set in partitions: found here, read on workers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay._util.errors import AssayError, FitError, RatingsError
from assay.data.ratings import Ratings
from assay.data.task import Task
from assay.inference.executors import Executor
from assay.io import read_ratings
from assay.io.tables import Part


def list_partitions(folder: str | Path) -> list[Path]:
    """List the Parquet files of a folder by name.

    Raises
    ------
    RatingsError
        If it is no folder, or holds none, or holds some in folders of its own.
    """
    found = sorted(Path(folder).glob("*.parquet")) if Path(folder).is_dir() else []
    below = sorted(set(Path(folder).glob("**/*.parquet")) - set(found))
    if found and not below:
        return found
    text = "a data set in partitions is a folder of .parquet files with the same columns; "
    if below:
        first = below[0].relative_to(folder)
        text += f"folders in it are not read, and there is {first}: write all files into one folder"
    else:
        text += "there are none here"
    raise RatingsError(text, str(folder), code="no-partitions")


def read_partition(path: Path, task: Task, reading: Mapping[str, Any]) -> Ratings:
    """On a worker: read one file.

    Raises
    ------
    FitError
        With every problem of the file; unlike other errors it travels as it is.
    """
    try:
        return read_ratings(Part(path), task=task, **reading)
    except AssayError as error:
        raise FitError(str(error), code=error.code, numbers=error.numbers) from None


def read_on_workers(
    executor: Executor, paths: Sequence[Path], task: Task, reading: Mapping[str, Any]
) -> list[Any]:
    """Have workers read the files, as they are now."""
    count = len(paths)
    return executor.map(read_partition, paths, [task] * count, [reading] * count)


def count_rows(path: Path) -> int:
    """On a worker: how many rows a file has; -1 if it is no Parquet file."""
    from pyarrow.parquet import read_metadata

    try:
        return int(read_metadata(path).num_rows)
    except (OSError, ValueError):  # reading it says what is wrong
        return -1


def split_empty(executor: Executor, paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return the files that have rows, and those that have none: engines write such files too.

    Raises
    ------
    RatingsError
        If all are empty.
    """
    rows = executor.gather(executor.map(count_rows, paths))
    full = [path for path, count in zip(paths, rows, strict=True) if count]
    if not full:
        raise RatingsError(
            "none of the files has a row", str(paths[0].parent), code="no-partitions"
        )
    return full, [path for path, count in zip(paths, rows, strict=True) if not count]
