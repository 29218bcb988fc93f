r"""Partially centred coordinates of hierarchical offsets :math:`z_j` of :math:`\mu + \sigma z_j`.

If the likelihood is that of one observation :math:`t_j` of :math:`\mu + \sigma z_j` with variance
:math:`\tau_j^2`, then

.. math:: z_j \mid \mu, \sigma, y \sim \mathrm{Normal}(m_j, 1 / p_j), \qquad
          p_j = 1 + \frac{\sigma^2}{\tau_j^2}, \qquad
          m_j = \frac{\sigma (t_j - \mu)}{\tau_j^2 p_j},

and :math:`\sqrt{p_j} (z_j - m_j)` is a standard normal for any mean and SD, without a funnel. A
mode with the SD :math:`\hat\sigma` gives :math:`m_j = \hat z_j` and :math:`\hat\sigma^2 / \tau_j^2
= 1 / \mathrm{Var}(z_j \mid \mu, \hat\sigma, y) - 1`.

Papaspiliopoulos, O., Roberts, G. O. & Skold, M. (2007). Statistical Science 22, 59-73. Gorinova, M.
I., Moore, D. & Hoffman, M. D. (2020). ICML, 3648-3657.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from assay._util.typing import Floats
from assay.inference.density import Centring, Density, make_density, unconstrain
from assay.inference.group_sd_curvature import carry, offset_places, offset_values
from assay.inference.group_sds import GroupSDs
from assay.inference.mode_search import (
    FORGOTTEN,
    RIVAL,
    at_spreads,
    follow_modes,
    mass,
    samples_of,
    seek_modes,
    starting_points,
)
from assay.inference.modes import Mode
from assay.inference.optimise import prior_centre
from assay.inference.precision import Dense
from assay.modelling.structure import Structure


def find_centred_modes(
    structure: Structure,
    density: Density,
    rng: np.random.Generator,
    *,
    starts: int = 4,
    times: float = 1.0,
) -> tuple[Density, list[Mode]]:
    """Find modes like ``mode_search.find_modes``, and the density in partially centred coordinates.
    If its data are a sample, all data are ``times`` as large.
    """
    samples = samples_of(density, rng)
    whole = times == len(samples) == 1
    grown = times * mass(density.data) / mass(samples[0].data)
    moved, modes = seek_centred_modes(
        structure, samples[0], rng, starts=starts, times=grown, rival=RIVAL if whole else FORGOTTEN
    )
    moved = replace(moved, data=density.data)
    if len(samples) == 1:
        return moved, modes
    modes = follow_modes(structure, moved, samples, modes)
    if not isinstance(modes[0].given_spreads, Dense):
        return moved, modes
    again = centre_informed(structure, moved, modes[0])
    return again, [in_coordinates(structure, moved, again, mode) for mode in modes]


def seek_centred_modes(
    structure: Structure,
    density: Density,
    rng: np.random.Generator,
    *,
    starts: int,
    times: float,
    rival: float,
) -> tuple[Density, list[Mode]]:
    """Find the modes of a sample, in coordinates that suit ``times`` its data.

    ``rival`` as in :func:`assay.inference.mode_search.seek_modes`.
    """
    points = starting_points(prior_centre(density), rng, starts)
    modes = seek_modes(structure, density, points, rival=rival)
    moved = centre_informed(structure, density, modes[0], times=times)
    return moved, [in_coordinates(structure, density, moved, mode) for mode in modes]


def centre_informed(
    structure: Structure, density: Density, mode: Mode, *, times: float = 1.0
) -> Density:
    """Return the density with blocks centred for a mode with settled SDs and ``times`` its data."""
    if mode.spreads is None:
        return density
    centred = informed(density, mode.x, mode.spreads, times)
    moved = make_density(structure, threads=density.threads, centred=centred)
    return replace(moved, data=density.data)


def in_coordinates(structure: Structure, density: Density, moved: Density, mode: Mode) -> Mode:
    """Return a mode of ``density`` in the coordinates of ``moved``."""
    if moved is density:
        return mode
    x = unconstrain(moved, density.constrain(mode.x))
    if mode.spreads is None:
        return replace(mode, x=x, height=moved(x)[0], precision=None)
    given = mode.given_spreads
    given = carry(density, mode.x, given, mode.held, moved, x) if isinstance(given, Dense) else None
    return at_spreads(structure, moved, mode, x, mode.spreads, given)


def informed(
    density: Density, x: Floats, spreads: GroupSDs, times: float = 1.0
) -> Mapping[str, Centring]:
    """Return each offset block's :class:`Centring`, by the curvature at a mode."""
    at = spreads.scores.at
    offset, owner, mean = offset_places(density, at)
    told, pull, sd = np.empty((3, density.size))
    told[offset] = np.maximum(1 / spreads.variance - 1, 0)
    sd[offset] = np.exp(x[at][owner])
    beside = np.where(mean < 0, 0, x[mean])
    pull[offset] = (1 + told[offset]) * offset_values(density, x)
    pull[offset] += told[offset] * beside / sd[offset]
    found = {}
    for n, parameter in enumerate(density.parameters):
        if not parameter.spread:
            continue
        own = slice(density.starts[n], density.starts[n + 1])
        found[parameter.name] = Centring(
            *(
                (f * v[own]).reshape(parameter.shape)
                for f, v in ((times, told), (times, pull), (1, sd))
            )
        )
    return found
