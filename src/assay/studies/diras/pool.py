"""Judged pairs, ranked lists and all other documents, grouped into cells of each query."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from assay._util.errors import Problem, RatingsError
from assay._util.text import some
from assay._util.typing import Bools, Floats, Ints

BETWEEN = " | "
"""Separator of stratum and pattern in the name of a cell."""
MOST_RUNS_APART = 3
"""Up to this many runs, cells tell which runs list a document; beyond, how many."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedPool:
    """Documents of judged queries; a group is those of one query, stratum and pattern of runs.

    weight : design weight (query)
    group_query, group_cell : query and cell (group)
    cell_stratum, cell_listed : sampling stratum, and whether a run lists the documents (cell)
    judged_item, judged_group, judged_weight : name, group and design weight (judged pair)
    judged_listed : whether the run lists the document among its first k (judged pair, run)
    open_group, open_listed : the same of listed documents that are not judged (open[, run])
    others : number of documents that are neither judged nor listed (group)
    """

    queries: list[str]
    weight: Floats
    group_query: Ints
    group_cell: Ints
    cell_stratum: Ints
    cell_listed: Bools
    judged_item: list[str]
    judged_group: Ints
    judged_weight: Floats
    judged_listed: Bools
    open_group: Ints
    open_listed: Bools
    others: Ints
    runs: list[str]


def judged_pool(
    pairs: pd.DataFrame, pool: pd.DataFrame, runs: Mapping[str, pd.DataFrame], k: int
) -> JudgedPool:
    """Group all documents of the judged queries.

    ``pool`` is the top of each ranking that was sampled from; all other documents are in the other
    stratum of their query. The first ``k`` documents of a run count as listed.
    """
    keys = ["query_id", "document_id"]
    pairs = pairs.astype({"query_id": str, "document_id": str, "item": str})
    queries = list(dict.fromkeys(pairs["query_id"]))
    table = _documents(pairs, pool, runs, k, queries)
    cells = table["stratum"] + BETWEEN + _patterns(table[list(runs)].to_numpy(bool))
    rest = _others(table, pairs, len(runs))
    groups = pd.concat(
        [table.assign(cell=cells)[["query_id", "cell"]], rest[["query_id", "cell"]]]
    ).drop_duplicates(ignore_index=True)
    number = {key: n for n, key in enumerate(groups.itertuples(index=False, name=None))}
    of = np.array([number[key] for key in zip(table["query_id"], cells, strict=True)], np.int64)
    others = np.zeros(len(groups), np.int64)
    for query, cell, size in rest[["query_id", "cell", "size"]].itertuples(index=False, name=None):
        others[number[query, cell]] = size
    judged = table["item"].notna().to_numpy()
    listed = table[list(runs)].to_numpy(bool)
    place = {query: n for n, query in enumerate(queries)}
    weights = pairs.set_index(keys)["weight"]
    held = table[judged]
    codes, names = pd.factorize(groups["cell"])
    parts = pd.Series(names).str.rpartition(BETWEEN)
    return JudgedPool(
        queries=queries,
        weight=_query_weights(pairs, queries),
        group_query=groups["query_id"].map(place).to_numpy(np.int64),
        group_cell=codes.astype(np.int64),
        cell_stratum=pd.factorize(parts[0])[0].astype(np.int64),
        cell_listed=(parts[2] != _unlisted(len(runs))).to_numpy(bool),
        judged_item=held["item"].tolist(),
        judged_group=of[judged],
        judged_weight=weights.loc[list(held[keys].itertuples(index=False, name=None))].to_numpy(),
        judged_listed=listed[judged],
        open_group=of[~judged],
        open_listed=listed[~judged],
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
        inside = pd.MultiIndex.from_frame(table[keys]).isin(pd.MultiIndex.from_frame(run[keys]))
        table[name] = inside
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


def _others(table: pd.DataFrame, pairs: pd.DataFrame, runs: int) -> pd.DataFrame:
    """Count the documents of each stratum that are neither judged nor listed."""
    keys = ["query_id", "stratum"]
    sizes = pairs.drop_duplicates(keys)[[*keys, "stratum_size"]]
    seen = table.groupby(keys, as_index=False).agg(seen=("document_id", "size"))
    found = sizes.merge(seen, on=keys, how="left")
    left = found["stratum_size"] - found["seen"].fillna(0)
    return pd.DataFrame(
        {
            "query_id": found["query_id"],
            "cell": found["stratum"] + BETWEEN + _unlisted(runs),
            "size": left.clip(lower=0).astype(int),
        }
    )


def _query_weights(pairs: pd.DataFrame, queries: list[str]) -> Floats:
    """Return the design weight of each query: its weighted pairs / its documents."""
    by = pairs.groupby("query_id")
    documents = (
        pairs.drop_duplicates(["query_id", "stratum"]).groupby("query_id")["stratum_size"].sum()
    )
    return (by["weight"].sum() / documents).loc[queries].to_numpy(float)
