"""Tables of items with their keys and covariates, of raters, and of panels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import as_code, suggest
from assay._util.grouping import first_rows, number_within, unique_rows
from assay._util.text import counted, some
from assay._util.typing import Ints
from assay.data.ratings import ITEM_COLUMNS
from assay.io.cells import all_numbers, point_wanted, with_points
from assay.io.identifiers import clean_ids, codes_of, joined_ids, with_one_name
from assay.io.names import EMPTY, Roles, columns_of
from assay.io.reading_log import Ledger
from assay.io.tables import Table, cell_text

ONE_GROUP = "all"
OTHERS = "others"
"""Group of raters that ``group=`` does not name."""
GROUP_UNUSED = "changes within raters: it is not used as their group"
"""The end of a note."""
Words = NDArray[Any]


def constant_within(
    values: "pd.Series[str]",
    owner: Ints,
    names: "pd.Index[str]",
    *,
    what: str,
    table: Table,
    ledger: Ledger,
    mend: str = "",
    go_on: Mapping[str, Any] | None = None,
    fatal: bool = True,
) -> "Words | None":
    """Return the one value of each owner, ``""`` if it has none.

    Several values for one owner are a problem, or give None if not ``fatal``.
    """
    codes, distinct = codes_of(values)
    known = np.where(codes >= 0, owner, -1)
    first = first_rows(known, len(names))
    words = np.append(distinct.to_numpy(object), "")
    code = np.where(first >= 0, codes[first], -1)
    clash = np.flatnonzero((known >= 0) & (codes != code[known]))
    if len(clash):
        if not fatal:
            return None
        one = names[known[clash[0]]]
        rows = np.array([first[known[clash[0]]], clash[0]])
        count = len(np.unique(known[clash]))
        more = f", and so have {count - 1} more" if count > 1 else ""
        ledger.problem(
            "changing-value",
            f"{one!r} has more than one {what}: {words[codes[rows[0]]]!r} and "
            f"{words[codes[rows[1]]]!r}{more}",
            where=table.where(rows, str(values.name or "")),
            mend=f"a {what} must not change; "
            + (mend or f'name another column, or `{what}=""` for none'),
            go_on=go_on or {what: ""},
        )
    return np.asarray(words[code], object)


def item_table(
    names: "pd.Index[str]", item: Ints, cluster: Words, roles: Roles, ledger: Ledger
) -> pd.DataFrame:
    """Return the items with cluster, stratum and weight (see ``Ratings.items``)."""
    own = np.where(cluster == "", names.to_numpy(object), cluster)
    items = pd.DataFrame({"cluster": pd.Series(own, dtype="str"), "stratum": "", "weight": 1.0})
    items["stratum"] = items["stratum"].astype("str")
    for role in ("stratum", "weight"):
        if role not in roles:
            continue
        values = joined_ids(ledger.table.frame, roles[role].columns)
        found = constant_within(values, item, names, what=role, table=ledger.table, ledger=ledger)
        words = pd.Series(found, dtype="str", name=values.name)
        items[role] = words if role == "stratum" else _weights(words, values, item, ledger)
    return items.set_index(pd.Index(names, name="item"))


def _weights(
    words: "pd.Series[str]", values: "pd.Series[str]", item: Ints, ledger: Ledger
) -> "pd.Series[float]":
    words = with_points(words, ledger)
    weight = pd.to_numeric(words.mask(words == "", "1"), errors="coerce").astype(float)
    numbers = weight.to_numpy(float)
    wrong = ~(np.isfinite(numbers) & (numbers > 0))
    rows = np.flatnonzero((item >= 0) & wrong[item] & (values != "").to_numpy(bool))
    if len(rows):
        ledger.problem(
            "weight-words",
            f"{values.iloc[rows[0]]!r} is no weight",
            where=ledger.table.where(rows, str(values.name)),
            allowed="positive numbers",
            mend=point_wanted([str(values.iloc[rows[0]])]) or 'or leave them out: `weight=""`',
            go_on={"weight": ""},
        )
    elif (words == "").any():
        alone = int((words == "").sum())
        ledger.note(
            f"{counted(alone, 'item', 'have')} no weight; the weight is 1",
            code="items-without-weight",
            items=alone,
        )
    return weight


def rater_table(
    names: "pd.Index[str]", rater: Ints, roles: Roles, group: object, ledger: Ledger
) -> pd.DataFrame:
    """Return the raters with their group: from a mapping, a column, or one group for all."""
    groups: Words | None = np.full(len(names), ONE_GROUP, object)
    if isinstance(group, Mapping):
        given = {cell_text(r).strip(): cell_text(g).strip() for r, g in group.items()}
        missing = [name for name in names if name not in given]
        if missing:
            ledger.problem(
                "group-incomplete",
                f"`group=` names no group for {counted(len(missing), 'rater')}: {some(missing)}",
                mend="add them to it",
                go_on={"group": {**given, **dict.fromkeys(missing, OTHERS)}},
                numbers={"raters": len(missing)},
            )
        unknown = [name for name in given if name not in set(names)]
        if unknown:
            ledger.note(
                f"`group=` names {counted(len(unknown), 'rater')} without ratings: {some(unknown)}",
                code="group-of-no-rater",
                raters=len(unknown),
            )
        groups = np.array([given.get(name, ONE_GROUP) for name in names], object)
    elif "group" in roles:
        values = joined_ids(ledger.table.frame, roles["group"].columns)
        groups = constant_within(
            values, rater, names, what="group", table=ledger.table, ledger=ledger,
            fatal=group is not None,
        )  # fmt: skip
        if groups is None:
            ledger.note(f"column {values.name} {GROUP_UNUSED}", code="group-not-used")
            groups = np.full(len(names), ONE_GROUP, object)
        groups = np.where(groups == "", ONE_GROUP, groups)
    index = pd.Index(names, name="rater")
    return pd.DataFrame({"group": pd.Series(groups, dtype="str").to_numpy()}, index=index)


COLUMNS = ["panel", "system", "cluster", "rank", "item"]
RANKS_FROM_ZERO = "ranks count from 0 in the file; here they count from 1"
"""A note."""


@dataclass(frozen=True, kw_only=True)
class Places:
    """Rows that place items in ranked lists: of the ratings, or of a side table."""

    table: Table
    roles: Roles
    item: Ints

    def text(self, role: str) -> "pd.Series[str] | None":
        """Return the names in the columns of a role; None without columns."""
        if role not in self.roles:
            return None
        return joined_ids(self.table.frame, self.roles[role].columns)


def clusters_of(places: Places, names: "pd.Index[str]", ledger: Ledger) -> Words:
    """Return the cluster of each item (else its panel); empty if unknown."""
    for role in ("cluster", "panel"):
        values = places.text(role)
        if values is None:
            continue
        if role == "panel":
            text = "no column names the cluster, so each panel is its own cluster"
            ledger.note(text, code="panels-are-clusters")
        key, mend = {}, ""
        if "item" in places.roles:  # items may be numbered within their cluster
            key = {"item": list(dict.fromkeys(columns_of(places.roles, role, "item")))}
            mend = (
                f"if names of items are unique only within each {role}, name both: "
                f"{as_code(key)}; else name another column, or `{role}=''` for none"
            )
        found = constant_within(
            values, places.item, names, what="cluster", table=places.table, ledger=ledger,
            mend=mend, go_on=key,
        )  # fmt: skip
        return np.asarray(found, object)
    return np.full(len(names), "", object)


def panel_table(
    places: Places,
    names: "pd.Index[str]",
    cluster: "pd.Series[str]",
    ledger: Ledger,
    *,
    ranked: bool,
) -> pd.DataFrame:
    """Return a row for each place of an item in a list (see ``Ratings.panels``), given ``cluster``
    (item,). Without ranks, file order gives them if the task is ``ranked``, else all are 1.
    """
    texts = {role: places.text(role) for role in ("panel", "system", "rank")}
    rows = np.flatnonzero(places.item >= 0)
    codes = [pd.factorize(text)[0][rows] for text in texts.values() if text is not None]
    rows = rows[unique_rows(places.item[rows], *codes)[0]]  # the first of each place
    item, system = places.item[rows], _column(texts["system"], rows)
    lone = int((system == "").sum())
    if 0 < lone < len(system):
        ledger.note(
            f"{counted(lone, 'place', 'have')} no system: metrics by system leave "
            f"{'it' if lone == 1 else 'them'} out",
            code="system-missing",
            places=lone,
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
            ledger.note(
                "no column gives the rank, so items have the order of the file",
                code="order-of-file",
            )
    _check_clusters(frame, code, places.table, ledger)
    return frame[COLUMNS].astype(
        {"panel": "str", "system": "str", "cluster": "str", "rank": "int64", "item": "int64"}
    )


def _column(values: "pd.Series[str] | None", rows: Ints) -> "pd.Series[str]":
    if values is None:
        return pd.Series("", index=range(len(rows)), dtype="str")
    return values.iloc[rows].reset_index(drop=True)


def _panel_names(
    places: Places,
    values: "pd.Series[str] | None",
    rows: Ints,
    item: "pd.Series[str]",
    cluster: "pd.Series[str]",
    system: "pd.Series[str]",
    ledger: Ledger,
) -> "pd.Series[str]":
    """Name the list of each row: its panel, else its cluster, with the system if needed."""
    own = item.reset_index(drop=True)
    if values is not None:
        panel = _column(values, rows)
        panel = panel.mask(panel == "", own)
        lists, _ = unique_rows(pd.factorize(panel)[0])
        if len(unique_rows(pd.factorize(panel)[0], pd.factorize(system)[0])[0]) == len(lists):
            return panel
        ledger.note(
            "panels are named system/panel, since some have several systems", code="panels-renamed"
        )
    elif "cluster" in places.roles:
        panel = cluster
    else:
        panel = own
    joined = panel.where(system == "", system + "/" + panel)
    pair = with_one_name([panel, system], joined)
    if len(pair):
        keys = [f"{system.iloc[n]!r} and {panel.iloc[n]!r}" for n in pair]
        ledger.problem(
            "same-names",
            "two keys of the panel get one name when system and list are joined by '/': "
            f"{keys[0]}, {keys[1]}",
            where=places.table.where(rows[pair]),
            mend="write another sign for '/' in these columns",
        )
    return joined


def _ranks(values: "pd.Series[str]", places: Places, ledger: Ledger) -> "Ints | None":
    """Return the rank of every row, from 1; None, with a problem, if some are no ranks."""
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
            go_on={"rank": ""},
            numbers={"ranks": int(wrong.sum())},
        )
        return None
    ranks = np.ones(len(places.item), np.int64)
    ranks[rows] = numbers
    if len(rows) and numbers.min() == 0:
        ledger.note(RANKS_FROM_ZERO, code="ranks-from-zero")
        ranks[rows] += 1
    return ranks


def _check_ranks(
    frame: pd.DataFrame, panel: Ints, table: Table, rows: Ints, column: str, ledger: Ledger
) -> None:
    """Add a problem if an item has two ranks in a panel, or two items share one."""
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
                mend='check the rank column, or name the panel\'s column: `panel="..."`',
                go_on={"rank": ""},
                numbers={"panels": len(set(panel[twice]))},
            )


def _check_clusters(frame: pd.DataFrame, panel: Ints, table: Table, ledger: Ledger) -> None:
    """Add a problem if a panel has several clusters."""
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
            mend="a panel is one list for one cluster; check `panel=` and `cluster=`",
            go_on={"panel": ""},
            numbers={"clusters": clusters[mixed[0]], "panels": len(mixed)},
        )


def with_covariates(
    items: pd.DataFrame, names: Sequence[str], sources: Sequence[Places], ledger: Ledger
) -> pd.DataFrame:
    """Add columns of covariates: numbers if all cells are, else strings."""
    found = {}
    for name in dict.fromkeys(names):
        if name in ITEM_COLUMNS:
            ledger.problem(
                "covariate-name",
                f"a covariate cannot be called {name!r}: items have a column of that name",
                mend="rename the column",
                go_on={"covariates": None},
            )
            continue
        words = _words(name, items.index, sources, ledger)
        if words is not None:
            cells = pd.Series(words, index=items.index, dtype="str", name=name)
            numbers = all_numbers(cells, ledger)
            found[name] = cells if numbers is None else pd.Series(numbers, index=items.index)
    return items.assign(**found)


def _words(name: str, items: pd.Index, sources: Sequence[Places], ledger: Ledger) -> "Words | None":
    """Return the cell of each item, from the first table that has one."""
    there = [(place, place.table.finder.get(name)) for place in sources]
    if not any(column for _, column in there):
        columns = [str(c) for place in sources for c in place.table.frame.columns]
        ledger.problem(
            "unknown-column", f"`covariates={name!r}` is no column",
            mend=suggest(name, columns), go_on={"covariates": None},
        )  # fmt: skip
        return None
    merged = np.full(len(items), "", object)
    for place, column in there:
        if column is None:
            continue
        cells = joined_ids(place.table.frame, [column])
        own = constant_within(
            cells.mask(cells.str.strip().str.casefold().isin(EMPTY), ""), place.item, items,
            what=column, table=place.table, ledger=ledger,
            mend="name another column, or leave it out", go_on={"covariates": None},
        )  # fmt: skip
        if own is not None:
            merged = np.where(merged == "", own, merged)
    alone = items[merged == ""]
    if len(alone):
        ledger.problem(
            "covariate-gaps",
            f"{counted(len(alone), 'item', 'have')} no {name}: {some(list(alone))}",
            where=f"column {name}",
            mend="fill it in (also in the table of panels, for items that are only there), or give "
            "them a class of their own, e.g. 'unknown'",
            go_on={"covariates": None},
            numbers={"items": len(alone)},
        )
        return None
    return merged


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
                # The one value of each item, "" if it has none or several.
                codes, values = codes_of(clean_ids(place.table.frame[column]))
                owner = np.where(codes >= 0, place.item, -1)
                first = first_rows(owner, len(items))
                code = np.where(first >= 0, codes[first], -1)
                code[owner[(owner >= 0) & (codes != code[owner])]] = -1
                cells = np.append(values.to_numpy(object), "")[code]
                known = found.get(name, cells)
                found[name] = np.where(known == "", cells, known)
    return pd.DataFrame(found, index=items, dtype="str")
