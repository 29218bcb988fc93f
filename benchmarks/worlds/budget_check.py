"""Whether the parts of the variance budget are what they say, against simulated truths.

``model``: parameters, labels and ratings of the retrieval task are drawn from the default model; 30
clusters, two systems, three places. Averaged over sets, each part has to be the mean square of the
error that it stands for: with m the metric of the true labels, M its mean given the ratings and the
true parameters, m^ its posterior mean, ``parameters`` that of M - m^, ``labels`` of m - M,
``clusters`` the variance of the metric over new clusters under the true parameters, and all
together, for the population, that of the value of many clusters less the posterior mean. (Where
the population is the model's own there is no part of the clusters, and lines are apart.) Clusters
have equal weights (``plain``), random design weights (``weights``), or weights and three strata
(``strata``).

``sampling``: labels are known, and samples come from the designs of ``sampling_designs.py``, where
what is sampled hangs on the labels: ``clusters`` has to be the variance over samples.

    python -m benchmarks budget_check --world plain --sets 80 --seed 1

replaces the lines of this world in ``results/budget_check.csv``: mean of the part, mean of
what it stands for, and their ratio with a standard error over sets; ``sums`` is the share of
budgets that add up to the variance within three ``mcse``.
"""

import argparse
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import assay
from assay.data.ratings import Ratings
from assay.evaluation import metrics_of_labels, variance_budget
from assay.evaluation.draws import LabelDraws, metric_draws
from assay.evaluation.panels import panel_layout
from assay.evaluation.select import choose_metrics
from assay.fits.latent_states import predict_states, running_prevalence, sample_states
from assay.fits.simulate import simulate_answers
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure
from benchmarks.worlds.sampling_designs import DESIGNS, METRIC, TASK

FOLDER = Path(__file__).resolve().parent / "results"
CLUSTERS, SYSTEMS, PLACES = 30, 2, 3
KINDS = ("plain", "weights", "strata")
REPEATS = 300
"""Draws of the labels, or of new clusters, under the true parameters."""
NUTS: dict[str, Any] = {"draws": 500, "tune": 400, "chains": 1, "starts": 2}
SPEC = make_spec("hierarchical", "loglinear", None, None)
COLUMNS = ["system_1", "system_2", "system_1 - system_2"]


def draw_ratings(kind: str, rng: np.random.Generator) -> Ratings:
    """Ratings of the default model, with weights and strata that clusters have beforehand."""
    count = CLUSTERS * SYSTEMS * PLACES
    skeleton = assay.simulate(
        "retrieval",
        raters="hierarchical",
        n_items=count,
        n_clusters=CLUSTERS,
        n_systems=SYSTEMS,
        n_raters=5,
        ratings_per_item=rng.choice([1, 2], count),
        rng=rng,
    )
    place = skeleton.items["cluster"].str.removeprefix("cluster_").astype(int).to_numpy() - 1
    weight = rng.gamma(3.0, size=CLUSTERS) if kind != "plain" else np.ones(CLUSTERS)
    stratum = [f"stratum_{c % 3}" if kind == "strata" else "" for c in range(CLUSTERS)]
    items = skeleton.items.assign(weight=weight[place], stratum=np.array(stratum, object)[place])
    return simulate_answers(build_structure(replace(skeleton, items=items), SPEC), {}, rng)


def with_contrast(values: np.ndarray) -> np.ndarray:
    """Append the difference of the first two entries of the last axis."""
    return np.concatenate([values, values[..., [0]] - values[..., [1]]], axis=-1)


def under_truth(ratings: Ratings, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draws of the metrics (metric, draw, column) that know the true parameters.

    ``labels``: of the labels of these items given the ratings; ``clusters``: of new clusters in
    place of these, with the design weights.
    """
    assert ratings.simulated is not None
    structure = build_structure(ratings, SPEC)
    values = ratings.simulated.values
    same = {name: np.repeat(np.asarray(v)[None], REPEATS, axis=0) for name, v in values.items()}
    fresh = predict_states(structure, running_prevalence(structure, same), rng)
    codes = structure.prevalence.space.states.astype(np.int16)
    layout, chosen = panel_layout(ratings), choose_metrics(ratings.task, None)
    even = np.ones((REPEATS, len(layout.clusters)))
    found = {}
    for name, states, weights in (
        ("labels", sample_states(structure, same, rng).states, None),
        ("clusters", fresh, even),
    ):
        draws = LabelDraws(states=states, codes=codes)
        found[name] = with_contrast(metric_draws(chosen, ratings.task, draws, layout, weights))
    return found


def budgets(fit: xr.DataTree, estimand: str) -> pd.DataFrame:
    """Budgets of both systems and of their difference."""
    pair = variance_budget(fit, estimand=estimand)
    difference = variance_budget(fit, estimand=estimand, contrast=("system_1", "system_2"))
    return pd.concat([pair, difference]).set_index(["metric", "system"])


def means(fit: xr.DataTree, estimand: str) -> np.ndarray:
    """Posterior means (metric, column)."""
    draws = assay.metrics(fit, estimand=estimand)
    values = [draws[name].mean(("chain", "draw")).to_numpy() for name in draws.data_vars]
    return with_contrast(np.stack(values))


def model_set(kind: str, number: int, seed: int) -> pd.DataFrame:
    """One set of ``model``: each part, and the square that it stands for."""
    rng = np.random.default_rng([seed, number, KINDS.index(kind)])
    ratings = draw_ratings(kind, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(ratings, raters="hierarchical", rng=number, progress=False, **NUTS)
    known = under_truth(ratings, rng)
    names = [m.name for m in choose_metrics(ratings.task, None)]
    index = pd.MultiIndex.from_product([names, COLUMNS])
    true = metrics_of_labels(ratings.simulated.truth, ratings)["value"].to_numpy()
    true = with_contrast(true.reshape(len(names), SYSTEMS))
    # What is left of Monte Carlo error in the mean of the draws is taken off.
    noise = known["labels"].var(axis=1, ddof=1) / REPEATS
    given = known["labels"].mean(axis=1)
    finite, population = means(fit, "finite"), means(fit, "population")
    squares = {
        ("finite", "parameters"): (given - finite) ** 2 - noise,
        ("finite", "labels"): (true - given) ** 2 - noise,
        ("finite", "variance"): (true - finite) ** 2,
        ("population", "clusters"): known["clusters"].var(axis=1, ddof=1),
        ("population", "variance"): (known["clusters"].mean(axis=1) - population) ** 2,
    }
    found = {estimand: budgets(fit, estimand).loc[index] for estimand in ("finite", "population")}
    lines = []
    for (estimand, part), square in squares.items():
        table = found[estimand]
        total = table["parameters"] + table["labels"] + table["clusters"]
        adds_up = (total - table["variance"]).abs() <= 3 * table["mcse"] + 1e-15
        lines.append(
            pd.DataFrame(
                {
                    "design": f"model, {kind}",
                    "estimand": table["estimand"].to_numpy(str),
                    "part": part,
                    "what": np.where(
                        index.get_level_values(1) == COLUMNS[2], "difference", "value"
                    ),
                    "set": number,
                    "stated": table[part].to_numpy(),
                    "true": square.ravel(),
                    "sums": adds_up.to_numpy(float),
                }
            )
        )
    found = pd.concat(lines, ignore_index=True)
    return found[(found["part"] != "clusters") | (found["estimand"] == "population")]


def sampling_set(design: str, number: int, seed: int) -> dict[str, object]:
    """One sample of known labels: the clusters' part, and the error of the estimate squared."""
    rng = np.random.default_rng([seed, number, list(DESIGNS).index(design)])
    items, columns, share = DESIGNS[design](rng)
    event = np.where(items["truth"], "yes", "no")
    items = items.assign(item=[f"i{n:04d}" for n in range(len(items))], event=event)
    table = items.drop(columns="truth").assign(rater="r")
    ratings = assay.read_ratings(
        table, task=TASK, cluster="cluster", truth=items[["item", "event"]], **columns
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(
            ratings,
            raters="hierarchical",
            method="laplace",
            draws=400,
            chains=1,
            starts=1,
            rng=number,
            progress=False,
        )
    line = variance_budget(fit, metric=METRIC).iloc[0]
    mean = float(assay.metrics(fit, metric=METRIC)[METRIC].mean())
    total = line["parameters"] + line["labels"] + line["clusters"]
    return {
        "design": design,
        "estimand": line["estimand"],
        "part": "variance",
        "what": "value",
        "set": number,
        "stated": line["variance"],
        "true": (mean - share) ** 2,
        "sums": float(abs(total - line["variance"]) <= 3 * line["mcse"]),
    }


def summary(lines: pd.DataFrame) -> pd.DataFrame:
    """Means of stated and true parts over the sets, and their ratio."""
    keys = ["design", "estimand", "part", "what"]
    by_set = lines.groupby([*keys, "set"], sort=False)[["stated", "true", "sums"]].mean()
    groups = by_set.groupby(keys, sort=False)
    found = groups[["stated", "true", "sums"]].mean()
    found.insert(0, "sets", groups.size())
    found["ratio"] = found["stated"] / found["true"]
    residual = (
        by_set["stated"]
        - found["ratio"].reindex(by_set.index.droplevel("set")).to_numpy() * by_set["true"]
    )
    error = residual.groupby(keys, sort=False).std() / found["sets"] ** 0.5
    found["se"] = error / found["true"]
    return found.reset_index()


def lines_of(world: str, sets: int, seed: int) -> pd.DataFrame:
    """Run the sets of one world, or of all designs of ``sampling``."""
    if world in KINDS:
        return pd.concat([model_set(world, n, seed) for n in range(sets)])
    return pd.DataFrame([sampling_set(d, n, seed) for d in DESIGNS for n in range(sets)])


def main() -> None:
    """Run what the command line asks for; the table is written after each world."""
    parser = argparse.ArgumentParser(description=__doc__)
    worlds = [*KINDS, "sampling"]
    parser.add_argument("--world", nargs="+", default=worlds, choices=worlds)
    parser.add_argument("--sets", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    path = chosen.folder / "budget_check.csv"
    for world in chosen.world:
        table = summary(lines_of(world, chosen.sets, chosen.seed)).assign(seed=chosen.seed)
        if path.exists():
            old = pd.read_csv(path)
            table = pd.concat([old[~old["design"].isin(table["design"])], table])
        table.to_csv(path, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
