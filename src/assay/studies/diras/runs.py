"""Ranked lists of systems: TREC run files, or tables of query, document and rank."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from assay._util.errors import ArgumentError, RatingsError
from assay._util.text import counted, some
from assay._util.validation import argument, path_given
from assay.io.files.file_paths import names_without_suffix, short_names

FIELDS = ["query_id", "Q0", "document_id", "rank", "score", "tag"]
"""Fields of a line of a run file, in order."""
NEEDED = ("query_id", "document_id", "rank")


def read_runs(runs: object) -> dict[str, pd.DataFrame]:
    """Read ranked lists by name (tables or TREC files): query_id, document_id, rank from 1."""
    found = {name: _checked(table, name) for name, table in _named(runs).items()}
    if not found:
        raise RatingsError.of("run-file", "there is no run", "the runs", mend="give one or more")
    return found


def _named(runs: Any) -> dict[str, pd.DataFrame]:
    if isinstance(runs, Mapping):
        return {
            str(name): table
            if isinstance(table, pd.DataFrame)
            else _read_trec(path_given("runs", table))
            for name, table in runs.items()
        }
    if not isinstance(runs, str | Path | list | tuple):
        raise ArgumentError(
            f"{argument('runs', runs)}; it must be a path, a list of paths, or a dict of tables",
            code="argument-type",
        )
    given = [runs] if isinstance(runs, str | Path) else runs
    paths = {str(path): path for path in (path_given("runs", one) for one in given)}
    files = short_names(paths)
    names = names_without_suffix(files.values(), first_dot=False)
    return {names[files[key]]: _read_trec(path) for key, path in paths.items()}


def _read_trec(path: Path) -> pd.DataFrame:
    """Read a TREC run file, ordered by score as TREC's own tool does."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RatingsError.of("run-file", f"the file cannot be read: {error}", str(path)) from None
    rows = [(n, line.split()) for n, line in enumerate(lines, start=1) if line.strip()]
    bad = [n for n, fields in rows if len(fields) != len(FIELDS) or not _is_number(fields[4])]
    if bad:
        raise RatingsError.of(
            "run-file",
            f"lines {some([str(n) for n in bad])} are not query, Q0, document, rank, score and tag",
            str(path),
        )
    table = pd.DataFrame([fields for _, fields in rows], columns=FIELDS)
    table["score"] = table["score"].astype(float)
    table = table.sort_values(["query_id", "score"], ascending=[True, False], kind="stable")
    return table.assign(rank=table.groupby("query_id").cumcount() + 1)


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def _checked(table: pd.DataFrame, name: str) -> pd.DataFrame:
    lacking = [column for column in NEEDED if list(table.columns).count(column) != 1]
    if lacking:
        raise RatingsError.of("run-file", f"there is no one column {lacking[0]}", f"run {name}")
    kept = table[list(NEEDED)].astype(str)
    kept["rank"] = pd.to_numeric(kept["rank"], errors="coerce")
    if kept["rank"].isna().any():
        raise RatingsError.of(
            "run-file",
            f"{counted(int(kept['rank'].isna().sum()), 'rank', 'are')} no numbers",
            f"run {name}",
            mend="write the rank of each document as a number, from 1",
        )
    again = kept.duplicated(["query_id", "document_id"])
    if again.any():
        query, document = kept[again].iloc[0][["query_id", "document_id"]]
        raise RatingsError.of(
            "run-file",
            f"document {document} stands twice in the list of query {query}",
            f"run {name}",
            mend="list each document once for a query",
        )
    kept = kept.sort_values(["query_id", "rank"], kind="stable", ignore_index=True)
    return kept.assign(rank=kept.groupby("query_id").cumcount() + 1)
