"""Raters: how much each said, who can be compared with whom, who says always the same."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from assay.checking.items import telling_items
from assay.checking.result import Level, Part, findings_on
from assay.meetings import count_pairs
from assay.plurals import counted, does, some
from assay.ratings import Ratings
from assay.reading.ids import unique_rows
from assay.states import MISSING

_finding = findings_on("raters")

FEW_RATINGS = 10
TWIN_ITEMS = 20
TWIN_AGREEMENT = 0.98
LONG_AGREEMENT = 100
CHANCE_LIMIT = 0.9
PAIR_LIMIT = 200_000_000


def _part(level: Level, text: str, **tables: pd.DataFrame) -> Part:
    """Return a part of one finding."""
    return Part(findings=(_finding(level, text),), tables=tables)


def components(ratings: Ratings) -> NDArray[np.int64]:
    """Return the component of each rater in the graph of raters and items; -1 if none.

    Known truth is one more end of the graph: it compares raters who have no item in common.
    """
    answered = ~ratings.abstained
    n_raters, n_items = len(ratings.raters), len(ratings.items)
    known = np.flatnonzero(ratings.has_truth)
    size = n_raters + n_items + 1
    ends = (
        np.append(ratings.rater[answered], np.full(len(known), size - 1)),
        n_raters + np.append(ratings.item[answered], known),
    )
    graph = sparse.coo_array((np.ones(len(ends[0]), bool), ends), shape=(size, size))
    _, part = connected_components(graph, directed=False)
    active = np.bincount(ratings.rater[answered], minlength=n_raters) > 0
    found = np.full(n_raters, -1, np.int64)
    found[active] = pd.factorize(part[:n_raters][active])[0]
    return found


def check_overlap(ratings: Ratings) -> Part:
    """Say which raters can be compared: those connected by items in common."""
    part = components(ratings)
    sizes = np.bincount(part[part >= 0])
    active = int((part >= 0).sum())
    told = bool(telling_items(ratings).any())
    if len(sizes) == 1 and active > 1:
        known = " or known truth" * bool(ratings.has_truth.any())
        text = f"all {active} raters are connected by items in common{known}"
        return _part("ok", text)
    if active == 1 and told:
        text = "there is one rater: errors are learned from the items of known truth"
        return _part("note", text)
    if active == 1:
        text = "there is one rater: nothing tells the rater's errors from the truth"
        return _part("problem", text)
    text = (
        f"the raters fall into {len(sizes)} parts without items in common (the largest has "
        f"{sizes.max()} of {active}): across parts they are compared through the prior only; "
        f"{len(sizes) - 1} items rated in two parts each would connect them"
    )
    return _part("warning", text)


def check_raters(ratings: Ratings) -> Part:
    """Say who rated little, who abstained, and who always gives the same answer."""
    table = _rater_table(ratings)
    few = table[(table["ratings"] < FEW_RATINGS) & (table["ratings"] > 0)]
    silent = table[table["ratings"] == 0]
    constant = table[table["constant"] & (table["ratings"] >= FEW_RATINGS)]
    found = [_finding("note", _groups(ratings))]
    if len(few):
        text = (
            f"{len(few)} of {len(table)} raters {does(len(few), 'have')} fewer than {FEW_RATINGS} "
            f"ratings: reliability that leans on the group: {some(list(few['rater']))}"
        )
        found.append(_finding("note", text))
    if len(silent):
        text = f"{counted(len(silent), 'rater')} only abstained: {some(list(silent['rater']))}"
        found.append(_finding("warning", text))
    if len(constant):
        text = (
            f"{counted(len(constant), 'rater')} always {does(len(constant), 'give')} the same "
            f"answer: {some(list(constant['rater']))}"
        )
        found.append(_finding("warning", text))
    abstained = int(ratings.abstained.sum())
    if abstained:
        most = table.sort_values("abstained", ascending=False).iloc[0]
        text = (
            f"{abstained} of {len(ratings.answers)} ratings {does(abstained, 'are')} abstentions, "
            f"most by {most['rater']} ({most['abstained']})"
        )
        found.append(_finding("note", text))
    return Part(findings=tuple(found), tables={"raters": table})


def _groups(ratings: Ratings) -> str:
    sizes = ratings.raters["group"].value_counts()
    if len(sizes) == 1:
        return f"{counted(len(ratings.raters), 'rater')} in one group"
    names = some([f"{group} {size}" for group, size in sizes.items()])
    return f"{len(ratings.raters)} raters in {len(sizes)} groups: {names}"


def _rater_table(ratings: Ratings) -> pd.DataFrame:
    answered = (ratings.answers != MISSING).any(axis=1)
    size = len(ratings.raters)
    rater = ratings.rater[answered]
    _, pattern = unique_rows(*ratings.answers[answered].T)
    pairs, _ = unique_rows(rater, pattern)
    return pd.DataFrame(
        {
            "rater": ratings.raters.index.to_numpy(),
            "group": ratings.raters["group"].to_numpy(),
            "ratings": np.bincount(ratings.rater[~ratings.abstained], minlength=size),
            "abstained": np.bincount(ratings.rater[ratings.abstained], minlength=size),
            "component": components(ratings),
            "constant": np.bincount(rater[pairs], minlength=size) == 1,
        }
    )


def check_twins(ratings: Ratings) -> Part:
    """Say which raters agree so often that they may not be independent witnesses."""
    first = (ratings.answers != MISSING).any(axis=1) & (ratings.replicate == 0)
    item, rater = ratings.item[first], ratings.rater[first]
    _, pattern = unique_rows(*ratings.answers[first].T)
    shares = np.bincount(pattern) / max(len(pattern), 1)
    chance = float((shares**2).sum())
    if chance >= CHANCE_LIMIT:
        text = "almost all answers are alike: raters who are not independent cannot be told"
        return _part("note", text)
    if count_pairs(item) > PAIR_LIMIT:
        text = "too many raters an item to compare every pair: no search for near-duplicates"
        return _part("note", text)
    table, compared = _twins(item, rater, pattern, ratings)
    if not compared:
        text = (
            f"no two raters answered {TWIN_ITEMS} items in common: whether some of them look like "
            "one cannot be told"
        )
        return _part("note", text)
    if table.empty:
        text = "no two raters agree so often that they look like one"
        return _part("ok", text)
    # On a few dozen items, two good raters may agree throughout by chance.
    long = bool((table["items"] >= LONG_AGREEMENT).any())
    pairs = [f"{line.rater} and {line.other}" for line in table.itertuples()]
    text = (
        f"{counted(len(table), 'pair')} of raters {does(len(table), 'agree')} on more than "
        f"{TWIN_AGREEMENT:.0%} of their common items: both are right, or they are not "
        f"independent witnesses: {some(pairs)}"
    )
    return _part("warning" if long else "note", text, near_duplicate_raters=table)


def _twins(
    item: NDArray[np.int64], rater: NDArray[np.int64], pattern: NDArray[np.int64], ratings: Ratings
) -> tuple[pd.DataFrame, int]:
    """Return the pairs that agree so often, and how many pairs share items enough to tell."""
    common = _products(rater, item, len(ratings.raters))
    _, cell = unique_rows(item, pattern)
    same = _products(rater, cell, len(ratings.raters))
    pairs = sparse.triu(common, k=1).tocoo()
    enough = pairs.data >= TWIN_ITEMS
    one, other, items = pairs.row[enough], pairs.col[enough], pairs.data[enough]
    agreement = np.asarray(same[one, other]).ravel() / np.maximum(items, 1)
    close = agreement > TWIN_AGREEMENT
    names = ratings.raters.index.to_numpy()
    table = pd.DataFrame(
        {
            "rater": names[one[close]],
            "other": names[other[close]],
            "items": items[close],
            "agreement": agreement[close],
        }
    )
    return table, int(enough.sum())


def _products(rater: NDArray[np.int64], column: NDArray[np.int64], raters: int) -> Any:
    """Return the number of columns that each two raters have in common: (rater, rater)."""
    width = int(column.max()) + 1 if len(column) else 1
    ones = np.ones(len(rater), np.int32)
    matrix = sparse.csr_array((ones, (rater, column)), shape=(raters, width))
    return (matrix @ matrix.T).tocsr()
