"""Quick fits: at the truth that made the ratings, or with few draws."""

import warnings

import numpy as np
import xarray as xr

import assay
from assay._util.errors import FitWarning
from assay.data.ratings import Ratings
from assay.fits.datatree import posterior_dataset
from assay.fits.view import FitView


def at_the_truth(ratings: Ratings, **options: object) -> xr.DataTree:
    """A fit whose only draw of the parameters is the truth that made the ratings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        plain = {"raters": "hierarchical", "method": "map", "draws": 1, "chains": 1, "starts": 1}
        fit = assay.fit(ratings, **plain | options)
    truth = {name: np.asarray(value)[None] for name, value in ratings.simulated.values.items()}
    fit["posterior"] = xr.DataTree(posterior_dataset(FitView.of(fit).structure, truth, 1))
    return fit


def quick(ratings: Ratings, *, draws: int = 150, **options: object) -> xr.DataTree:
    """Fit with few draws, without their warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return assay.fit(
            ratings, draws=draws, tune=200, chains=2, starts=2, progress=False, **options
        )
