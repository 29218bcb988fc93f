r"""Quadrature over continuous difficulty: fixed nodes, and weights that follow its mean.

The likelihood of an item is

.. math::

    p(y_i) = \sum_s \int_0^1 \pi_s(h) \prod_{a \in i} p_h(y_a \mid s)\,
    \mathrm{Beta}\bigl(h;\, c \rho, c\,(1 - \rho)\bigr)\, \mathrm dh, \qquad
    p_h(y \mid s) = \bar\theta + \bigl(1 - h\,(1 - e^{-\lambda})\bigr) (\theta_s - \bar\theta).

The integrand is a polynomial in :math:`h` of the degree of the number of answers, and two more for
the truth of hard items. As long as there are as many nodes :math:`h_q`, the polynomial through its
values at them is the integrand itself; of fewer nodes it is near. Its mean is that of the values,
with the weights
:math:`w_q(\rho) = \int \ell_q \,\mathrm{dBeta}` of the Lagrange polynomials :math:`\ell_q`. The
nodes are those of Gauss and Lobatto for one :math:`\rho`, 0 and 1 among them. Since moments of a
Beta distribution are polynomials in its mean, :math:`w_q` is one, of the degree of the rule:
nothing is evaluated but polynomials, and the gradient by :math:`\rho` is that of the weights.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.special import roots_jacobi

Floats = NDArray[np.float64]
CONCENTRATION = 0.5
""":math:`c`: most items are easy or hard, some are in between."""
USUAL_MEAN = 0.2
"""Mean difficulty for which the nodes are those of Gauss and Lobatto: that of its prior."""
LEAST, BY_ANSWERS, FOR_LONGER = 2.12, 1.54, 5.0
"""Of the number of nodes: with them every item of the sets in ``benchmarks/real_data`` has its
log-likelihood to 1e-4, at 100 draws of the posterior."""
MOST = 40


def node_count(answers: int, *, longer: bool = False) -> int:
    """Return how many nodes items need.

    Parameters
    ----------
    answers : int
        Of the items with most of them. The more, the narrower the range of difficulties at which
        they are likely, by the root of their number.
    longer : bool
        Whether a label has three classes or more: a family may then move log odds, so that the
        integrand is no polynomial.

    Examples
    --------
    >>> [node_count(n) for n in (1, 5, 10, 30, 123)]
    [4, 6, 7, 11, 20]
    >>> node_count(5, longer=True)
    11
    """
    wanted = LEAST + BY_ANSWERS * np.sqrt(answers) + longer * FOR_LONGER
    return min(MOST, int(np.ceil(wanted)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Nodes:
    r"""Nodes of the quadrature.

    Attributes
    ----------
    positions : ndarray (node,)
        From 0 to 1.
    coefficients : ndarray (degree, node)
        Of Chebyshev polynomials in :math:`2 \rho - 1`, for each weight without its factors
        :math:`\rho` and :math:`1 - \rho`: the first node alone has a weight if :math:`\rho = 0`,
        the last if :math:`\rho = 1`.
    """

    positions: Floats
    coefficients: Floats

    def log_weight(self, log_mean: Any, xp: Any) -> Any:
        """Return the log weights of the nodes: (..., node).

        Parameters
        ----------
        log_mean : (..., 2)
            Logarithms of 1 minus the mean and of the mean.
        """
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
    """Return the rule of so many nodes.

    Examples
    --------
    >>> rule = nodes_of(8)
    >>> weight = np.exp(rule.log_weight(np.log([0.9, 0.1]), np))
    >>> round(float(weight.sum()), 9), round(float(weight @ rule.positions), 9)
    (1.0, 0.1)
    """
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
    """Mean of each Lagrange polynomial under the Beta distribution."""
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
