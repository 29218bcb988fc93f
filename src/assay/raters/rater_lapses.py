"""How many of a rater's ratings are lapses."""

import numpy as np
import xarray as xr
from scipy.special import expit

from assay._util.errors import FitError
from assay.fits.datatree import array_of_draws, parameter_draws, structure_of
from assay.modelling.answers import AnswerPart


def lapse_shares(fit: xr.DataTree) -> xr.DataArray:
    r"""Share of each rater's ratings that are lapses: blind answers, whatever is true.

    Parameters
    ----------
    fit : xarray.DataTree
        From ``assay.fit(ratings, raters="hierarchical + lapses")``.

    Returns
    -------
    xarray.DataArray
        (chain, draw, rater): :math:`\epsilon_j`, the chance that a rating of the rater is a lapse,
        in [0, 1]; NaN for raters of a group without the layer. Where all labels have two classes,
        ratings say little of it, and it leans on the prior.

    Raises
    ------
    FitError
        If no rater has lapses in this fit.

    References
    ----------
    Hovy, D., Berg-Kirkpatrick, T., Vaswani, A. and Hovy, E. (2013). Learning whom to trust with
    MACE. NAACL-HLT 2013, 1120-1130.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("ais", n_items=20, n_raters=3, ratings_per_item=2, rng=1)
    >>> model = {"raters": "hierarchical + lapses", "method": "map", "draws": 5, "chains": 1}
    >>> lapse_shares(assay.fit(ratings, **model, rng=1, progress=False)).dims
    ('chain', 'draw', 'rater')
    """
    structure, values = structure_of(fit), parameter_draws(fit)
    parts = [part for part in structure.parts if isinstance(part, AnswerPart) and part.lapses]
    if not parts:
        raise FitError(
            "no rater has lapses in this fit; fit with raters='hierarchical + lapses'. What mace "
            "takes for spam is its parameter 'spamming'",
            code="no-lapses",
        )
    raters, draws = structure.ratings.raters.index, len(next(iter(values.values())))
    found = np.full((draws, len(raters)), np.nan)
    for part in parts:
        assert part.lapses is not None
        found[:, part.members] = expit(part.lapses.log_odds(part.own(values)))
    return array_of_draws(fit, found, "lapse_share", {"rater": raters.to_numpy(object)})
