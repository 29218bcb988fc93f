"""The studies of the demo: real ratings, and a SIMULATED study whose truth is known."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import FitWarning
from assay.data.majority_vote import majority_labels
from assay.data.ratings import Ratings
from assay.display.frames import labels_frame, reliability_frame
from assay.evaluation import majority_metrics, metrics, metrics_of_labels
from assay.evaluation.estimands import ESTIMANDS
from assay.fits.simulation import simulate
from assay.fits.summary import summarize
from assay.inference.effort import Effort
from assay.inference.fitting import fit
from assay.io.datasets import anesthesia_ratings

QUERIES, CHUNKS, SYSTEMS, RATERS = 30, 5, 2, 6
POPULATION_QUERIES = 2000
METHODS = ("posterior", "majority vote")

# Answers right with this probability: relevant no, yes; sufficient no, yes; misleading no, yes.
# Five careful raters are a little lenient and overlook a third of what misleads; the last is poor.
ACCURACY = np.array(
    [
        [0.82, 0.94, 0.86, 0.90, 0.95, 0.70],
        [0.78, 0.95, 0.84, 0.92, 0.93, 0.72],
        [0.85, 0.93, 0.88, 0.88, 0.96, 0.66],
        [0.80, 0.92, 0.85, 0.90, 0.94, 0.70],
        [0.76, 0.96, 0.82, 0.93, 0.95, 0.62],
        [0.55, 0.85, 0.65, 0.80, 0.88, 0.45],
    ]
)
# On the logit scale, in the order of the labels: about two thirds of the chunks are relevant, a
# quarter sufficient, an eighth misleading; the second system and the first ranks are better, and
# queries differ with an SD of 1, for the two systems with a correlation of 0.7.
VALUES: dict[str, NDArray[np.float64]] = {
    "main": np.array([0.6, -0.8, -1.6]),
    "interaction_sd": np.array(1.0),
    "interaction_offset": np.array([-0.5]),
    "system_sd": np.array(1.0),
    "system_offset": np.array([[-0.4, -0.3, 0.3], [0.4, 0.3, -0.3]]),
    "rank_sd": np.array(1.0),
    "rank_offset": np.outer(np.linspace(0.6, -0.6, CHUNKS), [1.0, 1.0, -0.3]),
    "cluster_loading": np.array([1.0, 1.0, -0.5]),
    "system_correlation": np.array(0.7),
    "accuracy": ACCURACY,
}


LONG = Effort(draws=700, tune=400, chains=4, target_accept=0.9)
EFFORTS = {"real": LONG, "simulated": LONG}
QUICK = replace(LONG, draws=200, tune=200)


@dataclass(frozen=True, kw_only=True, eq=False)
class RealStudy:
    """Real ratings, their fit, and what is concluded, as data frames."""

    ratings: Ratings
    fit: xr.DataTree
    prevalence: Mapping[str, pd.DataFrame]
    reliability: pd.DataFrame
    labels: pd.DataFrame


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedStudy:
    """SIMULATED ratings, their fit, and what is concluded beside the truth.

    ``metrics`` has a line per estimand, metric and system: ``truth``, ``posterior`` and
    ``majority vote``, the last two with ``lower`` and ``upper`` (columns of two levels).
    """

    ratings: Ratings
    fit: xr.DataTree
    reliability: pd.DataFrame
    metrics: pd.DataFrame


def real_study(effort: Effort, *, seed: int = 1, progress: bool = False) -> RealStudy:
    """Fit the ratings of Dawid & Skene (1979) and conclude.

    Parameters
    ----------
    effort : Effort
    seed : int
    progress : bool
        Whether to show a progress bar on standard error.
    """
    ratings = anesthesia_ratings()
    tree = _fit(ratings, effort, seed, progress)
    codes = majority_labels(ratings)[:, 0]
    told = labels_frame(tree)
    return RealStudy(
        ratings=ratings,
        fit=tree,
        prevalence={e: summarize(metrics(tree, estimand=e)) for e in ESTIMANDS},
        reliability=reliability_frame(tree),
        labels=told.assign(majority_vote=np.array(ratings.task.labels[0].classes)[codes]),
    )


def simulated_ratings(seed: int = 1, *, queries: int = QUERIES) -> Ratings:
    """Simulate a retrieval study: a tenth of the chunks rated three times, the rest once."""
    items = queries * CHUNKS * SYSTEMS
    often = np.arange(items) % 10 == 0
    # Sorted by cluster, system and rank in turn, a stride would take one rank only.
    often = np.random.default_rng(seed).permutation(often)
    return simulate(
        "retrieval",
        raters="class_conditional",
        values=VALUES,
        n_items=items,
        n_raters=RATERS,
        ratings_per_item=[3 if again else 1 for again in often],
        n_systems=SYSTEMS,
        n_clusters=queries,
        rng=seed,
    )


def simulated_study(effort: Effort, *, seed: int = 1, progress: bool = False) -> SimulatedStudy:
    """Fit a SIMULATED study and conclude, beside the truth.

    Parameters
    ----------
    effort : Effort
    seed : int
        Of the simulation and of the fit.
    progress : bool
        Whether to show a progress bar on standard error.
    """
    ratings = simulated_ratings(seed)
    tree = _fit(ratings, effort, seed, progress)
    return SimulatedStudy(
        ratings=ratings,
        fit=tree,
        reliability=_with_truth(reliability_frame(tree, "raw"), ratings),
        metrics=_metrics_with_truth(ratings, tree),
    )


def _fit(ratings: Ratings, effort: Effort, seed: int, progress: bool) -> xr.DataTree:
    with warnings.catch_warnings():
        # The report says what the warnings say.
        warnings.simplefilter("ignore", FitWarning)
        return fit(
            ratings, draws=effort.draws, tune=effort.tune, chains=effort.chains, rng=seed,
            target_accept=effort.target_accept, progress=progress,
        )  # fmt: skip


def _with_truth(reliability: pd.DataFrame, ratings: Ratings) -> pd.DataFrame:
    """Lines of the right answers, with the accuracy that the simulation gave them."""
    right = reliability[reliability["true_class"] == reliability["reported_class"]]
    raters, labels = list(ratings.raters.index), ratings.task.label_names
    row = [raters.index(name) for name in right["rater"]]
    column = [
        2 * labels.index(label) + (true == "yes")
        for label, true in zip(right["label"], right["true_class"], strict=True)
    ]
    return right.assign(truth=ACCURACY[row, column])


def _metrics_with_truth(ratings: Ratings, tree: xr.DataTree) -> pd.DataFrame:
    """Metrics of both estimands: truth, posterior, majority vote."""
    many = simulated_ratings(10_000, queries=POPULATION_QUERIES)
    truths = {"finite": _truth(ratings), "population": _truth(many)}
    key = ["metric", "system"]
    vote = majority_metrics(ratings).set_index(key)[["value", "lower", "upper"]]
    vote.columns = pd.Index(["mean", "lower", "upper"])
    parts = {}
    for estimand in ESTIMANDS:
        told = summarize(metrics(tree, estimand=estimand)).set_index(key)
        posterior = told[["mean", "lower", "upper"]]
        parts[estimand] = pd.concat(
            {"truth": truths[estimand], "posterior": posterior, "majority vote": vote}, axis=1
        )
    return pd.concat(parts, names=["estimand"])


def _truth(ratings: Ratings) -> pd.DataFrame:
    assert ratings.simulated is not None
    known = metrics_of_labels(ratings.simulated.truth, ratings)
    return known.set_index(["metric", "system"])[["value"]]


def covered(table: pd.DataFrame) -> pd.DataFrame:
    """Say which intervals of a :class:`SimulatedStudy`'s metrics hold the truth.

    Returns
    -------
    pandas.DataFrame
        Lines as in ``table``, a column of booleans per method.
    """
    truth = table["truth", "value"]
    return pd.DataFrame(
        {m: (table[m, "lower"] <= truth) & (truth <= table[m, "upper"]) for m in METHODS}
    )
