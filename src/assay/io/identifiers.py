"""Names of items, raters and clusters: clean strings, and codes in order of appearance."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from assay._util.grouping import unique_rows
from assay._util.typing import Ints


def clean_ids(column: "pd.Series[str]") -> "pd.Series[str]":
    """Strip names; drop ``.0`` in columns of whole numbers."""
    codes, distinct = pd.factorize(column)
    names = pd.Series(distinct, dtype="str").str.strip()
    filled = names[names != ""]
    if len(filled) and filled.str.fullmatch(r"-?\d+(\.0+)?").all():
        names = names.str.replace(r"\.0+$", "", regex=True)
    return pd.Series(names.array.take(codes), name=column.name)


def joined_ids(frame: pd.DataFrame, columns: Sequence[str]) -> "pd.Series[str]":
    """Return one name per row, parts joined by ``/``; empty if any part is empty."""
    parts = [clean_ids(frame[c]) for c in columns]
    names = parts[0]
    for part in parts[1:]:
        names = names + "/" + part
    empty = np.zeros(len(frame), bool)
    for part in parts:
        empty |= (part == "").to_numpy(bool)
    return names.mask(empty, "")


def like_named(frame: pd.DataFrame, columns: Sequence[str]) -> Ints:
    """Return two rows with different keys and the same joined name, if there are any."""
    parts = [clean_ids(frame[c]) for c in columns]
    if len(parts) < 2 or not any(part.str.contains("/", regex=False).any() for part in parts):
        return np.zeros(0, np.int64)
    first, _ = unique_rows(*(pd.factorize(part)[0] for part in parts))
    names = joined_ids(frame, columns).iloc[first]
    twice = (names != "") & names.duplicated(keep=False)
    alike = names[twice]
    return first[twice][(alike == alike.iloc[0]).to_numpy(bool)][:2] if len(alike) else first[:0]


def codes_of(names: "pd.Series[str]") -> tuple[Ints, "pd.Index[str]"]:
    """Return codes in order of appearance (-1 if empty), and the distinct names."""
    codes, distinct = pd.factorize(names)
    empty = np.asarray(distinct == "", bool)
    if empty.any():
        codes = np.where(empty, -1, (~empty).cumsum() - 1)[codes]
    return codes.astype(np.int64, copy=False), pd.Index(distinct[~empty], dtype="str")
