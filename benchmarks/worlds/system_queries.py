"""What it buys that systems have cluster effects of their own: differences of two systems.

Queries are easy or hard (SD 1 on the log odds of a topical chunk, and of a sufficient one given
that it is topical), and each system finds some of them easier than the other does (SD ``--apart``).
80 queries, two systems, five chunks a list; six raters. All chunks of the first system are rated
and a share ``--rated`` of the second's, 90 % of them once, the others twice. Each set is fitted
twice by Laplace: with a correlation of the systems' effects that is learned, and with one effect
that all systems of a query share (``shared``, the model of before). 95 % intervals of the
difference are held against these chunks (``finite``) and the population; of equal systems
(``--delta 0``) an interval without 0 is a false claim.

    python -m benchmarks system_queries --apart 1 --delta 0 --sets 40 --seed 1

appends to ``results/system_queries_runs.csv``; ``--summarize`` makes the table
``system_queries.csv`` beside it.
"""

import argparse
import time
import warnings
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd

import assay
from assay.data.states import state_space
from benchmarks.worlds.worlds import interval_scores

RESULTS = Path(__file__).resolve().parent / "results"
RUNS, TABLE = RESULTS / "system_queries_runs.csv", RESULTS / "system_queries.csv"
QUERIES, PLACES, RATERS, ONCE = 80, 5, 6, 0.9
METRICS = ("topical_precision_at_k", "sufficiency_hit_at_k", "mean_reciprocal_rank_at_k")
SYSTEMS = np.array(["A", "B"])
TASK = assay.load_task("retrieval")
MANY = 40_000
MODELS = ("shared", "by system")


def draw_truth(rng: np.random.Generator, queries: int, apart: float, delta: float) -> np.ndarray:
    """Labels (query, system, place, label) of lists that are better in system A by ``delta``."""
    ease = rng.normal(size=(queries, 1)) + apart * rng.normal(size=(queries, 2))
    score = (ease + np.array([0.5, -0.5]) * delta)[:, :, None] - 0.2 * np.arange(PLACES)
    drawn = rng.random((3, *score.shape))
    topical = drawn[0] < 1 / (1 + np.exp(-0.4 - score))
    enough = topical & (drawn[1] < 1 / (1 + np.exp(1.0 - score)))
    misleading = ~enough & (drawn[2] < 0.15)
    return np.stack([topical, enough, misleading], axis=-1).astype(int)


def frame(truth: np.ndarray) -> pd.DataFrame:
    """One line per chunk."""
    query, system, place = np.indices(truth.shape[:3]).reshape(3, -1)
    names = pd.DataFrame({"query_id": query, "system": SYSTEMS[system], "chunk_rank": place + 1})
    names = names.assign(record_uuid=names["query_id"].astype(str) + names["system"])
    return names.assign(chunk_id=names["record_uuid"] + "/" + names["chunk_rank"].astype(str))


def rate(truth: np.ndarray, rated: float, rng: np.random.Generator) -> assay.Ratings:
    """Let raters of about 90 % accuracy judge the chunks, within the rules: of system B a share."""
    items, labels = frame(truth), truth.reshape(-1, 3)
    right = rng.beta(18, 2, size=(RATERS, 2, 3))
    each = np.where(rng.random(len(items)) < ONCE, 1, 2)
    if rated < 1:
        each[(items["system"] == "B") & (rng.random(len(items)) >= rated)] = 0
    rater = np.concatenate([rng.choice(RATERS, n, replace=False) for n in each])
    item = np.repeat(np.arange(len(items)), each)
    label = np.arange(3)
    yes = np.where(
        labels[item] == 1, right[rater[:, None], 1, label], 1 - right[rater[:, None], 0, label]
    )
    states = state_space(TASK).states
    chance = np.where(states[None] == 1, yes[:, None], 1 - yes[:, None]).prod(axis=-1)
    running = chance.cumsum(axis=1)
    given = states[(rng.random(len(item))[:, None] * running[:, -1:] > running).sum(axis=1)]
    words = pd.DataFrame(np.array(["no", "yes"])[given], columns=list(TASK.label_names))
    table = pd.concat([items.iloc[item].reset_index(drop=True), words], axis=1)
    table = pd.concat([table.assign(rater=[f"r{j}" for j in rater]), items[each == 0]])
    return assay.read_ratings(table.fillna(""), task=TASK)


def differences(truth: np.ndarray) -> pd.Series:
    """Metrics of A less those of B, of known labels."""
    topical, enough = truth[..., 0], truth[..., 1]
    first = np.where(topical.any(axis=2), 1 / (topical.argmax(axis=2) + 1), 0.0)
    by_panel = (topical.mean(axis=2), enough.any(axis=2), first)
    gaps = [float((x[:, 0].astype(float) - x[:, 1]).mean()) for x in by_panel]
    return pd.Series(gaps, index=list(METRICS))


@cache
def of_population(apart: float, delta: float) -> pd.Series:
    """Differences in many queries."""
    return differences(draw_truth(np.random.default_rng(0), MANY, apart, delta))


def run(number: int, apart: float, delta: float, rated: float, seed: int) -> pd.DataFrame:
    """One set, fitted twice: a line per model, estimand and metric."""
    world = (apart, delta) if rated == 1 else (apart, delta, rated)
    rng = np.random.default_rng([seed, number, *(int(10 * x) for x in world)])
    truth = draw_truth(rng, QUERIES, apart, delta)
    ratings = rate(truth, rated, rng)
    known = {"finite": differences(truth), "population": of_population(apart, delta)}
    lines = []
    for model in MODELS:
        shared = patch("assay.modelling.prevalence.design.find_panels", return_value=None)
        with shared if model == "shared" else nullcontext(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            started = time.perf_counter()
            fit = assay.fit(ratings, method="laplace", draws=500, starts=2, rng=number,
                            progress=False)  # fmt: skip
            seconds = time.perf_counter() - started
            learned = fit["posterior"].to_dataset().get("system_correlation")
            correlation = np.nan if learned is None else float(learned.mean())
            for estimand in known:
                data = assay.metrics(fit, metric=METRICS, estimand=estimand)
                gap = data.sel(system="A") - data.sel(system="B")
                for metric in METRICS:
                    lower, upper = np.quantile(gap[metric], [0.025, 0.975])
                    lines.append(
                        {
                            "model": model, "estimand": estimand, "metric": metric,
                            "value": float(gap[metric].mean()), "lower": lower, "upper": upper,
                            "truth": known[estimand][metric], "seconds": seconds,
                            "correlation": correlation,
                        }
                    )  # fmt: skip
    return pd.DataFrame(lines).assign(apart=apart, delta=delta, rated=rated, set=f"{seed}/{number}")


def summarize() -> pd.DataFrame:
    """Coverage, width, interval score and share of intervals without 0: shared, and by system."""
    keys = ["apart", "delta", "rated", "estimand", "metric"]
    scored = interval_scores(pd.read_csv(RUNS), 0.95)
    scored["without_0"] = (scored["lower"] > 0) | (scored["upper"] < 0)
    columns = {"covered": "coverage", "width": "width", "interval_score": "score"}
    columns |= {"without_0": "without_0"}
    by_model = scored.groupby([*keys, "model"])[list(columns)].mean().rename(columns=columns)
    both = by_model.unstack()[[(c, m) for c in columns.values() for m in MODELS]].round(3)
    both.columns = [f"{c}, {m}" for c, m in both.columns]
    sets = scored.groupby(keys)["set"].nunique().rename("sets")
    return pd.concat([sets, both], axis=1).reset_index()


def main() -> None:
    """Run sets, or summarize those that were run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--apart", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=0.0)
    parser.add_argument("--rated", type=float, default=1.0)
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--summarize", action="store_true")
    given = parser.parse_args()
    if given.summarize:
        summarize().to_csv(TABLE, index=False)
        return
    for number in range(given.sets):
        table = run(number, given.apart, given.delta, given.rated, given.seed)
        table.to_csv(RUNS, mode="a", header=not RUNS.exists(), index=False)


if __name__ == "__main__":
    main()
