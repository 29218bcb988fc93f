"""nDCG and average precision of runs: trec_eval's where all is judged, weighted where it is not."""

import itertools
import math
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, nDCG

from assay.studies.diras import recall_of_runs
from assay.studies.diras.cells import CellModel
from assay.studies.diras.ranked import (
    discounts,
    ideal_gain,
    weighted_average_precision,
    weighted_ndcg,
)

K = 8
DOCUMENTS = 30
COLUMNS = ["item", "query_id", "document_id", "stratum", "stratum_size", "weight"]


def judged(seed: int = 1, queries: int = 5) -> dict[str, Any]:
    """All documents are judged; two runs, one of them shorter than K, in any order."""
    rng = np.random.default_rng(seed)
    pairs, runs, truth = [], {"long": [], "short": []}, {}
    for q in range(queries):
        for d in range(DOCUMENTS):
            name, size = ("top", 10) if d < 10 else ("rest", DOCUMENTS - 10)
            pairs.append((f"q{q}:d{d}", f"q{q}", f"d{d}", name, size, 1.0))
            truth[f"q{q}:d{d}"] = bool(rng.random() < (0.5 if d < 10 else 0.1))
        for run, length in (("long", 20), ("short", 5)):
            order = rng.permutation(DOCUMENTS)[:length]
            runs[run] += [(f"q{q}", f"d{d}", n) for n, d in enumerate(order, start=1)]
    named = ["query_id", "document_id", "rank"]
    pairs = pd.DataFrame(pairs, columns=COLUMNS)
    top = pairs[pairs["stratum"] == "top"]
    return {
        "truth": truth,
        "pairs": pairs,
        "pool": top[["query_id", "document_id", "stratum"]],
        "runs": {name: pd.DataFrame(rows, columns=named) for name, rows in runs.items()},
    }


def estimate(given: dict[str, Any], **more: Any) -> pd.DataFrame:
    tables = [given[name] for name in ("truth", "runs", "pairs", "pool")]
    found = recall_of_runs(*tables, **({"k": K, "estimand": "finite", "draws": 100} | more))
    return found.table.set_index(["run", "metric"])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("run", ["long", "short"])
def test_all_estimates_are_those_of_trec_eval_where_all_is_judged(seed: int, run: str) -> None:
    given = judged(seed)
    pairs = given["pairs"]
    qrels = pd.DataFrame(
        {
            "query_id": pairs["query_id"],
            "doc_id": pairs["document_id"],
            "relevance": pairs["item"].map(given["truth"]).astype(int),
        }
    )
    listed = given["runs"][run]
    scored = pd.DataFrame(
        {"query_id": listed["query_id"], "doc_id": listed["document_id"], "score": -listed["rank"]}
    )
    oracle = ir_measures.calc_aggregate([nDCG @ K, AP @ K], qrels, scored)
    found = estimate(given)
    for name, measure in (("ndcg", nDCG @ K), ("map", AP @ K)):
        line = found.loc[(run, f"{name}_at_{K}")]
        for estimator in ("mean", "lower", "upper", "hajek", "naive"):
            assert line[estimator] == pytest.approx(oracle[measure], abs=1e-9), estimator


def test_queries_without_a_relevant_document_have_no_ndcg_and_no_map() -> None:
    given = judged()
    kept = estimate(given)
    bare = judged()
    bare["truth"] = {
        item: yes and not item.startswith("q0:") for item, yes in given["truth"].items()
    }
    without = {
        name: table[table["query_id"] != "q0"] if name != "runs" else None
        for name, table in given.items()
        if name not in ("truth", "runs")
    }
    runs = {name: table[table["query_id"] != "q0"] for name, table in given["runs"].items()}
    truth = {item: yes for item, yes in given["truth"].items() if not item.startswith("q0:")}
    fewer = estimate(given | without | {"runs": runs, "truth": truth})
    found = estimate(bare)
    for metric in (f"ndcg_at_{K}", f"map_at_{K}"):
        for estimator in ("mean", "hajek", "naive"):
            value = found.loc[("long", metric), estimator]
            assert value == pytest.approx(fewer.loc[("long", metric), estimator])
        assert found.loc[("long", metric), "mean"] != kept.loc[("long", metric), "mean"]


def test_a_run_that_does_not_list_a_query_has_the_value_0_there() -> None:
    given = judged()
    whole = estimate(given).loc[("long", f"ndcg_at_{K}"), "mean"]
    runs = given["runs"] | {"long": given["runs"]["long"].query("query_id != 'q0'")}
    part = estimate(given | {"runs": runs}).loc[("long", f"ndcg_at_{K}")]
    assert part["mean"] < whole
    assert part["hajek"] == pytest.approx(part["mean"])


def test_the_ideal_counts_relevant_documents_that_nobody_judged() -> None:
    """Half of the tail is judged and holds relevant ones: the ideal grows with the other half."""
    given = judged(queries=8)
    rng = np.random.default_rng(3)
    tail = given["pairs"]["stratum"] == "rest"
    dropped = (
        given["pairs"][tail]
        .groupby("query_id")["item"]
        .apply(lambda items: rng.choice(items.to_numpy(), 10, replace=False))
    )
    gone = set(itertools.chain.from_iterable(dropped))
    pairs = given["pairs"][~given["pairs"]["item"].isin(gone)].copy()
    pairs.loc[pairs["stratum"] == "rest", "weight"] = 2.0
    truth = {item: yes for item, yes in given["truth"].items() if item not in gone}
    full = estimate(given).loc[("long", f"map_at_{K}"), "mean"]
    found = estimate(given | {"pairs": pairs, "truth": truth}).loc[("long", f"map_at_{K}")]
    assert found["lower"] < full < found["upper"]
    assert 0 < found["upper"] - found["lower"] < 0.5


def test_weights_count_a_judged_document_for_those_like_it() -> None:
    worth, weight, rank = np.array([1.0, 0.0]), np.array([1.0, 3.0]), np.array([1, 4])
    gains = discounts(4)
    ratio = 1 * gains[0] / (1 * gains[0] + 3 * gains[3])
    expected = ratio * gains.sum() / ideal_gain(np.array(2.0), 4)
    assert weighted_ndcg(worth, weight, rank, gains, 2.0, 4) == pytest.approx(expected)
    # Precision 1 at the first place, of a list of four: 1 of 4 weights is relevant.
    assert weighted_average_precision(worth, weight, rank, 4, 2.0) == pytest.approx(0.5)


@pytest.mark.parametrize("function", ["ndcg", "map"])
def test_weighted_values_without_judged_or_relevant_documents(function: str) -> None:
    none, rank = np.zeros(0), np.zeros(0, np.int64)

    def value(listed: int, total: float) -> float:
        if function == "ndcg":
            return weighted_ndcg(none, none, rank, discounts(4)[:listed], total, 4)
        return weighted_average_precision(none, none, rank, listed, total)

    assert math.isnan(value(4, 3.0))  # listed, and none judged
    assert value(0, 3.0) == 0  # nothing is listed
    assert math.isnan(value(0, 0.0))  # nothing is relevant


def test_the_model_learns_that_the_top_of_a_list_holds_more() -> None:
    places = np.repeat(np.arange(1, 9), 30)
    height = np.log2(np.arange(1, 9)).mean() - np.log2(places)
    rng = np.random.default_rng(1)
    yes = rng.binomial(5, 1 / (1 + np.exp(-(-0.5 + 0.8 * height))))
    query = np.tile(np.arange(30), 8)
    model = CellModel(
        cell=np.zeros(240, np.int64), query=query, judged=np.full(240, 5),
        stratum=np.array([0]), listed=np.array([True]), block=query, height=height,
    )  # fmt: skip
    drawn = np.array([model.draw(yes, rng) for _ in range(150)])
    slopes = np.log(drawn[:, 0] / (1 - drawn[:, 0])) - np.log(drawn[:, 210] / (1 - drawn[:, 210]))
    assert slopes.mean() / 3 == pytest.approx(0.8, abs=0.15)  # places 1 and 8: three doublings
    assert slopes.std() > 0
