"""Log densities of priors at given parameters, without the Jacobians of a sampler."""

from collections.abc import Mapping

import numpy as np
from scipy.special import betaln, gammaln, xlogy

from assay._util.typing import Floats
from assay.modelling.parameters import Parameter
from assay.modelling.structure import Structure


def prior_log_densities(structure: Structure, values: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the log prior density of each block, (draw, ...); a block of simplexes lacks its last
    axis. ``joint`` has the priors of several parameters together, if there are any.
    """
    found = {p.name: log_density(p, values[p.name]) for p in structure.parameters()}
    if (joint := structure.log_joint_priors(values, np)) is not None:
        found["joint"] = np.asarray(joint)
    return found


def log_density(parameter: Parameter, value: Floats) -> Floats:
    """Return the log density of each number of a block, or of each simplex."""
    first, *second = (np.asarray(v, float) for v in parameter.prior.values)
    match parameter.prior.name:
        case "Normal":
            found = -0.5 * ((value - first) / second[0]) ** 2 - np.log(
                second[0] * np.sqrt(2 * np.pi)
            )
        case "HalfNormal":
            found = -0.5 * (value / first) ** 2 + np.log(np.sqrt(2 / np.pi) / first)
        case "Exponential":
            found = np.log(first) - first * value
        case "Gamma":
            rate = second[0]
            found = xlogy(first, rate) - gammaln(first) + xlogy(first - 1, value) - rate * value
        case "Beta":
            b = second[0]
            found = xlogy(first - 1, value) + xlogy(b - 1, 1 - value) - betaln(first, b)
        case _:
            counts = np.broadcast_to(first, parameter.shape)
            constant = gammaln(counts.sum(-1)) - gammaln(counts).sum(-1)
            found = xlogy(counts - 1, value).sum(-1) + constant
    return np.asarray(found)
