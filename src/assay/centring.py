r"""Coordinates of hierarchical blocks that suit the data.

An offset of a block :math:`\mu + \sigma z_j` can stand in the vector of unknowns as it is, good
where data say little, or with its SD and mean, good where they pin the rater down. In the wrong
coordinates samplers crawl, and the joint mode of large data has an SD far from that of most of the
posterior. In between stands

.. math:: \tilde z_j = w_j \mu + \sigma^{w_j} z_j, \qquad w_j = 1 - \mathrm{Var}(z_j \mid y,\sigma),

where :math:`w_j` is the share of what is known of the offset that comes from the data. The model is
the same, and so are the parameters that a fit reports.

References
----------
Papaspiliopoulos, O., Roberts, G. O. & Skold, M. (2007). A general framework for the parametrization
of hierarchical models. Statistical Science 22, 59-73.
Gorinova, M. I., Moore, D. & Hoffman, M. D. (2020). Automatic reparameterisation of probabilistic
programs. ICML, 3648-3657.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay.climbs import prior_centre
from assay.density import Density, make_density, unconstrain
from assay.model import Structure
from assay.modes import (
    FORGOTTEN,
    RIVAL,
    Mode,
    at_spreads,
    follow_modes,
    mass,
    samples_of,
    seek_modes,
    starting_points,
)
from assay.spreads import Spreads

Floats = NDArray[np.float64]
SURE = 0.3
"""SD of the logarithm of an SD up to which its offsets are centred: a less certain one may be next
to 0, and what is centred on it then hangs in a funnel."""


def find_centred_modes(
    structure: Structure,
    density: Density,
    rng: np.random.Generator,
    *,
    starts: int = 4,
    times: float = 1.0,
) -> tuple[Density, list[Mode]]:
    """Seek modes as :func:`assay.modes.find_modes` does, in coordinates that suit the data.

    Parameters
    ----------
    density : Density
        On which nothing is centred.
    starts : int
    times : float
        How many times larger the data are if those of the density are a sample.

    Returns
    -------
    density : Density
    modes : list of Mode
    """
    samples = samples_of(density, rng)
    points = starting_points(prior_centre(density), rng, starts)
    rival = RIVAL if times == len(samples) == 1 else FORGOTTEN
    modes = seek_modes(structure, samples[0], points, rival=rival)
    times = times * mass(density.data) / mass(samples[0].data)
    moved = centre_informed(structure, density, modes[0], times=times)
    if times == 1:
        return moved, [in_coordinates(structure, density, moved, mode) for mode in modes]
    there = [replace(mode, x=unconstrain(moved, density.constrain(mode.x))) for mode in modes]
    return moved, follow_modes(structure, moved, samples, there)


def centre_informed(
    structure: Structure, density: Density, mode: Mode, *, times: float = 1.0
) -> Density:
    """Return the density in the coordinates that suit a mode of it with settled SDs.

    Parameters
    ----------
    density : Density
        On which nothing is centred.
    mode : Mode
        Of the density, or of a sample of its data.
    times : float
        How many times larger than the sample the data are.
    """
    if mode.spreads is None:
        return density
    centred = informed(density, mode.x, mode.spreads, times)
    if not centred:
        return density
    return make_density(structure, threads=density.threads, centred=centred)


def in_coordinates(structure: Structure, density: Density, moved: Density, mode: Mode) -> Mode:
    """Return a mode of one density as it stands in the coordinates of another."""
    if not moved.centred:
        return mode
    x = unconstrain(moved, density.constrain(mode.x))
    if mode.spreads is None:
        return replace(mode, x=x, height=moved(x)[0], factor=None)
    return at_spreads(structure, moved, mode, x, mode.spreads)


def informed(
    density: Density, x: Floats, spreads: Spreads, times: float = 1.0
) -> Mapping[str, Floats]:
    """Say of each block of offsets how far it is to be centred: shares in its shape, by name.

    Blocks of which nothing is to be centred are left out.
    """
    covariance = np.linalg.inv(spreads.information)
    slope, _ = spreads.scores.slopes(spreads.scores.scores(x[spreads.scores.at]))
    sure = slope * np.sqrt(np.diag(covariance) / times) < SURE
    # The prior of an offset, a standard normal, has an information of 1.
    data = times * np.maximum(1 / spreads.variance - 1, 0)
    share = np.zeros(density.size)
    share[spreads.offset] = data / (1 + data) * sure[spreads.owner]
    found = {
        parameter.name: share[density.starts[n] : density.starts[n + 1]].reshape(parameter.shape)
        for n, parameter in enumerate(density.parameters)
        if parameter.spread
    }
    return {name: block for name, block in found.items() if block.any()}
