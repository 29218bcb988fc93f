"""Unused columns that group: units above the clusters, and kinds of items."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from assay._util.arrays import divided
from assay._util.typing import Floats, Ints
from assay.data.ratings import ITEM_COLUMNS, MOST_KINDS, LargerUnit, Ratings, system_of_items

LEAST_CLUSTERS = 20
LEAST_UNITS = 5
"""Fewer units are levels of a fixed property, such as a language, and no sample of units."""
MOST_CLUSTERS = 5_000
"""Clusters that are tested, drawn at random: bounds the time."""
FIRST_ROWS = 5_000
"""Rows of a quick look at a column, which refuses most columns of large files."""
PERMUTATIONS = 999
SEED = 9


def find_larger_units(
    ratings: Ratings, columns: Mapping[str, "pd.Series[str]"], item: Ints
) -> tuple[LargerUnit, ...]:
    """Return the columns that group the clusters, with a permutation test (Bonferroni).

    ``columns`` have a cell for each row of the file, ``item`` its position. Of columns with the
    same groups only the first counts.
    """
    cluster, names = pd.factorize(ratings.items["cluster"])
    if len(names) < LEAST_CLUSTERS:
        return ()
    found: dict[str, Ints] = {}
    for column, cells in columns.items():
        unit = _unit_of_clusters(cells, cluster[item], len(names))
        same = unit is not None and any(np.array_equal(unit, other) for other in found.values())
        if unit is not None and not same:
            found[column] = unit
    if not found:
        return ()
    rng = np.random.default_rng(SEED)
    values = _cluster_values(ratings, cluster, len(names))
    return tuple(
        LargerUnit(
            column=column,
            units=int(unit.max()) + 1,
            p=min(1.0, len(found) * _p_value(values, unit, rng)),
        )
        for column, unit in found.items()
    )


def _unit_of_clusters(cells: "pd.Series[str]", cluster: Ints, clusters: int) -> Ints | None:
    """Return the code of each cluster's unit, -1 without one; None if cells do not group them."""
    for rows in (slice(FIRST_ROWS), slice(None)):
        seen, there = cells[rows], cluster[rows]
        codes = pd.factorize(seen.mask(seen == ""))[0]
        unit = np.full(clusters, -1)
        unit[there] = codes
        if (unit[there] != codes).any():
            return None
    grouped = unit >= 0
    units = len(np.unique(unit[grouped]))
    enough = grouped.sum() >= max(LEAST_CLUSTERS, 0.9 * clusters)
    if not enough or not LEAST_UNITS <= units <= grouped.sum() / 2:
        return None
    return np.where(grouped, pd.factorize(unit[grouped])[0][np.cumsum(grouped) - 1], -1)


def _cluster_values(ratings: Ratings, cluster: Ints, clusters: int) -> Floats:
    """Return by cluster the share of each answer but a label's first, and each system's (but the
    first's) difference to the mean of the systems. What is unknown is the mean.
    """
    system = system_of_items(ratings)[ratings.item] + 1  # 0 without a system
    shape = (clusters, 1 + len(ratings.systems))
    place = cluster[ratings.item] * shape[1] + system
    found = []
    for n, label in enumerate(ratings.task.labels):
        told = ratings.answers[:, n] >= 0
        count = np.bincount(place[told], minlength=shape[0] * shape[1]).reshape(shape)
        for code in range(1, len(label.classes)):
            said = np.bincount(
                place[told], weights=ratings.answers[told, n] == code, minlength=count.size
            ).reshape(shape)
            found.append(divided(said.sum(axis=1), count.sum(axis=1)))
            if len(ratings.systems) > 1:
                share = divided(said[:, 1:], count[:, 1:])
                found += list((share - share.mean(axis=1, keepdims=True))[:, 1:].T)
    values = np.stack(found, axis=1)
    known = np.isfinite(values)
    values = np.where(known, values, 0.0)
    values -= values.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.asarray(np.where(known, values, 0.0))


def _p_value(values: Floats, unit: Ints, rng: np.random.Generator) -> float:
    """Return P(the largest standardised sum of squares between units is as large by chance)."""
    some = rng.permutation(np.flatnonzero(unit >= 0))[:MOST_CLUSTERS]
    values, unit = values[some], unit[some]
    values = values[:, values.std(axis=0) > 0]
    if not values.shape[1]:
        return 1.0
    order = np.argsort(unit, kind="stable")
    starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
    sizes = np.diff(starts, append=len(unit))[:, None]

    def between(rows: Ints) -> Floats:
        sums = np.add.reduceat(values[rows], starts, axis=0)
        return np.asarray((sums**2 / sizes).sum(axis=0))

    null = np.stack([between(rng.permutation(len(unit))) for _ in range(PERMUTATIONS)])
    mean, sd = null.mean(axis=0), null.std(axis=0)
    sd = np.where(sd > 0, sd, np.inf)
    seen = ((between(order) - mean) / sd).max()
    return float((1 + (((null - mean) / sd).max(axis=1) >= seen).sum()) / (1 + PERMUTATIONS))


LEAST_ITEMS = 20
"""Least number of items of a kind; rarer ones show nothing of the raters."""
MOST_COLUMNS = 6


def with_kinds(ratings: Ratings, columns: Mapping[str, "pd.Series[str]"], item: Ints) -> Ratings:
    """Keep columns that divide the items into kinds, as covariates. ``columns`` have a cell for
    each row of the file, ``item`` its position. Answers, and divisions by system, are none.
    """
    words = {name.casefold() for label in ratings.task.labels for name in label.classes}
    seen = [_partition(system_of_items(ratings))]
    found: dict[str, pd.Series[str]] = {}
    for column, cells in columns.items():
        kind = _kind_of_items(cells, item, len(ratings.items))
        if kind is None or column in ITEM_COLUMNS or column in ratings.items:
            continue
        codes = _partition(kind)
        told = {str(name).casefold() for name in np.unique(kind) if name}
        if told <= words or any(np.array_equal(codes, other) for other in seen):
            continue
        seen.append(codes)
        found[column] = pd.Series(kind, index=ratings.items.index, dtype="str")
        if len(found) == MOST_COLUMNS:
            break
    return replace(ratings, items=ratings.items.assign(**found)) if found else ratings


def _kind_of_items(
    cells: "pd.Series[str]", item: Ints, items: int
) -> "np.ndarray[tuple[int], np.dtype[np.object_]] | None":
    """Return the kind of each item, ``""`` without one; None if the column has no kinds."""
    if cells[:FIRST_ROWS].nunique() > MOST_KINDS + 1:  # and perhaps an empty cell
        return None
    codes, names = pd.factorize(cells.mask(cells == ""))
    if not 2 <= len(names) <= MOST_KINDS:
        return None
    kind = np.full(items, -1)
    kind[item] = codes
    count = np.bincount(kind[kind >= 0], minlength=len(names))
    if (kind[item] != codes).any() or (count >= LEAST_ITEMS).sum() < 2:
        return None
    return np.asarray(np.append(names.astype(object), "")[kind], object)


def _partition(values: "np.ndarray[tuple[int], np.dtype[np.generic]]") -> Ints:
    return np.asarray(pd.factorize(values)[0])
