"""What becomes of the metrics if the consensus of the raters is sometimes wrong."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay.errors import FitError
from assay.evaluation import metrics
from assay.evaluation.fitted import Estimand
from assay.fit_data import group, parameter_draws, structure_of
from assay.prevalence.coding import main_columns
from assay.seeds import generator_of
from assay.spec import CONSENSUS
from assay.summary import summarize

Floats = NDArray[np.float64]
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1)
TILT_SD = 1.0


def consensus_sensitivity(
    fit: xr.DataTree,
    *,
    wrong: Sequence[float] = SHARES,
    metric: Sequence[str] | str | None = None,
    estimand: Estimand = "population",
    level: float = 0.95,
    rng: int | np.random.Generator = 1,
) -> pd.DataFrame:
    r"""Recompute metrics as if the consensus were wrong on a share of the items.

    Parameters
    ----------
    fit : xarray.DataTree
        Whose truth is the consensus of all raters.
    wrong : sequence of float
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
        If the fit's truth is gold or one group's: then the data themselves tell; or a share is out
        of range.

    Notes
    -----
    Data of one consensus cannot tell how often it is wrong: this is an assumption, and the result
    is what follows from it. Of every draw, each item's state is with probability ``wrong`` drawn
    afresh from the prevalence of its context, tilted by :math:`\exp(x_s \cdot \tau)` with one
    :math:`\tau \sim \mathrm{Normal}(0, 1)` for the draw: in which direction a consensus errs is as
    unknown as how often. The item that is wrong may look right by chance.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=40, n_raters=5, rng=2)
    >>> fit = assay.fit(ratings, method="map", draws=50, chains=1, rng=1)
    >>> table = consensus_sensitivity(fit, wrong=(0.0, 0.1), estimand="finite")
    >>> sorted(set(table["wrong"]))
    [0.0, 0.1]
    """
    if fit.attrs["reference"] != CONSENSUS:
        raise FitError(
            f"the truth of this fit is {fit.attrs['reference']}: how often raters are wrong about "
            "it is learned; see assay.perception_table(fit)"
        )
    for share in wrong:
        if not 0 <= share < 1:
            raise FitError(f"wrong={share!r}; it is a share of the items, from 0 to below 1")
    generator = generator_of(rng)
    afresh, uniform = _states_afresh(fit, generator)
    tables = []
    for share in wrong:
        other = _with_states(fit, np.where(uniform < share, afresh, _states(fit)))
        found = summarize(metrics(other, estimand=estimand, names=metric), level=level)
        found.insert(0, "wrong", float(share))
        tables.append(found)
    return pd.concat(tables, ignore_index=True)


def _states(fit: xr.DataTree) -> NDArray[np.int16]:
    return np.asarray(group(fit, "labels")["state"].values)


def _states_afresh(fit: xr.DataTree, rng: np.random.Generator) -> tuple[NDArray[np.int16], Floats]:
    """Draw another state of each item from the tilted prevalence, and a uniform number for each."""
    structure, values = structure_of(fit), parameter_draws(fit)
    prevalence, states = structure.prevalence, _states(fit)
    columns = main_columns(prevalence.task, prevalence.space)[0]
    weight = np.exp(prevalence.log_weight)
    table = np.asarray(prevalence.table(values, np))
    by_context = (table * weight[:, None]).sum(axis=-2)
    tilt = np.exp(TILT_SD * rng.standard_normal((len(table), columns.shape[1])) @ columns.T)
    steps = (by_context * tilt[:, None, :]).cumsum(axis=-1)
    context = prevalence.design.item_context
    drawn = np.empty((len(table), len(context)), np.int16)
    for d in range(len(table)):
        here = steps[d][context]
        drawn[d] = (rng.random(len(context))[:, None] * here[:, -1:] > here).sum(axis=1)
    return drawn.reshape(states.shape), rng.random(states.shape)


def _with_states(fit: xr.DataTree, states: NDArray[np.int16]) -> xr.DataTree:
    """Return the fit with other draws of the states."""
    labels = group(fit, "labels")
    changed = labels.assign(state=(labels["state"].dims, states.astype(np.int16)))
    groups = {name: group(fit, name) for name in fit.children if name != "labels"}
    tree = xr.DataTree.from_dict({**groups, "labels": changed})
    tree.attrs = dict(fit.attrs)
    return tree
