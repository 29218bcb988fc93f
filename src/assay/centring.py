r"""Which offsets stand in the vector as they are, and which with their SD and mean.

A hierarchical block :math:`\mu + \sigma z_j` has two sets of coordinates: :math:`z_j`, good where
data say little, and :math:`\mu + \sigma z_j`, good where they pin each rater down. In the wrong
ones samplers crawl, and the mode of the density, where Laplace's approximation sits, has an SD far
from that of most of the posterior. The model is the same, and so are the parameters that a fit
reports.

References
----------
Papaspiliopoulos, O., Roberts, G. O. & Skold, M. (2007). A general framework for the parametrization
of hierarchical models. Statistical Science 22, 59-73.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay.density import Density, make_density, settle
from assay.model import Structure
from assay.modes import climb, curvature, mass, prior_centre, samples_of

Floats = NDArray[np.float64]
INFORMED = 30.0
"""Information about an offset, in units of that in the spread of its block, that pins it down."""
APART = 3.0
"""The same of a sample, from which raters are seen to differ at all."""
FALLEN = 0.3
"""Share of its first value to which an SD may shrink on the climb."""


def centre_informed(structure: Structure, density: Density, rng: np.random.Generator) -> Density:
    """Return the density in coordinates that suit the data.

    The curvature at the mode that is climbed to from the prior's centre, on a sample of large data,
    says how much the data tell of each offset; all offsets of one SD stay together.
    """
    sample = samples_of(density, rng)[0]
    mode = climb(sample, prior_centre(sample))[0]
    factor = curvature(sample, mode)
    if factor is None:
        return density
    centred = _pinned(sample, mode, factor, mass(density.data) / mass(sample.data))
    while centred:
        moved = make_density(structure, threads=density.threads, centred=centred)
        there = replace(moved, data=sample.data)
        start = settle(density, moved, mode)
        peak = climb(there, start)[0]
        before, after = moved.constrain(start), moved.constrain(peak)
        kept = {
            name: block * _stands(moved, name, before, after) for name, block in centred.items()
        }
        kept = {name: block for name, block in kept.items() if block.any()}
        if all(name in kept and (kept[name] == block).all() for name, block in centred.items()):
            return density if curvature(there, peak) is None else moved
        centred = kept
    return density


def _pinned(density: Density, mode: Floats, factor: Floats, times: float) -> dict[str, Floats]:
    """Say which offsets data ``times`` as many as these pin down, by blocks."""
    # The prior of an offset, a standard normal, has a curvature of 1.
    information = (factor**2).sum(axis=0) - 1
    found: dict[str, Floats] = {}
    for n, parameter in enumerate(density.parameters):
        if not parameter.spread:
            continue
        block = slice(density.starts[n], density.starts[n + 1])
        # The SD at this mode is no guide: too large, with offsets too small in proportion.
        here, size = (v[block].reshape(parameter.shape) for v in (information, mode**2))
        owner = np.broadcast_to(parameter.spread_at, parameter.shape)
        chosen = np.zeros(parameter.shape)
        for sd in np.unique(owner):
            mine = owner == sd
            # Equal raters scatter by the errors of their estimates: that alone makes 1.
            scatter = np.median(here[mine]) * size[mine].mean()
            chosen[mine] = scatter > APART and times * (scatter - 1) > INFORMED
        if chosen.any():
            found[parameter.name] = chosen
    return found


def _stands(
    density: Density, name: str, before: Mapping[str, Floats], after: Mapping[str, Floats]
) -> Floats:
    """Say which offsets of a block have an SD that did not fall to nearly 0 on the climb.

    There a centred density grows without end, and its peak is no part of the posterior.
    """
    parameter = next(p for p in density.parameters if p.name == name)
    ratio = (after[parameter.spread] / before[parameter.spread]).reshape(-1)
    return np.broadcast_to(ratio[parameter.spread_at] > FALLEN, parameter.shape).astype(float)
