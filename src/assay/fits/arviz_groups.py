"""The function ``add_groups``: prior and predictive groups, as ArviZ has them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import xarray as xr

from assay._util.random import generator_of
from assay._util.typing import Floats
from assay._util.validation import require_choice, require_count
from assay.data.states import Vectors
from assay.fits.datatree import posterior_dataset
from assay.fits.latent_states import predict_states, running_prevalence
from assay.fits.predict import predict_answers, replicates
from assay.fits.view import Fit, FitView
from assay.modelling.prior_densities import prior_log_densities
from assay.modelling.structure import Structure

GROUPS = ("prior", "prior_predictive", "posterior_predictive", "log_prior")


def add_groups(
    fit: Fit,
    groups: Sequence[str] | str = GROUPS,
    *,
    draws: int = 200,
    rng: int | np.random.Generator = 1,
) -> xr.DataTree:
    r"""Add the groups that ArviZ needs to show priors, predictions and prior sensitivity.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`; it is not changed.
    groups : sequence of str, or str
        Some of ``prior``, ``prior_predictive``, ``posterior_predictive``, ``log_prior``; all by
        default.
    draws : int
        Number of draws from the prior, and of replicates of the answers, in one chain.
    rng : int or numpy.random.Generator

    Returns
    -------
    xarray.DataTree
        The fit with more groups:

        * ``prior``: the parameters of ``posterior``, drawn from their priors;
        * ``prior_predictive``, ``posterior_predictive``: ``answers`` (chain, draw, rating, label)
          as class codes, as in ``observed_data``; answers missing there are missing here;
        * ``log_prior``: the log prior density of each parameter at each draw of ``posterior``,
          without Jacobians.

    Raises
    ------
    FitError
        If ``fit`` is no fit, or ``draws`` is no whole number above 0.
    ArgumentError
        If a group has another name.

    Notes
    -----
    With these groups, ``arviz_plots.plot_ppc_dist``, ``arviz_plots.plot_prior_posterior`` and
    ``arviz_stats.psense_summary`` run on the fit. Prior sensitivity scales the prior of all
    parameters; ``psense_summary(prior_var_names=[...])`` scales some. Replicates of the prior are
    answers of the same raters to new items in new clusters.

    References
    ----------
    Kallioinen, N. et al. (2024). Detecting and diagnosing prior and likelihood sensitivity with
    power-scaling. Statistics and Computing 34, 57.

    Examples
    --------
    >>> import assay
    >>> fit = assay.fit(assay.load_example("anesthesia"), method="map", draws=10, chains=1, rng=1)
    >>> whole = add_groups(fit, ["prior", "posterior_predictive"], draws=5)
    >>> whole["posterior_predictive"]["answers"].sizes["draw"]
    5
    """
    require_count("draws", draws)
    names = [groups] if isinstance(groups, str) else list(dict.fromkeys(groups))
    for name in names:
        require_choice("groups", name, GROUPS)
    view = FitView.of(fit)
    structure = view.structure
    makers: Mapping[str, Callable[[], xr.Dataset]] = {
        "prior": lambda: posterior_dataset(structure, _prior(structure, draws, rng), 1),
        "prior_predictive": lambda: _answers(view, _before(structure, draws, rng)),
        "posterior_predictive": lambda: _answers(view, predict_answers(view, draws=draws, rng=rng)),
        "log_prior": lambda: _log_prior(view),
    }
    found = view.tree.copy()
    for name in names:
        found[name] = xr.DataTree(makers[name]())
    return found


def _prior(structure: Structure, draws: int, rng: int | np.random.Generator) -> dict[str, Floats]:
    generator = generator_of(rng)
    every = [structure.draw(generator) for _ in range(draws)]
    return {name: np.stack([one[name] for one in every]) for name in every[0]}


def _before(structure: Structure, draws: int, rng: int | np.random.Generator) -> Iterator[Vectors]:
    """Yield answers from the prior predictive distribution; an int gives the draws of ``prior``."""
    values = _prior(structure, draws, rng)
    generator = generator_of(rng).spawn(1)[0]
    states = predict_states(structure, running_prevalence(structure, values), generator)
    return replicates(structure, values, states, draws, generator)


def _answers(view: FitView, every: Iterable[Vectors]) -> xr.Dataset:
    stacked = np.stack(list(every))[None]
    label = view["observed_data"]["label"].values
    coords = {"chain": [0], "draw": np.arange(stacked.shape[1]), "label": label}
    return xr.Dataset({"answers": (("chain", "draw", "rating", "label"), stacked)}, coords)


def _log_prior(view: FitView) -> xr.Dataset:
    """Return the log prior densities; a block's axes are those of its parameter."""
    posterior = view["posterior"]
    found = {}
    for name, values in prior_log_densities(view.structure, view.draws).items():
        dims = posterior[name].dims[2 : values.ndim + 1] if name in posterior else ("joint_term",)
        coords = {str(d): posterior[d].values for d in dims if d in posterior.coords}
        if name not in posterior:
            coords = {"joint_term": np.arange(values.shape[-1])}
        found[name] = view.by_chain(values, name, coords).drop_attrs()
    return xr.Dataset(found)
