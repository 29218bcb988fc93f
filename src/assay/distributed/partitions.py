"""The files of a data set in partitions, found here and read on workers."""

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
    """Return the Parquet files of a folder; raise RatingsError for none, or for subfolders."""
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
    """On a worker: read a file; raise FitError, which can be pickled, with all its problems."""
    try:
        return read_ratings(Part(path), task=task, **reading)
    except AssayError as error:
        raise FitError(str(error), code=error.code, numbers=error.numbers) from None


def read_on_workers(
    executor: Executor, paths: Sequence[Path], task: Task, reading: Mapping[str, Any]
) -> list[Any]:
    """Read the files on workers; the cluster does not reuse earlier reads."""
    count = len(paths)
    return executor.map(read_partition, paths, [task] * count, [reading] * count)


def count_rows(path: Path) -> int:
    """On a worker: return the number of rows of a file, -1 if it is no Parquet file."""
    from pyarrow.parquet import read_metadata

    try:
        return int(read_metadata(path).num_rows)
    except (OSError, ValueError):  # read_partition reports the problem
        return -1


def split_empty(executor: Executor, paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return the files with rows and those without; raise RatingsError if all are empty."""
    rows = executor.gather(executor.map(count_rows, paths))
    full = [path for path, count in zip(paths, rows, strict=True) if count]
    if not full:
        raise RatingsError(
            "none of the files has a row", str(paths[0].parent), code="no-partitions"
        )
    return full, [path for path, count in zip(paths, rows, strict=True) if not count]
