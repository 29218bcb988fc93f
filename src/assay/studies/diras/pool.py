"""Judged pairs, ranked lists and all other documents, grouped into cells of each query."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from assay._util.errors import Problem, RatingsError
from assay._util.text import some
from assay._util.typing import Bools, Floats, Ints
from assay.studies.diras.score_bands import UNKNOWN, bands_of_documents, bands_of_strata

BETWEEN = " | "
"""Separator of stratum and pattern in the name of a cell."""
MOST_RUNS_APART = 3
"""Up to this many runs, cells tell which runs list a document; beyond, how many."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedPool:
    """Documents of judged queries.

    A group is those of one query, stratum and pattern of runs with one best place and one band of
    the retriever's ranks.

    weight, documents : design weight and number of documents (query)
    group_query, group_cell, group_block : query, cell, and pair of both (group)
    group_place : best place in a run, 0 if no run lists the documents (group)
    group_score : normal score of the band, less that of the stratum; 0 if not known (group)
    group_ranked : whether the band is known (group)
    cell_stratum, cell_listed : sampling stratum, and whether a run lists the documents (cell)
    cell_level : mean normal score of the stratum over queries; 0 if not known (cell)
    judged_item, judged_group, judged_weight : name, group and design weight (judged pair)
    judged_rank : place in each run, 0 if the document is not among its first k (judged pair, run)
    open_group, open_rank : the same of listed documents that are not judged (open[, run])
    others : number of documents that are neither judged nor listed (group)
    """

    queries: list[str]
    weight: Floats
    documents: Ints
    group_query: Ints
    group_cell: Ints
    group_block: Ints
    group_place: Ints
    group_score: Floats
    group_ranked: Bools
    cell_stratum: Ints
    cell_listed: Bools
    cell_level: Floats
    judged_item: list[str]
    judged_group: Ints
    judged_weight: Floats
    judged_rank: Ints
    open_group: Ints
    open_rank: Ints
    others: Ints
    runs: list[str]

    @property
    def judged_listed(self) -> Bools:
        """Whether the run lists the document among its first k (judged pair, run)."""
        return np.asarray(self.judged_rank > 0)

    @property
    def open_listed(self) -> Bools:
        """Whether the run lists the document among its first k (open, run)."""
        return np.asarray(self.open_rank > 0)


def judged_pool(
    pairs: pd.DataFrame, pool: pd.DataFrame, runs: Mapping[str, pd.DataFrame], k: int
) -> JudgedPool:
    """Group all documents of the judged queries. Documents outside ``pool``, the top of each
    ranking sampled from, are in the other stratum; the first ``k`` of a run count as listed.
    """
    keys = ["query_id", "document_id"]
    pairs = pairs.astype({"query_id": str, "document_id": str, "item": str})
    queries = list(dict.fromkeys(pairs["query_id"]))
    table = _documents(pairs, pool, runs, k, queries)
    ranks = table[list(runs)].to_numpy(np.int64)
    cells = table["stratum"] + BETWEEN + _patterns(ranks > 0)
    best = np.where(ranks > 0, ranks, k + 1).min(axis=1)
    strata = bands_of_strata(pairs, pool)
    band = bands_of_documents(table, (ranks > 0).any(axis=1), pairs, pool, strata)
    table = table.assign(cell=cells, place=np.where(best > k, 0, best), band=band)
    rest = _others(table, strata, len(runs))
    key = ["query_id", "cell", "place", "band"]
    groups = pd.concat([table[key], rest[key]]).drop_duplicates(ignore_index=True)
    number = pd.Series(np.arange(len(groups)), index=pd.MultiIndex.from_frame(groups))
    of = number.loc[pd.MultiIndex.from_frame(table[key])].to_numpy(np.int64)
    others = np.zeros(len(groups), np.int64)
    others[number.loc[pd.MultiIndex.from_frame(rest[key])]] = rest["size"]
    judged = table["item"].notna().to_numpy()
    place = {query: n for n, query in enumerate(queries)}
    weights = pairs.set_index(keys)["weight"]
    held = table[judged]
    codes, names = pd.factorize(groups["cell"])
    parts = pd.Series(names).str.rpartition(BETWEEN)
    scores = strata.set_index(["query_id", "stratum", "band"])["score"]
    banded = groups.assign(stratum=parts[0].to_numpy()[codes])[["query_id", "stratum", "band"]]
    return JudgedPool(
        queries=queries,
        weight=_query_weights(pairs, queries),
        documents=_sizes(pairs).loc[queries].to_numpy().astype(np.int64),
        group_query=groups["query_id"].map(place).to_numpy(np.int64),
        group_cell=codes.astype(np.int64),
        group_block=groups.groupby(["query_id", "cell"], sort=False)
        .ngroup()
        .to_numpy()
        .astype(np.int64),
        group_place=groups["place"].to_numpy(np.int64),
        group_score=scores.reindex(pd.MultiIndex.from_frame(banded)).fillna(0.0).to_numpy(float),
        group_ranked=(groups["band"] != UNKNOWN).to_numpy(bool),
        cell_stratum=pd.factorize(parts[0])[0].astype(np.int64),
        cell_level=parts[0].map(strata.groupby("stratum")["level"].mean()).to_numpy(float),
        cell_listed=(parts[2] != _unlisted(len(runs))).to_numpy(bool),
        judged_item=held["item"].tolist(),
        judged_group=of[judged],
        judged_weight=weights.loc[list(held[keys].itertuples(index=False, name=None))].to_numpy(),
        judged_rank=ranks[judged],
        open_group=of[~judged],
        open_rank=ranks[~judged],
        others=others,
        runs=list(runs),
    )


def _documents(
    pairs: pd.DataFrame, pool: pd.DataFrame, runs: Mapping[str, pd.DataFrame], k: int,
    queries: list[str],
) -> pd.DataFrame:  # fmt: skip
    """Return all judged or listed documents with their stratum and the runs that list them."""
    keys = ["query_id", "document_id"]
    tops = {
        name: run[run["rank"].le(k) & run["query_id"].isin(queries)] for name, run in runs.items()
    }
    every = pd.concat([pairs[keys], *(run[keys] for run in tops.values())])
    table = every.drop_duplicates(ignore_index=True)
    table = table.merge(pairs[[*keys, "item", "stratum"]], on=keys, how="left")
    of_pool = pool.astype({"query_id": str, "document_id": str})[[*keys, "stratum"]]
    table = table.merge(of_pool.drop_duplicates(keys), on=keys, how="left", suffixes=("", "_pool"))
    tops_of = of_pool.groupby("query_id")["stratum"].first()
    rest = {
        query: next((name for name in names.unique() if name != tops_of.get(query)), None)
        for query, names in pairs.groupby("query_id")["stratum"]
    }
    table["stratum"] = (
        table["stratum"].fillna(table["stratum_pool"]).fillna(table["query_id"].map(rest))
    )
    _refuse_unknown(table)
    for name, run in tops.items():
        places = run.set_index(keys)["rank"]
        index = pd.MultiIndex.from_frame(table[keys])
        table[name] = places.reindex(index).fillna(0).to_numpy(np.int64)
    return table


def _refuse_unknown(table: pd.DataFrame) -> None:
    unknown = table[table["stratum"].isna()]
    if len(unknown):
        named = [
            f"{q}: {d}" for q, d in zip(unknown["query_id"], unknown["document_id"], strict=True)
        ]
        problem = Problem(
            code="run-documents",
            what=f"{len(unknown)} listed documents are in no stratum: {some(named)}",
            mend="the pool of these queries holds all documents: check the ids",
            numbers={"documents": len(unknown)},
        )
        raise RatingsError([problem], "the runs")


def _patterns(listed: Bools) -> "pd.Series[str]":
    """Name the set of runs that list each document; of many runs, their number."""
    if listed.shape[1] <= MOST_RUNS_APART:
        return pd.Series(["".join("1" if one else "0" for one in row) for row in listed], dtype=str)
    number = np.minimum(listed.sum(axis=1), MOST_RUNS_APART)
    return pd.Series([f"{n}" for n in number], dtype=str)


def _unlisted(runs: int) -> str:
    """Return the pattern of documents that no run lists."""
    return str(_patterns(np.zeros((1, runs), np.bool_)).iloc[0])


def _others(table: pd.DataFrame, strata: pd.DataFrame, runs: int) -> pd.DataFrame:
    """Count the documents of each band of a stratum that are neither judged nor listed."""
    keys = ["query_id", "stratum", "band"]
    seen = table.groupby(keys, as_index=False).agg(seen=("document_id", "size"))
    found = strata.merge(seen, on=keys, how="left")
    left = found["size"] - found["seen"].fillna(0)
    # Documents of no known rank are taken from the first bands that have room.
    unknown = seen[seen["band"] == UNKNOWN].set_index(keys[:2])["seen"]
    stratum = pd.MultiIndex.from_frame(found[keys[:2]])
    away = unknown.reindex(stratum).fillna(0).where(found["band"].to_numpy() != UNKNOWN, 0)
    room = left.clip(lower=0)
    before = room.groupby([found[name] for name in keys[:2]], sort=False).cumsum() - room
    left = room - (away.to_numpy() - before).clip(lower=0).clip(upper=room)
    return pd.DataFrame(
        {
            "query_id": found["query_id"],
            "cell": found["stratum"] + BETWEEN + _unlisted(runs),
            "place": 0,
            "band": found["band"],
            "size": left.astype(int),
        }
    )


def _query_weights(pairs: pd.DataFrame, queries: list[str]) -> Floats:
    """Return the design weight of each query: its weighted pairs / its documents."""
    total = pairs.groupby("query_id")["weight"].sum()
    return (total / _sizes(pairs)).loc[queries].to_numpy(float)


def _sizes(pairs: pd.DataFrame) -> "pd.Series[int]":
    """Return the number of documents of each query."""
    strata = pairs.drop_duplicates(["query_id", "stratum"])
    return strata.groupby("query_id")["stratum_size"].sum()
