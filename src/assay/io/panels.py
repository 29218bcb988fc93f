"""Panels: the ranked lists in which items stand."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.grouping import Codes, unique_rows
from assay._util.plurals import counted
from assay.io.columns import Roles
from assay.io.identifiers import joined_ids
from assay.io.items import Words, constant_within
from assay.io.ledger import Ledger
from assay.io.replicates import number_within
from assay.io.tables import Table

COLUMNS = ["panel", "system", "cluster", "rank", "item"]
RANKS_FROM_ZERO = "ranks count from 0 in the file; here they count from 1"
"""A note."""


@dataclass(frozen=True, kw_only=True)
class Places:
    """Rows that put an item into a ranked list: of the ratings, or of a table of their own."""

    table: Table
    roles: Roles
    item: Codes

    def text(self, role: str) -> "pd.Series[str] | None":
        """Return the names in a role's columns, if it has any."""
        if role not in self.roles:
            return None
        columns = self.roles[role].columns
        return joined_ids(self.table.frame, columns).rename(", ".join(columns))


def clusters_of(places: Places, names: "pd.Index[str]", ledger: Ledger) -> Words:
    """Return the cluster of each item, ``""`` if nothing is known; a panel stands in for it."""
    for role in ("cluster", "panel"):
        values = places.text(role)
        if values is None:
            continue
        if role == "panel":
            ledger.note("no column names the cluster: each panel is its own cluster")
        found = constant_within(
            values, places.item, names, what="cluster", table=places.table, ledger=ledger,
            mend=_key_with(places, role),
        )  # fmt: skip
        return np.asarray(found, object)
    return np.full(len(names), "", object)


def _key_with(places: Places, role: str) -> str:
    """Say that items may be numbered within their cluster: then both make the key."""
    if "item" not in places.roles:
        return ""
    key = [*places.roles[role].columns, *places.roles["item"].columns]
    return (
        f"if items are named within each {role}, both name them: "
        f'item={list(dict.fromkeys(key))!r}; else name another column, or {role}="" for none'
    )


def panel_table(
    places: Places,
    names: "pd.Index[str]",
    cluster: "pd.Series[str]",
    ledger: Ledger,
    *,
    ranked: bool,
) -> pd.DataFrame:
    """Return one line per place of an item in a list (see ``Ratings.panels``).

    Parameters
    ----------
    places : Places
    names : Index of str
        The items' names.
    cluster : Series of str (item,)
        The items' clusters, complete.
    ledger : Ledger
    ranked : bool
        Whether the task is about ranked lists. If no column gives the rank, the order of the file
        does in these; in others it says nothing, and all items of a list share the first rank.
    """
    texts = {role: places.text(role) for role in ("panel", "system", "rank")}
    rows = _first_places(places, texts)
    item, system = places.item[rows], _column(texts["system"], rows)
    lone = int((system == "").sum())
    if 0 < lone < len(system):
        ledger.note(
            f"{counted(lone, 'place', 'have')} no system: metrics by system leave "
            f"{'it' if lone == 1 else 'them'} out"
        )
    own = cluster.iloc[item].reset_index(drop=True)
    panel = _panel_names(places, texts["panel"], rows, names[item].to_series(), own, system, ledger)
    rank_text = texts["rank"]
    ranks = None if rank_text is None else _ranks(rank_text, places, ledger)
    frame = pd.DataFrame({"panel": panel, "system": system, "cluster": own, "item": item})
    frame["rank"] = 1 if ranks is None else ranks[rows]
    code = pd.factorize(frame["panel"])[0]
    first, _ = unique_rows(code, item)
    if rank_text is not None and ranks is not None:
        _check_ranks(frame, code, places.table, rows, str(rank_text.name), ledger)
    frame, code = frame.iloc[first].reset_index(drop=True), code[first]
    if rank_text is None and ranked:
        frame["rank"] = 1 + number_within(code)
        if (frame["rank"] > 1).any():
            ledger.note("no column gives the rank: items are ranked in the order of the file")
    _check_clusters(frame, code, places.table, ledger)
    return frame[COLUMNS].astype(
        {"panel": "str", "system": "str", "cluster": "str", "rank": "int64", "item": "int64"}
    )


def _first_places(places: Places, texts: "Mapping[str, pd.Series[str] | None]") -> Codes:
    """Return the first row of each place: rows that name the same item and list are alike."""
    rows = np.flatnonzero(places.item >= 0)
    codes = [pd.factorize(text)[0][rows] for text in texts.values() if text is not None]
    return rows[unique_rows(places.item[rows], *codes)[0]]


def _column(values: "pd.Series[str] | None", rows: Codes) -> "pd.Series[str]":
    if values is None:
        return pd.Series("", index=range(len(rows)), dtype="str")
    return values.iloc[rows].reset_index(drop=True)


def _panel_names(
    places: Places,
    values: "pd.Series[str] | None",
    rows: Codes,
    item: "pd.Series[str]",
    cluster: "pd.Series[str]",
    system: "pd.Series[str]",
    ledger: Ledger,
) -> "pd.Series[str]":
    """Name the list of each row: its panel, else its cluster, with the system where need be."""
    own = item.reset_index(drop=True)
    if values is not None:
        panel = _column(values, rows)
        panel = panel.mask(panel == "", own)
        lists, _ = unique_rows(pd.factorize(panel)[0])
        if len(unique_rows(pd.factorize(panel)[0], pd.factorize(system)[0])[0]) == len(lists):
            return panel
        ledger.note("panels are named system/panel, since some stand under several systems")
    elif "cluster" in places.roles:
        panel = cluster
    else:
        panel = own
    return panel.where(system == "", system + "/" + panel)


def _ranks(values: "pd.Series[str]", places: Places, ledger: Ledger) -> "NDArray[np.int64] | None":
    """Return the rank of every row, from 1; ranks that count from 0 are moved up.

    None, and a problem, if some are no ranks.
    """
    rows = np.flatnonzero(places.item >= 0)
    codes, distinct = pd.factorize(values)
    parsed = pd.to_numeric(pd.Series(distinct), errors="coerce").to_numpy(float)
    numbers = parsed[codes[rows]]
    wrong = ~np.isfinite(numbers) | (numbers < 0) | (numbers != np.floor(numbers)) | (numbers > 1e9)
    if wrong.any():
        shown = ", ".join(repr(str(v)) for v in pd.unique(values.iloc[rows[wrong]])[:5])
        ledger.problem(
            "rank-words",
            f"{counted(int(wrong.sum()), 'rank')} cannot be used: {shown}",
            where=places.table.where(rows[wrong], str(values.name)),
            allowed="whole numbers from 1 (or from 0)",
            numbers={"ranks": int(wrong.sum())},
        )
        return None
    ranks = np.ones(len(places.item), np.int64)
    ranks[rows] = numbers
    if len(rows) and numbers.min() == 0:
        ledger.note(RANKS_FROM_ZERO)
        ranks[rows] += 1
    return ranks


def _check_ranks(
    frame: pd.DataFrame, panel: Codes, table: Table, rows: Codes, column: str, ledger: Ledger
) -> None:
    """Add a problem if an item has two ranks in a panel, or two items have one."""
    item, rank = frame["item"].to_numpy(), frame["rank"].to_numpy()
    pairs, _ = unique_rows(panel, item, rank)
    for one, what in ((item, "an item has several ranks"), (rank, "several items share a rank")):
        kept = pd.DataFrame({"panel": panel[pairs], "key": one[pairs]})
        twice = pairs[kept.duplicated(keep=False).to_numpy()]
        if len(twice):
            name = frame["panel"].iloc[twice[0]]
            ledger.problem(
                "panel-ranks",
                f"in panel {name!r} {what}; {counted(len(set(panel[twice])), 'such panel')}",
                where=table.where(rows[np.sort(twice)], column),
                mend='check the rank column, or name the panel\'s column: panel="..."',
                numbers={"panels": len(set(panel[twice]))},
            )


def _check_clusters(frame: pd.DataFrame, panel: Codes, table: Table, ledger: Ledger) -> None:
    """Add a problem if a panel, which is one list for one cluster, holds several."""
    pairs, _ = unique_rows(panel, pd.factorize(frame["cluster"])[0])
    clusters = np.bincount(panel[pairs])
    mixed = np.flatnonzero(clusters > 1)
    if len(mixed):
        name = frame["panel"].iloc[np.flatnonzero(panel == mixed[0])[0]]
        ledger.problem(
            "panel-clusters",
            f"panel {name!r} holds items of {clusters[mixed[0]]} clusters"
            f"; {counted(len(mixed), 'such panel')}",
            where=table.source,
            mend="a panel is one list for one cluster; check panel= and cluster=",
            numbers={"clusters": clusters[mixed[0]], "panels": len(mixed)},
        )
