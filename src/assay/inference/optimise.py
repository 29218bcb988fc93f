"""Climbs to the modes of a density, from the centre of the prior or elsewhere.

Offsets of raters and their SD have no joint mode that is like its surroundings: the larger the SD,
the less an offset costs, so that the height there says little of the mass around it. On small data
climbs therefore hold the SDs at the centre of their prior (:func:`hold`), where Laplace's
approximation is good; :mod:`assay.inference.group_sds` moves the SDs afterwards.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from assay.inference.density import Density, unconstrain
from assay.inference.precision import LARGE, Precision
from assay.likelihood.partition import bundle_sizes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


NO_DIFFICULTY = 1e-3
"""What a hard item takes from the log odds of a right answer where, in effect, none is hard."""
EACH = 10
"""Rows of this sample for each unknown, at least: many raters need many ratings to be known."""


def prior_centre(density: Density) -> Floats:
    """Unconstrained values at the centre of the prior.

    Cluster loadings start half an SD away from 0: the likelihood is even in them, so that 0 is a
    saddle which no climb by gradients leaves.
    """
    values = {}
    for parameter in density.parameters:
        centre = parameter.centre
        if parameter.name == "cluster_loading":
            centre = centre + 0.5 * np.asarray(parameter.prior.values[1], float)
        values[parameter.name] = centre
    return unconstrain(density, values)


class Held:
    """A density in which some unknowns do not move.

    Attributes
    ----------
    density : Density
    still : ndarray of int
        Positions of the unknowns that are held.
    """

    def __init__(self, density: Density, still: Ints) -> None:
        self.density, self.still = density, still

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """Log density, and its gradient with nothing along what is held."""
        value, gradient = self.density(x)
        gradient[self.still] = 0.0
        return value, gradient


def climb(
    density: Density | Held, start: Floats, precision: Precision | None = None
) -> tuple[Floats, float]:
    """Go from a start to the mode above it (L-BFGS).

    A ``precision`` like the curvature there makes it a walk of few steps.
    """

    def place(z: Floats) -> Floats:
        return z if precision is None else start + precision.walk(z)

    def downhill(z: Floats) -> tuple[float, Floats]:
        value, gradient = density(place(z))
        if not np.isfinite(value):
            return 1e12, np.zeros_like(z)
        return -value, -gradient if precision is None else -precision.walk_back(gradient)

    # With a precision the unit is the posterior's width: a thousandth of it is near enough.
    near = 1e-6 if precision is None else 1e-3
    options = {"maxiter": 3000, "maxfun": 6000, "ftol": 1e-13, "gtol": near}
    # Its matrices are tiny: threads would spend their time waiting for each other.
    with threadpool_limits(limits=1, user_api="blas"):
        first = start if precision is None else np.zeros_like(start)
        found = minimize(downhill, first, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(place(found.x), float), -float(found.fun)


def is_large(density: Density) -> bool:
    """Whether the data are so many that modes are sought on a sample first."""
    return bool(bundle_sizes(density.data).sum() > 2 * sample_rows(density))


def sample_rows(density: Density) -> int:
    """How many rows the first sample of large data has."""
    return max(LARGE, EACH * density.size)


def spreads_of(density: Density) -> Ints:
    """Positions of the SDs of offsets among the unknowns, on small data; none on large data.

    There every rater's numbers are pinned down, and the SDs with them.
    """
    names = {parameter.spread for parameter in density.parameters} - {""}
    if is_large(density):
        return np.zeros(0, np.int64)
    return np.concatenate(
        [
            np.arange(*density.starts[n : n + 2])
            for n, parameter in enumerate(density.parameters)
            if parameter.name in names
        ]
        or [np.zeros(0, np.int64)]
    ).astype(np.int64)


def hold(density: Density, x: Floats) -> tuple[Floats, float]:
    """Climb from ``x``, on small data with the SDs held at the centre of their prior.

    Offsets keep what they add to their means, so that the climb begins in the same basin.
    """
    still = spreads_of(density)
    if not len(still):
        return climb(density, x)
    names = {parameter.spread for parameter in density.parameters} - {""}
    values, centre = density.constrain(x), density.constrain(prior_centre(density))
    for parameter in density.parameters:
        if parameter.spread:
            ratio = (values[parameter.spread] / centre[parameter.spread]).reshape(-1)
            owner = np.broadcast_to(parameter.spread_at, parameter.shape)
            values[parameter.name] = values[parameter.name] * ratio[owner]
    start = unconstrain(density, values | {name: centre[name] for name in names})
    return climb(Held(density, still), start)


def equally_hard(density: Density) -> Floats | None:
    """Return a start: the mode of the model in which all items are equally hard.

    Where some items may be harder, a climb from the centre of the prior can take these for a class
    of their own before it knows the classes.

    Returns
    -------
    ndarray (value,) or None
        With what difficulty takes from the log odds back at the centre of its prior. None where
        items have no difficulty.
    """
    loadings = [
        np.arange(*density.starts[n : n + 2])
        for n, parameter in enumerate(density.parameters)
        if parameter.name.endswith("difficulty_rate")
    ]
    if not loadings:
        return None
    at = np.concatenate(loadings)
    centre = prior_centre(density)
    start = centre.copy()
    start[at] = np.log(NO_DIFFICULTY)
    still = np.concatenate([spreads_of(density), at]).astype(np.int64)
    found, _ = climb(Held(density, still), start)
    found[at] = centre[at]
    return found
