"""Coverage of all sixteen metrics, for these items and for the population they come from.

``--truth fixed``: queries from a superpopulation with a query SD of 1.5 and two systems that
differ, labels and raters from a generator of its own (``worlds.py``). ``--truth prior``: parameters
from the prior of the model that is fitted, labels and ratings from the model, so that coverage
averaged over the sets has to be nominal; the population value is that of many new clusters under
the same parameters. Ratings go through the interface; 10 % of the items are rated three times, the
others once. Each set is fitted with ``--raters``, by default those of ``fit``; 95 % intervals are
held against the value of these items (``finite``) and of the superpopulation (``population``), and
so are the difference of the two systems and P(B > A). Beside them stands majority vote with a
cluster bootstrap and, for rates, with Wilson's interval.

    python -m benchmarks metric_coverage --world retrieval --truth fixed --sets 400 --seed 1

appends each set to ``results/coverage_<truth>_<world>.csv.gz`` as it is done; sets that
are there already are not run again, so that a run can be stopped and taken up; these files are
large, and no part of the repository. The summaries of all
such files are ``coverage_summary.csv``, ``coverage_worlds.csv``, ``coverage_chances.csv`` (of the
signs of differences, where the truth is from the prior) and ``coverage.png`` beside them
(``--summarize`` makes them without a run).
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from functools import cache, partial
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import binom, norm

import assay
from assay.evaluation import majority_metrics, metrics_of_labels
from assay.modelling.spec import DEFAULT_RATERS
from benchmarks.worlds.worlds import (
    SYSTEMS,
    WORLDS,
    World,
    draw_ratings,
    interval_scores,
    metric_values,
    population_values,
)

FOLDER = Path(__file__).resolve().parent / "results"
ESTIMANDS = ("finite", "population")
LEVEL = 0.95
NEW_CLUSTERS = 20_000
CONTRAST = "second - first"
CHANCES = (0.5, 0.65, 0.8, 0.95, 1.0)
RANKED = ("sufficiency_hit_at_k", "mean_reciprocal_rank_at_k", "ndcg_at_k")


def draw_set(world: World, truth: str, raters: str, rng: np.random.Generator):
    """Ratings of one set, and the true values: (ratings, finite, population)."""
    if truth == "fixed":
        table, labels = draw_ratings(world, rng)
        ratings = assay.read_ratings(table, task=world.task)
        return ratings, metric_values(world, labels), superpopulation(world.name)
    sizes = {"raters": raters, "n_raters": world.raters, "n_systems": len(SYSTEMS)}
    count = world.clusters * len(SYSTEMS) * world.places
    ratings = assay.simulate(
        world.task,
        n_items=count,
        n_clusters=world.clusters,
        ratings_per_item=np.where(rng.random(count) < 0.1, 3, 1),
        rng=rng,
        **sizes,
    )
    many = assay.simulate(
        world.task,
        values=ratings.simulated.values,
        n_items=NEW_CLUSTERS * len(SYSTEMS) * world.places,
        n_clusters=NEW_CLUSTERS,
        ratings_per_item=0,
        rng=rng,
        **sizes,
    )
    return ratings, known_values(ratings), known_values(many)


@cache
def superpopulation(name: str) -> pd.Series:
    """Values of the superpopulation of a fixed world, computed once in each process."""
    return population_values(WORLDS[name])


def known_values(ratings: assay.Ratings) -> pd.Series:
    """Metrics by (name, system) of simulated ratings, from the labels that made them."""
    table = metrics_of_labels(ratings.simulated.truth, ratings)
    return table.set_index(["metric", "system"])["value"]


def run(number: int, *, world: World, truth: str, raters: str, seed: int) -> pd.DataFrame:
    """One set: a line per estimand, method, metric and system or contrast."""
    rng = np.random.default_rng([seed, number, list(WORLDS).index(world.name)])
    ratings, finite, population = draw_set(world, truth, raters, rng)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = assay.fit(
            ratings,
            raters=raters,
            draws=400,
            tune=200,
            chains=1,
            starts=2,
            rng=number,
            progress=False,
        )
    seconds = time.perf_counter() - started
    parts = [from_fit(fit, estimand) for estimand in ESTIMANDS]
    parts += [part.assign(estimand=e) for e in ESTIMANDS for part in from_votes(ratings, number)]
    table = pd.concat(parts, ignore_index=True)
    known = {"finite": with_contrast(finite), "population": with_contrast(population)}
    table["truth"] = [known[row.estimand][(row.metric, row.system)] for row in table.itertuples()]
    return table.assign(set=number, seconds=seconds, raters=raters)


def with_contrast(values: pd.Series) -> pd.Series:
    """Add the difference of the second system and the first."""
    by_system = values.unstack()
    first, second = by_system.columns[:2]
    contrast = by_system[second] - by_system[first]
    contrast.index = pd.MultiIndex.from_product([contrast.index, [CONTRAST]])
    return pd.concat([values, contrast])


def from_fit(fit: xr.DataTree, estimand: str) -> pd.DataFrame:
    """Means, intervals and P(above 0) of the model, by system and for their difference."""
    data = assay.metrics(fit, estimand=estimand)
    first, second = data["system"].to_numpy()[:2]
    contrast = data.sel(system=second) - data.sel(system=first)
    # A metric may have become model-based: what the attributes say is dropped, not the values.
    contrast = contrast.assign_coords(system=CONTRAST).expand_dims("system")
    joined = xr.concat([data, contrast], dim="system", combine_attrs="drop")
    table = assay.summarize(joined, level=LEVEL).rename(columns={"mean": "value"})
    above = {
        (m, str(s)): float((v.sel(system=s) > 0).mean())
        for m, v in joined.items()
        for s in joined["system"].to_numpy()
    }
    table["above"] = [above[row.metric, row.system] for row in table.itertuples()]
    columns = ["metric", "system", "value", "lower", "upper", "above"]
    return table[columns].assign(method="assay", estimand=estimand)


def from_votes(ratings: assay.Ratings, number: int) -> Iterator[pd.DataFrame]:
    """Yield the intervals of the majority vote: cluster bootstrap, and Wilson's for rates."""
    votes = majority_metrics(ratings, level=LEVEL, rng=number)
    columns = ["metric", "system", "value", "lower", "upper"]
    yield votes[columns].assign(method="majority vote, cluster bootstrap")
    rates = votes[~votes["metric"].isin(RANKED)]
    if ratings.task.name == "grounding":
        rates = rates[rates["metric"] != "conditional_fabrication_rate"]
    places = ratings.panels["system"].value_counts()
    count = rates["system"].map(places).to_numpy()
    lower, upper = wilson(rates["value"].to_numpy(), count)
    wilsons = rates[columns].assign(lower=lower, upper=upper)
    yield wilsons.assign(method="majority vote, Wilson")


def wilson(share: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Interval of Wilson (1927) for a share of so many independent items."""
    z = norm.ppf((1 + LEVEL) / 2)
    centre = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    return centre - half, centre + half


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Coverage with the region that nominal coverage stays in with 99 %, and interval scores."""
    keys = ["truth_from", "world", "estimand", "method", "raters", "metric", "system"]
    scored = interval_scores(table[table["truth"].notna()], LEVEL)
    found = scored.groupby(keys, sort=False).agg(
        sets=("set", "nunique"),
        coverage=("covered", "mean"),
        width=("width", "mean"),
        interval_score=("interval_score", "mean"),
        bias=("error", "mean"),
    )
    lower, upper = binomial_region(found["sets"].to_numpy())
    found = found.assign(region_lower=lower, region_upper=upper)
    found["certain_sign_right"] = certain(scored, keys)
    return found.round(4).reset_index()


def certain(scored: pd.DataFrame, keys: list[str]) -> pd.Series:
    """How often the sign is right where P(B > A) is beyond 0.95 or 0.05."""
    sure = scored[(scored["system"] == CONTRAST) & ((scored["above"] - 0.5).abs() > 0.45)]
    right = (sure["above"] > 0.5) == (sure["truth"] > 0)
    return right.groupby([sure[key] for key in keys]).mean()


def chances(table: pd.DataFrame) -> pd.DataFrame:
    """Hold the chance of the likelier sign of a difference against how often it is the sign."""
    known = (table["system"] == CONTRAST) & (table["method"] == "assay") & table["truth"].notna()
    own = table[known & (table["truth_from"] == "prior")]
    stated = (own["above"] - 0.5).abs() + 0.5
    right = (own["above"] > 0.5) == (own["truth"] > 0)
    names = [f"{low} to {high}" for low, high in pairwise(CHANCES)]
    bins = pd.cut(stated, CHANCES, labels=names, include_lowest=True)
    own = own.assign(stated=stated, so=right, chance=bins)
    keys = ["world", "estimand", "raters", "chance"]
    found = own.groupby(keys, sort=True, observed=True).agg(
        differences=("so", "size"), stated=("stated", "mean"), so=("so", "mean")
    )
    # Differences of one set hang together: sums over a set are what is independent.
    excess = own.assign(excess=own["so"] - own["stated"])
    by_set = excess.groupby([*keys, "set"], observed=True)["excess"].sum()
    spread = (by_set**2).groupby(keys, observed=True).sum() ** 0.5
    return found.assign(se=spread / found["differences"]).round(3).reset_index()


def binomial_region(sets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Exact 99 % region of the coverage seen in so many sets, were it nominal."""
    return tuple(binom.ppf(p, sets, LEVEL) / sets for p in (0.005, 0.995))


def summarize_all(folder: Path) -> None:
    """Write the summary of all coverage files of a folder."""
    parts = []
    for path in sorted(folder.glob("coverage_*_*.csv.gz")):
        _, truth, world = path.name.removesuffix(".csv.gz").split("_", 2)
        parts.append(votes_once(pd.read_csv(path), truth).assign(truth_from=truth, world=world))
    if not parts:
        return
    every = pd.concat(parts)
    found = summary(every)
    found.to_csv(folder / "coverage_summary.csv", index=False)
    chances(every).to_csv(folder / "coverage_chances.csv", index=False)
    by_world(found).to_csv(folder / "coverage_worlds.csv", index=False)
    draw(of_default(found)).savefig(folder / "coverage.png", dpi=130)


def of_default(found: pd.DataFrame) -> pd.DataFrame:
    """Keep the model's lines: in each world those of the default, if it was run there."""
    own = found[found["method"] == "assay"]
    default = own["raters"] == DEFAULT_RATERS
    there = default.groupby([own["truth_from"], own["world"]]).transform("any")
    return own[default | ~there]


def votes_once(table: pd.DataFrame, truth: str) -> pd.DataFrame:
    """Keep the votes of a fixed world once: every recipe is given the same ratings there."""
    if truth == "fixed":
        table = table.assign(raters=table["raters"].where(table["method"] == "assay", "-"))
    return table.drop_duplicates(["set", "raters", "estimand", "method", "metric", "system"])


def by_world(found: pd.DataFrame) -> pd.DataFrame:
    """Return means over the metrics and systems of a world, contrasts apart."""
    kind = np.where(found["system"] == CONTRAST, "difference", "value")
    keys = ["truth_from", "world", "estimand", "of", "method", "raters"]
    groups = found.assign(of=kind).groupby(keys, sort=False)
    table = groups.agg(
        sets=("sets", "min"),
        lines=("coverage", "size"),
        coverage=("coverage", "mean"),
        lowest=("coverage", "min"),
        width=("width", "mean"),
        interval_score=("interval_score", "mean"),
    )
    return table.round(3).reset_index()


def draw(found: pd.DataFrame) -> Figure:
    """Draw the coverage of each metric, by world and estimand."""
    worlds = list(dict.fromkeys(zip(found["truth_from"], found["world"], strict=True)))
    lines = [found.loc[_of(found, world), "metric"].nunique() for world in worlds]
    figure = Figure(figsize=(7, 0.24 * sum(lines) + 0.6 * len(lines)), layout="constrained")
    panels = figure.subplots(len(worlds), 2, squeeze=False, height_ratios=lines, sharex=True)
    for row, (truth, world) in enumerate(worlds):
        own = found[_of(found, (truth, world))]
        for axes, estimand in zip(panels[row], ESTIMANDS, strict=True):
            _draw_world(axes, own[own["estimand"] == estimand])
            title = f"{world} ({truth}), {estimand}: {own['sets'].min()} sets"
            if (own["raters"] != DEFAULT_RATERS).any():
                title += f", {own['raters'].iloc[0]}"
            axes.set_title(title, fontsize=7)
        panels[row, 1].set_yticklabels([])
    for axes in panels[-1]:
        axes.set_xlabel("coverage of 95 % intervals", fontsize=8)
    names, marks = panels[0, 0].get_legend_handles_labels()
    figure.legend(names, marks, loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return figure


def _of(found: pd.DataFrame, world: tuple[str, str]) -> pd.Series:
    return (found["truth_from"] == world[0]) & (found["world"] == world[1])


def _draw_world(axes: Axes, own: pd.DataFrame) -> None:
    names = list(dict.fromkeys(own["metric"]))
    axes.axvspan(own["region_lower"].min(), own["region_upper"].max(), color="#d5dbe3", lw=0)
    axes.axvline(LEVEL, color="#566172", lw=0.8)
    marks = zip(dict.fromkeys(own["system"]), "osD", ("#0b62a4", "#2b7a4b", "#b4450c"), strict=True)
    for system, marker, colour in marks:
        here = own[own["system"] == system]
        places = [names.index(name) for name in here["metric"]]
        axes.plot(here["coverage"], places, marker, color=colour, ms=4, label=system)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.tick_params(axis="x", labelsize=7)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(0.85, 1.005)


def run_all(work: partial[pd.DataFrame], numbers: list[int], workers: int, path: Path) -> None:
    """Run the sets in processes of their own, and write each as it is done."""
    # A worker that grew over hundreds of fits would hold its memory: each is renewed.
    with get_context("spawn").Pool(workers, maxtasksperchild=50) as pool:
        for lines in pool.imap_unordered(work, numbers):
            lines.round(6).to_csv(path, mode="a", header=not path.exists(), index=False)


def sets_done(path: Path, raters: str) -> set[int]:
    """Return the sets that a file has of a recipe."""
    if not path.exists():
        return set()
    table = pd.read_csv(path)
    return set(table.loc[table["raters"] == raters, "set"])


def main() -> None:
    """Read the command line; run the sets that are not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", choices=sorted(WORLDS), default="retrieval")
    parser.add_argument("--truth", choices=("fixed", "prior"), default="fixed")
    parser.add_argument("--raters", default=DEFAULT_RATERS)
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--summarize", action="store_true")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    if not chosen.summarize:
        path = chosen.folder / f"coverage_{chosen.truth}_{chosen.world}.csv.gz"
        done = sets_done(path, chosen.raters)
        numbers = [n for n in range(chosen.sets) if n not in done]
        sizes = {"world": WORLDS[chosen.world], "truth": chosen.truth, "raters": chosen.raters}
        run_all(partial(run, seed=chosen.seed, **sizes), numbers, chosen.workers, path)
    summarize_all(chosen.folder)


if __name__ == "__main__":
    main()
