"""Climbs to the modes of a density.

Offsets and their SD have no useful joint mode. So climbs on small data hold the SDs at the centre
of their prior (:func:`hold`); :mod:`assay.inference.group_sds` moves them afterwards.
"""

from functools import cache

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import ThreadpoolController

from assay._util.typing import Floats, Ints
from assay.inference.density import Density, unconstrain
from assay.inference.precision import LARGE, Precision
from assay.likelihood.partition import rows_of_terms
from assay.modelling.parameters import SIGNLESS

NO_DIFFICULTY = 1e-3
"""Effect of difficulty on log odds at which, in practice, all items are equally hard."""
NEAR_SADDLE = 0.05
"""Loadings, in log odds, from which a climb does not soon leave a saddle at 0."""
EACH = 10
"""Least rows for each unknown in the first sample, since many raters need many ratings."""


def prior_centre(density: Density) -> Floats:
    """Return the unconstrained values at the centre of the prior.

    Cluster loadings start at half an SD: at 0 the likelihood, even in them, has a saddle.
    """
    values = {}
    for parameter in density.parameters:
        centre = parameter.centre
        if parameter.name.rpartition(".")[2] in SIGNLESS and parameter.prior.name == "Normal":
            centre = centre + 0.5 * np.asarray(parameter.prior.values[1], float)
        values[parameter.name] = centre
    return unconstrain(density, values)


def off_saddle(density: Density, x: Floats) -> Floats:
    """Return values with loadings of which the sign is arbitrary a little away from 0.

    A climb from 0 stays there, though more data than made it a mode may say otherwise.
    """
    found = x.copy()
    for n, parameter in enumerate(density.parameters):
        own = found[density.starts[n] : density.starts[n + 1]]
        signless = (
            parameter.name.rpartition(".")[2] in SIGNLESS and parameter.prior.name == "Normal"
        )
        if signless and np.abs(own).max(initial=0.0) < NEAR_SADDLE:
            own += NEAR_SADDLE
    return found


class FixedCoordinates:
    """A density with the unknowns at positions ``still`` held constant."""

    def __init__(self, density: Density, still: Ints) -> None:
        self.density, self.still = density, still

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """Return the log density and its gradient, 0 for held unknowns."""
        value, gradient = self.density(x)
        gradient[self.still] = 0.0
        return value, gradient


def climb(
    density: Density | FixedCoordinates, start: Floats, precision: Precision | None = None
) -> tuple[Floats, float]:
    """Climb from a start to a mode with L-BFGS; return the mode and its height.

    A ``precision`` near the curvature is a preconditioner and saves steps.
    """

    def place(z: Floats) -> Floats:
        return z if precision is None else start + precision.walk(z)

    def downhill(z: Floats) -> tuple[float, Floats]:
        value, gradient = density(place(z))
        if not np.isfinite(value):
            return 1e12, np.zeros_like(z)
        return -value, -gradient if precision is None else -precision.walk_back(gradient)

    # With a precision the unit is the posterior's SD, and 0.001 of it is close enough.
    near = 1e-6 if precision is None else 1e-3
    options = {"maxiter": 3000, "maxfun": 6000, "ftol": 1e-13, "gtol": near}
    # L-BFGS has tiny matrices, for which threads cost more than they save.
    with libraries().limit(limits=1, user_api="blas"):
        first = start if precision is None else np.zeros_like(start)
        found = minimize(downhill, first, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(place(found.x), float), -float(found.fun)


@cache
def libraries() -> ThreadpoolController:
    """Return the libraries with threads of their own, which are loaded with NumPy and SciPy."""
    return ThreadpoolController()


def is_large(density: Density) -> bool:
    """Return whether the data are so large that modes are first sought on a sample."""
    return bool(rows_of_terms(density.data).sum() > 2 * sample_rows(density))


def sample_rows(density: Density) -> int:
    """Return the number of rows of the first sample of large data."""
    return max(LARGE, EACH * density.size)


def spreads_of(density: Density) -> Ints:
    """Return the positions of the offsets' SDs; none on large data, which determine them."""
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
    """Climb from ``x``; on small data the SDs are held at the centre of their prior.

    Offsets are rescaled so that their effects stay the same and the climb begins in the same basin.
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
    return climb(FixedCoordinates(density, still), start)


def equally_hard(density: Density) -> Floats | None:
    """Return the mode without difficulty as a start, its effect back at the centre of the prior;
    None without difficulty. Else a climb may take hard items for a class.
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
    found, _ = climb(FixedCoordinates(density, still), start)
    found[at] = centre[at]
    return found
