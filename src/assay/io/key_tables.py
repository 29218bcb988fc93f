"""Keys of several columns: none shares its name with another, and exports have the columns."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from assay._util.grouping import first_rows
from assay._util.typing import Ints
from assay.io.identifiers import clean_ids, codes_of, like_named
from assay.io.items import Places, Words
from assay.io.reading_log import Ledger
from assay.io.tables import Table

KEYS = ("item", "cluster", "stratum", "panel", "system", "rank")
"""Roles whose columns identify an item, in the order of an export."""


def key_table(items: "pd.Index[str]", own: Places, side: Places | None) -> pd.DataFrame:
    """Return the cell of each item in each column that identifies it (see ``Ratings.keys``).

    Items that the ratings lack are found in the side table, which also decides on lists.
    """
    found: dict[str, Words] = {}
    for role in KEYS:
        tables = [place for place in (own, side) if place is not None and role in place.roles]
        names = tables[0].roles[role].columns if tables else ()
        for place in tables if role == "item" else tables[::-1]:
            columns = place.roles[role].columns
            if len(columns) != len(names):
                continue
            for name, column in zip(names, columns, strict=True):
                cells = _one_each(clean_ids(place.table.frame[column]), place.item, len(items))
                known = found.get(name, cells)
                found[name] = np.where(known == "", cells, known)
    return pd.DataFrame(found, index=items, dtype="str")


def _one_each(values: "pd.Series[str]", item: Ints, count: int) -> Words:
    """Return the one value of each item, ``""`` if it has none or several."""
    codes, names = codes_of(values)
    owner = np.where(codes >= 0, item, -1)
    first = first_rows(owner, count)
    code = np.where(first >= 0, codes[first], -1)
    code[owner[(owner >= 0) & (codes != code[owner])]] = -1
    return np.append(names.to_numpy(object), "")[code]


def require_apart(role: str, ledger: Ledger, *tables: tuple[Table, Sequence[str]]) -> None:
    """Add a problem if two keys of a role, in these columns of tables, get one name."""
    columns = list(tables[0][1])
    if len(columns) < 2:
        return
    frames = [table.frame[list(keys)].set_axis(columns, axis=1) for table, keys in tables]
    frame = pd.concat(frames, ignore_index=True)
    rows = like_named(frame, columns)
    if not len(rows):
        return
    owner = np.repeat(np.arange(len(frames)), list(map(len, frames)))[rows]
    first = np.cumsum([0, *map(len, frames)])
    places = [tables[n][0].where(rows[owner == n] - first[n], ", ".join(columns))
              for n in np.unique(owner)]  # fmt: skip
    keys = [" and ".join(map(repr, frame.loc[row])) for row in rows]
    ledger.problem(
        "same-names",
        f"two keys of the {role} get one name when their parts are joined by '/': "
        f"{keys[0]}, {keys[1]}",
        where="; ".join(places),
        mend="write another sign for '/' in these columns",
    )
