"""The tables of sampled pairs, and of the pool that they were sampled from."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from assay._util.errors import Problem, RatingsError
from assay._util.text import counted
from assay.io.files.opening import open_source
from assay.io.tables import Table

PAIR_COLUMNS = ("item", "query_id", "document_id", "stratum", "stratum_size", "weight")
POOL_COLUMNS = ("query_id", "document_id", "stratum")
KEYS = ["query_id", "document_id"]
LARGEST_SIZE = 2.0**53
"""Sizes below are exact as numbers."""
MEND = "give the tables that `assay diras sample` wrote"


def read_pairs(source: object) -> pd.DataFrame:
    """Read sampled pairs, each of them once; sizes and weights are numbers."""
    table = _table(source, "the pairs", PAIR_COLUMNS)
    frame = table.frame.reset_index(drop=True)
    size = pd.to_numeric(frame["stratum_size"], errors="coerce").astype(float)
    weight = pd.to_numeric(frame["weight"], errors="coerce").astype(float)
    whole = (size >= 1) & (size < LARGEST_SIZE) & (size % 1 == 0)
    problems = [
        *_wrong(table, "stratum_size", whole, "whole numbers of at least 1"),
        *_wrong(table, "weight", (weight > 0) & np.isfinite(weight), "positive numbers"),
        *_repeated(table, frame),
    ]
    if problems:
        raise RatingsError(problems, table.source)
    return frame.assign(stratum_size=size, weight=weight)


def read_pool(source: object) -> pd.DataFrame:
    """Read the top of the rankings."""
    return _table(source, "the pool", POOL_COLUMNS).frame.reset_index(drop=True)


def _table(source: object, what: str, names: Sequence[str]) -> Table:
    table = open_source(source, what=what).plain_table()
    lacking = [name for name in names if name not in table.frame.columns]
    if lacking:
        raise RatingsError.of(
            "texts-column", f"{what} have no column {lacking[0]}", what, mend=MEND
        )
    return table


def _wrong(table: Table, column: str, suits: "pd.Series[bool]", allowed: str) -> list[Problem]:
    """Report cells that are not the numbers that they must be."""
    rows = np.flatnonzero(~suits.to_numpy(bool))
    if not len(rows):
        return []
    return [
        Problem(
            code="no-number",
            what=f"{counted(len(rows), 'cell', 'are')} not {allowed}, such as "
            f"{table.frame[column].iloc[rows[0]]!r}",
            where=table.where(rows, column),
            mend=MEND,
            numbers={"cells": len(rows)},
        )
    ]


def _repeated(table: Table, frame: pd.DataFrame) -> list[Problem]:
    rows = np.flatnonzero(frame.duplicated(KEYS) | frame.duplicated("item"))
    if not len(rows):
        return []
    return [
        Problem(
            code="texts-repeated",
            what=f"{counted(len(rows), 'row')} repeat the pair of an earlier row",
            where=table.where(rows, "item"),
            mend="keep each pair once",
            numbers={"rows": len(rows)},
        )
    ]
