r"""Quadrature over continuous difficulty: fixed nodes, and weights by its mean.

The integrand (:class:`~assay.modelling.layers.difficulty.Difficulty`) is a polynomial in :math:`h`,
of the degree of the number of answers, plus 2 for the truth of hard items. The weights
:math:`w_q(\rho) = \int \ell_q \,\mathrm{dBeta}` of the Lagrange polynomials :math:`\ell_q` are
polynomials in the mean, so values and gradients are cheap. Nodes are Gauss-Lobatto nodes for one
:math:`\rho`.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import roots_jacobi

from assay._util.typing import Floats

CONCENTRATION = 0.5
""":math:`c`: most items are easy or hard, some are in between."""
USUAL_MEAN = 0.2
"""Mean difficulty of the Gauss-Lobatto nodes, that of its prior."""
LEAST, BY_ANSWERS, FOR_LONGER = 2.12, 1.54, 5.0
"""Coefficients of the number of nodes.

With them, all items of ``benchmarks/real_data`` have log-likelihoods within 1e-4, at 100 posterior
draws.
"""
MAX_NODES = 40


def node_count(answers: int, *, longer: bool = False) -> int:
    """Return the number of nodes for items with up to ``answers`` answers.

    ``longer``: a label has three classes or more, so that a family's integrand may be no
    polynomial.

    >>> [node_count(n) for n in (1, 5, 10, 30, 123)], node_count(5, longer=True)
    ([4, 6, 7, 11, 20], 11)
    """
    wanted = LEAST + BY_ANSWERS * np.sqrt(answers) + longer * FOR_LONGER
    return min(MAX_NODES, int(np.ceil(wanted)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Nodes:
    r"""Nodes of the quadrature, from 0 to 1.

    coefficients : of Chebyshev polynomials in :math:`2 \rho - 1`, for each weight without its
        factors :math:`\rho` and :math:`1 - \rho` (degree, node)
    """

    positions: Floats
    coefficients: Floats

    def log_weight(self, log_mean: Any, xp: Any) -> Any:
        """Return log weights (..., node), from logs of 1 minus the mean and the mean (..., 2)."""
        easy, hard = np.ones(len(self.positions)), np.ones(len(self.positions))
        hard[0], easy[-1] = 0.0, 0.0
        place = xp.exp(log_mean[..., 1]) * 2.0 + -1.0
        terms = [place * 0.0 + 1.0, place]
        while len(terms) < len(self.coefficients):
            terms.append(place * terms[-1] * 2.0 + terms[-2] * -1.0)
        rest = xp.matmul(xp.stack(terms, axis=-1), self.coefficients)
        return xp.log(rest) + log_mean[..., :1] * easy + log_mean[..., 1:] * hard


@lru_cache
def nodes_of(count: int) -> Nodes:
    """Return the quadrature with this number of nodes."""
    easy, hard = CONCENTRATION * (1 - USUAL_MEAN), CONCENTRATION * USUAL_MEAN
    inner = (1 + roots_jacobi(count - 2, easy, hard)[0]) / 2
    positions = np.concatenate([[0.0], inner, [1.0]])
    degree = count - 2
    means = (1 + chebyshev.chebpts1(degree + 1)) / 2
    rest = np.stack([_weights(positions, mean) for mean in means])
    rest[:, 1:] /= means[:, None]
    rest[:, :-1] /= 1 - means[:, None]
    return Nodes(
        positions=positions,
        coefficients=np.asarray(chebyshev.chebfit(2 * means - 1, rest, degree), float),
    )


def _weights(positions: Floats, mean: float) -> Floats:
    """Return the mean of each Lagrange polynomial under the Beta distribution."""
    alpha, beta = CONCENTRATION * (1 - mean) - 1, CONCENTRATION * mean - 1
    where, weight = roots_jacobi(len(positions), alpha, beta)
    gaps = (1 + where) / 2 - positions[:, None]
    apart = positions[:, None] - positions
    np.fill_diagonal(apart, 1.0)
    found = [
        np.prod(np.delete(gaps, n, axis=0) / np.delete(apart[n], n)[:, None], axis=0)
        for n in range(len(positions))
    ]
    return np.asarray(np.stack(found) @ weight / weight.sum())
