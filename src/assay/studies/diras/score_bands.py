"""Scores of documents by their rank in the retriever's ranking, in bands of ranks."""

from functools import lru_cache

import numpy as np
import pandas as pd
from scipy.special import ndtri
from scipy.stats import rankdata

from assay._util.typing import Bools, Floats, Ints

UNKNOWN = -1
"""Band of documents whose rank is not known, and of those that do not count by score."""
KEYS = ["query_id", "document_id"]


def normal_scores(rank: Floats, documents: int) -> Floats:
    r"""Return the normal score of each rank, :math:`\Phi^{-1}(1 - (r - 1/2) / N)`.

    Over all N documents of a query they have mean 0 and SD 1, whatever the retriever's scale.
    """
    return np.asarray(ndtri(1 - (np.asarray(rank) - 0.5) / documents), float)


def tied_normal_scores(scores: Floats) -> Floats:
    """Return normal scores of the documents of a query, with mean ranks of equal scores."""
    return normal_scores(rankdata(-np.asarray(scores), axis=-1), len(scores))


def bands_of_strata(pairs: pd.DataFrame, pool: pd.DataFrame) -> pd.DataFrame:
    """Return the bands of the ranks of each stratum, or one, ``UNKNOWN``, without ranks. ``level``
    is the mean normal score of the stratum; ``score`` is that of the band less it.
    """
    keys = ["query_id", "stratum"]
    sizes = pairs.drop_duplicates(keys)[[*keys, "stratum_size"]]
    if not _has_ranks(pairs, pool):
        return sizes.rename(columns={"stratum_size": "size"}).assign(
            band=UNKNOWN, score=0.0, level=0.0
        )
    tops = set(pool["stratum"])
    parts = []
    for query, own in sizes.groupby("query_id", sort=False):
        # The top comes first.
        ordered = own.sort_values("stratum", key=lambda names: ~names.isin(tops), kind="stable")
        bands = _bands(tuple(ordered["stratum_size"].astype(int)))
        parts.append(
            bands.assign(query_id=query, stratum=ordered["stratum"].to_numpy()[bands["part"]])
        )
    return pd.concat(parts, ignore_index=True)


def bands_of_documents(
    table: pd.DataFrame, listed: Bools, pairs: pd.DataFrame, pool: pd.DataFrame,
    strata: pd.DataFrame,
) -> Ints:  # fmt: skip
    """Return the band of each document: rank 1, 2 to 3, 4 to 7, and so on.

    Listed documents outside the pool are ``UNKNOWN``: the rank is known only of judged ones.
    """
    if not _has_ranks(pairs, pool):
        return np.full(len(table), UNKNOWN)
    index = pd.MultiIndex.from_frame(table[KEYS])
    rank = np.full(len(table), np.nan)
    for frame, column in ((pool, "rank"), (pairs, "retriever_rank")):
        own = frame.astype(dict.fromkeys(KEYS, str)).drop_duplicates(KEYS).set_index(KEYS)[column]
        held = pd.to_numeric(own, errors="coerce").reindex(index).to_numpy(float)
        rank = np.where(np.isnan(rank), held, rank)
    outside = listed & ~table["stratum"].isin(set(pool["stratum"])).to_numpy(bool)
    band = np.where((rank >= 1) & ~outside, _band(np.maximum(rank, 1)), UNKNOWN)
    there = pd.MultiIndex.from_frame(strata[["query_id", "stratum", "band"]])
    own_band = pd.MultiIndex.from_frame(table[["query_id", "stratum"]].assign(band=band))
    return np.where(own_band.isin(there), band, UNKNOWN).astype(np.int64)


def _has_ranks(pairs: pd.DataFrame, pool: pd.DataFrame) -> bool:
    return "rank" in pool and "retriever_rank" in pairs


def _band(rank: Floats) -> Ints:
    filled = np.where(np.isfinite(rank), rank, 1)
    return np.floor(np.log2(filled)).astype(np.int64)


@lru_cache(maxsize=8)
def _bands(sizes: tuple[int, ...]) -> pd.DataFrame:
    """Return the bands of strata of these sizes, from the top on."""
    documents = sum(sizes)
    rank: Floats = np.arange(1, documents + 1, dtype=float)
    part = np.repeat(np.arange(len(sizes)), sizes)
    table = pd.DataFrame(
        {"part": part, "band": _band(rank), "score": normal_scores(rank, documents)}
    )
    table["level"] = table.groupby("part")["score"].transform("mean")
    table["score"] -= table["level"]
    return table.groupby(["part", "band"], sort=False, as_index=False).agg(
        size=("score", "size"), score=("score", "mean"), level=("level", "mean")
    )
