"""Crews drawn from a pool of raters with thresholds: intervals hold what the pool says."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import assay
from assay.fits.latent_states import sample_states
from assay.fits.view import FitView

ITEMS, CREW, CREWS = 400, 5, 16
SPREAD = 0.5
"""SD of the raters' thresholds; that of the evidence is 1.2."""


def crew(number: int, known: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Ratings of a crew, and what most of an infinite pool says of each item."""
    rng = np.random.default_rng([5, number])
    evidence, threshold = rng.normal(0.2, 1.2, ITEMS), rng.normal(0, SPREAD, CREW)
    yes = rng.random((ITEMS, CREW)) < expit(2.5 * (evidence[:, None] - threshold))
    item, rater = (at.ravel() for at in np.indices(yes.shape))
    truth = np.where(evidence > 0, "yes", "no").astype(object)
    truth[rng.permutation(ITEMS)[known:]] = ""
    frame = pd.DataFrame(
        {"item": item, "rater": [f"r{r}" for r in rater], "truth": truth[item]}
    ).assign(label=np.where(yes.ravel(), "yes", "no"))
    return frame, evidence > 0


def intervals(number: int, known: int = 0) -> tuple[tuple[float, ...], tuple[float, ...], float]:
    """95 % intervals of the share of yes with the lean and without it, and the true share."""
    frame, true = crew(number, known)
    told = {"truth": "truth"} if known else {}
    ratings = assay.read_ratings(
        frame if known else frame.drop(columns="truth"), item="item", rater="rater", **told
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(ratings, method="laplace", rng=1, draws=500, chains=2, progress=False)
    view = FitView.of(fit)
    plain = sample_states(view.structure, view.draws, np.random.default_rng(1)).states
    yes = list(ratings.task.labels[0].classes).index("yes")
    ends = [np.quantile((s == yes).mean(axis=1), [0.025, 0.975]) for s in (view.states, plain)]
    return tuple(ends[0]), tuple(ends[1]), float(true.mean())


def held(ends: tuple[float, ...], share: float) -> bool:
    return bool(ends[0] <= share <= ends[1])


@pytest.mark.usefixtures("departures_unsought")
def test_intervals_hold_the_pool_where_those_of_the_crew_do_not() -> None:
    found = [intervals(n) for n in range(CREWS)]
    with_lean = sum(held(lean, share) for lean, _, share in found)
    without = sum(held(plain, share) for _, plain, share in found)
    assert with_lean >= 14
    assert without <= 10


@pytest.mark.usefixtures("departures_unsought")
def test_known_truth_shows_where_the_crew_stands() -> None:
    """The intervals narrow, and still hold."""
    alone, told = ([intervals(n, known) for n in range(5)] for known in (0, 40))
    width = [np.mean([ends[1] - ends[0] for ends, _, _ in some]) for some in (alone, told)]
    assert width[1] < 0.7 * width[0]
    assert sum(held(ends, share) for ends, _, share in told) >= 4
