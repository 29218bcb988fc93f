"""Items without a name other than their place in a list, such as the third chunk for a query."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from assay._util.text import listed
from assay.io.identifiers import joined_ids
from assay.io.item_columns import ONE_NAME, repeats
from assay.io.names import ASKED, OUTRIGHT, squash
from assay.io.reading_log import Ledger

if TYPE_CHECKING:
    from assay.io.columns import ColumnArg, Role

MOST_RANKS = 1000
MOSTLY_THERE = 0.8
"""Smallest share of the places of a list that must occur for numbers to be ranks."""


def key_in_lists(
    roles: "Mapping[str, Role]",
    frame: pd.DataFrame,
    asked: "Mapping[str, ColumnArg]",
    beside: Sequence[str],
    ledger: Ledger,
) -> dict[str, tuple[str, ...]]:
    """Return columns of the item and the rank by role, if places in lists name the items.

    Empty if a named or recognised column identifies items alone, or if names are no places: a
    document may be the same item in several lists.
    """
    decided = asked.get("item") is not None or any(p.role == "item" for p in ledger.problems)
    cluster, inner = _nested(roles)
    rows = frame.drop_duplicates()
    if decided or "rater" not in roles or not inner or not _repeats([inner], rows, beside):
        return {}
    system = roles["system"].columns if "system" in roles else ()
    lists = [*cluster, *system]
    ranks = roles["rank"].columns == (inner,) if "rank" in roles else _ranks(inner, lists, rows)
    key = [str(c) for c in frame.columns if c in {*lists, inner}]
    if not ranks or inner in lists or _repeats(key, rows, beside):
        return {}
    found = {"cluster": cluster, "item": tuple(key)}
    if "rank" not in roles and asked.get("rank") is None:
        found["rank"] = (inner,)
    ledger.note(
        f"{inner} counts the places of a list, so {listed(key)} together name the item. `item=` "
        "names other columns"
    )
    return found


def _nested(roles: "Mapping[str, Role]") -> tuple[tuple[str, ...], str]:
    """Return the columns of the cluster, and the one that may name items within a list.

    That is the recognised item, or the rank. A column of questions is the cluster of ranked lists.
    """
    cluster = roles["cluster"].columns if "cluster" in roles else ()
    rank = roles["rank"].columns[0] if "rank" in roles else ""
    if "item" not in roles:
        return cluster, rank if cluster else ""
    item = roles["item"].columns
    if len(item) > 1 or not roles["item"].evidence.startswith(ONE_NAME):
        return cluster, ""
    name = squash(item[0])
    if name in set(map(squash, ASKED)):
        return (item, rank) if not cluster else (cluster, "")
    outright = name in set(map(squash, OUTRIGHT))
    return cluster, item[0] if cluster and not outright else ""


def _repeats(key: Sequence[str], rows: pd.DataFrame, beside: Sequence[str]) -> int:
    return repeats(pd.factorize(joined_ids(rows, key))[0], rows, beside)


def _ranks(column: str, lists: Sequence[str], rows: pd.DataFrame) -> bool:
    """Whether a column counts the places of every list, from 0 or 1."""
    words = rows[column].str.strip()
    if not words.str.fullmatch(r"\d{1,4}(\.0+)?").all():
        return False
    places = pd.DataFrame({"list": joined_ids(rows, lists), "rank": words.astype(float)})
    places = places.drop_duplicates()
    least, most = places["rank"].min(), places["rank"].max()
    if least > 1 or most > MOST_RANKS or most == least:
        return False
    ends = places.groupby("list")["rank"].agg(["max", "size"])
    return bool(np.sum(ends["size"]) >= MOSTLY_THERE * np.sum(ends["max"] - least + 1))
