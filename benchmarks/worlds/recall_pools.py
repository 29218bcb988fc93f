"""Recall of ranked lists from sampled pools, with and without the retriever's ranks.

A pool has 20 queries with 400 documents each, of which 2 or 5 % are relevant, more of some queries
than of others. The 30 documents at the top of a ranking, and all others, are two strata; half of
the judged pairs of a query are from each. The scores are good or poor, or good but blind to 30 % of
the relevant documents. One run has contributed to the pool, another has not.

    python -m benchmarks recall_pools --sets 8 --seed 1

writes ``results/recall_pools.csv``: a line for each number of judged pairs, scores and metric, with
the model of the prevalence by stratum alone, and by stratum and score.
"""

import argparse
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import assay

FOLDER = Path(__file__).resolve().parent / "results"
K = 10
METRICS = ("recall", "ndcg", "map")
QUALITIES = {"good": (0.7, 0.0), "poor": (3.0, 0.0), "blind": (0.7, 0.3)}
"""Noise of the scores, and share of the relevant documents that no score tells from others."""
PREVALENCES = (0.02, 0.05)
JUDGED = (4, 8, 40)
SIZE = {"queries": 20, "documents": 400, "top": 30}
RUNS = ("own", "other")


def world(
    seed: int, *, noise: float, per_query: int, prevalence: float, queries: int = 30,
    documents: int = 1000, top: int = 50, hidden: float = 0.0,
) -> dict[str, Any]:  # fmt: skip
    """Simulate a pool ranked with ``noise``, a run that contributed to it, and one that did not.

    Queries have more and fewer relevant documents. The second run knows more of relevance than
    the pool's ranking does.
    """
    rng = np.random.default_rng(seed)
    pairs, pool, runs, truth = [], [], {"own": [], "other": []}, {}
    values: dict[str, dict[str, list[float]]] = {
        metric: {"own": [], "other": []} for metric in METRICS
    }
    for q in range(queries):
        signal = rng.normal(size=documents)
        base = np.log(prevalence / (1 - prevalence)) + rng.normal() - 1
        relevant = rng.random(documents) < 1 / (1 + np.exp(-base - 1.5 * signal))
        if hidden:
            unseen = relevant & (rng.random(documents) < hidden)
            signal = np.where(unseen, rng.normal(size=documents), signal)
        ranked = signal + rng.normal(0, noise, documents)
        scores = {
            "own": 0.7 * ranked + 0.3 * (signal + rng.normal(0, noise, documents)),
            "other": signal + rng.normal(0, noise, documents) + 0.5 * relevant,
        }
        order = np.argsort(-ranked)
        place = {d: n for n, d in enumerate(order, start=1)}
        half = per_query // 2
        for name, part in (("top", order[:top]), ("rest", order[top:])):
            for d in rng.choice(part, half, replace=False):
                pairs.append(
                    (f"{q}:{d}", f"q{q}", f"d{d}", name, len(part), len(part) / half, place[d])
                )
                truth[f"{q}:{d}"] = bool(relevant[d])
        pool += [(f"q{q}", f"d{d}", "top", place[d]) for d in order[:top]]
        for name, score in scores.items():
            best = np.argsort(-score)[:K]
            runs[name] += [(f"q{q}", f"d{d}", rank) for rank, d in enumerate(best, start=1)]
            if relevant.any():
                for metric, value in true_values(relevant[best], relevant.sum()).items():
                    values[metric][name].append(value)
    columns = ["item", "query_id", "document_id", "stratum", "stratum_size", "weight"]
    columns.append("retriever_rank")
    return {
        "truth": truth,
        "runs": {
            name: pd.DataFrame(rows, columns=["query_id", "document_id", "rank"])
            for name, rows in runs.items()
        },
        "pairs": pd.DataFrame(pairs, columns=columns),
        "pool": pd.DataFrame(pool, columns=["query_id", "document_id", "stratum", "rank"]),
        **{
            metric: {name: float(np.mean(own)) for name, own in of.items()}
            for metric, of in values.items()
        },
    }


def true_values(found: np.ndarray, total: int) -> dict[str, float]:
    """Recall, nDCG and average precision of a list, place by place."""
    gain = sum(1 / np.log2(place + 2) for place, hit in enumerate(found) if hit)
    ideal = sum(1 / np.log2(place + 2) for place in range(min(total, K)))
    precisions = [found[: place + 1].mean() for place, hit in enumerate(found) if hit]
    return {
        "recall": found.sum() / total,
        "ndcg": gain / ideal,
        "map": float(np.sum(precisions)) / total,
    }


def estimated(simulated: dict[str, Any], seed: int, *, scores: bool, draws: int = 60) -> Any:
    """Estimate the metrics of a world; without scores, the files have no ranks."""
    pairs, pool = simulated["pairs"], simulated["pool"]
    if not scores:
        pairs, pool = pairs.drop(columns="retriever_rank"), pool.drop(columns="rank")
    given = simulated["truth"], simulated["runs"], pairs, pool
    return assay.recall_of_runs(*given, k=K, estimand="finite", draws=draws, rng=seed)


def lines_of(simulated: dict[str, Any], seed: int, *, scores: bool) -> list[dict[str, Any]]:
    """Return a line for each metric, run and difference: inside, width, error."""
    found = estimated(simulated, seed, scores=scores)
    lines = []
    for metric in METRICS:
        true = simulated[metric]
        table = found.table[found.table["metric"] == f"{metric}_at_{K}"].set_index("run")
        gap = found.better[found.better["metric"] == f"{metric}_at_{K}"].iloc[0]
        for name in RUNS:
            row = table.loc[name]
            lines.append(_line(metric, name, true[name], row["mean"], row, row["naive"]))
        lines.append(
            _line(metric, "difference", true["own"] - true["other"], gap["difference"], gap, np.nan)
        )
    return lines


def _line(
    metric: str, run: str, true: float, mean: float, ends: Any, naive: float
) -> dict[str, Any]:
    return {
        "metric": metric, "run": run, "true": true, "naive": naive,
        "inside": bool(ends["lower"] <= true <= ends["upper"]),
        "width": ends["upper"] - ends["lower"], "error": abs(mean - true),
    }  # fmt: skip


def main() -> None:
    """Run all worlds and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    rows = []
    for number in range(chosen.sets * len(PREVALENCES)):
        seed, prevalence = 1000 * chosen.seed + number, PREVALENCES[number % len(PREVALENCES)]
        for judged, quality in product(JUDGED, QUALITIES):
            noise, hidden = QUALITIES[quality]
            made = world(
                seed, noise=noise, hidden=hidden, per_query=judged, prevalence=prevalence, **SIZE
            )
            for scores in (False, True):
                about = {"judged": judged, "quality": quality, "scores": scores}
                rows += [about | one for one in lines_of(made, seed, scores=scores)]
        # After every world, since a run takes long.
        _summary(rows).assign(seed=chosen.seed).to_csv(
            chosen.folder / "recall_pools.csv", index=False, float_format="%.4f"
        )


def _summary(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Count intervals that hold the true value, and average widths and errors."""
    keys = ["judged", "quality", "metric", "run"]
    table = pd.DataFrame(rows).pivot_table(
        index=keys, columns="scores", values=["inside", "width", "error"], sort=False,
        aggfunc={"inside": "sum", "width": "mean", "error": "mean"},
    )  # fmt: skip
    table.columns = [f"{name}_{'score' if with_ else 'stratum'}" for name, with_ in table.columns]
    every = pd.DataFrame(rows).groupby(keys, sort=False)
    table["sets"] = every["inside"].size() // 2
    table["true"], table["naive"] = every["true"].mean(), every["naive"].mean()
    return table.reset_index()


if __name__ == "__main__":
    main()
