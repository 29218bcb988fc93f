"""Coverage where the truth is fixed: the retrieval task under several designs.

Ratings come from a generator of its own, not from the package's model: labels follow one another
(relevance, then sufficiency, then misleading), a query effect shifts them, raters answer until the
interface accepts (or repair their answer, or override a warning). Each run is fitted with the
default model; 95 % intervals of the six metrics by system are held against the values of these
items (finite) and of the superpopulation (population), beside majority vote with a cluster
bootstrap.

    python benchmarks/scenarios.py --runs 20 --seed 1

writes ``docs/calibration/scenarios.csv`` (a line per run, metric and method) and
``scenarios_summary.csv``.
"""

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import assay
from assay.evaluation import majority_metrics

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "calibration"
LABELS = ["topically_relevant", "evidence_sufficient", "misleading"]
WARNED = "sufficient_is_not_misleading"


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """What the world and the interface are like, and how the fit sees them."""

    name: str
    query_sd: float = 1.5
    difference: float = 0.8
    base: tuple[float, float, float] = (0.3, -0.8, -1.6)
    accuracy: tuple[float, float] = (0.82, 0.95)
    interface: str = "retry"
    response: str = "block"
    clusters: int = 80
    places: int = 5
    raters: int = 6
    right: bool = True


SCENARIOS = (
    Scenario(name="query SD 0, equal systems", query_sd=0.0, difference=0.0),
    Scenario(name="query SD 0, systems differ", query_sd=0.0),
    Scenario(name="query SD 1.5, equal systems", difference=0.0),
    Scenario(name="query SD 1.5, systems differ"),
    Scenario(name="good raters", accuracy=(0.93, 0.98)),
    Scenario(name="poor raters", accuracy=(0.65, 0.85)),
    Scenario(name="1 % misleading", base=(0.3, -0.8, -5.0), query_sd=1.0),
    Scenario(name="interface warns", interface="warn", response="warn"),
    Scenario(name="repaired, fitted as retry", interface="repair", right=False),
    Scenario(name="response process off", response="off", right=False),
)


def draw_truth(world: Scenario, clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Labels of all items: (cluster, system, place, label)."""
    shape = (clusters, 2, world.places)
    ease = rng.normal(0, world.query_sd, clusters)[:, None, None]
    system = np.array([-0.5, 0.5])[None, :, None] * world.difference
    depth = -0.25 * np.arange(world.places)

    def chance(intercept: float, shift: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-(intercept + shift)))

    relevant = rng.random(shape) < chance(world.base[0], ease + system + depth)
    sufficient = relevant & (rng.random(shape) < chance(world.base[1], ease + system + depth))
    misleading = ~sufficient & (rng.random(shape) < chance(world.base[2], -0.5 * ease + 0 * system))
    return np.stack([relevant, sufficient, misleading], axis=-1).astype(int)


def draw_answer(truth: np.ndarray, skill: np.ndarray, interface: str, rng) -> np.ndarray:
    """One rater's answers to one item, through the interface; ``skill`` is (label, true class)."""
    while True:
        right = rng.random(3) < skill[np.arange(3), truth]
        answer = np.where(right, truth, 1 - truth)
        breaks = [answer[1] > answer[0], bool(answer[1] and answer[2])]
        if not any(breaks):
            return answer
        if interface == "warn" and not breaks[0] and rng.random() < 0.4:
            return answer
        if interface == "repair":
            options = [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 1), (1, 1, 0)]
            far = [np.abs(answer - o).sum() for o in options]
            near = [o for o, d in zip(options, far, strict=True) if d == min(far)]
            return np.array(near[rng.integers(len(near))])


def draw_ratings(world: Scenario, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Ratings as a table, and the truth: 10 % of the items rated three times, the rest once."""
    truth = draw_truth(world, world.clusters, rng)
    low, high = world.accuracy
    skill = rng.uniform(low, high, (world.raters, 3, 2))
    rows = []
    for index in np.ndindex(*truth.shape[:3]):
        often = 3 if rng.random() < 0.1 else 1
        for rater in rng.permutation(world.raters)[:often]:
            answer = draw_answer(truth[index], skill[rater], world.interface, rng)
            query, system, place = index
            rows.append(
                {
                    "query_id": f"q{query:03d}",
                    "system": "AB"[system],
                    "rank": place + 1,
                    "item": f"q{query:03d}-{'AB'[system]}-{place + 1}",
                    "rater": f"r{rater}",
                }
                | dict(zip(LABELS, answer, strict=True))
            )
    return pd.DataFrame(rows), truth


def population_values(world: Scenario) -> pd.Series:
    """Metrics of the superpopulation, from 40,000 clusters."""
    return metric_values(draw_truth(world, 40_000, np.random.default_rng(0)))


def metric_values(truth: np.ndarray) -> pd.Series:
    """Compute the six metrics by system, straight from their definitions."""
    relevant, sufficient, misleading = np.moveaxis(truth, -1, 0)
    places = relevant.shape[-1]
    discount = 1 / np.log2(np.arange(places) + 2)
    grade = np.where(sufficient == 1, 2, relevant)
    gain = (2.0**grade - 1) * discount
    ideal = np.sort(2.0**grade - 1, axis=-1)[..., ::-1] * discount
    ndcg = gain.sum(-1) / np.maximum(ideal.sum(-1), 1e-300)
    first = np.where(relevant.any(-1), 1 / (relevant.argmax(-1) + 1), 0.0)
    per_panel = {
        "topical_precision_at_k": relevant.mean(-1),
        "sufficiency_hit_at_k": sufficient.any(-1),
        "sufficiency_rate_at_k": sufficient.mean(-1),
        "misleading_context_rate_at_k": misleading.mean(-1),
        "mean_reciprocal_rank_at_k": first,
        "ndcg_at_k": ndcg,
    }
    return pd.Series(
        {(m, "AB"[k]): float(np.mean(v[:, k])) for m, v in per_panel.items() for k in (0, 1)}
    )


def run(world: Scenario, number: int, seed: int, population: pd.Series) -> list[dict[str, object]]:
    """One run of a scenario: a line per metric, system, estimand and method."""
    rng = np.random.default_rng([seed, number])
    table, truth = draw_ratings(world, rng)
    finite = metric_values(truth)
    response = (
        {WARNED: "warn"}
        if world.response == "warn"
        else {r.name: world.response for r in assay.load_task("retrieval").rules}
    )
    ratings = assay.read_ratings(table, task="retrieval", response=response)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = assay.fit(
            ratings, draws=300, tune=300, chains=2, starts=2, rng=number, progress=False
        )
    rows = []
    for estimand, known in (("finite", finite), ("population", population)):
        found = assay.summarize(assay.metrics(fit, estimand=estimand))
        for row in found.itertuples():
            rows.append(
                ("assay", estimand, row.metric, row.system, row.mean, row.lower, row.upper, known)
            )
        for row in majority_metrics(ratings, rng=number).itertuples():
            rows.append(
                (
                    "majority vote",
                    estimand,
                    row.metric,
                    row.system,
                    row.value,
                    row.lower,
                    row.upper,
                    known,
                )
            )
    seconds = time.perf_counter() - started
    return [
        {
            "scenario": world.name,
            "run": number,
            "method": method,
            "estimand": estimand,
            "metric": metric,
            "system": system,
            "truth": known[(metric, system)],
            "value": value,
            "lower": lower,
            "upper": upper,
            "seconds": seconds,
        }
        for method, estimand, metric, system, value, lower, upper, known in rows
    ]


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Coverage, width and interval score (Gneiting & Raftery 2007) by scenario and method."""
    t = table.copy()
    t["covered"] = (t["lower"] <= t["truth"] + 1e-12) & (t["truth"] <= t["upper"] + 1e-12)
    t["width"] = t["upper"] - t["lower"]
    miss = (t["lower"] - t["truth"]).clip(lower=0) + (t["truth"] - t["upper"]).clip(lower=0)
    t["interval_score"] = t["width"] + 2 / 0.05 * miss
    t["error"] = t["value"] - t["truth"]
    keys = ["scenario", "estimand", "method"]
    found = t.groupby(keys, sort=False).agg(
        runs=("run", "nunique"),
        coverage=("covered", "mean"),
        width=("width", "mean"),
        interval_score=("interval_score", "mean"),
        bias=("error", "mean"),
    )
    worst = t.groupby([*keys, "metric"])["covered"].mean().groupby(keys).min()
    return found.assign(worst_metric_coverage=worst).round(4).reset_index()


def main() -> None:
    """Read the command line; write each scenario as it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, object]] = []
    populations = {world.name: population_values(world) for world in SCENARIOS}
    for number in range(chosen.first, chosen.first + chosen.runs):
        for world in SCENARIOS:
            rows += run(world, number, chosen.seed, populations[world.name])
        table = pd.DataFrame(rows)
        table.round(5).to_csv(FOLDER / "scenarios.csv", index=False)
        summary(table).to_csv(FOLDER / "scenarios_summary.csv", index=False)


if __name__ == "__main__":
    main()
