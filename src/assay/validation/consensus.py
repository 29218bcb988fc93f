"""What becomes of the metrics if the consensus of the raters is sometimes wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import FitError
from assay._util.intervals import require_level
from assay._util.random import seed_of
from assay._util.validation import numbers_given, require_choice
from assay.evaluation.estimands import ESTIMANDS, Estimand
from assay.evaluation.fitted import Change, metrics_if
from assay.fits.datatree import parameter_draws, require_fit, structure_of
from assay.fits.summary import summarize
from assay.modelling.prevalence.coding import main_columns
from assay.modelling.spec import is_consensus

Floats = NDArray[np.float64]
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1)
TILT_SD = 1.0
TILT_STREAM = 7
TINY = 1e-12
SCALINGS = 20
"""Rounds after which chances of which some are 1 have the mean that is asked for."""
CELLS = 1_000_000
"""States looked at in one go: bounds the memory."""


def consensus_sensitivity(
    fit: xr.DataTree,
    *,
    wrong: Sequence[float] | float = SHARES,
    metric: Sequence[str] | str | None = None,
    estimand: Estimand = "population",
    level: float = 0.95,
    rng: int | np.random.Generator = 1,
) -> pd.DataFrame:
    r"""Recompute metrics as if the consensus were wrong on a share of the items.

    Parameters
    ----------
    fit : xarray.DataTree
        Whose truth is the consensus of all raters, or of the rater groups.
    wrong : float or sequence of float
        Shares of the items on which the truth differs from what raters agree on, in [0, 1).
    metric : str or sequence of str, optional
        All that the task reports if not given.
    estimand, level
        As for :func:`assay.metrics` and :func:`assay.summarize`.
    rng : int or numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        The table of :func:`assay.summarize` with the column ``wrong`` in front.

    Raises
    ------
    FitError
        If the fit's truth is gold or one group's: then the data themselves tell.
    ModelError
        If a share is out of range.

    Notes
    -----
    Data of one consensus cannot tell how often it is wrong: this is an assumption, and the result
    is what follows from it. Of every draw, states of items are drawn afresh from the prevalence of
    their context, tilted by :math:`\exp(x_s \cdot \tau)` with one
    :math:`\tau \sim \mathrm{Normal}(0, 1)` for the draw, so often that the share ``wrong`` of the
    items has another state than before:

    .. math:: P(s_i' \ne s_i) = \min\left(1,\;
              \varepsilon\, \frac{1 - \tilde\pi(s_i)}{\mathrm{mean}_j\,(1 - \tilde\pi(s_j))}\right).

    In which direction a consensus errs is as unknown as how often: a draw may have most of its
    errors on the items of one class.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=40, n_raters=5, rng=2)
    >>> fit = assay.fit(ratings, method="map", draws=50, chains=1, rng=1)
    >>> table = consensus_sensitivity(fit, wrong=(0.0, 0.1), estimand="finite")
    >>> sorted(set(table["wrong"]))
    [0.0, 0.1]
    """
    require_fit(fit)
    if not is_consensus(fit.attrs["reference"]):
        raise FitError(
            f"the truth of this fit is {fit.attrs['reference']}: how often raters are wrong about "
            "it is learned; see assay.perception_table(fit)",
            code="learned-truth",
        )
    require_choice("estimand", estimand, ESTIMANDS)
    require_level(level)
    shares = numbers_given(
        "wrong", wrong, lambda x: 0 <= x < 1, allowed="shares of the items, from 0 to below 1"
    )
    misjudged = _Misjudged.of(fit, seed_of(rng))
    tables = []
    for share in shares:
        change = misjudged.wrong_on(share) if share else None
        found = summarize(metrics_if(fit, change, estimand=estimand, metric=metric), level=level)
        found.insert(0, "wrong", share)
        tables.append(found)
    return pd.concat(tables, ignore_index=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Misjudged:
    """Items of which a share is wrong, the same items and states for each share.

    Attributes
    ----------
    steps : ndarray (draw, context, state)
        The prevalence of each context, tilted, added up along the states.
    context : ndarray of int (item,)
    seed : int
    """

    steps: Floats
    context: NDArray[np.int64]
    seed: int

    @classmethod
    def of(cls, fit: xr.DataTree, seed: int) -> "_Misjudged":
        """Draw the tilt of each draw of the fit."""
        structure, values = structure_of(fit), parameter_draws(fit)
        prevalence = structure.prevalence
        columns = main_columns(prevalence.task, prevalence.space)[0]
        weight = np.exp(prevalence.log_weight)
        table = (np.asarray(structure.state_chances(values, np)) * weight[:, None]).sum(axis=-2)
        rng = np.random.default_rng([seed, TILT_STREAM])
        tilt = np.exp(TILT_SD * rng.standard_normal((len(table), columns.shape[1])) @ columns.T)
        steps = (table * tilt[:, None, :]).cumsum(axis=-1)
        return cls(steps=steps, context=prevalence.design.item_context, seed=seed)

    def wrong_on(self, share: float) -> Change:
        """Return what puts other states in the place of a share of them."""
        rng = np.random.default_rng(self.seed)

        def change(states: NDArray[np.int16]) -> NDArray[np.int16]:
            found = states.copy()
            run = max(1, CELLS // states.shape[1])
            for first in range(0, len(found), run):
                own = found[first : first + run]
                chance, place = rng.random(own.shape), rng.random(own.shape)
                draws = np.arange(first, first + len(own))[:, None]
                upto = self.steps[draws, self.context, own]
                before = np.where(own > 0, self.steps[draws, self.context, own - 1], 0.0)
                total = self.steps[draws, self.context, -1]
                differs = 1 - (upto - before) / total
                draw, item = np.nonzero(chance < _as_often(differs, share))
                weight = (upto - before)[draw, item]
                point = place[draw, item] * (total[draw, item] - weight)
                point += np.where(point >= before[draw, item], weight, 0.0)
                here = self.steps[first + draw, self.context[item]]
                own[draw, item] = np.minimum((point[:, None] >= here).sum(1), here.shape[1] - 1)
            return found

        return change


def _as_often(differs: Floats, share: float) -> Floats:
    """Scale chances (draw, item) to the mean ``share`` over the items, none above 1."""
    often = differs
    for _ in range(SCALINGS):
        mean = often.mean(axis=1, keepdims=True)
        often = np.minimum(often * (share / np.maximum(mean, TINY)), 1.0)
        if (often < 1).all():
            break
    return often
