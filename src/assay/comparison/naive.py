"""The naive side: a majority vote taken for the truth, its contrasts, and a cluster bootstrap."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay._util.quotients import divided
from assay.data.ratings import Ratings
from assay.evaluation.baseline import VOTE, resampled, vote_totals
from assay.evaluation.item_weights import weighable_metrics
from assay.evaluation.panels import panel_layout

SAMPLES = 2000


def vote_metrics(
    ratings: Ratings, metric: Sequence[str] | str | None, rng: np.random.Generator
) -> tuple[xr.Dataset, xr.Dataset]:
    """Metrics of the majority vote of each system, as they are and resampled.

    Systems share the resampled clusters, so that their difference can be taken sample by sample.

    Parameters
    ----------
    ratings : Ratings
        With systems. Items without an answer are left out.
    metric : str or sequence of str or None
        Metrics; None for those that the task reports.
    rng : numpy.random.Generator

    Returns
    -------
    values, samples : xarray.Dataset
        A variable per metric, (chain, draw, system): one draw, and ``SAMPLES`` of them.
    """
    chosen = weighable_metrics(ratings, metric)
    layout = panel_layout(ratings)
    totals = vote_totals(ratings, chosen, layout)
    samples = resampled(totals, layout, SAMPLES, rng)

    def dataset(draws: NDArray[np.float64]) -> xr.Dataset:
        variables = {
            m.name: (("chain", "draw", "system"), draws[None, :, n]) for n, m in enumerate(chosen)
        }
        attributes = {"estimand": "population", "reference": VOTE}
        return xr.Dataset(variables, {"system": list(layout.systems)}, attributes)

    return dataset(divided(*totals.sum(axis=2))[None]), dataset(samples)
