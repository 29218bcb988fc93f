"""Recall, precision, nDCG and average precision of each query and run, by three estimators."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assay._util.arrays import divided
from assay._util.typing import Bools, Floats, Ints
from assay.studies.diras.cells import CellModel
from assay.studies.diras.listed_labels import ListedLabels
from assay.studies.diras.pool import JudgedPool
from assay.studies.diras.ranked import (
    average_precision,
    discounts,
    ndcg,
    weighted_average_precision,
    weighted_ndcg,
)

METRICS = ("recall", "precision", "ndcg", "map")
WARM_UP = 30
"""Steps before the first draw in which labels and prevalences adapt to each other."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimates:
    """Values of each metric, by name; NaN where a query has none.

    drawn : unjudged documents are predicted (draw, query, run)
    hajek : from the judged documents by their design weights (query, run)
    naive : unjudged documents count as not relevant (query, run)
    """

    drawn: dict[str, Floats]
    hajek: dict[str, Floats]
    naive: dict[str, Floats]


def estimate(pool: JudgedPool, relevant: Bools, k: int, rng: np.random.Generator) -> Estimates:
    """Estimate all metrics from draws of the relevance of judged pairs (draw, judged pair)."""
    worth = relevant.mean(axis=0)
    return Estimates(
        drawn=_predicted(pool, relevant, k, rng),
        hajek=_weighted(pool, worth, k),
        naive=_of_judged(pool, worth, k),
    )


def _predicted(
    pool: JudgedPool, relevant: Bools, k: int, rng: np.random.Generator
) -> dict[str, Floats]:
    """Return draws of all metrics, (draw, query, run)."""
    draws, queries, runs = len(relevant), len(pool.queries), len(pool.runs)
    size = len(pool.group_query)
    height = _heights(pool.group_place, k)
    model = CellModel(
        cell=pool.group_cell,
        query=pool.group_query,
        judged=np.bincount(pool.judged_group, minlength=size),
        stratum=pool.cell_stratum,
        listed=pool.cell_listed,
        block=pool.group_block,
        height=height,
        score=pool.group_score,
        level=pool.cell_level,
    )
    fill_judged = _places(pool, pool.judged_group, pool.judged_rank, k)
    fill_open = _places(pool, pool.open_group, pool.open_rank, k)
    of_judged, of_open = pool.group_query[pool.judged_group], pool.group_query[pool.open_group]
    found = {name: np.zeros((draws, queries, runs)) for name in METRICS}
    labels = ListedLabels(pool=pool, before=relevant.mean(axis=0), height=height)

    nothing_open = labels.certain and not len(of_open) and not pool.others.any()

    def step(held: Bools) -> tuple[Bools, Floats]:
        if nothing_open:
            return held, np.zeros(size)
        held = held if labels.certain else labels.draw(held, model, rng)
        yes = np.bincount(pool.judged_group, weights=held, minlength=size).astype(np.int64)
        return held, model.draw(yes, rng)

    for n in range(0 if labels.certain else WARM_UP):
        step(relevant[n % draws])
    for draw in range(draws):
        held, prevalence = step(relevant[draw])
        open_ = rng.random(len(of_open)) < prevalence[pool.open_group]
        rest = rng.binomial(pool.others, prevalence)
        total = (
            np.bincount(of_judged, weights=held, minlength=queries)
            + np.bincount(of_open, weights=open_, minlength=queries)
            + np.bincount(pool.group_query, weights=rest, minlength=queries)
        )
        lists = np.zeros((queries, runs, k), np.bool_)
        fill_judged(lists, held)
        fill_open(lists, open_)
        for name, value in _metrics(lists, total).items():
            found[name][draw] = value
    return found


def _heights(place: Ints, k: int) -> Floats:
    """Return the height of each place: 1 for twice as high, 0 in the middle and off the lists."""
    middle = np.log2(np.arange(1, k + 1)).mean()
    return np.where(place > 0, middle - np.log2(np.maximum(place, 1)), 0.0)


def _places(pool: JudgedPool, group: Ints, rank: Ints, k: int) -> Callable[[Bools, Bools], None]:
    """Return a function that writes the relevance of documents to their places in the lists."""
    document, run = np.nonzero(rank)
    at = np.ravel_multi_index(
        (pool.group_query[group[document]], run, rank[document, run] - 1),
        (len(pool.queries), len(pool.runs), k),
    )

    def fill(lists: Bools, held: Bools) -> None:
        lists.reshape(-1)[at] = held[document]

    return fill


def _metrics(lists: Bools | Floats, total: Floats) -> dict[str, Floats]:
    """Return all metrics of lists (query, run, place), (query, run)."""
    hits = lists.sum(axis=-1)
    return {
        "recall": divided(hits, total[:, None]),
        "precision": hits / lists.shape[-1],
        "ndcg": ndcg(lists, total),
        "map": average_precision(lists, total),
    }


def _of_judged(pool: JudgedPool, worth: Floats, k: int) -> dict[str, Floats]:
    """Return all metrics with unjudged documents taken as not relevant."""
    query = pool.group_query[pool.judged_group]
    lists = np.zeros((len(pool.queries), len(pool.runs), k))
    for run in range(len(pool.runs)):
        listed = pool.judged_listed[:, run]
        lists[query[listed], run, pool.judged_rank[listed, run] - 1] = worth[listed]
    return _metrics(lists, np.bincount(query, weights=worth, minlength=len(pool.queries)))


def _weighted(pool: JudgedPool, worth: Floats, k: int) -> dict[str, Floats]:
    """Return the estimates of Hájek; there is none of precision."""
    shape = (len(pool.queries), len(pool.runs))
    found = {name: np.full(shape, np.nan) for name in METRICS}
    query = pool.group_query[pool.judged_group]
    open_query = pool.group_query[pool.open_group]
    for q in range(shape[0]):
        own = query == q
        held, weight = worth[own], pool.judged_weight[own]
        total = pool.documents[q] * (held * weight).sum() / weight.sum()
        for run in range(shape[1]):
            rank = pool.judged_rank[own, run]
            listed = rank > 0
            sides = held[listed], weight[listed], rank[listed]
            length = int(listed.sum() + (pool.open_rank[open_query == q, run] > 0).sum())
            every = divided(np.array((sides[0] * sides[1]).sum()), np.array((held * weight).sum()))
            found["recall"][q, run] = every
            found["ndcg"][q, run] = weighted_ndcg(*sides, discounts(k)[:length], total, k)
            found["map"][q, run] = weighted_average_precision(*sides, length, total)
    return found
