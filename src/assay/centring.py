r"""Coordinates of hierarchical blocks that suit the data.

An offset of a block :math:`\mu + \sigma z_j` can stand in the vector of unknowns as it is, good
where data say little, or with its SD and mean, good where they pin the rater down. In the wrong
coordinates samplers crawl, and the joint mode of large data has an SD far from that of most of the
posterior. In between stands

.. math:: y_j = \sigma^{w_j} z_j + w_j \hat\sigma^{w_j - 1} \mu, \qquad
          w_j = 1 - \mathrm{Var}(z_j \mid y, \sigma),

where :math:`w_j` is the share of what is known of the offset that comes from the data. As the
data's estimate of :math:`\sigma z_j` is drawn to 0 by the share :math:`1 - w_j`, the expectation of
:math:`y_j` given :math:`\mu` does not depend on :math:`\mu` at :math:`\sigma = \hat\sigma`, the
mode of the SD: many offsets do not pull at the mean together. The model is the same, and so are the
parameters that a fit reports.

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
from assay.density import Centring, Density, make_density, unconstrain
from assay.model import Structure
from assay.modes import (
    FORGOTTEN,
    RIVAL,
    at_spreads,
    follow_modes,
    mass,
    samples_of,
    seek_modes,
    starting_points,
)
from assay.peaks import Mode
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
        return replace(mode, x=x, height=moved(x)[0], precision=None)
    return at_spreads(structure, moved, mode, x, mode.spreads)


def informed(
    density: Density, x: Floats, spreads: Spreads, times: float = 1.0
) -> Mapping[str, Centring]:
    """Say how each block of offsets is to be centred.

    Blocks of which nothing is to be centred are left out.
    """
    at = spreads.scores.at
    covariance = np.linalg.inv(spreads.information)
    slope, _ = spreads.scores.slopes(spreads.scores.scores(x[at]))
    sure = slope * np.sqrt(np.diag(covariance) / times) < SURE
    # The prior of an offset, a standard normal, has an information of 1.
    data = times * np.maximum(1 / spreads.variance - 1, 0)
    scale, location = np.zeros((2, density.size))
    share = data / (1 + data) * sure[spreads.owner]
    scale[spreads.offset] = share
    location[spreads.offset] = share * np.exp((share - 1) * x[at][spreads.owner])
    found = {}
    for n, parameter in enumerate(density.parameters):
        block = slice(density.starts[n], density.starts[n + 1])
        if parameter.spread and scale[block].any():
            found[parameter.name] = Centring(
                scale[block].reshape(parameter.shape), location[block].reshape(parameter.shape)
            )
    return found
