"""Names of the files of a data set in several files."""

from collections.abc import Iterable
from pathlib import PurePath

SUFFIXES = (
    ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".feather", ".arrow", ".xlsx", ".xls", ".ods",
    ".json", ".json.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz",
)  # fmt: skip
"""Suffixes of files with records or rows."""

FILE = "file"
"""The column of the files' names, where no column has the raters."""


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
