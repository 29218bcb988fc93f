"""Draws of the labels of a fit, kept as states: those of the posterior, and of new clusters."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from assay.evaluation.draws import Codes, LabelDraws
from assay.evaluation.stored import StoredStates
from assay.fits import storage
from assay.fits.datatree import group, parameter_draws, structure_of
from assay.fits.latent_states import predict_states, recover, running_prevalence

PREDICTIVE_STREAM = 4
SECOND_STREAM = 5
DISCORDANT_STREAM = 6


def posterior_labels(fit: xr.DataTree) -> LabelDraws:
    """Return the label draws of a fit, those of :func:`assay.label_draws`, not yet decoded.

    Those of a large fit are read as they are asked for.
    """
    stored = group(fit, "labels")["state"]
    if stored.nbytes > storage.LARGE:
        return LabelDraws(states=StoredStates(stored), codes=_codes(fit))
    states = stored.transpose("chain", "draw", "item").to_numpy()
    return LabelDraws(states=states.reshape(-1, states.shape[2]), codes=_codes(fit))


def second_labels(fit: xr.DataTree) -> LabelDraws:
    """Draw the labels a second time, independently given each draw of the parameters."""
    rng = np.random.default_rng([int(fit.attrs["seed"]), SECOND_STREAM])
    found = recover(structure_of(fit), parameter_draws(fit), rng)
    return LabelDraws(states=found.states, codes=_codes(fit))


def predicted_labels(fit: xr.DataTree, replicates: int) -> Iterator[LabelDraws]:
    """Yield label draws of new clusters like the observed ones, one replicate after the other.

    Parameters
    ----------
    fit : xarray.DataTree
    replicates : int
        How many new sets of clusters for each draw of the parameters.

    Yields
    ------
    LabelDraws
        Same panels and systems as the data; cluster effects and states are drawn anew.
    """
    structure, codes = structure_of(fit), _codes(fit)
    rng = np.random.default_rng([int(fit.attrs["seed"]), PREDICTIVE_STREAM])
    running = running_prevalence(structure, parameter_draws(fit))
    for _ in range(replicates):
        states = predict_states(structure, running, rng)
        yield LabelDraws(states=states, codes=codes)


def predicted_again(fit: xr.DataTree, draws: int) -> Iterator[LabelDraws]:
    """Yield label draws of new clusters without end, each time for some draws of the parameters."""
    structure, codes, values = structure_of(fit), _codes(fit), parameter_draws(fit)
    rng = np.random.default_rng([int(fit.attrs["seed"]), DISCORDANT_STREAM])
    total = len(next(iter(values.values())))
    while True:
        some = rng.choice(total, size=min(draws, total), replace=False)
        running = running_prevalence(structure, {name: v[some] for name, v in values.items()})
        yield LabelDraws(states=predict_states(structure, running, rng), codes=codes)


def _codes(fit: xr.DataTree) -> Codes:
    return group(fit, "constant_data")["states"].to_numpy().astype(np.int16)
