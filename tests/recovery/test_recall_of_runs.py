"""Intervals of recall, nDCG and MAP hold the true values of pools of which 1 to 10 % are judged.

The figures of ``docs/diras_procedure.md`` come from the same worlds with more sets.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import assay

K = 10
METRICS = ("recall", "ndcg", "map")


def world(
    seed: int, *, noise: float, per_query: int, prevalence: float, queries: int = 30,
    documents: int = 1000, top: int = 50,
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
        ranked = signal + rng.normal(0, noise, documents)
        scores = {
            "own": 0.7 * ranked + 0.3 * (signal + rng.normal(0, noise, documents)),
            "other": signal + rng.normal(0, noise, documents) + 0.5 * relevant,
        }
        order = np.argsort(-ranked)
        half = per_query // 2
        for name, part in (("top", order[:top]), ("rest", order[top:])):
            for d in rng.choice(part, half, replace=False):
                pairs.append((f"{q}:{d}", f"q{q}", f"d{d}", name, len(part), len(part) / half))
                truth[f"{q}:{d}"] = bool(relevant[d])
        pool += [(f"q{q}", f"d{d}", "top") for d in order[:top]]
        for name, score in scores.items():
            best = np.argsort(-score)[:K]
            runs[name] += [(f"q{q}", f"d{d}", rank) for rank, d in enumerate(best, start=1)]
            if relevant.any():
                for metric, value in true_values(relevant[best], relevant.sum()).items():
                    values[metric][name].append(value)
    columns = ["item", "query_id", "document_id", "stratum", "stratum_size", "weight"]
    return {
        "truth": truth,
        "runs": {
            name: pd.DataFrame(rows, columns=["query_id", "document_id", "rank"])
            for name, rows in runs.items()
        },
        "pairs": pd.DataFrame(pairs, columns=columns),
        "pool": pd.DataFrame(pool, columns=["query_id", "document_id", "stratum"]),
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


def held(simulated: dict[str, Any], seed: int) -> list[bool]:
    """Whether the intervals of both runs and of their difference hold the truth, by metric."""
    tables = [simulated[name] for name in ("truth", "runs", "pairs", "pool")]
    found = assay.recall_of_runs(*tables, k=K, estimand="finite", draws=200, rng=seed)
    inside = []
    for metric in METRICS:
        lines = found.table[found.table["metric"] == f"{metric}_at_{K}"].set_index("run")
        gap = found.better[found.better["metric"] == f"{metric}_at_{K}"].iloc[0]
        own, other = simulated[metric]["own"], simulated[metric]["other"]
        inside += [
            lines.loc[run, "lower"] <= value <= lines.loc[run, "upper"]
            for run, value in (("own", own), ("other", other))
        ]
        inside.append(gap["lower"] <= own - other <= gap["upper"])
    return inside


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.7, 3.0], ids=["good scores", "poor scores"])
@pytest.mark.parametrize("per_query", [10, 20, 100])
def test_intervals_hold_the_true_values(noise: float, per_query: int) -> None:
    """Of 20 sets each with 1 and 5 % relevant documents: at least 90 %, within chance."""
    sets = [
        held(world(seed, noise=noise, per_query=per_query, prevalence=prevalence), seed)
        for prevalence in (0.01, 0.05)
        for seed in range(20)
    ]
    for covered in np.sum(sets, axis=0):
        assert covered >= binom.ppf(0.005, len(sets), 0.9)


def test_a_small_simulation_holds_the_true_values() -> None:
    """Of 8 small pools of which 10 % are judged, for recall, nDCG and MAP."""
    sets = [
        held(
            world(
                seed, noise=noise, per_query=20, prevalence=prevalence, queries=12, documents=200,
                top=40,
            ),
            seed,
        )
        for noise in (0.7, 3.0)
        for prevalence in (0.02, 0.05)
        for seed in range(100, 102)
    ]  # fmt: skip
    for covered in np.sum(sets, axis=0):
        assert covered >= binom.ppf(0.005, len(sets), 0.9)


def test_a_pooled_benchmark_is_biased_and_the_interval_is_not() -> None:
    """Recall among the judged is several times the true recall, and favours the own run."""
    simulated = world(3, noise=0.7, per_query=20, prevalence=0.01)
    assert sum(held(simulated, 3)[:3]) >= 2
    tables = [simulated[name] for name in ("truth", "runs", "pairs", "pool")]
    found = assay.recall_of_runs(*tables, k=K, estimand="finite", draws=50)
    lines = found.table[found.table["metric"] == f"recall_at_{K}"].set_index("run")
    true = simulated["recall"]
    assert lines.loc["own", "naive"] > 2 * true["own"]
    assert lines.loc["own", "naive"] - lines.loc["other", "naive"] > true["own"] - true["other"]
